//! The line to one Redis. The manager beneath makes it again when it breaks; this makes it again when it has gone deaf:
//! it is open, and nothing comes back (a firewall that forgot it, a proxy that hangs).

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicU32, Ordering},
};

use futures::FutureExt;
use redis::{
    Client, Cmd, ConnectionInfo, Pipeline, RedisFuture, RedisResult, Value,
    aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig},
};

/// So many answers in a row that do not come in time make a line deaf.
const DEAF: u32 = 3;

/// A line to one Redis. Clones share it.
#[derive(Clone)]
pub(super) struct NodeLine(Arc<Shared>);

struct Shared {
    to: ConnectionInfo,
    config: ConnectionManagerConfig,
    now: RwLock<Made>,
}

/// A line as it was made once.
#[derive(Clone)]
struct Made {
    manager: ConnectionManager,
    /// Answers in a row that did not come in time.
    late: Arc<AtomicU32>,
}

impl NodeLine {
    /// A line that is made when it is first used.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub(super) fn new(to: ConnectionInfo, config: ConnectionManagerConfig) -> RedisResult<Self> {
        let now = RwLock::new(Made::new(&to, &config)?);
        Ok(Self(Arc::new(Shared { to, config, now })))
    }

    fn made(&self) -> Made {
        self.0
            .now
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Takes note of how a call ended on the line as it was made then.
    fn heard<T>(&self, made: &Made, answer: &RedisResult<T>) {
        if !answer.as_ref().is_err_and(redis::RedisError::is_timeout) {
            made.late.store(0, Ordering::Relaxed);
        } else if made.late.fetch_add(1, Ordering::Relaxed) + 1 >= DEAF {
            let mut now = self.0.now.write().unwrap_or_else(PoisonError::into_inner);
            // Once, however many calls wait on it.
            if Arc::ptr_eq(&now.late, &made.late)
                && let Ok(again) = Made::new(&self.0.to, &self.0.config)
            {
                *now = again;
            }
        }
    }
}

impl Made {
    fn new(to: &ConnectionInfo, config: &ConnectionManagerConfig) -> RedisResult<Self> {
        let client = Client::open(to.clone())?;
        Ok(Self {
            manager: ConnectionManager::new_lazy_with_config(client, config.clone())?,
            late: Arc::default(),
        })
    }
}

impl ConnectionLike for NodeLine {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        let mut made = self.made();
        async move {
            let answer = made.manager.req_packed_command(cmd).await;
            self.heard(&made, &answer);
            answer
        }
        .boxed()
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipe: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        let mut made = self.made();
        async move {
            let answer = made.manager.req_packed_commands(pipe, offset, count).await;
            self.heard(&made, &answer);
            answer
        }
        .boxed()
    }

    fn get_db(&self) -> i64 {
        self.0.to.redis_settings().db()
    }
}
