//! The server's clock as the browser knows it. The visitor's own clock is never asked (case O30).

/// Server time at some point of the browser's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clock {
    server_ms: i64,
    monotonic_ms: f64,
}

impl Clock {
    /// The server said `server_ms` when the monotonic clock stood at `monotonic_ms`.
    pub(super) fn new(server_ms: i64, monotonic_ms: f64) -> Self {
        Self {
            server_ms,
            monotonic_ms,
        }
    }

    /// Server time when the monotonic clock stands at `monotonic_ms`.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "milliseconds of a page's life fit"
    )]
    pub(super) fn at(self, monotonic_ms: f64) -> i64 {
        self.server_ms + (monotonic_ms - self.monotonic_ms) as i64
    }
}

/// Hours, minutes and seconds of a span, and its whole days: `(2, "03:04:05")`. Rounds up, so that it shows
/// nothing left only when nothing is left.
pub(super) fn parts(left_ms: i64) -> (i64, String) {
    let seconds = (left_ms.max(0) + 999) / 1000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (hours, minutes, seconds) = (rest / 3600, rest / 60 % 60, rest % 60);
    (days, format!("{hours:02}:{minutes:02}:{seconds:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_runs_on_from_what_the_server_said() {
        let clock = Clock::new(1_000_000, 250.5);
        assert_eq!(clock.at(250.5), 1_000_000);
        assert_eq!(clock.at(1250.6), 1_001_000);
    }

    #[test]
    fn a_span_ends_at_zero_and_not_before() {
        assert_eq!(parts(1), (0, "00:00:01".to_owned()));
        assert_eq!(parts(0), (0, "00:00:00".to_owned()));
        assert_eq!(parts(-5), (0, "00:00:00".to_owned()));
        assert_eq!(
            parts(2 * 86_400_000 + 3_723_000),
            (2, "01:02:03".to_owned())
        );
    }
}
