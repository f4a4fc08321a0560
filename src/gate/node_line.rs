//! The line to one Redis. The manager beneath makes it again when it breaks; this makes it again when it has gone deaf:
//! it is open, and nothing comes back (a firewall that forgot it, a proxy that hangs). Calls that are made at the same
//! moment go in one packet: sent each by itself, a packet costs more than the call in it.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock,
    atomic::{AtomicU32, Ordering},
};

use futures::{FutureExt, future::join_all};
use redis::{
    Client, Cmd, ConnectionInfo, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult, Value,
    aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig},
};
use tokio::sync::oneshot;

/// So many answers in a row that do not come in time make a line deaf.
const DEAF: u32 = 3;

/// Calls in one packet, at most: their answers come together.
const PACKET: usize = 64;

/// A line to one Redis. Clones share it.
#[derive(Clone)]
pub(super) struct NodeLine(Arc<Shared>);

/// How a line is made, and used.
#[derive(Clone)]
pub(super) struct Manner {
    /// How it is made.
    pub(super) manager: ConnectionManagerConfig,
    /// Calls of one moment go together. Not where they wait at Redis: with who called, such a line must end at once, or
    /// what is read on it afterwards is given to nobody.
    pub(super) together: bool,
}

struct Shared {
    to: ConnectionInfo,
    manner: Manner,
    now: RwLock<Made>,
    /// Calls that go with the next packets.
    waiting: Mutex<Vec<Asked>>,
}

/// A call, and who waits for its answer.
struct Asked {
    command: Cmd,
    caller: oneshot::Sender<RedisResult<Value>>,
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
    pub(super) fn new(to: ConnectionInfo, manner: Manner) -> RedisResult<Self> {
        let now = RwLock::new(Made::new(&to, &manner.manager)?);
        Ok(Self(Arc::new(Shared {
            to,
            manner,
            now,
            waiting: Mutex::default(),
        })))
    }

    /// Makes a call together with all that are made while those tasks run that are ready to.
    async fn call(&self, command: Cmd) -> RedisResult<Value> {
        let (caller, answer) = oneshot::channel();
        let is_first = {
            let mut waiting = self.waiting();
            waiting.push(Asked { command, caller });
            waiting.len() == 1
        };
        if is_first {
            tokio::spawn(self.clone().send_waiting());
        }
        answer.await.unwrap_or_else(|_| Err(unsent()))
    }

    async fn call_alone(&self, command: &Cmd) -> RedisResult<Value> {
        let mut made = self.made();
        let answer = made.manager.req_packed_command(command).await;
        self.heard(&made, &answer);
        answer
    }

    async fn send_waiting(self) {
        tokio::task::yield_now().await;
        let mut calls = std::mem::take(&mut *self.waiting());
        let mut packets = Vec::new();
        while !calls.is_empty() {
            let rest = calls.split_off(calls.len().min(PACKET));
            packets.push(self.send(std::mem::replace(&mut calls, rest)));
        }
        join_all(packets).await;
    }

    async fn send(&self, mut calls: Vec<Asked>) {
        // Who has gone meanwhile asks for nothing any more.
        calls.retain(|call| !call.caller.is_closed());
        if calls.is_empty() {
            return;
        }
        let mut packet = Pipeline::with_capacity(calls.len());
        let mut callers = Vec::with_capacity(calls.len());
        for Asked { command, caller } in calls {
            packet.add_command(command);
            callers.push(caller);
        }
        let mut made = self.made();
        let answers = made
            .manager
            .req_packed_commands(&packet, 0, callers.len())
            .await;
        self.heard(&made, &answers);
        // Nobody is told who has gone.
        match answers {
            Ok(answers) => {
                for (caller, answer) in callers.into_iter().zip(answers) {
                    let _ = caller.send(Ok(answer));
                }
            }
            Err(error) => {
                for caller in callers {
                    let _ = caller.send(Err(error.clone()));
                }
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
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
        if !answer.as_ref().is_err_and(RedisError::is_timeout) {
            made.late.store(0, Ordering::Relaxed);
        } else if made.late.fetch_add(1, Ordering::Relaxed) + 1 >= DEAF {
            let mut now = self.0.now.write().unwrap_or_else(PoisonError::into_inner);
            // Once, however many calls wait on it.
            if Arc::ptr_eq(&now.late, &made.late)
                && let Ok(again) = Made::new(&self.0.to, &self.0.manner.manager)
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
        if self.0.manner.together {
            self.call(cmd.clone()).boxed()
        } else {
            self.call_alone(cmd).boxed()
        }
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

/// The packet of a call was never sent, since the program ends.
fn unsent() -> RedisError {
    RedisError::from((ErrorKind::Io, "the line to Redis is closed"))
}
