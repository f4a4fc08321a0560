//! What came of a change of a sale.

use serde::{Deserialize, Serialize};

/// What came of a change of a sale. A refusal is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaleChange {
    /// It holds, at the gate too.
    Done,
    /// It is stored; the gate, which cannot be told just now, will be told by the program itself.
    Stored,
    /// Nothing was left to change.
    Unchanged,
    /// Of a cut: some of the units are promised already and stay; all others are gone.
    Stopped,
    /// The sale was changed since the form was made; nothing was done.
    OldForm,
    /// The sale is over for good; nothing was done.
    Over,
    /// The sale has not begun; nothing was done.
    NotStarted,
}

impl SaleChange {
    /// All outcomes.
    pub const ALL: [Self; 7] = [
        Self::Done,
        Self::Stored,
        Self::Unchanged,
        Self::Stopped,
        Self::OldForm,
        Self::Over,
        Self::NotStarted,
    ];

    /// The word, as in JSON, addresses and text keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Stored => "stored",
            Self::Unchanged => "unchanged",
            Self::Stopped => "stopped",
            Self::OldForm => "old_form",
            Self::Over => "over",
            Self::NotStarted => "not_started",
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
