//! What waits of one sale: promises in the queue, and units that its dead letters hold. Reads both streams of the shard, a
//! page at a time, so it is for an operator's look and not for every request.

use std::collections::HashSet;

use app::model::{OrderId, UserId, VoucherId};
use redis::{RedisResult, cmd};

use super::{Gate, entry::Promise, order_text};

/// Entries of a shard that are looked through; of more, nobody waits for the answer.
const MOST: u64 = 10_000;

/// What waits of one sale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Orders in the queue.
    pub queued: usize,
    /// Orders of dead letters whose mark is theirs: each holds a unit.
    pub dead: Vec<OrderId>,
}

impl Gate {
    /// What waits of a sale; `None` when there is too much in its shard to look through.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn waiting(&self, voucher: VoucherId) -> RedisResult<Option<Waiting>> {
        let shard = self.keys.shard(voucher);
        let backlog = self.backlog(shard).await?;
        if backlog.queued > MOST || backlog.dead > MOST {
            return Ok(None);
        }
        // The queue before the dead letters: an entry goes from the one to the other.
        let queued = self.queued_promises(shard).await?;
        let dead = self.dead_promises(shard).await?;
        let of_sale = |promises: Vec<Promise>| -> Vec<Promise> {
            let promises = promises.into_iter();
            promises
                .filter(|promise| promise.voucher == voucher)
                .collect()
        };
        let queued: HashSet<OrderId> = of_sale(queued)
            .iter()
            .map(|promise| promise.order)
            .collect();
        let dead = self.holding(voucher, &of_sale(dead)).await?;
        Ok(Some(Waiting {
            queued: queued.len(),
            dead: dead.difference(&queued).copied().collect(),
        }))
    }

    /// Those of some promises whose mark is theirs.
    async fn holding(
        &self,
        voucher: VoucherId,
        promises: &[Promise],
    ) -> RedisResult<HashSet<OrderId>> {
        if promises.is_empty() {
            return Ok(HashSet::new());
        }
        let mut read = cmd("HMGET");
        read.arg(self.keys.buyers(voucher));
        for Promise {
            user: UserId(user), ..
        } in promises
        {
            read.arg(user);
        }
        let marks: Vec<Option<Vec<u8>>> = self.connection.query(&read).await?;
        let marked = promises.iter().zip(marks).filter(|(promise, mark)| {
            mark.as_deref().and_then(order_text::read) == Some(promise.order)
        });
        Ok(marked.map(|(promise, _)| promise.order).collect())
    }
}
