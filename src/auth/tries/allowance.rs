//! A number of things that may be done in a burst, and as many again as time gives back.

use std::time::Duration;

use moka::{ops::compute::Op, policy::EvictionPolicy, sync::Cache};
use tokio::time::Instant;

use super::CAPACITY;

/// The allowance of each key.
pub(super) struct Allowance {
    burst: f64,
    per_second: f64,
    used: Cache<u64, Used>,
}

#[derive(Clone, Copy)]
struct Used {
    amount: f64,
    at: Instant,
}

impl Allowance {
    /// So many in a burst; `per_second` are given back.
    pub(super) fn new(burst: u32, per_second: f64) -> Self {
        let burst = f64::from(burst);
        Self {
            burst,
            per_second,
            // By then all is given back.
            used: Cache::builder()
                .max_capacity(CAPACITY)
                .eviction_policy(EvictionPolicy::lru())
                .time_to_idle(Duration::from_secs_f64(burst / per_second + 1.0))
                .build(),
        }
    }

    /// Takes one, where one is left.
    ///
    /// # Errors
    /// How long it takes until one is.
    pub(super) fn take(&self, key: u64, now: Instant) -> Result<(), Duration> {
        let mut wait = Ok(());
        self.used.entry(key).and_compute_with(|known| {
            let used = known.map_or(0.0, |known| self.left_of(known.into_value(), now));
            let over = used + 1.0 - self.burst;
            if over > 0.0 {
                wait = Err(Duration::from_secs_f64(over / self.per_second));
                return Op::Nop;
            }
            Op::Put(Used {
                amount: used + 1.0,
                at: now,
            })
        });
        wait
    }

    /// One was not used after all.
    pub(super) fn give_back(&self, key: u64) {
        self.used.entry(key).and_compute_with(|known| {
            known.map_or(Op::Nop, |known| {
                let Used { amount, at } = known.into_value();
                Op::Put(Used {
                    amount: (amount - 1.0).max(0.0),
                    at,
                })
            })
        });
    }

    fn left_of(&self, used: Used, now: Instant) -> f64 {
        let back = now.saturating_duration_since(used.at).as_secs_f64() * self.per_second;
        (used.amount - back).max(0.0)
    }
}
