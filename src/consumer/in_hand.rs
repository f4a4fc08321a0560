//! The entries that a consumer has taken and not yet acknowledged, and when they are due again.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::time::{Duration, Instant};

use crate::gate::entry::Entry;

#[derive(Clone, Debug)]
struct Held {
    entry: Entry,
    due_at: Option<Instant>,
}

/// What is in hand, by entry id.
#[derive(Debug, Default)]
pub(super) struct InHand(Mutex<HashMap<String, Held>>);

impl InHand {
    /// Notes entries that are being worked on now.
    pub(super) fn take(&self, entries: &[Entry]) {
        let mut held = self.lock();
        for entry in entries {
            held.insert(
                entry.id.clone(),
                Held {
                    entry: entry.clone(),
                    due_at: None,
                },
            );
        }
    }

    /// Up to `count` entries to work on again now, oldest first.
    pub(super) fn due(&self, count: usize) -> Vec<Entry> {
        let now = Instant::now();
        let held = self.lock();
        let due = held
            .values()
            .filter(|held| held.due_at.is_some_and(|due| due <= now));
        let mut due: Vec<Entry> = due.map(|held| held.entry.clone()).collect();
        due.sort_by_key(|entry| place(&entry.id));
        due.truncate(count);
        due
    }

    /// Keeps entries for another try after a pause.
    pub(super) fn again(&self, entries: impl IntoIterator<Item = (String, Duration)>) {
        let mut held = self.lock();
        for (id, pause) in entries {
            if let Some(held) = held.get_mut(&id) {
                held.due_at = Some(Instant::now() + pause);
            }
        }
    }

    /// Forgets entries that are dealt with.
    pub(super) fn forget(&self, ids: &[String]) {
        let mut held = self.lock();
        for id in ids {
            held.remove(id);
        }
    }

    pub(super) fn holds(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where an entry stands in the stream: `<ms>-<number>`.
fn place(id: &str) -> (u64, u64) {
    let (ms, number) = id.split_once('-').unwrap_or((id, "0"));
    (
        ms.parse().unwrap_or_default(),
        number.parse().unwrap_or_default(),
    )
}
