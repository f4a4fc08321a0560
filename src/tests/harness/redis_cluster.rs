//! A Redis Cluster of the test's own on loopback: three primaries, and a replica behind the first of them.

use std::{process::Stdio, time::Duration};

use redis::{AsyncConnectionConfig, FromRedisValue};
use tokio::process::Child;

use super::{child::signal, eventually, folder::Folder};

/// How long a node may be silent before the others take it for gone, ms.
const NODE_TIMEOUT_MS: &str = "1500";

/// A node may be busy with taking over, or with what another test does.
const PATIENCE: Duration = Duration::from_secs(10);

const SLOTS: u16 = 16_384;

pub struct RedisCluster {
    primaries: Vec<Node>,
    replica: Node,
}

/// One server of the cluster.
struct Node {
    port: u16,
    id: String,
    server: Child,
    client: redis::Client,
    _folder: Folder,
}

impl RedisCluster {
    pub async fn start() -> Self {
        let mut primaries = Vec::new();
        for _ in 0..3 {
            primaries.push(Node::start().await);
        }
        let replica = Node::start().await;
        let cluster = Self { primaries, replica };
        cluster.share_out().await;
        cluster.meet().await;
        cluster.replicate().await;
        cluster
    }

    /// All nodes but the replica, as a setting names them.
    pub fn url(&self) -> String {
        let urls: Vec<String> = self.primaries.iter().map(Node::url).collect();
        urls.join(",")
    }

    /// The place of the primary that was given the slot of a key at the start.
    pub async fn first_home(&self, key: &str) -> usize {
        let slot: u16 = self.replica.ask(&["CLUSTER", "KEYSLOT", key]).await;
        usize::from(slot / share())
    }

    /// Ends the first primary, the one with the replica, like a power cut.
    pub async fn kill_first(&mut self) {
        self.primaries[0].server.kill().await.unwrap();
    }

    /// All nodes stand still: they take requests and answer none.
    pub fn stand_still(&self) {
        self.nodes().for_each(|node| signal(&node.server, "STOP"));
    }

    pub fn go_on(&self) {
        self.nodes().for_each(|node| signal(&node.server, "CONT"));
    }

    /// The first primary stands still for good: its lines stay up, and nothing comes over them.
    pub fn let_first_hang(&self) {
        signal(&self.primaries[0].server, "STOP");
    }

    /// From now on the replica hears nothing of what the first primary is told, until that one is gone.
    pub async fn cut_off_replica(&self) {
        self.replicated().await;
        signal(&self.replica.server, "STOP");
        let words = ["CLIENT", "KILL", "TYPE", "replica"];
        let cut: u64 = self.primaries[0].ask(&words).await;
        assert_eq!(cut, 1, "there was one line to a replica");
    }

    pub fn let_replica_go_on(&self) {
        signal(&self.replica.server, "CONT");
    }

    /// The replica has everything that the first primary was told.
    async fn replicated(&self) {
        eventually("the replica has it all", async || {
            let told: redis::InfoDict = self.primaries[0].ask(&["INFO", "replication"]).await;
            let knows: redis::InfoDict = self.replica.ask(&["INFO", "replication"]).await;
            told.get::<u64>("master_repl_offset") == knows.get("slave_repl_offset")
        })
        .await;
    }

    /// The replica serves what the first primary did, and all slots are served.
    pub async fn failed_over(&self) {
        eventually("the replica took over", async || {
            let info: redis::InfoDict = self.replica.ask(&["INFO", "replication"]).await;
            info.get::<String>("role").as_deref() == Some("master")
        })
        .await;
        for node in self.primaries[1..].iter().chain([&self.replica]) {
            node.serves_all().await;
        }
    }

    /// Moves the slot of a key, with all that lies in it, from one primary to another.
    pub async fn move_slot(&self, key: &str, to: usize) {
        let to = &self.primaries[to];
        let slot: u16 = to.ask(&["CLUSTER", "KEYSLOT", key]).await;
        let from = &self.primaries[self.first_home(key).await];
        let slot = slot.to_string();
        let set = ["CLUSTER", "SETSLOT", &slot];
        let state = async |node: &Node, words: [&str; 2]| {
            let _: String = node.ask(&[&set[..], &words].concat()).await;
        };
        state(to, ["IMPORTING", &from.id]).await;
        state(from, ["MIGRATING", &to.id]).await;
        loop {
            let keys: Vec<String> = from.ask(&["CLUSTER", "GETKEYSINSLOT", &slot, "1"]).await;
            let Some(key) = keys.first() else { break };
            let port = to.port.to_string();
            let _: String = from
                .ask(&["MIGRATE", "127.0.0.1", &port, key, "0", "5000"])
                .await;
        }
        for node in [to, from] {
            state(node, ["NODE", &to.id]).await;
        }
    }

    async fn share_out(&self) {
        for (place, node) in (0u16..).zip(&self.primaries) {
            let first = (place * share()).to_string();
            let last = if usize::from(place) + 1 == self.primaries.len() {
                SLOTS - 1
            } else {
                (place + 1) * share() - 1
            };
            let _: String = node
                .ask(&["CLUSTER", "ADDSLOTSRANGE", &first, &last.to_string()])
                .await;
            let epoch = (place + 1).to_string();
            let _: String = node.ask(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]).await;
        }
    }

    async fn meet(&self) {
        for node in self.primaries[1..].iter().chain([&self.replica]) {
            let (port, bus) = (node.port.to_string(), (node.port + 1).to_string());
            let _: String = self.primaries[0]
                .ask(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus])
                .await;
        }
        for node in self.nodes() {
            node.serves_all().await;
        }
    }

    async fn replicate(&self) {
        let first = &self.primaries[0].id;
        let _: String = self.replica.ask(&["CLUSTER", "REPLICATE", first]).await;
        eventually("the replica is in step", async || {
            let info: redis::InfoDict = self.replica.ask(&["INFO", "replication"]).await;
            info.get::<String>("master_link_status").as_deref() == Some("up")
        })
        .await;
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.primaries.iter().chain([&self.replica])
    }
}

impl Node {
    async fn start() -> Self {
        loop {
            let folder = Folder::new();
            let port = free_port();
            let mut server = run(&folder, port);
            let client = redis::Client::open(format!("redis://127.0.0.1:{port}/")).unwrap();
            if is_up(&mut server, &client).await {
                let mut node = Self {
                    port,
                    id: String::new(),
                    server,
                    client,
                    _folder: folder,
                };
                node.id = node.ask(&["CLUSTER", "MYID"]).await;
                return node;
            }
        }
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A command to this very node.
    async fn ask<T: FromRedisValue>(&self, words: &[&str]) -> T {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        let patience = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        let connection = self
            .client
            .get_multiplexed_async_connection_with_config(&patience);
        let mut connection = connection.await.unwrap();
        command
            .query_async(&mut connection)
            .await
            .unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// It knows all the others, and that every slot is served.
    async fn serves_all(&self) {
        eventually("a node sees the whole cluster", async || {
            let info: String = self.ask(&["CLUSTER", "INFO"]).await;
            ["cluster_state:ok", "cluster_known_nodes:4"]
                .iter()
                .all(|line| info.contains(line))
        })
        .await;
    }
}

/// Slots of each primary but the last, which has what is left as well.
fn share() -> u16 {
    SLOTS / 3
}

/// A port that nobody listens on, below those that the system hands out by itself; the next one is for the bus.
fn free_port() -> u16 {
    loop {
        let port = rand::random_range(20_000..32_000);
        let is_free = |port| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
        if is_free(port) && is_free(port + 1) {
            return port;
        }
    }
}

/// False when the server ended because somebody else was faster at its port.
async fn is_up(server: &mut Child, client: &redis::Client) -> bool {
    let mut ended = false;
    eventually("a node of the cluster answers", async || {
        ended = server.try_wait().unwrap().is_some();
        let Ok(mut connection) = client.get_multiplexed_async_connection().await else {
            return ended;
        };
        let mut info = redis::cmd("INFO");
        info.arg("server");
        let info: redis::RedisResult<redis::InfoDict> = info.query_async(&mut connection).await;
        ended || info.is_ok_and(|info| info.get("process_id") == server.id())
    })
    .await;
    !ended
}

fn run(folder: &Folder, port: u16) -> Child {
    let bus = port + 1;
    let config = format!(
        "bind 127.0.0.1
port {port}
cluster-port {bus}
cluster-enabled yes
cluster-node-timeout {NODE_TIMEOUT_MS}
repl-diskless-sync-delay 0
save \"\"
maxmemory-policy noeviction
"
    );
    std::fs::write(folder.path().join("redis.conf"), config).unwrap();
    tokio::process::Command::new("redis-server")
        .arg("redis.conf")
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("redis-server is installed")
}
