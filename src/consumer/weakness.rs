//! Warns, by name, of settings of Redis with which it may forget promises: at start, and when they change.

use std::{collections::BTreeSet, time::Duration};

use tokio::{sync::watch, time::sleep};

use crate::gate::Gate;

/// How often Redis is asked; at start it may be late.
const EVERY: Duration = Duration::from_secs(60);
const AT_START: Duration = Duration::from_secs(1);

/// Asks every minute until `stop` says so.
pub async fn watch(gate: Gate, mut stop: watch::Receiver<bool>) {
    let mut said = BTreeSet::new();
    let mut pause = AT_START;
    while !*stop.borrow() {
        // That Redis is away is the keeper's to say.
        if let Ok(found) = gate.weaknesses().await {
            for weakness in found.difference(&said) {
                tracing::warn!("{}", weakness.explained());
            }
            said = found;
            pause = EVERY;
        }
        tokio::select! {
            () = sleep(pause) => {}
            _ = stop.changed() => {}
        }
    }
}
