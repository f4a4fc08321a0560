//! Connections to the nodes of a cluster, one each, made when first used.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use redis::{ConnectionAddr, ConnectionInfo, ErrorKind, RedisError, RedisResult};

use super::super::node_line::{Manner, NodeLine};

/// A node: its address, `host:port`, and the connection to it.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) address: Arc<str>,
    pub(super) connection: NodeLine,
}

/// The connections to all nodes, of one kind.
pub(super) struct Lines {
    like: ConnectionInfo,
    manner: Manner,
    nodes: RwLock<HashMap<Arc<str>, Node>>,
}

impl Lines {
    /// Connections that sign in as `like` does.
    pub(super) fn new(like: ConnectionInfo, manner: Manner) -> Self {
        Self {
            like,
            manner,
            nodes: RwLock::default(),
        }
    }

    /// Connections to the same nodes of another kind.
    pub(super) fn beside(&self, manner: Manner) -> Self {
        Self::new(self.like.clone(), manner)
    }

    /// The node of an address, from now on the same for all.
    pub(super) fn to(&self, address: &str) -> RedisResult<Node> {
        let nodes = self.nodes.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = nodes.get(address) {
            return Ok(node.clone());
        }
        drop(nodes);
        let (host, port) = split(address).ok_or_else(|| {
            let what = "an address of the cluster cannot be read";
            RedisError::from((ErrorKind::Parse, what, address.to_owned()))
        })?;
        let addr = ConnectionAddr::Tcp(host.to_owned(), port);
        let node = Node {
            address: address.into(),
            connection: NodeLine::new(self.like.clone().set_addr(addr), self.manner.clone())?,
        };
        let mut nodes = self.nodes.write().unwrap_or_else(PoisonError::into_inner);
        let known = nodes.entry(Arc::clone(&node.address)).or_insert(node);
        Ok(known.clone())
    }

    /// Hangs up on nodes that are not of the cluster any more.
    pub(super) fn keep(&self, is_known: impl Fn(&str) -> bool) {
        let mut nodes = self.nodes.write().unwrap_or_else(PoisonError::into_inner);
        nodes.retain(|address, _| is_known(address));
    }
}

/// Host and port; the host of version 6 with or without its brackets.
pub(super) fn split(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Some((host, port.parse().ok()?)).filter(|(host, _)| !host.is_empty())
}
