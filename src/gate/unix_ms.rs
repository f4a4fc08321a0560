//! The gate counts time in Unix milliseconds.

use time::OffsetDateTime;

/// Unix milliseconds, as the gate counts time.
#[must_use]
pub fn unix_ms(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

/// The instant of Unix milliseconds.
#[must_use]
pub fn instant(ms: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
