//! What happened at a sale over time, as an operator looks at it.

use time::OffsetDateTime;

/// What happened in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "BuyOutcome and Status explain most of them")]
pub struct Counts {
    pub accepted: i64,
    pub already_bought: i64,
    pub sold_out: i64,
    pub not_started: i64,
    pub ended: i64,
    pub closed: i64,
    pub confirmed: i64,
    /// Accepted, then refused when it was to be stored.
    pub refused: i64,
    /// Milliseconds from accepted to stored, summed up over confirmed and refused.
    pub lag_ms: i64,
    /// The longest of them.
    pub max_lag_ms: i64,
    /// The most that was accepted and not yet stored.
    pub backlog: i64,
}

impl Counts {
    /// Orders stored, whatever became of them.
    #[must_use]
    pub fn stored(&self) -> i64 {
        self.confirmed + self.refused
    }

    /// The mean time from accepted to stored, in milliseconds; `None` when nothing was stored.
    #[must_use]
    pub fn mean_lag_ms(&self) -> Option<i64> {
        self.lag_ms.checked_div(self.stored())
    }
}

/// How far back an operator looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Span {
    /// The last ten minutes.
    #[default]
    Minutes,
    /// The last two hours.
    Hours,
    /// From the first figure to the last.
    Whole,
}

impl Span {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Minutes, Self::Hours, Self::Whole];

    /// The word, as in addresses and text keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minutes => "minutes",
            Self::Hours => "hours",
            Self::Whole => "whole",
        }
    }

    /// Reads the word of an address; the shortest for any other.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        let found = Self::ALL.into_iter().find(|span| span.as_str() == word);
        found.unwrap_or_default()
    }
}

/// The figures of a sale over a span, in steps; steps in which nothing happened are there, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The first instant.
    pub from: OffsetDateTime,
    /// Seconds a step.
    pub step_s: i64,
    /// What happened in each step, in order.
    pub steps: Vec<Counts>,
    /// Seconds of the last step that have passed; it may be the one that is now.
    pub last_s: i64,
}

impl Series {
    /// When a step begins.
    #[must_use]
    pub fn begins(&self, step: usize) -> OffsetDateTime {
        let step = i64::try_from(step).unwrap_or_default();
        self.from + time::Duration::seconds(step * self.step_s)
    }

    /// The seconds of a step that have passed.
    #[must_use]
    pub fn seconds(&self, step: usize) -> i64 {
        if step + 1 == self.steps.len() {
            self.last_s
        } else {
            self.step_s
        }
    }
}
