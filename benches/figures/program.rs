//! The program under test as a process of its own, ended by its id.

use std::{net::SocketAddr, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::{Result, args::Args, cpu, own_stores::Addresses};

/// A running `seckill`.
pub struct Program {
    child: Child,
    /// Its process id.
    pub pid: u32,
}

impl Program {
    /// Starts a part that listens (`serve`, `web`) with these settings, without limits unless they say so; gives the
    /// address once it listens.
    pub async fn listening(
        args: &Args,
        stores: &Addresses,
        part: &str,
        settings: &[&str],
    ) -> Result<(Self, SocketAddr)> {
        let mut program = Self::spawn(args, stores, part, settings)?;
        let stdout = program.child.stdout.take().ok_or("no standard output")?;
        let ready = timeout(Duration::from_secs(30), address(stdout)).await;
        let addr = ready.map_err(|_| "seckill does not listen")??;
        Ok((program, addr))
    }

    /// Starts a consumer alone.
    pub fn consumer(args: &Args, stores: &Addresses) -> Result<Self> {
        Self::spawn(args, stores, "consumer", &[])
    }

    fn spawn(args: &Args, stores: &Addresses, part: &str, settings: &[&str]) -> Result<Self> {
        let child = Command::new(&args.binary)
            .arg(part)
            .args(["--addr", "127.0.0.1:0", "--log", "warn"])
            .args(settings)
            .arg("--site")
            .arg(&args.site)
            .env("DATABASE_URL", &stores.database_url)
            .env("REDIS_URL", &stores.redis_url)
            .env("SECKILL_SHARDS", stores.shards.to_string())
            .env("SECKILL_LIMITS", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{}: {error}", args.binary.display()))?;
        let pid = child.id().ok_or("seckill ended at once")?;
        Ok(Self { child, pid })
    }

    /// Resident memory in bytes.
    pub fn resident(&self) -> Result<u64> {
        cpu::resident(self.pid)
    }

    /// Asks it to end, and waits for that.
    pub async fn stop(mut self) -> Result<()> {
        Command::new("kill")
            .arg("-TERM")
            .arg(self.pid.to_string())
            .status()
            .await?;
        if timeout(Duration::from_secs(20), self.child.wait())
            .await
            .is_err()
        {
            self.child.kill().await?;
            return Err("seckill did not end when told to".into());
        }
        Ok(())
    }
}

/// The address that the program says it listens on.
async fn address(stdout: ChildStdout) -> Result<SocketAddr> {
    let mut lines = BufReader::new(stdout).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some((_, addr)) = line.split_once("http://") {
            return Ok(addr.trim().parse()?);
        }
    }
    Err("seckill ended before it listened".into())
}
