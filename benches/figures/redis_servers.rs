//! Redis servers of the run's own, for what must not be in the way of other parts, or needs several. They keep what they
//! are told, as the program asks of its Redis, and end with their value.

use std::{path::PathBuf, process::Stdio, time::Duration};

use redis::{AsyncConnectionConfig, FromRedisValue};
use seckill::embedded::REDIS_SETTINGS;
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep},
};

use crate::Result;

/// A server that starts answers within so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Slots of a Redis Cluster.
const SLOTS: usize = 16_384;

/// Some servers, each by itself or together a Redis Cluster.
pub struct RedisServers(Vec<Server>);

struct Server {
    port: u16,
    // Ended before its folder goes.
    child: Child,
    folder: Folder,
}

/// A folder that goes with its value.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{} is left behind: {error}", self.0.display());
        }
    }
}

impl RedisServers {
    /// So many servers, each by itself.
    pub async fn start(count: usize) -> Result<Self> {
        Self::start_with(count, false).await
    }

    /// A Redis Cluster of so many primaries, each with an even share of the slots.
    pub async fn start_cluster(count: usize) -> Result<Self> {
        let servers = Self::start_with(count, true).await?;
        for (place, server) in servers.0.iter().enumerate() {
            let first = (place * SLOTS / count).to_string();
            let last = ((place + 1) * SLOTS / count - 1).to_string();
            let _: String = server
                .ask(&["CLUSTER", "ADDSLOTSRANGE", &first, &last])
                .await?;
            let epoch = (place + 1).to_string();
            let _: String = server.ask(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]).await?;
        }
        for server in &servers.0[1..] {
            let (port, bus) = (server.port.to_string(), (server.port + 1).to_string());
            let _: String = servers.0[0]
                .ask(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus])
                .await?;
        }
        let known = format!("cluster_known_nodes:{count}");
        for server in &servers.0 {
            until("a node sees the whole cluster", async || {
                let info: Result<String> = server.ask(&["CLUSTER", "INFO"]).await;
                info.is_ok_and(|info| info.contains("cluster_state:ok") && info.contains(&known))
            })
            .await?;
        }
        Ok(servers)
    }

    async fn start_with(count: usize, in_cluster: bool) -> Result<Self> {
        let mut servers = Vec::new();
        for _ in 0..count {
            servers.push(Server::start(in_cluster).await?);
        }
        Ok(Self(servers))
    }

    /// The address of each.
    pub fn urls(&self) -> Vec<String> {
        self.0.iter().map(Server::url).collect()
    }

    /// Their process ids.
    pub fn pids(&self) -> Vec<u32> {
        self.0
            .iter()
            .filter_map(|server| server.child.id())
            .collect()
    }
}

impl Server {
    async fn start(in_cluster: bool) -> Result<Self> {
        let port = free_port()?;
        let folder = std::env::temp_dir().join(format!("seckill-bench-{}", rand::random::<u64>()));
        std::fs::create_dir(&folder)?;
        let folder = Folder(folder);
        let mut config = format!("bind 127.0.0.1\nport {port}\n");
        if in_cluster {
            config.push_str(&format!("cluster-enabled yes\ncluster-port {}\n", port + 1));
        }
        std::fs::write(folder.0.join("redis.conf"), config)?;
        let child = Command::new("redis-server")
            .arg("redis.conf")
            .args(REDIS_SETTINGS)
            .current_dir(&folder.0)
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("redis-server: {error}"))?;
        let server = Self {
            port,
            child,
            folder,
        };
        until("a Redis server answers", async || {
            let info: Result<redis::InfoDict> = server.ask(&["INFO", "server"]).await;
            info.is_ok_and(|info| info.get("process_id") == server.child.id())
        })
        .await
        .map_err(|error| format!("{error}, in {}", server.folder.0.display()))?;
        Ok(server)
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A command to this very server.
    async fn ask<T: FromRedisValue>(&self, words: &[&str]) -> Result<T> {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        let patience = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        let client = redis::Client::open(self.url())?;
        let mut connection = client
            .get_multiplexed_async_connection_with_config(&patience)
            .await?;
        Ok(command.query_async(&mut connection).await?)
    }
}

/// A port that nobody listens on, below those that the system hands out by itself; the next one is for a cluster's bus.
fn free_port() -> Result<u16> {
    for _ in 0..1000 {
        let port = rand::random_range(20_000..32_000);
        let is_free = |port| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
        if is_free(port) && is_free(port + 1) {
            return Ok(port);
        }
    }
    Err("no port is free".into())
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !holds().await {
        if Instant::now() > deadline {
            return Err(format!("not within {PATIENCE:?}: {what}").into());
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
