//! Runs rehearsals that are asked for in the console: each in a process of its own, so that those who arrive do not sit in the
//! server that they arrive at. Told to stop, the process removes what it has made; so it is, when the server stops.

use std::{io, net::SocketAddr, path::PathBuf, process::Stdio, time::Duration};

use app::model::RehearsalId;
use rustix::process::{Pid, Signal, kill_process};
use sqlx::PgPool;
use tokio::{
    process::Command,
    sync::{mpsc, watch},
    time::timeout,
};

use crate::{
    config::{Config, StoreUrl},
    db,
    web_server::stopped,
};

/// A process that was told to stop has so long to remove what it has made.
const PATIENCE: Duration = Duration::from_secs(20);

/// Takes rehearsals that are to be run.
#[derive(Clone)]
pub struct Rehearser(mpsc::UnboundedSender<RehearsalId>);

/// What runs them.
pub struct Running {
    asked: mpsc::UnboundedReceiver<RehearsalId>,
    program: PathBuf,
    settings: Vec<(&'static str, String)>,
    pool: PgPool,
}

impl Rehearser {
    /// One for the instance at an address, and what runs what it takes: this program, on the same stores.
    #[must_use]
    pub fn new(
        program: PathBuf,
        config: &Config,
        addr: SocketAddr,
        pool: PgPool,
    ) -> (Self, Running) {
        let (ask, asked) = mpsc::unbounded_channel();
        let running = Running {
            asked,
            program,
            settings: settings(config, addr),
            pool,
        };
        (Self(ask), running)
    }

    /// Has a rehearsal run that has been noted; false when the program is about to end.
    #[must_use]
    pub fn run(&self, id: RehearsalId) -> bool {
        self.0.send(id).is_ok()
    }
}

/// Settings that are not the environment's, since they may be flags of this process. Passed on in the environment, where no
/// list of processes shows them.
fn settings(config: &Config, addr: SocketAddr) -> Vec<(&'static str, String)> {
    let url = |url: &Option<StoreUrl>| {
        let url = url.as_ref().map(StoreUrl::expose);
        url.unwrap_or_default().to_owned()
    };
    let limits = &config.limits;
    let mut settings = vec![
        ("DATABASE_URL", url(&config.database_url)),
        ("REDIS_URL", url(&config.redis_url)),
        ("SECKILL_ADDR", addr.to_string()),
        ("SECKILL_SHARDS", config.shards.to_string()),
        ("SECKILL_KEY_PREFIX", config.key_prefix.clone()),
        (
            "SECKILL_LIMITS",
            if limits.are_on { "on" } else { "off" }.to_owned(),
        ),
        ("SECKILL_CONNECTIONS", limits.connections.to_string()),
    ];
    if let Some(of_one) = limits.connections_per_address {
        settings.push(("SECKILL_CONNECTIONS_PER_ADDRESS", of_one.to_string()));
    }
    settings
}

impl Running {
    /// Runs one after the other, until `stop` says so.
    pub async fn run(mut self, stop: watch::Receiver<bool>) {
        loop {
            let id = tokio::select! {
                () = stopped(stop.clone()) => return,
                id = self.asked.recv() => id,
            };
            let Some(id) = id else { return };
            let failure = match self.rehearse(id, &stop).await {
                Ok(None) => continue,
                Ok(Some(failure)) => failure,
                Err(error) => error.to_string(),
            };
            // Where the process has noted the end itself, this changes nothing.
            let noted = db::in_time(db::rehearsals::fail(&self.pool, id, &failure)).await;
            if let Err(error) = noted {
                tracing::warn!(error = %error, "the end of a rehearsal is not noted");
            }
        }
    }

    /// Runs one; gives the last thing that it said, if it failed.
    async fn rehearse(
        &self,
        id: RehearsalId,
        stop: &watch::Receiver<bool>,
    ) -> io::Result<Option<String>> {
        let child = Command::new(&self.program)
            .args(["rehearse", "--id", &id.to_string()])
            .envs(self.settings.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        let output = child.wait_with_output();
        tokio::pin!(output);
        let output = tokio::select! {
            output = &mut output => output?,
            () = stopped(stop.clone()) => {
                if let Some(pid) = pid.and_then(Pid::from_raw) {
                    kill_process(pid, Signal::TERM)?;
                }
                timeout(PATIENCE, output).await??
            }
        };
        if matches!(output.status.code(), Some(0 | 2)) {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("it was ended from outside");
        Ok(Some(last.trim_start_matches("seckill: ").to_owned()))
    }
}
