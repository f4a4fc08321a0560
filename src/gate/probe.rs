//! What an operator's monitor and the keeper ask of the Redis behind a shard.

use app::model::{BuyOutcome, OrderId, UserId, VoucherId};
use redis::RedisResult;

use super::{BuyAnswer, Gate, keys::Shard};

impl Gate {
    /// The `run_id` of the Redis that serves a shard: another after every start, fail-over and move of its slot.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn run_id(&self, shard: Shard) -> RedisResult<String> {
        let call = self.scripts.run_id.on(&[self.keys.orders(shard)]);
        self.connection.invoke(&call).await
    }

    /// Sells and takes back one unit of a sale of the probe's own, by the very script of a buy, and looks at the
    /// type of the queue. True when the gate of this shard can sell.
    ///
    /// # Errors
    /// When Redis is away or refuses a write.
    pub async fn probe(&self, shard: Shard, order: OrderId) -> RedisResult<bool> {
        let nonce = rand::random();
        let key = |what| self.keys.probe(shard, what, nonce);
        let keys = [key("sale"), key("stock"), key("buyers"), key("orders")];
        let mut pipe = redis::pipe();
        pipe.hset_multiple(
            &keys[0],
            &[
                ("state", "open"),
                ("begins", "0"),
                ("ends", "9999999999999"),
                ("granted", "1"),
            ],
        );
        pipe.ignore()
            .expire(&keys[0], 60)
            .ignore()
            .set_ex(&keys[1], 1, 60)
            .ignore();
        pipe.key_type(self.keys.orders(shard));
        let (queue,): (redis::ValueType,) = self.connection.query_pipe(&pipe).await?;
        let answer = self.run_buy(&keys, UserId(0), VoucherId(0), order).await;
        self.connection
            .query(redis::cmd("UNLINK").arg(&keys))
            .await
            .map(|_: i64| ())?;
        let queue_is_sane = matches!(queue, redis::ValueType::Stream | redis::ValueType::None);
        Ok(queue_is_sane && answer? == BuyAnswer::Decided(BuyOutcome::Queued(order)))
    }
}
