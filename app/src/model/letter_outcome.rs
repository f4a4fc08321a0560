//! What came of a decision about a dead letter.

use serde::{Deserialize, Serialize};

/// What came of replaying or discarding a dead letter. A refusal is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LetterOutcome {
    /// It is in the queue again.
    Replayed,
    /// It is gone, its order refused, its unit back.
    Discarded,
    /// There is no such letter (any more); nothing was done.
    Gone,
    /// Its sale is being rebuilt; nothing was done.
    Later,
    /// Its mark is missing and no unit is left to take; nothing was done.
    SoldOut,
    /// It carries no promise: it can only be discarded.
    Unreadable,
}

impl LetterOutcome {
    /// All outcomes.
    pub const ALL: [Self; 6] = [
        Self::Replayed,
        Self::Discarded,
        Self::Gone,
        Self::Later,
        Self::SoldOut,
        Self::Unreadable,
    ];

    /// The word, as in JSON, scripts and text keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replayed => "replayed",
            Self::Discarded => "discarded",
            Self::Gone => "gone",
            Self::Later => "later",
            Self::SoldOut => "sold_out",
            Self::Unreadable => "unreadable",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == word)
    }
}
