//! Dead letters: entries that could not be persisted. They hold their unit as long as the mark is theirs. Each is put
//! back into the queue or discarded by one script that does nothing when the letter is gone.

use app::model::{DeadLetter, DeadLetterId, LetterOutcome};
use redis::{RedisResult, ScriptInvocation, cmd};

use super::{
    Gate,
    entry::{Entry, Pairs, Promise, RawEntry, parse},
    keys::Shard,
    unexpected,
};

impl Gate {
    /// The oldest `count` dead letters of every shard.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn dead_letters(&self, count: usize) -> RedisResult<Vec<DeadLetter>> {
        let mut letters = Vec::new();
        for shard in self.keys.shards() {
            let mut range = cmd("XRANGE");
            range.arg(self.keys.dead(shard)).arg("-").arg("+");
            range.arg("COUNT").arg(count);
            let entries: Vec<RawEntry> = self.connection.query(&range).await?;
            letters.extend(entries.into_iter().map(|raw| self.letter(shard, raw)));
        }
        Ok(letters)
    }

    /// A dead letter, as an entry of the queue; `None` when it is gone. It carries a promise only where it can be put
    /// back: where it is readable, and of a voucher of its shard.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn dead_letter(&self, id: &DeadLetterId) -> RedisResult<Option<Entry>> {
        let shard = Shard(id.shard);
        let mut range = cmd("XRANGE");
        range
            .arg(self.keys.dead(shard))
            .arg(&id.entry)
            .arg(&id.entry);
        let entries: Vec<RawEntry> = self.connection.query(&range).await?;
        Ok(entries.into_iter().next().map(|raw| self.entry(shard, raw)))
    }

    /// Puts a dead letter back into the queue. Takes a unit for it again where its mark is missing.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn replay(&self, id: &DeadLetterId, promise: &Promise) -> RedisResult<LetterOutcome> {
        let mut call = self.scripts.replay.prepare_invoke();
        call.key(self.keys.dead(Shard(id.shard)))
            .key(self.keys.orders(Shard(id.shard)));
        self.decide(call, id, promise).await
    }

    /// Drops a dead letter whose order is stored as refused, and gives its unit back.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn discard(
        &self,
        id: &DeadLetterId,
        promise: &Promise,
    ) -> RedisResult<LetterOutcome> {
        let mut call = self.scripts.discard.prepare_invoke();
        call.key(self.keys.dead(Shard(id.shard)));
        self.decide(call, id, promise).await
    }

    /// Drops a dead letter that holds no unit: it is unreadable, nobody's, or its order is stored as confirmed.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn drop_dead_letter(&self, id: &DeadLetterId) -> RedisResult<LetterOutcome> {
        let mut delete = cmd("XDEL");
        delete.arg(self.keys.dead(Shard(id.shard))).arg(&id.entry);
        let deleted: u64 = self.connection.query(&delete).await?;
        Ok(if deleted == 0 {
            LetterOutcome::Gone
        } else {
            LetterOutcome::Discarded
        })
    }

    async fn decide(
        &self,
        mut call: ScriptInvocation<'_>,
        id: &DeadLetterId,
        promise: &Promise,
    ) -> RedisResult<LetterOutcome> {
        let voucher = promise.voucher;
        call.key(self.keys.sale(voucher))
            .key(self.keys.stock(voucher))
            .key(self.keys.buyers(voucher));
        call.arg(&id.entry)
            .arg(promise.user.0)
            .arg(promise.order.to_string());
        let word: String = self.connection.invoke(&call).await?;
        LetterOutcome::parse(&word).ok_or_else(|| unexpected("dead letter", &word))
    }

    fn entry(&self, shard: Shard, raw: RawEntry) -> Entry {
        let mut entry = parse(raw);
        entry.promise = entry
            .promise
            .filter(|promise| self.keys.shard(promise.voucher) == shard);
        entry
    }

    fn letter(&self, shard: Shard, (id, pairs): RawEntry) -> DeadLetter {
        let pairs = pairs.unwrap_or_default();
        let can_be_replayed = self
            .entry(shard, (id.clone(), Some(pairs.clone())))
            .promise
            .is_some();
        let id = DeadLetterId {
            shard: shard.0,
            entry: id,
        };
        shown(id, &pairs, can_be_replayed)
    }
}

fn shown(id: DeadLetterId, pairs: &Pairs, can_be_replayed: bool) -> DeadLetter {
    const SHOWN: usize = 80;
    const REASON_SHOWN: usize = 300;
    let cut = |bytes: &[u8], letters: usize| -> String {
        String::from_utf8_lossy(bytes)
            .chars()
            .take(letters)
            .collect()
    };
    let text = |bytes: &[u8]| cut(bytes, SHOWN);
    let mut letter = DeadLetter {
        id,
        reason: String::new(),
        tries: 0,
        fields: Vec::new(),
        can_be_replayed,
    };
    // `park.lua` wrote reason and tries first; the entry's own fields follow, whatever their names.
    for (place, (name, value)) in pairs.iter().enumerate() {
        match place {
            0 => letter.reason = cut(value, REASON_SHOWN),
            1 => letter.tries = text(value).parse().unwrap_or_default(),
            _ => letter.fields.push((text(name), text(value))),
        }
    }
    letter
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::*;

    proptest! {
        #[test]
        fn every_letter_can_be_shown(pairs: Vec<(Vec<u8>, Vec<u8>)>) {
            let id = DeadLetterId { shard: 0, entry: "1-0".to_owned() };
            let letter = shown(id, &pairs, false);
            assert_eq!(letter.fields.len(), pairs.len().saturating_sub(2));
        }
    }
}
