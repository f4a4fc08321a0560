//! Asking the server again and again: never while nobody looks, at once when somebody looks again.

use std::time::Duration;

use leptos::{prelude::*, task::spawn_local};

use super::browser;

/// How long to wait before asking again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// So many milliseconds.
    In(u64),
    /// Not any more.
    Never,
}

enum Wait {
    Timer(Option<TimeoutHandle>),
    Hidden,
    Asking,
}

/// Calls `ask` after `first`, and then as its answers say, until one says `Never`.
pub(super) fn poll<Ask, Answer>(first: Next, ask: Ask)
where
    Ask: Fn() -> Answer + Clone + 'static,
    Answer: Future<Output = Next> + 'static,
{
    let due = RwSignal::new(Some(first));
    let hidden = RwSignal::new(browser::is_hidden());
    let listener = window_event_listener_untyped("visibilitychange", move |_| {
        hidden.set(browser::is_hidden());
    });
    on_cleanup(move || listener.remove());
    Effect::new(move |before: Option<Wait>| {
        if let Some(Wait::Timer(Some(timer))) = before {
            timer.clear();
        }
        let (Some(Next::In(pause)), hidden) = (due.get(), hidden.get()) else {
            return Wait::Asking;
        };
        if hidden {
            return Wait::Hidden;
        }
        let pause = match before {
            Some(Wait::Hidden) => pause.min(200),
            _ => pause,
        };
        let ask = ask.clone();
        let ask = move || {
            due.set(None);
            spawn_local(async move { due.set(Some(ask().await)) });
        };
        Wait::Timer(set_timeout_with_handle(ask, Duration::from_millis(pause)).ok())
    });
}

/// The next pause of a series that grows by half, from 0.5 s to 5 s.
pub(super) fn grown(pause_ms: u64) -> u64 {
    (pause_ms * 3 / 2).clamp(500, 5000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_half_a_second_to_five() {
        let pauses: Vec<u64> = std::iter::successors(Some(500), |p| Some(grown(*p)))
            .take(8)
            .collect();
        assert_eq!(pauses, [500, 750, 1125, 1687, 2530, 3795, 5000, 5000]);
    }
}
