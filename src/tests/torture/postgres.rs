//! A PostgreSQL of the run's own that keeps what it is told, and may be killed.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use sqlx::{Connection, PgConnection};
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep},
};

use crate::{Result, child::command, cpu, folder::Folder};

/// It answers within so long, or the run ends.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Postgres {
    // Ended before its folder goes.
    server: Child,
    folder: Folder,
    programs: PathBuf,
}

impl Postgres {
    /// Creates an empty one; `programs` is the folder of `postgres` and `initdb`.
    pub async fn start(programs: &Path) -> Result<Self> {
        let folder = Folder::new();
        if is_root() {
            let mut own = Command::new("chown");
            succeed(own.arg(format!("{ACCOUNT}:")).arg(folder.path())).await?;
        }
        let data = folder.path().join("data");
        let mut init = as_account(&programs.join("initdb"));
        init.args(["--auth=trust", "--username=postgres", "--encoding=UTF8"])
            .args(["--no-locale", "--no-sync", "--pgdata"])
            .arg(&data)
            .stdout(Stdio::null());
        succeed(&mut init).await?;
        let server = run(programs, folder.path())?;
        let mut postgres = Self {
            folder,
            programs: programs.to_owned(),
            server,
        };
        postgres.is_up().await?;
        Ok(postgres)
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join(".s.PGSQL.5432")
    }

    /// Its address, past all lines.
    pub fn url(&self) -> String {
        format!(
            "postgres://postgres@localhost/postgres?host={}",
            self.folder.path().display()
        )
    }

    /// `kill -9`, its sessions with it, as a service manager does.
    pub async fn kill(&mut self) -> Result<()> {
        let pid = self.server.id().ok_or("PostgreSQL has ended by itself")?;
        let mut pids = vec![pid];
        pids.extend(cpu::children(pid)?);
        let mut kill = as_account(Path::new("kill"));
        kill.arg("-KILL").args(pids.iter().map(u32::to_string));
        // A session that ended meanwhile is no failure.
        kill.stderr(Stdio::null()).status().await?;
        self.server.wait().await?;
        Ok(())
    }

    /// Starts again on what was written down.
    pub async fn start_again(&mut self) -> Result<()> {
        self.server = run(&self.programs, self.folder.path())?;
        self.is_up().await
    }

    async fn is_up(&mut self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Ok(connection) = PgConnection::connect(&self.url()).await {
                connection.close().await?;
                return Ok(());
            }
            // Memory that a killed session still holds keeps it from starting for a moment.
            if self.server.try_wait()?.is_some() {
                self.server = run(&self.programs, self.folder.path())?;
            }
            sleep(Duration::from_millis(50)).await;
        }
        let log = std::fs::read_to_string(self.folder.path().join("log"))?;
        Err(format!("PostgreSQL does not start:\n{log}").into())
    }
}

/// Who runs it where the run is root's: PostgreSQL refuses to.
const ACCOUNT: &str = "postgres";

fn run(programs: &Path, folder: &Path) -> Result<Child> {
    let log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("log"))?;
    let sockets = format!("unix_socket_directories={}", folder.display());
    let mut postgres = as_account(&programs.join("postgres"));
    postgres.arg("-D").arg(folder.join("data"));
    for setting in [
        "listen_addresses=",
        &sockets,
        "max_connections=200",
        "restart_after_crash=off",
        "recovery_init_sync_method=syncfs",
    ] {
        postgres.args(["-c", setting]);
    }
    Ok(postgres.stdout(Stdio::null()).stderr(log).spawn()?)
}

fn as_account(program: &Path) -> Command {
    if !is_root() {
        return command(program);
    }
    let mut command = command("setpriv");
    // Once more within: the kernel forgets such a wish at a change of account.
    command
        .arg(format!("--reuid={ACCOUNT}"))
        .arg(format!("--regid={ACCOUNT}"))
        .args([
            "--clear-groups",
            "--",
            "setpriv",
            "--pdeathsig",
            "KILL",
            "--",
        ])
        .arg(program)
        .current_dir("/");
    command
}

async fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().await?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{:?}: {status}", command.as_std()).into())
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|entry| entry.uid() == 0)
}
