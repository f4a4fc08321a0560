//! Dead letters: queue entries that cannot be persisted, parked in view of the operator.

use std::fmt;

use time::{Duration, OffsetDateTime};

use super::{Problem, UserId, VoucherId};

/// Where a dead letter lies. As text `0:1764500000000-0`: the shard, then the id in its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetterId {
    /// The shard.
    pub shard: u16,
    /// The id in the shard's stream of dead letters.
    pub entry: String,
}

impl DeadLetterId {
    /// Reads what a form sends.
    ///
    /// # Errors
    /// [`Problem::Unknown`] for anything that names no letter.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let number =
            |text: &str| text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<u64>().is_ok();
        let parts = || {
            let (shard, entry) = text.split_once(':')?;
            let (ms, place) = entry.split_once('-')?;
            (number(shard) && number(ms) && number(place)).then_some(())?;
            Some(Self {
                shard: shard.parse().ok()?,
                entry: entry.to_owned(),
            })
        };
        parts().ok_or(Problem::Unknown)
    }

    /// When it was taken out of the queue, as the store's own id of it says.
    #[must_use]
    pub fn parked_at(&self) -> Option<OffsetDateTime> {
        let ms = self.entry.split_once('-')?.0.parse().ok()?;
        OffsetDateTime::UNIX_EPOCH.checked_add(Duration::milliseconds(ms))
    }
}

impl fmt::Display for DeadLetterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shard, self.entry)
    }
}

/// A parked entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// Where it lies.
    pub id: DeadLetterId,
    /// Why it was parked.
    pub reason: String,
    /// How often its own error was met.
    pub tries: i64,
    /// The entry's fields as they were, shortened for the eye.
    pub fields: Vec<(String, String)>,
    /// Does it carry a promise that can be put back into the queue?
    pub can_be_replayed: bool,
    /// Whose order it carries, and of which sale, where it can be read.
    pub promise: Option<(UserId, VoucherId)>,
    /// The buyer's name, and the sale's title, where there are such.
    pub names: LetterNames,
}

/// What the numbers in a letter are called now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LetterNames {
    /// The buyer's name; empty for an account that was deleted.
    pub buyer: Option<String>,
    /// The title of the sale.
    pub title: Option<String>,
}

/// Which dead letters are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LettersSearch {
    /// Only of this sale.
    pub sale: Option<VoucherId>,
    /// Those after this one.
    pub after: Option<DeadLetterId>,
}

/// A page of dead letters, oldest first within each shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LettersPage {
    /// The letters.
    pub letters: Vec<DeadLetter>,
    /// The letter after which the next page begins, if there may be more.
    pub next: Option<DeadLetterId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_shard_and_an_entry() {
        let id = DeadLetterId::parse("3:1764500000000-12").unwrap();
        assert_eq!((id.shard, id.entry.as_str()), (3, "1764500000000-12"));
        assert_eq!(id.to_string(), "3:1764500000000-12");
        let at = id.parked_at().map(OffsetDateTime::unix_timestamp);
        assert_eq!(at, Some(1_764_500_000));
        let never = DeadLetterId::parse("3:18446744073709551615-0").unwrap();
        assert_eq!(never.parked_at(), None);
        for text in [
            "",
            "3",
            "3:",
            "3:-",
            "3:1",
            ":1-0",
            "3:1-",
            "x:1-0",
            "3:+-+",
            "-1:1-0",
            "70000:1-0",
            "3:1-0 ",
        ] {
            assert!(DeadLetterId::parse(text).is_err(), "{text:?}");
        }
    }
}
