//! How much waits in a queue.

use redis::{RedisResult, cmd};

use super::{
    Gate,
    keys::{GROUP, Shard},
};

/// How the queue of a shard stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Entries in the stream: promised, not yet stored.
    pub queued: u64,
    /// Of them, delivered to a consumer and not acknowledged.
    pub pending: u64,
    /// Dead letters.
    pub dead: u64,
}

impl Gate {
    /// How the queue of a shard stands.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn backlog(&self, shard: Shard) -> RedisResult<Backlog> {
        let (orders, dead) = (self.keys.orders(shard), self.keys.dead(shard));
        let mut pipe = redis::pipe();
        pipe.ignore_errors();
        pipe.xlen(&orders).xlen(dead);
        let lengths: Vec<RedisResult<u64>> = self.connection.query_pipe(&pipe).await?;
        let length = |i: usize| {
            let length = lengths.get(i).and_then(|length| length.as_ref().ok());
            length.copied().unwrap_or_default()
        };
        // XPENDING fails where the group is missing: nothing is pending then.
        let pending: RedisResult<(u64, redis::Value, redis::Value, redis::Value)> = self
            .connection
            .query(cmd("XPENDING").arg(orders).arg(GROUP))
            .await;
        let pending = match pending {
            Ok((pending, ..)) => pending,
            Err(error) if error.is_io_error() => return Err(error),
            Err(_) => 0,
        };
        Ok(Backlog {
            queued: length(0),
            pending,
            dead: length(1),
        })
    }
}
