//! How far a rehearsal has come, for those who watch it and for the one who wants to stop it.

use std::sync::{Arc, Mutex, PoisonError};

use app::model::{RehearsalPhase, RehearsalProgress};
use tokio::sync::watch;

use super::{RehearsalError, load::Done};

/// What a rehearsal is at. Clones share it.
#[derive(Clone)]
pub struct Watch {
    at: Arc<Mutex<At>>,
    stop: Arc<watch::Sender<bool>>,
}

#[derive(Default)]
struct At {
    progress: RehearsalProgress,
    arrivals: Option<Done>,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            at: Arc::default(),
            stop: Arc::new(watch::Sender::new(false)),
        }
    }
}

impl Watch {
    /// How far it has come.
    #[must_use]
    pub fn progress(&self) -> RehearsalProgress {
        let at = self.locked();
        let done = at.arrivals.as_ref().map(Done::count);
        RehearsalProgress {
            done: done.unwrap_or(at.progress.done),
            ..at.progress
        }
    }

    /// Tells it to stop, and to remove what it has made.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Becomes true when it is to stop.
    pub(super) fn stopped(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// # Errors
    /// When it is to stop.
    pub(super) fn go_on(&self) -> Result<(), RehearsalError> {
        if *self.stop.borrow() {
            return Err(RehearsalError::Stopped);
        }
        Ok(())
    }

    /// Something begins, which is over after so many steps.
    pub(super) fn begins(&self, phase: RehearsalPhase, of: usize) {
        let of = u64::try_from(of).unwrap_or(u64::MAX);
        *self.locked() = At {
            progress: RehearsalProgress { phase, done: 0, of },
            arrivals: None,
        };
    }

    /// So much of it is done.
    pub(super) fn done(&self, done: usize) {
        self.locked().progress.done = u64::try_from(done).unwrap_or(u64::MAX);
    }

    /// Arrivals count for themselves.
    pub(super) fn counts(&self, done: &Done) {
        self.locked().arrivals = Some(done.clone());
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, At> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
