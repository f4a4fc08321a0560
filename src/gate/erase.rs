//! Removes a sale as if it had never been: for rehearsals. Under the shard's lock, so that no keeper takes the keys for lost.

use app::model::VoucherId;
use redis::{RedisResult, cmd};

use super::{Gate, keys::GROUP, walk::walk};

/// Entries that one call removes.
const AT_ONCE: usize = 500;

impl Gate {
    /// Removes the keys of a sale, so that nothing is promised of it any more, then its entries in the queue, whoever has them
    /// in hand, then its dead letters.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn erase(&self, voucher: VoucherId) -> RedisResult<()> {
        self.forget(voucher).await?;
        let shard = self.keys.shard(voucher);
        let (orders, dead) = (self.keys.orders(shard), self.keys.dead(shard));
        for some in self.entries_of(voucher, &orders).await?.chunks(AT_ONCE) {
            let mut call = self.scripts.acknowledge.on(&[&orders]);
            call.arg(GROUP).arg(some);
            self.connection.invoke::<u64>(&call).await?;
        }
        for some in self.entries_of(voucher, &dead).await?.chunks(AT_ONCE) {
            let mut delete = cmd("XDEL");
            delete.arg(&dead).arg(some);
            self.connection.query::<u64>(&delete).await?;
        }
        Ok(())
    }

    async fn entries_of(&self, voucher: VoucherId, stream: &str) -> RedisResult<Vec<String>> {
        let mut ids = Vec::new();
        walk(&self.connection, stream, "+", |entry| {
            if entry
                .promise
                .is_some_and(|promise| promise.voucher == voucher)
            {
                ids.push(entry.id);
            }
        })
        .await?;
        Ok(ids)
    }
}
