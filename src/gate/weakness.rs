//! Settings of Redis with which it may forget promises: they do not keep the program from working, and an operator must
//! know of them.

use std::collections::BTreeSet;

use redis::RedisResult;
use serde::Serialize;

use super::Gate;

/// A way in which Redis may forget promises. A word for logs and `/readyz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weakness {
    /// `appendonly no`: when Redis dies it forgets what it promised since its last snapshot.
    NoAppendOnlyFile,
    /// A `maxmemory-policy` other than `noeviction`: when memory is short it deletes keys.
    EvictsKeys,
}

impl Weakness {
    /// What it means, for the log.
    #[must_use]
    pub fn explained(self) -> &'static str {
        match self {
            Self::NoAppendOnlyFile => {
                "Redis runs without append-only file: when it dies it forgets promises (set `appendonly yes`)"
            }
            Self::EvictsKeys => {
                "Redis deletes keys when memory is short, promises among them (set `maxmemory-policy noeviction`)"
            }
        }
    }
}

impl Gate {
    /// The weaknesses of the Redis that serves the shards, or of any of them.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn weaknesses(&self) -> RedisResult<BTreeSet<Weakness>> {
        let mut found = BTreeSet::new();
        for shard in self.keys.shards() {
            let call = self.scripts.weakness.on(&[self.keys.orders(shard)]);
            let (file, policy): (String, String) = self.connection.invoke(&call).await?;
            if file == "0" {
                found.insert(Weakness::NoAppendOnlyFile);
            }
            // A Redis whose memory has no limit has no policy at work, but its next operator may set one.
            if policy != "noeviction" {
                found.insert(Weakness::EvictsKeys);
            }
        }
        Ok(found)
    }
}
