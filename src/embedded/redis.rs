//! The private Redis: nothing is ever evicted, every write goes to the append-only file and, once a
//! second, to the disk. Whoever may enter the socket folder may use it.

use std::fs::File;
use std::path::PathBuf;

use tokio::process::Command;

use super::StoresError;
use super::account::Account;
use super::child::Store;
use super::folder::Folder;
use super::program;

/// What every Redis of this program should be told, on its command line (README.md): it keeps what it promised; an order is
/// looked for in its node of the queue when it is deleted; a second process, which writes the file anew and takes a core for
/// it, is begun less often (docs/bench/NOTES.md).
pub const REDIS_SETTINGS: [&str; 10] = [
    "--appendonly",
    "yes",
    "--maxmemory-policy",
    "noeviction",
    "--save",
    "",
    "--stream-node-max-entries",
    "20",
    "--auto-aof-rewrite-min-size",
    "512mb",
];

/// A server with its files in the data folder.
pub(super) struct Redis {
    program: PathBuf,
    account: Account,
    data: PathBuf,
    socket: PathBuf,
}

impl Redis {
    /// Finds the program and prepares its folder.
    pub(super) fn on(folder: &Folder) -> Result<Self, StoresError> {
        let program =
            program::find("redis-server", &program::search_path()).ok_or(StoresError::Missing {
                store: Self::NAME,
                remedy: "install version 7 or newer, on Debian 12 `apt-get install redis-server`",
            })?;
        Ok(Self {
            program,
            account: folder.account(),
            data: folder.lend(Self::FOLDER)?,
            socket: folder.sockets().join("redis.sock"),
        })
    }

    /// The server's address.
    pub(super) fn url(&self) -> String {
        format!("redis+unix://{}", self.socket.display())
    }
}

impl Store for Redis {
    const NAME: &'static str = "Redis";
    const FOLDER: &'static str = "redis";
    /// Writes and syncs the append-only file, then ends.
    const STOP: &'static str = "TERM";
    /// Every answered command is in the append-only file, and outlives the process.
    const FORCE: &'static str = "KILL";

    async fn create(&self, _lock: &File) -> Result<(), StoresError> {
        Ok(())
    }

    async fn prepare(&self) -> Result<(), StoresError> {
        if self.data.is_dir() {
            return Ok(());
        }
        Err(StoresError::Gone {
            store: Self::NAME,
            folder: self.data.clone(),
        })
    }

    fn command(&self) -> Command {
        let mut command = program::command(&self.program, self.account, Self::STOP);
        command.args(["--port", "0", "--daemonize", "no"]);
        command
            .arg("--unixsocket")
            .arg(&self.socket)
            .args(["--unixsocketperm", "700"]);
        command.arg("--dir").arg(&self.data);
        command.args(REDIS_SETTINGS);
        command.args(["--appendfsync", "everysec", "--aof-load-truncated", "yes"]);
        command
    }

    async fn answers(&self) -> bool {
        let ping = async {
            let client = ::redis::Client::open(self.url())?;
            let mut connection = client.get_multiplexed_async_connection().await?;
            ::redis::cmd("PING")
                .query_async::<String>(&mut connection)
                .await
        };
        // While it loads its file it answers, but with an error.
        ping.await.is_ok()
    }

    async fn complete(&self) -> Result<(), String> {
        Ok(())
    }
}
