//! Dead letters: queue entries that cannot be persisted, parked in view of the operator.

/// A parked entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The shard it lies in.
    pub shard: u16,
    /// Its id in the dead-letter stream.
    pub id: String,
    /// Why it was parked.
    pub reason: String,
    /// How often its own error was met.
    pub tries: i64,
    /// The entry's fields as they were, shortened for the eye.
    pub fields: Vec<(String, String)>,
}
