//! Who changed a thing last.

use time::OffsetDateTime;

/// Who changed a thing last, and when, by the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastChange {
    /// The account's name, or `program`.
    pub actor: String,
    /// When.
    pub at: OffsetDateTime,
}
