//! The queue between gate and consumer: one Redis Stream a shard, read by the consumer group. What is read here
//! may have been written by anyone, so every entry is parsed, and none can stop the line (case O10).

use std::time::Duration;

use app::model::{DeadLetter, OrderId, UserId, VoucherId};
use redis::{RedisResult, cmd};

use super::{
    connection::{Connection, millis},
    keys::{GROUP, Keys, Shard},
    scripts::Scripts,
};

/// How long a read waits for entries.
pub const BLOCK: Duration = Duration::from_secs(2);

/// A promise of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The order promised.
    pub order: OrderId,
    /// To whom.
    pub user: UserId,
    /// Of what.
    pub voucher: VoucherId,
}

/// An entry of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id in the stream.
    pub id: String,
    /// What it says; `None` when it says nothing of ours.
    pub promise: Option<Promise>,
}

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

/// Names and values as they lie in Redis.
pub(super) type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// An entry's id and pairs; `None` when it was deleted.
type RawEntry = (String, Option<Pairs>);

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
        let mut read = cmd("XREADGROUP");
        read.arg("GROUP")
            .arg(GROUP)
            .arg(&self.consumer)
            .arg("COUNT")
            .arg(count);
        read.arg("BLOCK")
            .arg(millis(BLOCK))
            .arg("STREAMS")
            .arg(self.orders())
            .arg(">");
        self.entries(&self.reads, &read).await
    }

    /// Reads entries that were given to this consumer and are not acknowledged: the answer to a read may be lost on its
    /// way, and then nobody works on what it held.
    ///
    /// # Errors
    /// When Redis is away; `NOGROUP` when stream or group are gone.
    pub async fn read_own(&self, count: usize) -> RedisResult<Vec<Entry>> {
        let mut read = cmd("XREADGROUP");
        read.arg("GROUP")
            .arg(GROUP)
            .arg(&self.consumer)
            .arg("COUNT")
            .arg(count);
        read.arg("STREAMS").arg(self.orders()).arg("0");
        self.entries(&self.calls, &read).await
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
        let mut call = Scripts::all().acknowledge.prepare_invoke();
        call.key(self.orders()).arg(GROUP).arg(ids);
        self.calls.invoke::<u64>(&call).await.map(drop)
    }

    /// Moves an entry to the dead letters; false when somebody else dealt with it.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn park(&self, id: &str, reason: &str, tries: u32) -> RedisResult<bool> {
        let mut call = Scripts::all().park.prepare_invoke();
        call.key(self.orders()).key(self.keys.dead(self.shard));
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
        let mut call = Scripts::all().retire.prepare_invoke();
        call.key(self.orders())
            .arg(GROUP)
            .arg(own)
            .arg(millis(idle));
        self.calls.invoke(&call).await
    }

    async fn entries(&self, connection: &Connection, read: &redis::Cmd) -> RedisResult<Vec<Entry>> {
        let streams: Option<Vec<(String, Vec<RawEntry>)>> = connection.query(read).await?;
        let entries = streams
            .unwrap_or_default()
            .into_iter()
            .flat_map(|(_, entries)| entries);
        Ok(entries.map(parse).collect())
    }

    fn orders(&self) -> String {
        self.keys.orders(self.shard)
    }
}

/// How the queue of a shard stands.
///
/// # Errors
/// When Redis is away.
pub async fn backlog(calls: &Connection, keys: &Keys, shard: Shard) -> RedisResult<Backlog> {
    let mut pipe = redis::pipe();
    pipe.ignore_errors();
    pipe.xlen(keys.orders(shard)).xlen(keys.dead(shard));
    let lengths: Vec<RedisResult<u64>> = calls.query_pipe(&pipe).await?;
    let length = |i: usize| {
        lengths
            .get(i)
            .and_then(|length| length.as_ref().ok())
            .copied()
            .unwrap_or_default()
    };
    // Without a group, or where the key is no stream, nothing is pending.
    let pending: RedisResult<(u64, redis::Value, redis::Value, redis::Value)> = calls
        .query(cmd("XPENDING").arg(keys.orders(shard)).arg(GROUP))
        .await;
    let pending = match pending {
        Ok((pending, ..)) => pending,
        Err(error) if matches!(error.code(), Some("NOGROUP" | "WRONGTYPE")) => 0,
        Err(error) => return Err(error),
    };
    Ok(Backlog {
        queued: length(0),
        pending,
        dead: length(1),
    })
}

/// The oldest `count` dead letters of a shard.
///
/// # Errors
/// When Redis is away.
pub async fn dead_letters(
    calls: &Connection,
    keys: &Keys,
    shard: Shard,
    count: usize,
) -> RedisResult<Vec<DeadLetter>> {
    let mut range = cmd("XRANGE");
    range
        .arg(keys.dead(shard))
        .arg("-")
        .arg("+")
        .arg("COUNT")
        .arg(count);
    let entries: Vec<RawEntry> = calls.query(&range).await?;
    Ok(entries
        .into_iter()
        .map(|(id, pairs)| dead_letter(shard, id, pairs.unwrap_or_default()))
        .collect())
}

/// All promises that stand in a stream of this shard: its queue, or its dead letters.
///
/// # Errors
/// When Redis is away.
pub(super) async fn promises(calls: &Connection, stream: &str) -> RedisResult<Vec<Promise>> {
    const PAGE: usize = 1000;
    let mut promises = Vec::new();
    let mut from = "-".to_owned();
    loop {
        let mut range = cmd("XRANGE");
        range.arg(stream).arg(&from).arg("+").arg("COUNT").arg(PAGE);
        let entries: Vec<RawEntry> = calls.query(&range).await?;
        let Some((last, _)) = entries.last() else {
            return Ok(promises);
        };
        from = format!("({last}");
        let through = entries.len() < PAGE;
        promises.extend(entries.into_iter().filter_map(|entry| parse(entry).promise));
        if through {
            return Ok(promises);
        }
    }
}

fn parse((id, pairs): RawEntry) -> Entry {
    let pairs = pairs.unwrap_or_default();
    let field = |name: &str| {
        let (_, value) = pairs.iter().find(|(key, _)| key == name.as_bytes())?;
        std::str::from_utf8(value).ok()
    };
    let promise = || {
        Some(Promise {
            order: OrderId::parse(field("order")?)?,
            user: UserId::parse(field("user")?).ok()?,
            voucher: VoucherId::parse(field("voucher")?).ok()?,
        })
    };
    Entry {
        id,
        promise: promise(),
    }
}

fn dead_letter(shard: Shard, id: String, pairs: Pairs) -> DeadLetter {
    const SHOWN: usize = 80;
    let shown =
        |bytes: &[u8]| -> String { String::from_utf8_lossy(bytes).chars().take(SHOWN).collect() };
    let mut letter = DeadLetter {
        shard: shard.0,
        id,
        reason: String::new(),
        tries: 0,
        fields: Vec::new(),
    };
    // `park.lua` wrote reason and tries first; the entry's own fields follow, whatever their names.
    for (place, (name, value)) in pairs.iter().enumerate() {
        match place {
            0 => letter.reason = shown(value),
            1 => letter.tries = shown(value).parse().unwrap_or_default(),
            _ => letter.fields.push((shown(name), shown(value))),
        }
    }
    letter
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::*;

    fn entry(pairs: &[(&str, &str)]) -> Entry {
        let pairs = pairs
            .iter()
            .map(|(k, v)| (k.as_bytes().to_vec(), v.as_bytes().to_vec()))
            .collect();
        parse(("1-0".to_owned(), Some(pairs)))
    }

    #[test]
    fn an_entry_is_a_promise_only_with_three_good_fields() {
        let order = "019f0000-0000-8000-8000-000000000001";
        assert!(
            entry(&[("order", order), ("user", "1"), ("voucher", "2")])
                .promise
                .is_some()
        );
        assert!(entry(&[]).promise.is_none());
        assert!(
            entry(&[("order", order), ("user", "1"), ("voucher", "two")])
                .promise
                .is_none()
        );
        assert!(
            entry(&[("order", order), ("user", "0"), ("voucher", "2")])
                .promise
                .is_none()
        );
        assert!(
            entry(&[("order", "x"), ("user", "1"), ("voucher", "2")])
                .promise
                .is_none()
        );
    }

    proptest! {
        #[test]
        fn no_entry_makes_the_parser_panic(pairs: Vec<(Vec<u8>, Vec<u8>)>, gone in any::<bool>()) {
            let promise = parse(("1-0".to_owned(), (!gone).then_some(pairs.clone()))).promise;
            assert!(promise.is_none());
            dead_letter(Shard(0), "1-0".to_owned(), pairs);
        }
    }
}
