//! Every Redis key name of the program. All keys of a voucher carry the hash tag of its shard, so that a script's
//! keys lie on one node of a Redis Cluster. Operators find the same table in README.md.

use app::model::{UserId, VoucherId};

/// The name of the consumer group of every order stream.
pub const GROUP: &str = "consumers";

/// Makes key names.
#[derive(Clone, Debug)]
pub struct Keys {
    prefix: String,
    shards: u16,
}

/// One shard: all keys with one hash tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shard(pub u16);

impl Keys {
    /// Key names that begin with `prefix` (`seckill`; tests take one each), spread over `shards` hash tags.
    ///
    /// # Panics
    /// With no shards at all; the configuration takes 1 or more.
    #[must_use]
    pub fn new(prefix: &str, shards: u16) -> Self {
        assert!(shards > 0, "there is at least one shard");
        Self {
            prefix: prefix.to_owned(),
            shards,
        }
    }

    /// All shards.
    pub fn shards(&self) -> impl Iterator<Item = Shard> + use<> {
        (0..self.shards).map(Shard)
    }

    /// The shard of a voucher: its id modulo the number of shards.
    #[must_use]
    pub fn shard(&self, voucher: VoucherId) -> Shard {
        let shard = voucher.0.unsigned_abs() % u32::from(self.shards);
        Shard(u16::try_from(shard).unwrap_or_default())
    }

    /// Hash: `begins`, `ends` (Unix ms), `state`, `granted`, `version`.
    #[must_use]
    pub fn sale(&self, voucher: VoucherId) -> String {
        self.of_voucher("sale", voucher)
    }

    /// String: units left.
    #[must_use]
    pub fn stock(&self, voucher: VoucherId) -> String {
        self.of_voucher("stock", voucher)
    }

    /// Hash: the marks, user id → order id.
    #[must_use]
    pub fn buyers(&self, voucher: VoucherId) -> String {
        self.of_voucher("buyers", voucher)
    }

    /// The three that are of one sale.
    #[must_use]
    pub fn of_sale(&self, voucher: VoucherId) -> [String; 3] {
        [
            self.sale(voucher),
            self.stock(voucher),
            self.buyers(voucher),
        ]
    }

    /// Stream: the queue of a shard.
    #[must_use]
    pub fn orders(&self, shard: Shard) -> String {
        self.of_shard(shard, "orders")
    }

    /// Stream: the dead letters of a shard.
    #[must_use]
    pub fn dead(&self, shard: Shard) -> String {
        self.of_shard(shard, "dead")
    }

    /// String: the owner token of the one who rebuilds or reconciles a shard.
    #[must_use]
    pub fn lock(&self, shard: Shard) -> String {
        self.of_shard(shard, "lock")
    }

    /// Channel: what has just changed, told to every instance (`gate::news`).
    #[must_use]
    pub fn news(&self) -> String {
        format!("{}:news", self.prefix)
    }

    /// The keys of a probe: what `/readyz` sells, and deletes afterwards.
    #[must_use]
    pub fn probe(&self, shard: Shard, what: &str, nonce: u64) -> String {
        format!("{}:{{{}}}:probe:{what}:{nonce:016x}", self.prefix, shard.0)
    }

    /// Hash of a login session's id → its record.
    #[must_use]
    pub fn session(&self, id_hash: &str) -> String {
        [&self.prefix, ":session:", id_hash].concat()
    }

    /// Sorted set: hashes of the ids of a user's login sessions, by the Unix millisecond in which each ends at the latest.
    #[must_use]
    pub fn sessions_of(&self, user: UserId) -> String {
        format!("{}:sessions:{user}", self.prefix)
    }

    fn of_voucher(&self, what: &str, voucher: VoucherId) -> String {
        let mut key = self.of_shard(self.shard(voucher), what);
        key.push(':');
        key.push_str(itoa::Buffer::new().format(voucher.0));
        key
    }

    /// Without `format!`: each buy needs four of them.
    fn of_shard(&self, shard: Shard, what: &str) -> String {
        let mut key = String::with_capacity(self.prefix.len() + what.len() + 24);
        key.push_str(&self.prefix);
        key.push_str(":{");
        key.push_str(itoa::Buffer::new().format(shard.0));
        key.push_str("}:");
        key.push_str(what);
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_contract() {
        let keys = Keys::new("seckill", 1);
        assert_eq!(keys.sale(VoucherId(7)), "seckill:{0}:sale:7");
        assert_eq!(keys.stock(VoucherId(7)), "seckill:{0}:stock:7");
        assert_eq!(keys.buyers(VoucherId(7)), "seckill:{0}:buyers:7");
        assert_eq!(keys.orders(Shard(0)), "seckill:{0}:orders");
        assert_eq!(keys.dead(Shard(0)), "seckill:{0}:dead");
        assert_eq!(keys.lock(Shard(0)), "seckill:{0}:lock");
        assert_eq!(
            Keys::new("seckill", 16).stock(VoucherId(35)),
            "seckill:{3}:stock:35"
        );
    }
}
