//! A Redis Cluster as one connection: each command goes to the node that serves its key, and from there where MOVED
//! and ASK lead, which say that it did not run; never twice to a node that may have run it. Knows commands and keys, not
//! what they are for.

mod key;
mod lines;
mod nodes;
mod view;

use std::{collections::HashMap, io, sync::Arc, time::Duration};

use futures::{FutureExt, TryFutureExt, future::try_join_all};
use redis::{
    Cmd, ConnectionInfo, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult,
    ServerErrorKind, Value, aio::ConnectionLike, cluster_routing::Slot,
};
use tokio::time::timeout;

use self::{
    lines::{Lines, Node},
    nodes::Nodes,
};
use super::node_line::Manner;

/// So often a command is sent on; more is a loop.
const REDIRECTS: usize = 3;

/// A connection to all nodes. Clones share their connections and what is known of them.
#[derive(Clone)]
pub(super) struct Cluster {
    nodes: Arc<Nodes>,
    lines: Arc<Lines>,
    patience: Duration,
}

impl Cluster {
    /// A connection made when first used, by those of `seeds` that answer then. A call takes up to `patience`, with
    /// everything.
    ///
    /// # Errors
    /// Without any seed.
    pub(super) fn new(
        seeds: &[ConnectionInfo],
        manner: Manner,
        patience: Duration,
    ) -> RedisResult<Self> {
        let first = seeds.first().ok_or_else(|| {
            let what = "no node of the cluster is named";
            RedisError::from((ErrorKind::InvalidClientConfig, what))
        })?;
        let lines = Arc::new(Lines::new(first.clone(), manner));
        let seeds = seeds.iter().map(|seed| seed.addr().to_string()).collect();
        Ok(Self {
            nodes: Arc::new(Nodes::new(seeds, Arc::clone(&lines))),
            lines,
            patience,
        })
    }

    /// Connections of their own to the same nodes: what one learns of them, the other knows.
    pub(super) fn beside(&self, manner: Manner, patience: Duration) -> Self {
        Self {
            nodes: Arc::clone(&self.nodes),
            lines: Arc::new(self.lines.beside(manner)),
            patience,
        }
    }

    async fn serving(&self, slot: Option<Slot>) -> RedisResult<Node> {
        self.lines.to(&self.nodes.serving(slot).await?)
    }

    async fn call(&self, cmd: &Cmd) -> RedisResult<Value> {
        let mut node = self.serving(slot_of(cmd)).await?;
        let mut reply = send(&mut node, cmd).await;
        for _ in 0..REDIRECTS {
            let Err(error) = &reply else { break };
            let Some(address) = self.nodes.redirect(error, &node.address) else {
                break;
            };
            node = self.lines.to(&address)?;
            reply = if is(error, ServerErrorKind::Ask) {
                send_asking(&mut node, cmd).await
            } else {
                send(&mut node, cmd).await
            };
        }
        reply
    }

    /// One packet for each slot, each in its order; the replies in the order of all commands.
    async fn call_all(&self, pipe: &Pipeline) -> RedisResult<Vec<Value>> {
        let mut packets: HashMap<Option<Slot>, (Vec<usize>, Pipeline)> = HashMap::new();
        for (place, cmd) in pipe.cmd_iter().enumerate() {
            let (places, packet) = packets.entry(slot_of(cmd)).or_default();
            places.push(place);
            packet.add_command(cmd.clone());
        }
        let calls = packets.into_iter().map(|(slot, (places, packet))| {
            let replies = async move { self.call_packet(slot, &packet).await };
            replies.map_ok(|replies| places.into_iter().zip(replies))
        });
        let replies = try_join_all(calls).await?;
        let mut replies: Vec<(usize, Value)> = replies.into_iter().flatten().collect();
        replies.sort_unstable_by_key(|(place, _)| *place);
        Ok(replies.into_iter().map(|(_, reply)| reply).collect())
    }

    async fn call_packet(&self, slot: Option<Slot>, packet: &Pipeline) -> RedisResult<Vec<Value>> {
        let mut node = self.serving(slot).await?;
        let mut replies = node
            .connection
            .req_packed_commands(packet, 0, packet.len())
            .await?;
        for (cmd, reply) in packet.cmd_iter().zip(&mut replies) {
            let Value::ServerError(error) = &*reply else {
                continue;
            };
            // Sent elsewhere, it did not run here: asked again by itself, which also learns the way.
            if matches!(
                error.kind(),
                Some(ServerErrorKind::Moved | ServerErrorKind::Ask)
            ) {
                *reply = self.call(cmd).await?;
            }
        }
        Ok(replies)
    }

    async fn in_time<T>(&self, call: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
        let late = |_| Err(io::Error::from(io::ErrorKind::TimedOut).into());
        let reply = timeout(self.patience, call).await.unwrap_or_else(late);
        if reply.as_ref().is_err_and(casts_doubt) {
            self.nodes.learn_soon();
        }
        reply
    }
}

impl ConnectionLike for Cluster {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        self.in_time(self.call(cmd)).boxed()
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipe: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        async move {
            if pipe.is_transaction() {
                let what = "no transaction goes through a cluster: write a script";
                return Err(RedisError::from((ErrorKind::InvalidClientConfig, what)));
            }
            let replies = self.in_time(self.call_all(pipe)).await?;
            Ok(replies.into_iter().skip(offset).take(count).collect())
        }
        .boxed()
    }

    fn get_db(&self) -> i64 {
        0
    }
}

fn slot_of(cmd: &Cmd) -> Option<Slot> {
    key::key_of(cmd).map(Slot::for_key)
}

async fn send(node: &mut Node, cmd: &Cmd) -> RedisResult<Value> {
    outer_error(node.connection.req_packed_command(cmd).await?)
}

/// ASKING opens a slot on its way between two nodes for the one command after it.
async fn send_asking(node: &mut Node, cmd: &Cmd) -> RedisResult<Value> {
    let mut pipe = redis::pipe();
    pipe.cmd("ASKING").add_command(cmd.clone());
    let mut replies = node.connection.req_packed_commands(&pipe, 1, 1).await?;
    outer_error(replies.pop().unwrap_or(Value::Nil))
}

fn outer_error(reply: Value) -> RedisResult<Value> {
    match reply {
        Value::ServerError(error) => Err(error.into()),
        reply => Ok(reply),
    }
}

fn is(error: &RedisError, kind: ServerErrorKind) -> bool {
    error.kind() == ErrorKind::Server(kind)
}

/// Does an error leave it open whether this node serves that slot still?
fn casts_doubt(error: &RedisError) -> bool {
    let kinds = [
        ServerErrorKind::ClusterDown,
        ServerErrorKind::MasterDown,
        ServerErrorKind::ReadOnly,
    ];
    error.is_io_error() || kinds.into_iter().any(|kind| is(error, kind))
}
