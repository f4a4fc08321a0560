//! The gate's side of a rebuild: reads what it remembers of a shard, and writes only while the lock is held.

use std::collections::HashMap;

use app::model::{OrderId, UserId, VoucherId};
use redis::RedisResult;

use super::{
    Gate, SaleSettings,
    entry::{Pairs, Promise},
    keys::Shard,
    news::News,
    order_text,
    settings::cut_to,
    unix_ms,
    walk::walk,
};

/// What a rebuild found out about one buyer's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The mark stands, or is set.
    Keep(UserId, OrderId),
    /// A promise without an entry: set the mark and append the order to the queue again.
    Enqueue(UserId, OrderId),
    /// The order was refused: delete the mark.
    Drop(UserId, OrderId),
}

impl Gate {
    /// Stops sale and release of a voucher until [`Self::rebuild_end`]; false when the lock is not held with `token`.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn rebuild_begin(&self, token: &str, voucher: VoucherId) -> RedisResult<bool> {
        let [sale, stock, buyers] = self.keys.of_sale(voucher);
        let keys = [self.lock_of(voucher), sale, stock, buyers];
        let mut call = self.scripts.rebuild_begin.on(&keys);
        call.arg(token);
        self.connection
            .invoke::<i64>(&call)
            .await
            .map(|held| held == 1)
    }

    /// The marks of a sale.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn all_marks(&self, voucher: VoucherId) -> RedisResult<HashMap<UserId, OrderId>> {
        let mut marks = HashMap::new();
        let mut cursor = 0u64;
        loop {
            let mut scan = redis::cmd("HSCAN");
            scan.arg(self.keys.buyers(voucher))
                .arg(cursor)
                .arg("COUNT")
                .arg(1000);
            let (next, page): (u64, Pairs) = self.connection.query(&scan).await?;
            marks.extend(page.iter().filter_map(|(user, order)| {
                let user = UserId::parse(std::str::from_utf8(user).ok()?).ok()?;
                Some((user, order_text::read(order)?))
            }));
            if next == 0 {
                return Ok(marks);
            }
            cursor = next;
        }
    }

    /// All promises in the queue of a shard, whatever the group says of them.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn queued_promises(&self, shard: Shard) -> RedisResult<Vec<Promise>> {
        self.promises(&self.keys.orders(shard)).await
    }

    /// All promises among the dead letters of a shard.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn dead_promises(&self, shard: Shard) -> RedisResult<Vec<Promise>> {
        self.promises(&self.keys.dead(shard)).await
    }

    async fn promises(&self, stream: &str) -> RedisResult<Vec<Promise>> {
        let mut promises = Vec::new();
        walk(&self.connection, stream, "+", |entry| {
            promises.extend(entry.promise)
        })
        .await?;
        Ok(promises)
    }

    /// Writes findings; false when the lock is not held any more.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn rebuild_mark(
        &self,
        token: &str,
        voucher: VoucherId,
        findings: &[Finding],
    ) -> RedisResult<bool> {
        // Short scripts: others wait while one runs.
        for part in findings.chunks(500) {
            let mut call = self.scripts.rebuild_mark.on(&[
                self.lock_of(voucher),
                self.keys.sale(voucher),
                self.keys.buyers(voucher),
                self.keys.orders(self.keys.shard(voucher)),
            ]);
            call.arg(token).arg(voucher.0);
            for finding in part {
                let (verb, user, order) = match finding {
                    Finding::Keep(user, order) => ("keep", user, order),
                    Finding::Enqueue(user, order) => ("enqueue", user, order),
                    Finding::Drop(user, order) => ("drop", user, order),
                };
                call.arg(verb)
                    .arg(user.0)
                    .arg(order_text::write(*order).as_slice())
                    .arg(order_text::former(*order));
            }
            if self.connection.invoke::<i64>(&call).await? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Appends promises to the queue again whose marks still stand; gives how many. The sale goes on meanwhile.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn enqueue_again(
        &self,
        voucher: VoucherId,
        promises: &[(UserId, OrderId)],
    ) -> RedisResult<u64> {
        let mut appended = 0;
        // Short scripts: others wait while one runs.
        for part in promises.chunks(500) {
            let mut call = self.scripts.enqueue.on(&[
                self.keys.buyers(voucher),
                self.keys.orders(self.keys.shard(voucher)),
            ]);
            call.arg(voucher.0);
            for (user, order) in part {
                call.arg(user.0)
                    .arg(order_text::write(*order).as_slice())
                    .arg(order_text::former(*order));
            }
            appended += self.connection.invoke::<u64>(&call).await?;
        }
        Ok(appended)
    }

    /// Sets stock and settings and lets the sale go on, where so many marks stand. The stock, or `None` when the lock is not
    /// held any more, or marks were lost again meanwhile: whoever looks next begins anew.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn rebuild_end(
        &self,
        token: &str,
        sale: &SaleSettings,
        marks: usize,
    ) -> RedisResult<Option<i64>> {
        let voucher = sale.voucher;
        let [hash, stock, buyers] = self.keys.of_sale(voucher);
        let keys = [self.lock_of(voucher), hash, stock, buyers];
        let mut call = self.scripts.rebuild_end.on(&keys);
        call.arg(token)
            .arg(sale.version)
            .arg(sale.granted)
            .arg(unix_ms(sale.begins_at))
            .arg(unix_ms(sale.ends_at));
        call.arg(sale.state.as_str()).arg(cut_to(sale)).arg(marks);
        let answer: Vec<i64> = self.connection.invoke(&call).await?;
        let [1, stock] = answer[..] else {
            return Ok(None);
        };
        self.news.tell(&News::Sales(vec![voucher])).await;
        Ok(Some(stock))
    }

    fn lock_of(&self, voucher: VoucherId) -> String {
        self.keys.lock(self.keys.shard(voucher))
    }
}
