//! Keeps the log readable while something is amiss: an outage is said once, and once that it is over, however often it
//! is asked meanwhile; what comes by the hundred is said by its number. No process logs 20 lines a minute (case O08).

use std::{
    collections::BTreeSet,
    fmt::Display,
    sync::{Mutex, PoisonError},
};

use tokio::time::{Duration, Instant};

/// While an outage lasts it is said again this often.
const REMINDER: Duration = Duration::from_secs(60);

/// Outages that come and go are not said more often than this.
const QUIET: Duration = Duration::from_secs(30);

/// The state of one thing that may be away.
#[derive(Debug)]
pub struct Outage {
    what: &'static str,
    since: Option<Instant>,
    said_at: Option<Instant>,
    /// The present one was said: its end will be.
    is_said: bool,
}

impl Outage {
    /// Nothing is wrong with `what` yet.
    #[must_use]
    pub fn of(what: &'static str) -> Self {
        Self {
            what,
            since: None,
            said_at: None,
            is_said: false,
        }
    }

    /// A failure: logged when it is the first for half a minute, or a minute after the last that was.
    pub fn failed(&mut self, error: &dyn Display) {
        if let Some(away) = self.begin(Instant::now()) {
            let away_s = away.as_secs();
            tracing::warn!(error = %error, outage.seconds = away_s, "{} fails; trying again", self.what);
        }
    }

    /// A success: logged when it ends an outage that was.
    pub fn worked(&mut self) {
        if let Some(away) = self.end(Instant::now()) {
            tracing::info!(outage.seconds = away.as_secs(), "{} works again", self.what);
        }
    }

    /// Notes a failure; how long it has lasted, where that is to be said.
    fn begin(&mut self, now: Instant) -> Option<Duration> {
        let since = *self.since.get_or_insert(now);
        let pause = if self.is_said { REMINDER } else { QUIET };
        if self.said_at.is_some_and(|said| now - said < pause) {
            return None;
        }
        self.said_at = Some(now);
        self.is_said = true;
        Some(now - since)
    }

    /// Notes a success; how long it took to come, where that is to be said.
    fn end(&mut self, now: Instant) -> Option<Duration> {
        let since = self.since.take()?;
        std::mem::take(&mut self.is_said).then(|| now - since)
    }
}

/// Counts what may come by the hundred, each of which would be worth a line.
#[derive(Debug, Default)]
pub struct Tally(Mutex<Count>);

#[derive(Debug, Default)]
struct Count {
    unsaid: u64,
    said_at: Option<Instant>,
}

impl Tally {
    /// One more. How many there were since it was last said, where that is to be said: the first at once, the others
    /// with one that comes half a minute later.
    pub fn add(&self) -> Option<u64> {
        self.add_at(Instant::now())
    }

    fn add_at(&self, now: Instant) -> Option<u64> {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        count.unsaid += 1;
        if count.said_at.is_some_and(|said| now - said < QUIET) {
            return None;
        }
        count.said_at = Some(now);
        Some(std::mem::take(&mut count.unsaid))
    }
}

/// The state of several of a kind, which mostly fail together: said once for all of them.
#[derive(Debug)]
pub struct SharedOutage(Mutex<(Outage, BTreeSet<u16>)>);

impl SharedOutage {
    /// Nothing is wrong with any `what` yet.
    #[must_use]
    pub fn of(what: &'static str) -> Self {
        Self(Mutex::new((Outage::of(what), BTreeSet::new())))
    }

    /// A failure of one of them.
    pub fn failed(&self, one: u16, error: &dyn Display) {
        let (outage, failing) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failing.insert(one);
        outage.failed(error);
    }

    /// A success of one of them: the outage ends with the last that failed.
    pub fn worked(&self, one: u16) {
        let (outage, failing) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failing.remove(&one) && failing.is_empty() {
            outage.worked();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn an_outage_is_said_once_and_so_is_its_end() {
        let (mut outage, now) = (Outage::of("it"), Instant::now());
        assert_eq!(outage.begin(now), Some(Duration::ZERO));
        assert_eq!(outage.begin(now + S * 59), None);
        assert_eq!(outage.begin(now + S * 60), Some(S * 60));
        assert_eq!(outage.end(now + S * 61), Some(S * 61));
        assert_eq!(outage.end(now + S * 62), None);
    }

    #[test]
    fn one_that_comes_and_goes_is_said_seldom() {
        let (mut outage, now) = (Outage::of("it"), Instant::now());
        let said = (0..60).filter(|second| {
            let began = outage.begin(now + S * *second).is_some();
            let ended = outage.end(now + S * *second).is_some();
            assert_eq!(began, ended, "an end is said where its beginning was");
            began
        });
        assert_eq!(said.count(), 2);
    }

    #[test]
    fn what_comes_by_the_hundred_is_said_by_its_number() {
        let (tally, now) = (Tally::default(), Instant::now());
        assert_eq!(tally.add_at(now), Some(1));
        assert_eq!(tally.add_at(now + S), None);
        assert_eq!(tally.add_at(now + S * 2), None);
        assert_eq!(tally.add_at(now + S * 40), Some(3));
    }
}
