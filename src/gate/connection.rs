//! The connection to Redis: one multiplexed connection for all calls, made again by itself, that fails fast.

use std::time::Duration;

use redis::{
    Client, Cmd, ErrorKind, FromRedisValue, IntoConnectionInfo, Pipeline, RedisResult,
    ScriptInvocation, ServerErrorKind,
    aio::{ConnectionManager, ConnectionManagerConfig},
    io::tcp::{TcpSettings, socket2::TcpKeepalive},
};

/// An answer later than this is no answer: the caller is told to try again (a buy fails within 3 s).
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(1500);

/// Requests that may await an answer at once; more wait outside, so that a slow Redis is not buried.
const CONCURRENCY: usize = 4096;

/// So many times in a row a script may be forgotten between its loading and its run.
const FLUSHES: usize = 4;

/// Milliseconds, as Redis takes durations.
#[must_use]
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A connection to Redis. Clones share it.
#[derive(Clone)]
pub struct Connection {
    manager: ConnectionManager,
}

impl Connection {
    /// A connection for ordinary calls, made when first used. `url` is `redis://…` or `redis+unix://…`.
    ///
    /// # Errors
    /// When the address cannot be read.
    pub fn open(url: &str) -> RedisResult<Self> {
        Self::with_timeout(url, RESPONSE_TIMEOUT)
    }

    /// A connection of its own for reads that wait up to `block` for an entry.
    ///
    /// # Errors
    /// When the address cannot be read.
    pub fn for_blocking_reads(url: &str, block: Duration) -> RedisResult<Self> {
        Self::with_timeout(url, block + RESPONSE_TIMEOUT)
    }

    fn with_timeout(url: &str, timeout: Duration) -> RedisResult<Self> {
        // No delay: a gate call is one small packet. Keepalive and user timeout end half-open sockets.
        let keepalive = TcpKeepalive::new()
            .with_time(Duration::from_secs(10))
            .with_interval(Duration::from_secs(3));
        let tcp = TcpSettings::default()
            .set_nodelay(true)
            .set_keepalive(keepalive)
            .set_user_timeout(Duration::from_secs(10));
        let info = url.into_connection_info()?.set_tcp_settings(tcp);
        // No retries: a call while Redis is away fails at once, and each call tries to connect anew.
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(Duration::from_secs(1)))
            .set_response_timeout(Some(timeout))
            .set_concurrency_limit(CONCURRENCY);
        Ok(Self {
            manager: ConnectionManager::new_lazy_with_config(Client::open(info)?, config)?,
        })
    }

    /// Runs a script; loads it first where the server does not know it (any more).
    ///
    /// # Errors
    /// When Redis is away, late, or the script fails.
    pub async fn invoke<T: FromRedisValue>(&self, call: &ScriptInvocation<'_>) -> RedisResult<T> {
        // A flush between loading and running is met again: no call fails because scripts were forgotten (case O12).
        for _ in 0..FLUSHES {
            match call.invoke_async(&mut self.manager.clone()).await {
                Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {}
                result => return result,
            }
        }
        call.invoke_async(&mut self.manager.clone()).await
    }

    /// Runs scripts at once, on one way; their answers in order.
    ///
    /// # Errors
    /// As [`Self::invoke`], for the first that fails.
    pub async fn invoke_all<T: FromRedisValue>(
        &self,
        calls: Vec<ScriptInvocation<'_>>,
    ) -> RedisResult<Vec<T>> {
        futures::future::try_join_all(calls.iter().map(|call| self.invoke(call))).await
    }

    /// Runs a command.
    ///
    /// # Errors
    /// When Redis is away, late, or refuses.
    pub async fn query<T: FromRedisValue>(&self, command: &Cmd) -> RedisResult<T> {
        command.query_async(&mut self.manager.clone()).await
    }

    /// Runs commands in one packet.
    ///
    /// # Errors
    /// When Redis is away, late, or refuses.
    pub async fn query_pipe<T: FromRedisValue>(&self, pipe: &Pipeline) -> RedisResult<T> {
        pipe.query_async(&mut self.manager.clone()).await
    }
}
