//! Says once that something is away, and once that it is back, however often it is asked meanwhile.

use std::{
    collections::BTreeSet,
    fmt::Display,
    sync::{Mutex, PoisonError},
};

use tokio::time::{Duration, Instant};

/// While an outage lasts it is said again this often.
const REMINDER: Duration = Duration::from_secs(60);

/// The state of one thing that may be away.
#[derive(Debug)]
pub struct Outage {
    what: &'static str,
    since: Option<Instant>,
    said_at: Option<Instant>,
}

impl Outage {
    /// Nothing is wrong with `what` yet.
    #[must_use]
    pub fn of(what: &'static str) -> Self {
        Self {
            what,
            since: None,
            said_at: None,
        }
    }

    /// A failure: logged when it is the first, or a minute after the last that was.
    pub fn failed(&mut self, error: &dyn Display) {
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        if self.said_at.is_none_or(|said| now - said >= REMINDER) {
            self.said_at = Some(now);
            let away_s = (now - since).as_secs();
            tracing::warn!(error = %error, outage.seconds = away_s, "{} fails; trying again", self.what);
        }
    }

    /// A success: logged when it ends an outage.
    pub fn worked(&mut self) {
        if let Some(since) = self.since.take() {
            self.said_at = None;
            tracing::info!(
                outage.seconds = since.elapsed().as_secs(),
                "{} works again",
                self.what
            );
        }
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
