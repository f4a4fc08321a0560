//! The nodes of a cluster and who of them serves what. Learnt from all nodes at once, so that one that stands still
//! holds nobody up, and never while somebody waits who knows where to go.

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use futures::future::join_all;
use redis::{ErrorKind, RedisError, RedisResult, ServerErrorKind, cluster_routing::Slot};
use tokio::{sync::Mutex, time::timeout};

use super::{
    is,
    lines::{Lines, split},
    view,
    view::View,
};

/// A node that tells later who serves what is not listened to.
const LEARN_WITHIN: Duration = Duration::from_millis(500);

/// How long after an answer the nodes are left in peace, however much fails meanwhile.
const REST: Duration = Duration::from_millis(200);

/// Who serves what, as far as is known. Nodes go by their address, `host:port`.
pub(super) struct Nodes {
    seeds: Vec<String>,
    lines: Arc<Lines>,
    owners: RwLock<HashMap<Slot, Arc<str>>>,
    learning: Arc<Mutex<()>>,
}

impl Nodes {
    /// Nothing is known yet but `seeds`; what is asked goes over `lines`.
    pub(super) fn new(seeds: Vec<String>, lines: Arc<Lines>) -> Self {
        Self {
            seeds,
            lines,
            owners: RwLock::default(),
            learning: Arc::default(),
        }
    }

    /// The address of the node that serves a slot; of any where there is none.
    pub(super) async fn serving(&self, slot: Option<Slot>) -> RedisResult<Arc<str>> {
        if let Some(address) = self.known(slot) {
            return Ok(address);
        }
        let _turn = self.learning.lock().await;
        if let Some(address) = self.known(slot) {
            return Ok(address);
        }
        self.learn().await?;
        self.known(slot).ok_or_else(|| {
            let what = "no node of the cluster serves this slot";
            RedisError::from((ErrorKind::ClusterConnectionNotFound, what))
        })
    }

    /// Where an error of the node at `from` sends the command to, if it does. A slot that moved is remembered.
    pub(super) fn redirect(self: &Arc<Self>, error: &RedisError, from: &str) -> Option<Arc<str>> {
        let (address, slot) = error.redirect_node()?;
        // No host: that of the node that answered.
        let address: Arc<str> = match (address.strip_prefix(':'), split(from)) {
            (Some(port), Some((host, _))) => format!("{host}:{port}").into(),
            _ => address.into(),
        };
        if is(error, ServerErrorKind::Moved)
            && let Some(slot) = Slot::new(slot)
        {
            let mut owners = self.owners.write().unwrap_or_else(PoisonError::into_inner);
            owners.insert(slot, Arc::clone(&address));
            drop(owners);
            self.learn_soon();
        }
        Some(address)
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

    fn known(&self, slot: Option<Slot>) -> Option<Arc<str>> {
        let owners = self.owners.read().unwrap_or_else(PoisonError::into_inner);
        match slot {
            Some(slot) => owners.get(&slot).cloned(),
            None => owners.values().next().cloned(),
        }
    }

    /// Asks all nodes, and believes the one of the highest rank.
    async fn learn(&self) -> RedisResult<()> {
        let views = self.addresses().into_iter().map(|address| async move {
            let late = |_| Err(io::Error::from(io::ErrorKind::TimedOut).into());
            timeout(LEARN_WITHIN, view::of(self.lines.to(&address)?))
                .await
                .unwrap_or_else(late)
        });
        let (views, failures): (Vec<_>, Vec<_>) =
            join_all(views).await.into_iter().partition(Result::is_ok);
        match views.into_iter().flatten().max_by_key(|view| view.rank) {
            Some(view) => {
                self.believe(view);
                Ok(())
            }
            None => failures
                .into_iter()
                .try_for_each(|failure| failure.map(drop)),
        }
    }

    fn believe(&self, view: View) {
        let mut served = HashMap::new();
        for (slots, address) in view.owners {
            let address: Arc<str> = address.into();
            let slots = slots.filter_map(Slot::new);
            served.extend(slots.map(|slot| (slot, Arc::clone(&address))));
        }
        *self.owners.write().unwrap_or_else(PoisonError::into_inner) = served;
        let known = self.addresses();
        self.lines.keep(|address| known.contains(address));
    }

    fn addresses(&self) -> HashSet<Arc<str>> {
        let owners = self.owners.read().unwrap_or_else(PoisonError::into_inner);
        let seeds = self.seeds.iter().map(|seed| Arc::from(seed.as_str()));
        owners.values().cloned().chain(seeds).collect()
    }
}
