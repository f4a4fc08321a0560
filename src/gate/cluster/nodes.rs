//! The nodes of a cluster and who of them serves what. Learnt from all nodes at once, so that one that stands still
//! holds nobody up, and never while somebody waits who knows where to go.

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Duration,
};

use futures::future::join_all;
use redis::{
    Client, ConnectionAddr, ConnectionInfo, ErrorKind, RedisError, RedisResult, ServerErrorKind,
    aio::{ConnectionManager, ConnectionManagerConfig},
    cluster_routing::Slot,
};
use tokio::{sync::Mutex, time::timeout};

use super::{is, view, view::View};

/// A node that tells later who serves what is not listened to.
const LEARN_WITHIN: Duration = Duration::from_millis(500);

/// How long after an answer the nodes are left in peace, however much fails meanwhile.
const REST: Duration = Duration::from_millis(200);

/// A node: its address, `host:port`, and the connection to it.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) address: Arc<str>,
    pub(super) connection: ConnectionManager,
}

/// All nodes that are known of.
pub(super) struct Nodes {
    seeds: Vec<ConnectionInfo>,
    config: ConnectionManagerConfig,
    map: RwLock<Map>,
    learning: Arc<Mutex<()>>,
}

#[derive(Default)]
struct Map {
    nodes: HashMap<Arc<str>, Node>,
    owners: HashMap<Slot, Arc<str>>,
}

impl Nodes {
    pub(super) fn new(seeds: Vec<ConnectionInfo>, config: ConnectionManagerConfig) -> Self {
        Self {
            seeds,
            config,
            map: RwLock::default(),
            learning: Arc::default(),
        }
    }

    /// The node that serves a slot; any of them where there is none.
    pub(super) async fn serving(&self, slot: Option<Slot>) -> RedisResult<Node> {
        if let Some(node) = self.known(slot) {
            return Ok(node);
        }
        let _turn = self.learning.lock().await;
        if let Some(node) = self.known(slot) {
            return Ok(node);
        }
        self.learn().await?;
        self.known(slot).ok_or_else(|| {
            let what = "no node of the cluster serves this slot";
            RedisError::from((ErrorKind::ClusterConnectionNotFound, what))
        })
    }

    /// Where an error of `from` sends the command to, if it does. A slot that moved is remembered.
    pub(super) fn redirect(
        self: &Arc<Self>,
        error: &RedisError,
        from: &Node,
    ) -> RedisResult<Option<Node>> {
        let Some((address, slot)) = error.redirect_node() else {
            return Ok(None);
        };
        // No host: that of the node that answered.
        let node = match (address.strip_prefix(':'), split(&from.address)) {
            (Some(port), Some((host, _))) => self.node(&format!("{host}:{port}"))?,
            _ => self.node(address)?,
        };
        if is(error, ServerErrorKind::Moved)
            && let Some(slot) = Slot::new(slot)
        {
            self.write().owners.insert(slot, Arc::clone(&node.address));
            self.learn_soon();
        }
        Ok(Some(node))
    }

    /// Asks the nodes in the background who serves what, unless somebody does already.
    pub(super) fn learn_soon(self: &Arc<Self>) {
        let Ok(turn) = Arc::clone(&self.learning).try_lock_owned() else {
            return;
        };
        let nodes = Arc::clone(self);
        tokio::spawn(async move {
            // A failure shows in the calls.
            let _ = nodes.learn().await;
            tokio::time::sleep(REST).await;
            drop(turn);
        });
    }

    fn known(&self, slot: Option<Slot>) -> Option<Node> {
        let map = self.read();
        let address = match slot {
            Some(slot) => map.owners.get(&slot),
            None => map.owners.values().next(),
        };
        map.nodes.get(address?).cloned()
    }

    /// Asks all nodes, and believes the one of the highest rank.
    async fn learn(&self) -> RedisResult<()> {
        for seed in self.seeds() {
            self.node(&seed)?;
        }
        let nodes: Vec<Node> = self.read().nodes.values().cloned().collect();
        let views = nodes.into_iter().map(|node| async move {
            let late = |_| Err(io::Error::from(io::ErrorKind::TimedOut).into());
            timeout(LEARN_WITHIN, view::of(node))
                .await
                .unwrap_or_else(late)
        });
        let (views, failures): (Vec<_>, Vec<_>) =
            join_all(views).await.into_iter().partition(Result::is_ok);
        match views.into_iter().flatten().max_by_key(|view| view.rank) {
            Some(view) => self.believe(view),
            None => failures
                .into_iter()
                .next()
                .unwrap_or(Ok(View::default()))
                .map(drop),
        }
    }

    fn believe(&self, view: View) -> RedisResult<()> {
        let mut owners = HashMap::new();
        for (slots, address) in view.owners {
            let node = self.node(&address)?;
            let slots = slots.filter_map(Slot::new);
            owners.extend(slots.map(|slot| (slot, Arc::clone(&node.address))));
        }
        let mut map = self.write();
        let mut known: HashSet<Arc<str>> = owners.values().cloned().collect();
        known.extend(self.seeds().map(Arc::from));
        map.nodes.retain(|address, _| known.contains(address));
        map.owners = owners;
        Ok(())
    }

    fn seeds(&self) -> impl Iterator<Item = String> {
        self.seeds.iter().map(|seed| seed.addr().to_string())
    }

    /// The node of an address, from now on the same for all.
    fn node(&self, address: &str) -> RedisResult<Node> {
        if let Some(node) = self.read().nodes.get(address) {
            return Ok(node.clone());
        }
        let (host, port) = split(address).ok_or_else(|| {
            let what = "an address of the cluster cannot be read";
            RedisError::from((ErrorKind::Parse, what, address.to_owned()))
        })?;
        let info = self.seeds[0]
            .clone()
            .set_addr(ConnectionAddr::Tcp(host.to_owned(), port));
        let config = self.config.clone();
        let node = Node {
            address: address.into(),
            connection: ConnectionManager::new_lazy_with_config(Client::open(info)?, config)?,
        };
        let mut map = self.write();
        let known = map.nodes.entry(Arc::clone(&node.address)).or_insert(node);
        Ok(known.clone())
    }

    fn read(&self) -> RwLockReadGuard<'_, Map> {
        self.map.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Map> {
        self.map.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Host and port; the host of version 6 with or without its brackets.
fn split(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Some((host, port.parse().ok()?)).filter(|(host, _)| !host.is_empty())
}
