//! How often one user may press the button: so many a second, twice as many in a burst, per instance, in memory.

use std::num::NonZeroU32;

use app::model::UserId;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter, clock::Clock};

/// The limit; without one everybody may.
pub struct BuyLimit(Option<DefaultKeyedRateLimiter<UserId>>);

impl BuyLimit {
    /// So many buys a second per user; `None`: no limit.
    #[must_use]
    pub fn new(per_second: Option<u32>) -> Self {
        let rate = per_second.and_then(NonZeroU32::new);
        Self(rate.map(|rate| {
            let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(1));
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst))
        }))
    }

    /// May this user buy now? If not: after how many seconds.
    ///
    /// # Errors
    /// The seconds to wait.
    pub fn check(&self, user: UserId) -> Result<(), u32> {
        let Some(limit) = &self.0 else { return Ok(()) };
        limit.check_key(&user).map_err(|until| {
            let wait = until.wait_time_from(governor::clock::DefaultClock::default().now());
            u32::try_from(wait.as_secs())
                .unwrap_or(u32::MAX)
                .saturating_add(1)
        })
    }

    /// Forgets users whose allowance is full again.
    pub fn tidy(&self) {
        if let Some(limit) = &self.0 {
            limit.retain_recent();
            limit.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_twice_the_rate_and_users_do_not_share_it() {
        let limit = BuyLimit::new(Some(5));
        let allowed = (0..30).filter(|_| limit.check(UserId(1)).is_ok()).count();
        assert!((10..=11).contains(&allowed), "{allowed}");
        assert!(limit.check(UserId(1)).is_err_and(|seconds| seconds >= 1));
        assert!(limit.check(UserId(2)).is_ok());
        assert!((0..1000).all(|_| BuyLimit::new(None).check(UserId(1)).is_ok()));
    }
}
