//! Dead letters: entries that could not be persisted. They hold their unit as long as the mark is theirs. Each is put
//! back into the queue or discarded by one script that does nothing when the letter is gone.

use app::model::{
    DeadLetter, DeadLetterId, LetterNames, LetterOutcome, LettersPage, LettersSearch, VoucherId,
};
use redis::{RedisResult, cmd};

use super::{
    Gate,
    entry::{Entry, Pairs, Promise, RawEntry, parse},
    keys::Shard,
    order_text,
    script::Call,
    unexpected,
};

/// Letters that are looked through for those of one sale in one go.
const LOOKED_THROUGH: usize = 20_000;

/// Letters of one call, so that none is long.
const READ_AT_ONCE: usize = 500;

impl Gate {
    /// The next `count` dead letters, shard by shard, oldest first. Of one sale it looks through no more than
    /// [`LOOKED_THROUGH`] letters of all sales at a time: there may then be fewer, or none, and more to come.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn dead_letters(
        &self,
        search: &LettersSearch,
        count: usize,
    ) -> RedisResult<LettersPage> {
        let mut page = LettersPage::default();
        let mut looked_through = 0;
        for shard in self.shards_of(search) {
            let after = search.after.as_ref().filter(|after| after.shard == shard.0);
            let mut from =
                after.map_or_else(|| "-".to_owned(), |after| format!("({}", after.entry));
            loop {
                let mut range = cmd("XRANGE");
                range.arg(self.keys.dead(shard)).arg(&from).arg("+");
                range.arg("COUNT").arg(READ_AT_ONCE);
                let entries: Vec<RawEntry> = self.connection.query(&range).await?;
                let is_last = entries.len() < READ_AT_ONCE;
                for raw in entries {
                    let id = raw.0.clone();
                    if looked_through == LOOKED_THROUGH || page.letters.len() == count {
                        return Ok(page);
                    }
                    looked_through += 1;
                    if search.sale.is_none_or(|sale| is_of(sale, &raw)) {
                        page.letters.push(self.letter(shard, raw));
                    }
                    from = format!("({id}");
                    page.next = Some(DeadLetterId {
                        shard: shard.0,
                        entry: id,
                    });
                }
                if is_last {
                    break;
                }
            }
        }
        page.next = None;
        Ok(page)
    }

    /// The shards that are left to look at: all of them, or the sale's.
    fn shards_of(&self, search: &LettersSearch) -> Vec<Shard> {
        let of_sale = search.sale.map(|sale| self.keys.shard(sale));
        let first = search.after.as_ref().map_or(0, |after| after.shard);
        let shards = self.keys.shards().filter(|shard| shard.0 >= first);
        shards
            .filter(|shard| of_sale.is_none_or(|own| own == *shard))
            .collect()
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
        let [sale, stock, buyers] = self.keys.of_sale(promise.voucher);
        let shard = Shard(id.shard);
        let (dead, orders) = (self.keys.dead(shard), self.keys.orders(shard));
        let keys = [dead, orders, sale, stock, buyers];
        let mut call = self.scripts.replay.on(&keys);
        ask(&mut call, id, promise);
        self.decide(call).await
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
        let [sale, stock, buyers] = self.keys.of_sale(promise.voucher);
        let dead = self.keys.dead(Shard(id.shard));
        let mut call = self.scripts.discard.on(&[dead, sale, stock, buyers]);
        ask(&mut call, id, promise);
        call.arg(order_text::former(promise.order));
        self.decide(call).await
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

    async fn decide(&self, call: Call) -> RedisResult<LetterOutcome> {
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
        let promise = parse((id.entry.clone(), Some(pairs.clone()))).promise;
        DeadLetter {
            promise: promise.map(|promise| (promise.user, promise.voucher)),
            ..shown(id, &pairs, can_be_replayed)
        }
    }
}

/// What both scripts are told.
fn ask(call: &mut Call, id: &DeadLetterId, promise: &Promise) {
    call.arg(&id.entry)
        .arg(promise.user.0)
        .arg(order_text::write(promise.order).as_slice());
}

/// Does a letter carry an order of this sale?
fn is_of(sale: VoucherId, raw: &RawEntry) -> bool {
    let promise = parse(raw.clone()).promise;
    promise.is_some_and(|promise| promise.voucher == sale)
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
        promise: None,
        names: LetterNames::default(),
    };
    // `park.lua` wrote reason and tries first; the entry's own fields follow, whatever their names.
    for (place, (name, value)) in pairs.iter().enumerate() {
        match place {
            0 => letter.reason = cut(value, REASON_SHOWN),
            1 => letter.tries = text(value).parse().unwrap_or_default(),
            _ => {
                let value = order_shown(name, value).unwrap_or_else(|| text(value));
                letter.fields.push((text(name), value));
            }
        }
    }
    letter
}

/// An order is shown as everywhere else, however it is written here.
fn order_shown(name: &[u8], value: &[u8]) -> Option<String> {
    let order = (name == b"order").then(|| order_text::read(value))?;
    order.map(|order| order.to_string())
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
