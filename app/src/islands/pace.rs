//! How islands take care not to ask all at once, nor in vain.

/// After a stream has ended, all who listened begin again so many milliseconds later, and up to so many more.
pub(super) const AGAIN_MS: (f64, f64) = (500.0, 4500.0);

/// So many milliseconds and up to so many more; `chance` (0 to 1) spreads the visitors.
#[expect(clippy::cast_possible_truncation, reason = "pauses are small")]
pub(super) fn spread((from_ms, width_ms): (f64, f64), chance: f64) -> i32 {
    (from_ms + width_ms * chance) as i32
}

/// A pause that doubles with each question in a row that was in vain, up to eight times.
pub(super) fn backed_off(pause_ms: i32, failures: u32) -> i32 {
    pause_ms << failures.min(3)
}

/// Where listening was in vain so many times in a row, it is tried again seldom; what was to be heard is asked for.
pub(super) fn tries_to_listen(silences: u32) -> bool {
    silences < 2 || silences.is_multiple_of(8)
}
