//! The connection to Redis: one multiplexed connection a node for all calls, made again by itself, that fails fast.
//! The only place that knows whether one Redis serves all keys or the nodes of a Redis Cluster do.

use std::{sync::Arc, time::Duration};

use redis::{
    Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, FromRedisValue, IntoConnectionInfo,
    Pipeline, RedisError, RedisFuture, RedisResult, ServerErrorKind, Value,
    aio::{ConnectionLike, ConnectionManagerConfig, PubSub},
    io::tcp::{TcpSettings, socket2::TcpKeepalive},
};

use super::{
    cluster::Cluster,
    node_line::{Manner, NodeLine},
    script::Call,
};

/// An answer later than this is no answer: the caller is told to try again (a buy fails within 3 s).
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(1500);

/// Requests that may await an answer at once; more wait outside, so that a slow Redis is not buried.
const CONCURRENCY: usize = 4096;

/// Milliseconds, as Redis takes durations.
#[must_use]
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A connection to Redis. Clones share it.
#[derive(Clone)]
pub struct Connection {
    url: Arc<str>,
    line: Line,
}

#[derive(Clone)]
enum Line {
    Node(NodeLine),
    Cluster(Cluster),
}

impl Connection {
    /// A connection for ordinary calls, made when first used. `url` is `redis://…` or `redis+unix://…`; for a Redis
    /// Cluster the addresses of several nodes, separated by commas, of which the first says how to sign in at all.
    ///
    /// # Errors
    /// When the address cannot be read.
    pub fn open(url: &str) -> RedisResult<Self> {
        let line = if is_cluster(url) {
            let manner = manner(RESPONSE_TIMEOUT, true);
            Line::Cluster(Cluster::new(&nodes(url)?, manner, RESPONSE_TIMEOUT)?)
        } else {
            to_node(url, manner(RESPONSE_TIMEOUT, true))?
        };
        Ok(Self {
            url: url.into(),
            line,
        })
    }

    /// A connection of its own to the same Redis, for ordinary calls.
    ///
    /// # Errors
    /// When the address cannot be read.
    pub fn apart(&self) -> RedisResult<Self> {
        Self::open(&self.url)
    }

    /// A connection of its own to the same Redis, for reads that wait up to `block` for an entry.
    ///
    /// # Errors
    /// When the address cannot be read.
    pub fn for_blocking_reads(&self, block: Duration) -> RedisResult<Self> {
        let patience = block + RESPONSE_TIMEOUT;
        let manner = manner(patience, false);
        let line = match &self.line {
            Line::Node(_) => to_node(&self.url, manner)?,
            Line::Cluster(cluster) => Line::Cluster(cluster.beside(manner, patience)),
        };
        Ok(Self {
            url: Arc::clone(&self.url),
            line,
        })
    }

    /// Runs a script; where the server does not know it (any more), with its text, so that it cannot be forgotten in
    /// between, however often scripts are (case O12).
    ///
    /// # Errors
    /// When Redis is away, late, or the script fails.
    pub async fn invoke<T: FromRedisValue>(&self, call: &Call) -> RedisResult<T> {
        match self.query(call.by_hash()).await {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                self.query(&call.by_text()).await
            }
            result => result,
        }
    }

    /// Runs scripts at once, on one way; their answers in order.
    ///
    /// # Errors
    /// As [`Self::invoke`], for the first that fails.
    pub async fn invoke_all<T: FromRedisValue>(&self, calls: Vec<Call>) -> RedisResult<Vec<T>> {
        futures::future::try_join_all(calls.iter().map(|call| self.invoke(call))).await
    }

    /// Runs a command.
    ///
    /// # Errors
    /// When Redis is away, late, or refuses.
    pub async fn query<T: FromRedisValue>(&self, command: &Cmd) -> RedisResult<T> {
        command.query_async(&mut self.line.clone()).await
    }

    /// Runs commands in one packet.
    ///
    /// # Errors
    /// When Redis is away, late, or refuses.
    pub async fn query_pipe<T: FromRedisValue>(&self, pipe: &Pipeline) -> RedisResult<T> {
        pipe.query_async(&mut self.line.clone()).await
    }

    /// A subscription to a channel, on a line of its own. On a cluster any node will do, since each passes on what is
    /// published at another: the first that answers.
    ///
    /// # Errors
    /// When no node answers.
    pub async fn subscribe(&self, channel: &str) -> RedisResult<PubSub> {
        let nodes = if is_cluster(&self.url) {
            nodes(&self.url)?
        } else {
            vec![node(&self.url)?]
        };
        let mut failed = RedisError::from((ErrorKind::Io, "no node to subscribe at"));
        for node in nodes {
            let subscribed = tokio::time::timeout(RESPONSE_TIMEOUT, subscribe_at(node, channel));
            match subscribed.await {
                Ok(Ok(subscription)) => return Ok(subscription),
                Ok(Err(error)) => failed = error,
                Err(_) => failed = RedisError::from((ErrorKind::Io, "no answer in time")),
            }
        }
        Err(failed)
    }
}

async fn subscribe_at(node: ConnectionInfo, channel: &str) -> RedisResult<PubSub> {
    let mut subscription = Client::open(node)?.get_async_pubsub().await?;
    subscription.subscribe(channel).await?;
    Ok(subscription)
}

impl ConnectionLike for Line {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::Node(node) => node.req_packed_command(cmd),
            Self::Cluster(cluster) => cluster.req_packed_command(cmd),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipe: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::Node(node) => node.req_packed_commands(pipe, offset, count),
            Self::Cluster(cluster) => cluster.req_packed_commands(pipe, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Node(node) => node.get_db(),
            Self::Cluster(cluster) => cluster.get_db(),
        }
    }
}

/// Are these the addresses of a Redis Cluster's nodes?
#[must_use]
pub fn is_cluster(url: &str) -> bool {
    url.contains(',')
}

/// The nodes named by a list of addresses. Those after the first may leave out what they have in common with it.
fn nodes(urls: &str) -> RedisResult<Vec<ConnectionInfo>> {
    let first = urls.split(',').next().unwrap_or_default();
    let common = first.find("://").map_or("", |scheme| {
        &first[..first.rfind('@').unwrap_or(scheme + 2) + 1]
    });
    let parts = urls.split(',').map(str::trim);
    let nodes = parts.filter(|part| !part.is_empty()).map(|part| {
        let info = if part.contains("://") {
            node(part)?
        } else {
            node(&format!("{common}{part}"))?
        };
        match info.addr() {
            ConnectionAddr::Tcp(..) => Ok(info),
            _ => Err(RedisError::from((
                ErrorKind::InvalidClientConfig,
                "a node of a cluster has an address of the form redis://host:port",
            ))),
        }
    });
    nodes.collect()
}

fn to_node(url: &str, manner: Manner) -> RedisResult<Line> {
    Ok(Line::Node(NodeLine::new(node(url)?, manner)?))
}

fn manner(patience: Duration, together: bool) -> Manner {
    // No retries: a call while Redis is away fails at once, and each call tries to connect anew.
    let manager = ConnectionManagerConfig::new()
        .set_number_of_retries(0)
        .set_connection_timeout(Some(Duration::from_secs(1)))
        .set_response_timeout(Some(patience))
        .set_concurrency_limit(CONCURRENCY);
    Manner { manager, together }
}

fn node(url: &str) -> RedisResult<ConnectionInfo> {
    // No delay: a gate call is one small packet. Keepalive and user timeout end half-open sockets.
    let keepalive = TcpKeepalive::new()
        .with_time(Duration::from_secs(10))
        .with_interval(Duration::from_secs(3));
    let tcp = TcpSettings::default()
        .set_nodelay(true)
        .set_keepalive(keepalive)
        .set_user_timeout(Duration::from_secs(10));
    Ok(url.into_connection_info()?.set_tcp_settings(tcp))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_cluster_share_what_the_first_one_says() {
        for urls in [
            "redis://:secret@a:1,redis://:secret@b:2",
            "redis://:secret@a:1, b:2",
        ] {
            let nodes = nodes(urls).unwrap();
            let addresses: Vec<String> = nodes.iter().map(|node| node.addr().to_string()).collect();
            assert_eq!(addresses, ["a:1", "b:2"], "{urls}");
            assert!(
                nodes
                    .iter()
                    .all(|node| node.redis_settings().password() == Some("secret")),
                "{urls}"
            );
        }
        let plain = nodes("redis://a:1,b:2").unwrap();
        assert_eq!(plain[1].addr().to_string(), "b:2");
        assert!(nodes("redis://a:1,redis+unix:///tmp/socket").is_err());
        assert!(Connection::open(",").is_err(), "no node at all");
    }
}
