//! Counts what happens at each sale, for the charts of the console: in memory where it happens, written to PostgreSQL
//! once a second and never by who counts. What is lost with a process is a second of figures; no order depends on them.
//! A rehearsal counts for itself: figures that are written a moment after its sale is removed would stay for ever.

pub mod upkeep;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use app::model::{BuyOutcome, Counts, VoucherId};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::db;

/// Seconds of one bucket.
pub const BUCKET_S: i64 = 10;

/// Buckets in memory, of all sales: about 5 MB. While PostgreSQL is away they are kept so long; what comes beyond is
/// counted in `seckill_figures_left_out_total` alone.
const MOST: usize = 20_000;

/// Buckets that are written in one statement.
const AT_ONCE: usize = 1000;

/// One bucket of one sale: the sale, and the number of the bucket since 1970.
pub type Bucket = (VoucherId, i64);

/// The figures that this instance has counted. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Figures(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    buckets: BTreeMap<Bucket, Sums>,
    /// The bucket of what was counted last.
    latest: i64,
}

/// A bucket as it is, and as it was last written.
#[derive(Clone, Copy, Debug)]
struct Sums {
    /// Its number, which no other has: a bucket that was forgotten and is begun again, because a clock was set back or
    /// another instance counts too, is a row of its own.
    id: i64,
    counts: Counts,
    written: Counts,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            // Not 0, which stands for all that are joined.
            id: rand::random_range(1..=i64::MAX),
            counts: Counts::default(),
            written: Counts::default(),
        }
    }
}

impl Figures {
    /// The gate's answer to a buy.
    pub fn answered(&self, voucher: VoucherId, outcome: BuyOutcome, at: OffsetDateTime) {
        self.book().add(voucher, at, |counts| match outcome {
            BuyOutcome::Queued(_) => counts.accepted += 1,
            BuyOutcome::AlreadyBought(_) => counts.already_bought += 1,
            BuyOutcome::SoldOut => counts.sold_out += 1,
            BuyOutcome::NotStarted => counts.not_started += 1,
            BuyOutcome::Ended => counts.ended += 1,
            BuyOutcome::Closed => counts.closed += 1,
        });
    }

    /// Orders that were stored now, with their sale, the time of the promise, and whether they were confirmed.
    pub fn stored(
        &self,
        orders: impl IntoIterator<Item = (VoucherId, OffsetDateTime, bool)>,
        at: OffsetDateTime,
    ) {
        let mut book = self.book();
        for (voucher, accepted_at, is_confirmed) in orders {
            let lag = i64::try_from((at - accepted_at).whole_milliseconds()).unwrap_or_default();
            // Made by another clock, which may go ahead.
            let lag = lag.max(0);
            book.add(voucher, at, |counts| {
                counts.confirmed += i64::from(is_confirmed);
                counts.refused += i64::from(!is_confirmed);
                counts.lag_ms += lag;
                counts.max_lag_ms = counts.max_lag_ms.max(lag);
            });
        }
    }

    /// How many orders of a sale wait to be stored now.
    pub fn waiting(&self, voucher: VoucherId, backlog: i64, at: OffsetDateTime) {
        if backlog > 0 {
            self.book().add(voucher, at, |counts| {
                counts.backlog = counts.backlog.max(backlog)
            });
        }
    }

    /// Writes what has changed. Sums are written whole, so that writing them twice is harmless.
    ///
    /// # Errors
    /// When the database fails; the next flush writes them.
    pub async fn flush(&self, pool: &PgPool) -> sqlx::Result<()> {
        let changed = self.book().changed();
        for some in changed.chunks(AT_ONCE) {
            let rows: Vec<_> = some.iter().map(row).collect();
            db::in_time(db::sale_figures::upsert(pool, &rows)).await?;
            self.book().written(some);
        }
        Ok(())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A bucket as it is stored: by the instant at which it begins.
fn row(&((voucher, bucket), sums): &(Bucket, Sums)) -> db::sale_figures::Row {
    let at = OffsetDateTime::from_unix_timestamp(bucket * BUCKET_S);
    let at = at.unwrap_or(OffsetDateTime::UNIX_EPOCH);
    (voucher, at, sums.id, sums.counts)
}

impl Book {
    fn add(&mut self, voucher: VoucherId, at: OffsetDateTime, change: impl FnOnce(&mut Counts)) {
        if voucher.is_rehearsal() {
            return;
        }
        self.latest = at.unix_timestamp() / BUCKET_S;
        let bucket = (voucher, self.latest);
        if self.buckets.len() >= MOST && !self.buckets.contains_key(&bucket) {
            metrics::counter!("seckill_figures_left_out_total").increment(1);
            return;
        }
        change(&mut self.buckets.entry(bucket).or_default().counts);
    }

    /// What has changed since it was written, in the order in which every instance writes.
    fn changed(&self) -> Vec<(Bucket, Sums)> {
        let buckets = self.buckets.iter();
        let changed = buckets.filter(|(_, sums)| sums.counts != sums.written);
        changed.map(|(bucket, sums)| (*bucket, *sums)).collect()
    }

    /// Notes what is written, and forgets what is no longer counted in.
    fn written(&mut self, buckets: &[(Bucket, Sums)]) {
        for (bucket, written) in buckets {
            if let Some(sums) = self.buckets.get_mut(bucket) {
                sums.written = written.counts;
            }
        }
        let latest = self.latest;
        self.buckets
            .retain(|(_, at), sums| *at == latest || sums.counts != sums.written);
    }
}

#[cfg(test)]
mod tests {
    use time::{Duration, macros::datetime};

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-30 10:00:07 UTC);
    const SALE: VoucherId = VoucherId(7);

    fn sold_out(book: &mut Book, at: OffsetDateTime) {
        book.add(SALE, at, |counts| counts.sold_out += 1);
    }

    #[test]
    fn a_bucket_is_forgotten_once_it_is_over_and_written() {
        let mut book = Book::default();
        sold_out(&mut book, NOW);
        let first = book.changed();
        sold_out(&mut book, NOW + Duration::seconds(2));
        book.written(&first);
        assert_eq!(
            book.changed()[0].1.counts.sold_out,
            2,
            "what came meanwhile is not forgotten"
        );
        sold_out(&mut book, NOW + Duration::seconds(3));
        let both = book.changed();
        assert_eq!(both.len(), 2);
        book.written(&both);
        assert_eq!((book.changed().len(), book.buckets.len()), (0, 1));
    }

    #[test]
    fn a_clock_that_jumps_ahead_and_is_set_back_loses_nothing_and_counts_where_it_stands() {
        let mut book = Book::default();
        sold_out(&mut book, NOW);
        let first = book.changed();
        book.written(&first);
        sold_out(&mut book, NOW + Duration::hours(1));
        book.written(&book.changed());
        sold_out(&mut book, NOW);
        let again = book.changed();
        assert_eq!((again.len(), again[0].0), (1, first[0].0));
        assert_eq!(again[0].1.counts.sold_out, 1);
        assert_ne!(again[0].1.id, first[0].1.id, "not written over the first");
    }

    #[test]
    fn memory_is_bounded_however_long_nothing_is_written() {
        let mut book = Book::default();
        for n in 0..i64::try_from(MOST).unwrap() + 5 {
            sold_out(&mut book, NOW + Duration::seconds(n * BUCKET_S));
        }
        assert_eq!(book.buckets.len(), MOST);
    }
}
