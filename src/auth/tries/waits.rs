//! Failures of a kind, and the wait after each: none for the first few, then one that doubles.

use std::time::Duration;

use moka::{ops::compute::Op, policy::EvictionPolicy, sync::Cache};
use tokio::time::Instant;

use super::CAPACITY;

/// Failures are forgotten so long after the last: longer than the longest wait.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3600);

/// The failures of each key.
pub(super) struct Waits {
    free: u32,
    longest: Duration,
    failures: Cache<u64, Failures>,
}

#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    /// Before this nothing may be tried.
    until: Instant,
}

impl Waits {
    /// The first `free` failures cost nothing; after that one must wait for a second, and twice as long each time, up to
    /// `longest`.
    pub(super) fn new(free: u32, longest: Duration) -> Self {
        Self {
            free,
            longest,
            failures: Cache::builder()
                .max_capacity(CAPACITY)
                .eviction_policy(EvictionPolicy::lru())
                .time_to_idle(FORGOTTEN_AFTER)
                .build(),
        }
    }

    /// Counts a failure, unless `key` has to wait.
    ///
    /// # Errors
    /// How long it has to wait; nothing is counted then.
    pub(super) fn begin(&self, key: u64, now: Instant) -> Result<(), Duration> {
        let mut wait = Ok(());
        self.failures.entry(key).and_compute_with(|known| {
            let (count, until) = known.map_or((0, now), |known| {
                let failures = known.into_value();
                (failures.count, failures.until)
            });
            if until > now {
                wait = Err(until - now);
                return Op::Nop;
            }
            let count = count.saturating_add(1);
            let until = now + self.wait_after(count);
            Op::Put(Failures { count, until })
        });
        wait
    }

    /// What was counted was no failure: whoever had waited has not waited for nothing.
    pub(super) fn undo(&self, key: u64, now: Instant) {
        self.failures.entry(key).and_compute_with(|known| {
            match known.map(|known| known.into_value().count.saturating_sub(1)) {
                None => Op::Nop,
                Some(0) => Op::Remove,
                Some(count) => Op::Put(Failures { count, until: now }),
            }
        });
    }

    pub(super) fn forget(&self, key: u64) {
        self.failures.invalidate(&key);
    }

    fn wait_after(&self, count: u32) -> Duration {
        let Some(beyond) = count.checked_sub(self.free) else {
            return Duration::ZERO;
        };
        let doubled = 1u32.checked_shl(beyond).unwrap_or(u32::MAX);
        Duration::from_secs(doubled.into()).min(self.longest)
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> u64 {
        self.failures.run_pending_tasks();
        self.failures.entry_count()
    }
}
