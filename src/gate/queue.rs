//! The queue between gate and consumer, as a consumer sees it: one Redis Stream a shard, read by the consumer group.

use std::time::Duration;

use redis::{RedisResult, cmd};

use super::{
    connection::{Connection, millis},
    entry::{Entry, RawEntry, parse},
    keys::{GROUP, Keys, Shard},
    scripts::Scripts,
};

/// How long a read waits for entries.
pub const BLOCK: Duration = Duration::from_secs(2);

/// The queue of one shard, as one consumer sees it.
#[derive(Clone)]
pub struct Queue {
    calls: Connection,
    reads: Connection,
    keys: Keys,
    shard: Shard,
    consumer: String,
}

impl Queue {
    /// The queue of `shard` for a consumer of this name. `reads` is a connection of its own, since it waits.
    #[must_use]
    pub fn new(
        calls: Connection,
        reads: Connection,
        keys: Keys,
        shard: Shard,
        consumer: &str,
    ) -> Self {
        Self {
            calls,
            reads,
            keys,
            shard,
            consumer: consumer.to_owned(),
        }
    }

    /// The shard.
    #[must_use]
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// Creates stream and group where they are missing; true when it did. The group begins at `0`: orders placed
    /// before it count.
    ///
    /// # Errors
    /// When Redis is away, or the key is no stream.
    pub async fn ensure_group(&self) -> RedisResult<bool> {
        let mut create = cmd("XGROUP");
        create
            .arg("CREATE")
            .arg(self.orders())
            .arg(GROUP)
            .arg("0")
            .arg("MKSTREAM");
        match self.calls.query::<()>(&create).await {
            Err(error) if error.code() == Some("BUSYGROUP") => Ok(false),
            result => result.map(|()| true),
        }
    }

    /// Reads up to `count` new entries, waiting up to [`BLOCK`] for the first.
    ///
    /// # Errors
    /// When Redis is away; `NOGROUP` when stream or group are gone.
    pub async fn read(&self, count: usize) -> RedisResult<Vec<Entry>> {
        let block = ["BLOCK".to_owned(), millis(BLOCK).to_string()];
        self.read_group(&self.reads, count, &block, ">").await
    }

    /// Reads up to `count` new entries that are there.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn read_now(&self, count: usize) -> RedisResult<Vec<Entry>> {
        self.read_group(&self.reads, count, &[], ">").await
    }

    /// Reads entries that were given to this consumer and are not acknowledged: the answer to a read may be lost on its
    /// way, and then nobody works on what it held.
    ///
    /// # Errors
    /// When Redis is away; `NOGROUP` when stream or group are gone.
    pub async fn read_own(&self, count: usize) -> RedisResult<Vec<Entry>> {
        self.read_group(&self.calls, count, &[], "0").await
    }

    /// Takes over up to `count` entries that their consumer has left idle for longer than `idle`; with where to go
    /// on, `0-0` when through.
    ///
    /// # Errors
    /// When Redis is away; `NOGROUP` when stream or group are gone.
    pub async fn recover(
        &self,
        idle: Duration,
        from: &str,
        count: usize,
    ) -> RedisResult<(String, Vec<Entry>)> {
        let mut claim = cmd("XAUTOCLAIM");
        claim
            .arg(self.orders())
            .arg(GROUP)
            .arg(&self.consumer)
            .arg(millis(idle))
            .arg(from);
        claim.arg("COUNT").arg(count);
        let (next, entries, _deleted): (String, Vec<RawEntry>, Vec<String>) =
            self.calls.query(&claim).await?;
        Ok((next, entries.into_iter().map(parse).collect()))
    }

    /// Says that these entries are still being worked on, so that nobody takes them over.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn renew(&self, ids: &[String]) -> RedisResult<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut claim = cmd("XCLAIM");
        claim
            .arg(self.orders())
            .arg(GROUP)
            .arg(&self.consumer)
            .arg(0)
            .arg(ids)
            .arg("JUSTID");
        self.calls.query::<Vec<String>>(&claim).await.map(drop)
    }

    /// Acknowledges and deletes entries whose orders are stored.
    ///
    /// # Errors
    /// When Redis is away; the entries are then delivered again, which is harmless.
    pub async fn acknowledge(&self, ids: &[String]) -> RedisResult<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut call = Scripts::all().acknowledge.on(&[self.orders()]);
        call.arg(GROUP).arg(ids);
        self.calls.invoke::<u64>(&call).await.map(drop)
    }

    /// Moves an entry to the dead letters; false when somebody else dealt with it.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn park(&self, id: &str, reason: &str, tries: u32) -> RedisResult<bool> {
        let keys = [self.orders(), self.keys.dead(self.shard)];
        let mut call = Scripts::all().park.on(&keys);
        call.arg(GROUP).arg(id).arg(reason).arg(tries);
        self.calls
            .invoke::<i64>(&call)
            .await
            .map(|moved| moved == 1)
    }

    /// Deletes the names of consumers that have nothing pending and were idle for longer than `idle`; with
    /// `leaving`, one's own too.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn retire(&self, idle: Duration, leaving: bool) -> RedisResult<u64> {
        let own = if leaving { self.consumer.as_str() } else { "" };
        let mut call = Scripts::all().retire.on(&[self.orders()]);
        call.arg(GROUP).arg(own).arg(millis(idle));
        self.calls.invoke(&call).await
    }

    async fn read_group(
        &self,
        connection: &Connection,
        count: usize,
        block: &[String],
        from: &str,
    ) -> RedisResult<Vec<Entry>> {
        let mut read = cmd("XREADGROUP");
        read.arg("GROUP").arg(GROUP).arg(&self.consumer);
        read.arg("COUNT").arg(count).arg(block);
        read.arg("STREAMS").arg(self.orders()).arg(from);
        let streams: Option<Vec<(String, Vec<RawEntry>)>> = connection.query(&read).await?;
        let entries = streams.unwrap_or_default().into_iter();
        Ok(entries
            .flat_map(|(_, entries)| entries)
            .map(parse)
            .collect())
    }

    fn orders(&self) -> String {
        self.keys.orders(self.shard)
    }
}
