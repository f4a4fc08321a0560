//! A Redis of the test's own, which may be flushed, stopped and killed. On a Unix socket, so that no port is missed.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use seckill::embedded::REDIS_SETTINGS;
use tokio::process::Child;

use super::{
    child::{command, signal},
    eventually,
    folder::Folder,
};

pub struct RedisServer {
    // Ended before its folder goes.
    server: Child,
    folder: Folder,
    /// When its file goes to the disk: `everysec`, or `always`. Holds from the next start.
    pub appendfsync: &'static str,
}

impl RedisServer {
    /// One that writes everything down, as the program asks of its Redis.
    pub async fn start() -> Self {
        let (folder, appendfsync) = (Folder::new(), "everysec");
        let started = Self {
            server: run(&folder, appendfsync),
            folder,
            appendfsync,
        };
        started.is_up().await;
        started
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// Like a power cut.
    pub async fn kill(&mut self) {
        self.server.kill().await.unwrap();
    }

    /// Starts again with what was written down.
    pub async fn start_again(&mut self) {
        self.server = run(&self.folder, self.appendfsync);
        self.is_up().await;
    }

    /// Starts again with nothing.
    pub async fn start_empty(&mut self) {
        std::fs::remove_dir_all(self.folder.path().join("appendonlydir")).unwrap();
        self.start_again().await;
    }

    /// Keeps what is written down, for [`Self::start_with_the_copy`].
    pub fn keep_a_copy(&self) {
        copy(
            &self.folder.path().join("appendonlydir"),
            &self.folder.path().join("copy"),
        );
    }

    /// Starts again with what it knew earlier, like a backup or a replica that was behind.
    pub async fn start_with_the_copy(&mut self) {
        std::fs::remove_dir_all(self.folder.path().join("appendonlydir")).unwrap();
        copy(
            &self.folder.path().join("copy"),
            &self.folder.path().join("appendonlydir"),
        );
        self.start_again().await;
    }

    /// The server stands still: it takes requests and answers none.
    pub fn stand_still(&self) {
        signal(&self.server, "STOP");
    }

    pub fn go_on(&self) {
        signal(&self.server, "CONT");
    }

    async fn is_up(&self) {
        let client = redis::Client::open(self.url()).unwrap();
        eventually("the test's own Redis answers", async || {
            let Ok(mut connection) = client.get_multiplexed_async_connection().await else {
                return false;
            };
            redis::cmd("PING")
                .query_async::<String>(&mut connection)
                .await
                .is_ok()
        })
        .await;
    }
}

fn run(folder: &Folder, appendfsync: &str) -> Child {
    command("redis-server")
        .args(["--port", "0", "--unixsocket", "socket"])
        .args(REDIS_SETTINGS)
        .args(["--appendfsync", appendfsync])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server is installed")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
