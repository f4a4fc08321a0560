//! One process of the program with its lines to the stores: started again whenever it ends, as a service manager
//! does, and its log and time on the processor noted.

use std::{
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

use reqwest::Url;
use tokio::{
    process::Command,
    task::AbortHandle,
    time::{Instant, sleep},
};

use crate::{
    Result,
    child::{command, listen, signal_to},
    cpu,
    eventually::within,
    line::Line,
};

/// The pause before a new start where no fault has set another.
const PAUSE: Duration = Duration::from_secs(1);

pub struct Member {
    /// `web 1`, `consumer 3`.
    pub name: String,
    pub to_postgres: Line,
    pub to_redis: Line,
    state: Arc<State>,
    keeping: AbortHandle,
}

/// What is known of the process.
#[derive(Default)]
struct State {
    pid: Mutex<Option<u32>>,
    base: Mutex<Option<Url>>,
    log: Mutex<Vec<(Instant, String)>>,
    times: Mutex<Vec<Reading>>,
    /// Set by the fault that kills it: the pause before its new start.
    killed: Mutex<Option<Duration>>,
}

/// Seconds on the processor so far.
#[derive(Clone, Copy)]
struct Reading {
    pid: u32,
    at: Instant,
    seconds: f64,
}

impl Member {
    pub fn start(binary: &Path, part: &'static str, number: usize, lines: (Line, Line)) -> Self {
        let (to_postgres, to_redis) = lines;
        let state = Arc::<State>::default();
        let database = format!("postgres://postgres@{}/postgres", to_postgres.addr);
        let redis = format!("redis://{}/", to_redis.addr);
        let binary = binary.to_owned();
        let make = move || {
            let mut command = command(&binary);
            command
                .args([part, "--addr", "127.0.0.1:0", "--limits", "off"])
                .env("DATABASE_URL", &database)
                .env("REDIS_URL", &redis)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            command
        };
        let keeping = tokio::spawn(keep(make, Arc::clone(&state))).abort_handle();
        Self {
            name: format!("{part} {number}"),
            to_postgres,
            to_redis,
            state,
            keeping,
        }
    }

    /// Where its pages are; `None` while it is not ready.
    pub fn base(&self) -> Option<Url> {
        self.state.base.lock().unwrap().clone()
    }

    /// `kill -9`; resolves when it has been started again, after `pause`.
    pub async fn kill(&self, pause: Duration) {
        let pid = self.pid().await;
        *self.state.killed.lock().unwrap() = Some(pause);
        signal_to(pid, "KILL");
        within(
            pause + Duration::from_secs(10),
            "it is started again",
            async || self.running().is_some_and(|running| running != pid),
        )
        .await;
    }

    /// It stands still for so long.
    pub async fn stand_still(&self, lasts: Duration) {
        let pid = self.pid().await;
        signal_to(pid, "STOP");
        sleep(lasts).await;
        // Killed meanwhile, it is another.
        if self.running() == Some(pid) {
            signal_to(pid, "CONT");
        }
    }

    /// Notes its time on the processor so far.
    pub fn read_times(&self) {
        let Some(pid) = self.running() else { return };
        // Ended just now: the next reading is of the next process.
        if let Ok(seconds) = cpu::seconds(pid) {
            let at = Instant::now();
            self.state
                .times
                .lock()
                .unwrap()
                .push(Reading { pid, at, seconds });
        }
    }

    /// The greatest share of one core that it took over `window`, since then.
    pub fn worst_share(&self, since: Instant, window: Duration) -> f64 {
        let times = self.state.times.lock().unwrap();
        let times: Vec<&Reading> = times.iter().filter(|reading| reading.at >= since).collect();
        let shares = times.iter().enumerate().filter_map(|(place, first)| {
            let last = times[place..]
                .iter()
                .find(|last| last.at - first.at >= window)?;
            let share = (last.seconds - first.seconds) / (last.at - first.at).as_secs_f64();
            (first.pid == last.pid).then_some(share)
        });
        shares.fold(0.0, f64::max)
    }

    /// The most lines that it logged within a minute, since then.
    pub fn worst_minute(&self, since: Instant) -> usize {
        let log = self.state.log.lock().unwrap();
        let times: Vec<Instant> = log
            .iter()
            .map(|(at, _)| *at)
            .filter(|at| *at >= since)
            .collect();
        let minute = Duration::from_secs(60);
        let lines = |from: &Instant| {
            times
                .iter()
                .filter(|at| **at >= *from && **at - *from < minute)
                .count()
        };
        times.iter().map(lines).max().unwrap_or_default()
    }

    /// What it has logged since then.
    pub fn said(&self, since: Instant) -> Vec<String> {
        let log = self.state.log.lock().unwrap();
        let said = log.iter().filter(|(at, _)| *at >= since);
        said.map(|(at, line)| format!("{:6.1} s  {line}", (*at - since).as_secs_f64()))
            .collect()
    }

    async fn pid(&self) -> u32 {
        within(Duration::from_secs(60), "it is running", async || {
            self.running().is_some()
        })
        .await;
        self.running().expect("it is running")
    }

    fn running(&self) -> Option<u32> {
        *self.state.pid.lock().unwrap()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.keeping.abort();
    }
}

/// Runs it again and again.
async fn keep(make: impl Fn() -> Command, state: Arc<State>) -> Result<()> {
    loop {
        let mut child = make().spawn()?;
        let note = {
            let state = Arc::clone(&state);
            move |line| state.note(line)
        };
        listen(child.stdout.take(), note.clone());
        listen(child.stderr.take(), note);
        *state.pid.lock().unwrap() = child.id();
        let status = child.wait().await?;
        *state.pid.lock().unwrap() = None;
        *state.base.lock().unwrap() = None;
        let killed = state.killed.lock().unwrap().take();
        if killed.is_none() {
            state.note(format!("--- ended by itself: {status}"));
        }
        sleep(killed.unwrap_or(PAUSE)).await;
    }
}

impl State {
    fn note(&self, line: String) {
        if let Some((_, address)) = line.split_once("http://") {
            *self.base.lock().unwrap() = format!("http://{}/", address.trim()).parse().ok();
        }
        self.log.lock().unwrap().push((Instant::now(), line));
    }
}
