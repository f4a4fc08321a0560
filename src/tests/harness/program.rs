//! The real program in a process of its own, which may be killed.

use std::{
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex},
};

use tokio::process::Child;

use super::{
    App,
    child::{command, listen, signal},
    eventually,
};

pub struct Program {
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
}

impl Program {
    /// `seckill <command>` on the stores of `app`.
    pub fn start(app: &App, command: &str) -> Self {
        Self::start_with(app, &[command])
    }

    pub fn start_with(app: &App, words: &[&str]) -> Self {
        Self::spawn(app, "UTC", words)
    }

    /// The same on a machine in some time zone.
    pub fn start_in(app: &App, zone: &str, command: &str) -> Self {
        Self::spawn(app, zone, &[command])
    }

    fn spawn(app: &App, zone: &str, words: &[&str]) -> Self {
        let config = &app.direct;
        let mut child = command(env!("CARGO_BIN_EXE_seckill"))
            .args(words)
            .env("TZ", zone)
            .env(
                "DATABASE_URL",
                config.database_url.as_ref().unwrap().expose(),
            )
            .env("REDIS_URL", config.redis_url.as_ref().unwrap().expose())
            .env("SECKILL_KEY_PREFIX", &config.key_prefix)
            .env("SECKILL_SHARDS", config.shards.to_string())
            .env("SECKILL_DATABASE_POOL", "4")
            .env("SECKILL_ADDR", "127.0.0.1:0")
            .env("SECKILL_SITE", app.site())
            .env("SECKILL_LIMITS", "off")
            .env("SECKILL_LOG", "info")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = Arc::<Mutex<Vec<String>>>::default();
        let note = {
            let said = Arc::clone(&said);
            move |line| said.lock().unwrap().push(line)
        };
        listen(child.stdout.take(), note.clone());
        listen(child.stderr.take(), note);
        Self { child, said }
    }

    /// The lines that it has written so far.
    pub fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    pub async fn has_said(&self, words: &str) {
        eventually(&format!("the program says {words:?}"), async || {
            self.said().iter().any(|line| line.contains(words))
        })
        .await;
    }

    /// The address of its web part, once it is ready.
    pub async fn base(&self) -> reqwest::Url {
        self.has_said("http://").await;
        let said = self.said();
        let line = said
            .iter()
            .find_map(|line| line.split_once("http://"))
            .unwrap();
        format!("http://{}/", line.1).parse().unwrap()
    }

    pub fn pid(&self) -> u32 {
        self.child.id().expect("the program runs")
    }

    /// The most memory that it has had in use so far, in MB.
    pub fn peak_memory_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .unwrap();
        line.trim_end_matches("kB").trim().parse::<u64>().unwrap() / 1024
    }

    /// `kill -9`.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    pub fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Its end, which it has to reach by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        let deadline = std::time::Duration::from_secs(20);
        tokio::time::timeout(deadline, self.child.wait())
            .await
            .expect("the program ends")
            .unwrap()
    }
}
