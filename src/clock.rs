//! The program's clock, passed on as a value so that tests can turn it. Whether a sale is open is judged by Redis'
//! clock alone.

use time::OffsetDateTime;

/// Tells the time.
pub type Clock = fn() -> OffsetDateTime;

/// The system's clock.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the system's clock is read"
)]
pub fn system() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}
