//! What a reconciliation writes to the gate. Every script compares what it was told with what it finds, and changes
//! nothing where that is not so any more.

use std::collections::HashSet;

use app::model::VoucherId;
use redis::{RedisResult, cmd};

use super::{
    Gate,
    keys::{GROUP, Shard},
    walk::walk,
};

impl Gate {
    /// Adds a drift to the stock, if it is still the sale's drift and the lock is held with `token`; true when it did.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn repair_stock(
        &self,
        token: &str,
        voucher: VoucherId,
        drift: i64,
    ) -> RedisResult<bool> {
        let [sale, stock, buyers] = self.keys.of_sale(voucher);
        let lock = self.keys.lock(self.keys.shard(voucher));
        let mut call = self.scripts.repair_stock.on(&[lock, sale, stock, buyers]);
        call.arg(token).arg(drift);
        self.connection.invoke::<i64>(&call).await.map(|n| n == 1)
    }

    /// Entries of a queue that were delivered, and are pending with no consumer: theirs was deleted.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn orphans(&self, shard: Shard) -> RedisResult<Vec<String>> {
        let stream = self.keys.orders(shard);
        let groups: RedisResult<redis::streams::StreamInfoGroupsReply> = self
            .connection
            .query(cmd("XINFO").arg("GROUPS").arg(&stream))
            .await;
        let groups = match groups {
            // "ERR no such key", or a key of another kind in its place.
            Err(error) if matches!(error.code(), Some("ERR" | "WRONGTYPE")) => {
                return Ok(Vec::new());
            }
            groups => groups?.groups,
        };
        let Some(group) = groups.into_iter().find(|group| group.name == GROUP) else {
            return Ok(Vec::new());
        };
        let mut delivered = Vec::new();
        walk(
            &self.connection,
            &stream,
            &group.last_delivered_id,
            |entry| {
                delivered.push(entry.id);
            },
        )
        .await?;
        if delivered.is_empty() {
            return Ok(delivered);
        }
        // After the entries: one that is acknowledged in between is seen through by the script that would append it.
        let pending = self.pending(&stream).await?;
        delivered.retain(|id| !pending.contains(id));
        Ok(delivered)
    }

    /// Appends such entries again; gives how many.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn requeue(&self, shard: Shard, entries: &[String]) -> RedisResult<u64> {
        let mut appended = 0;
        // Short scripts: others wait while one runs.
        for part in entries.chunks(500) {
            let mut call = self.scripts.requeue.on(&[self.keys.orders(shard)]);
            call.arg(GROUP).arg(part);
            appended += self.connection.invoke::<u64>(&call).await?;
        }
        Ok(appended)
    }

    /// Removes the keys of a sale that is settled.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn forget(&self, voucher: VoucherId) -> RedisResult<()> {
        let mut unlink = cmd("UNLINK");
        unlink
            .arg(self.keys.sale(voucher))
            .arg(self.keys.stock(voucher))
            .arg(self.keys.buyers(voucher));
        self.connection.query::<i64>(&unlink).await.map(drop)
    }

    /// The ids of all pending entries.
    async fn pending(&self, stream: &str) -> RedisResult<HashSet<String>> {
        const PAGE: usize = 1000;
        let mut ids = HashSet::new();
        let mut from = "-".to_owned();
        loop {
            let mut range = cmd("XPENDING");
            range.arg(stream).arg(GROUP).arg(&from).arg("+").arg(PAGE);
            let page: Vec<(String, String, u64, u64)> = self.connection.query(&range).await?;
            let Some((last, ..)) = page.last() else {
                return Ok(ids);
            };
            from = format!("({last}");
            ids.extend(page.into_iter().map(|(id, ..)| id));
        }
    }
}
