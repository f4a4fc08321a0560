//! What can be wrong with a field that a person filled in. The words are in `texts/`, by the code.

use std::collections::BTreeMap;

/// The name of a form field, as in the contract: `stock`, `begins_at`, …
pub type Field = &'static str;

/// Why a field was not accepted. Limits count letters (Unicode scalar values) or the field's own unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Nothing, or only spaces.
    Missing,
    /// Fewer letters than this.
    TooShort(i64),
    /// More letters than this.
    TooLong(i64),
    /// A letter that cannot be shown: control letters, direction marks, NUL.
    BadLetter,
    /// Letters of alphabets that are not written together, of which one may pass for the other.
    MixedScripts,
    /// A password that everybody tries first.
    TooCommon,
    /// No whole number in decimal digits.
    NotANumber,
    /// Smaller than this.
    TooSmall(i64),
    /// Larger than this.
    TooLarge(i64),
    /// No amount with at most two decimals.
    NotMoney,
    /// The face value is below the price.
    BelowPrice,
    /// Neither RFC 3339 nor a local time with a zone.
    NotATime,
    /// No IANA time zone.
    UnknownZone,
    /// The clock jumped over this local time.
    NoSuchTime,
    /// The clock showed this local time twice.
    DoubledTime,
    /// The end is not after the begin.
    EndsBeforeBegins,
    /// The end has passed.
    Past,
    /// The name belongs to another account.
    Taken,
    /// Name or password is wrong; which one is not said.
    WrongCredentials,
    /// This is not the account's password.
    WrongPassword,
    /// Nobody has this name.
    NoSuchAccount,
    /// Nobody would be left to run the place.
    LastAdmin,
    /// No such thing.
    Unknown,
    /// The field was sent twice.
    Doubled,
    /// What the form shows has been changed since.
    OldForm,
    /// This cannot be changed any more.
    Fixed,
    /// The whole form is more than so many bytes.
    TooManyBytes(i64),
    /// No JPEG, PNG or WebP that can be read to its end.
    NotAPicture,
    /// A picture of more than so many million pixels.
    TooManyPixels(i64),
    /// A file of more than so many MB.
    FileTooLarge(i64),
}

impl Problem {
    /// The stable code, as in addresses and text keys, and the limit where there is one.
    #[must_use]
    pub fn code(self) -> (&'static str, Option<i64>) {
        match self {
            Self::Missing => ("missing", None),
            Self::TooShort(n) => ("too-short", Some(n)),
            Self::TooLong(n) => ("too-long", Some(n)),
            Self::BadLetter => ("bad-letter", None),
            Self::MixedScripts => ("mixed-scripts", None),
            Self::TooCommon => ("too-common", None),
            Self::NotANumber => ("not-a-number", None),
            Self::TooSmall(n) => ("too-small", Some(n)),
            Self::TooLarge(n) => ("too-large", Some(n)),
            Self::NotMoney => ("not-money", None),
            Self::BelowPrice => ("below-price", None),
            Self::NotATime => ("not-a-time", None),
            Self::UnknownZone => ("unknown-zone", None),
            Self::NoSuchTime => ("no-such-time", None),
            Self::DoubledTime => ("doubled-time", None),
            Self::EndsBeforeBegins => ("ends-before-begins", None),
            Self::Past => ("past", None),
            Self::Taken => ("taken", None),
            Self::WrongCredentials => ("wrong-credentials", None),
            Self::WrongPassword => ("wrong-password", None),
            Self::NoSuchAccount => ("no-such-account", None),
            Self::LastAdmin => ("last-admin", None),
            Self::Unknown => ("unknown", None),
            Self::Doubled => ("doubled", None),
            Self::OldForm => ("old-form", None),
            Self::Fixed => ("fixed", None),
            Self::TooManyBytes(n) => ("too-many-bytes", Some(n)),
            Self::NotAPicture => ("not-a-picture", None),
            Self::TooManyPixels(n) => ("too-many-pixels", Some(n)),
            Self::FileTooLarge(n) => ("file-too-large", Some(n)),
        }
    }

    /// The form in an address: `too-long.60`.
    #[must_use]
    pub fn to_query(self) -> String {
        match self.code() {
            (code, Some(limit)) => format!("{code}.{limit}"),
            (code, None) => code.to_owned(),
        }
    }

    /// Every problem, with this limit where there is one.
    pub(crate) fn all(limit: i64) -> [Self; 30] {
        [
            Self::Missing,
            Self::TooShort(limit),
            Self::TooLong(limit),
            Self::BadLetter,
            Self::MixedScripts,
            Self::TooCommon,
            Self::NotANumber,
            Self::TooSmall(limit),
            Self::TooLarge(limit),
            Self::NotMoney,
            Self::BelowPrice,
            Self::NotATime,
            Self::UnknownZone,
            Self::NoSuchTime,
            Self::DoubledTime,
            Self::EndsBeforeBegins,
            Self::Past,
            Self::Taken,
            Self::WrongCredentials,
            Self::WrongPassword,
            Self::NoSuchAccount,
            Self::LastAdmin,
            Self::Unknown,
            Self::Doubled,
            Self::OldForm,
            Self::Fixed,
            Self::TooManyBytes(limit),
            Self::NotAPicture,
            Self::TooManyPixels(limit),
            Self::FileTooLarge(limit),
        ]
    }

    /// Reads [`Self::to_query`] back; `None` for anything else, so that an address cannot put words on a page.
    #[must_use]
    pub fn from_query(text: &str) -> Option<Self> {
        let (code, limit) = match text.split_once('.') {
            Some((code, limit)) => (code, limit.parse().ok()?),
            None => (text, 0),
        };
        Self::all(limit)
            .into_iter()
            .find(|problem| problem.code().0 == code)
    }
}

/// Collects the problems of one form: each field is parsed, all problems are reported at once.
#[derive(Debug, Default)]
pub struct Fields(BTreeMap<Field, Problem>);

impl Fields {
    /// Keeps the value, or notes the field's problem. The first problem of a field stands.
    pub fn take<T>(&mut self, field: Field, parsed: Result<T, Problem>) -> Option<T> {
        parsed.map_err(|problem| self.note(field, problem)).ok()
    }

    /// Notes a problem that is not one field's alone, at the field where it is mended.
    pub fn note(&mut self, field: Field, problem: Problem) {
        self.0.entry(field).or_insert(problem);
    }

    /// Whether no problem was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems found, by field.
    #[must_use]
    pub fn into_problems(self) -> BTreeMap<Field, Problem> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_survives_the_way_through_an_address() {
        for problem in [
            Problem::Missing,
            Problem::TooLong(60),
            Problem::TooSmall(1),
            Problem::WrongCredentials,
        ] {
            assert_eq!(Problem::from_query(&problem.to_query()), Some(problem));
        }
        assert_eq!(Problem::from_query("<script>"), None);
        assert_eq!(Problem::from_query("too-long.x"), None);
    }
}
