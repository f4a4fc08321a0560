//! Waits on a condition with a deadline: the only place where tests let time pass.

use std::time::Duration;

/// Time enough for whatever happens by itself.
const DEADLINE: Duration = Duration::from_secs(20);

/// Waits until `holds`; fails the test, in these words, when it does not within 20 s.
pub async fn eventually(what: &str, holds: impl AsyncFnMut() -> bool) {
    within(DEADLINE, what, holds).await;
}

/// Waits until `holds`; fails the test when it does not within `deadline`.
pub async fn within(deadline: Duration, what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let mut ticks = tokio::time::interval(Duration::from_millis(20));
    let wait = async {
        loop {
            ticks.tick().await;
            if holds().await {
                return;
            }
        }
    };
    let held = tokio::time::timeout(deadline, wait).await;
    assert!(held.is_ok(), "within {deadline:?}: {what}");
}
