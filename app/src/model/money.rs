//! Money: integer cents. Never a float, never rounded in silence (case O20).

use super::{Problem, grouped, text::plain_number};

/// An amount in cents, 0.00 to 9,999,999.99.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cents(pub i64);

impl Cents {
    /// The largest amount that a form takes.
    pub const MAX: Self = Self(999_999_999);

    /// Reads `19.99`, `19.9`, `19` or `1,900`: at most two decimals, digits of any width.
    ///
    /// # Errors
    /// `Missing`, `NotMoney` for anything else, `TooLarge` (in whole units) above [`Self::MAX`].
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let text = plain_number(text);
        if text.is_empty() {
            return Err(Problem::Missing);
        }
        let (whole, decimals) = text.split_once('.').unwrap_or((&text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(decimals) || decimals.len() > 2 {
            return Err(Problem::NotMoney);
        }
        let too_large = Problem::TooLarge(Self::MAX.0 / 100);
        let whole: i64 = whole.parse().map_err(|_| too_large)?;
        let cents: i64 = format!("{decimals:0<2}")
            .parse()
            .map_err(|_| Problem::NotMoney)?;
        match whole.checked_mul(100).and_then(|w| w.checked_add(cents)) {
            Some(amount) if amount <= Self::MAX.0 => Ok(Self(amount)),
            _ => Err(too_large),
        }
    }
}

impl Cents {
    /// As people read it: `1,234.50`.
    #[must_use]
    pub fn grouped(self) -> String {
        format!("{}.{:02}", grouped(self.0 / 100), self.0 % 100)
    }
}

impl std::fmt::Display for Cents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact_or_refused() {
        for (text, cents) in [
            ("19.99", 1999),
            ("0.1", 10),
            ("0", 0),
            (" 5 ", 500),
            ("9999999.99", 999_999_999),
            ("9,999,999.99", 999_999_999),
            ("１，２３４．５", 123_450),
            ("１９。９９", 1999),
        ] {
            assert_eq!(Cents::parse(text), Ok(Cents(cents)), "{text}");
        }
        for text in [
            "-0.01",
            "10.285",
            "0.30000000000000004",
            "1,5",
            "1,5000",
            "1,,000",
            ",100",
            "1.000,5",
            "1e3",
            ".5",
            "5.",
            "٣",
            "+1",
            "0x1",
        ] {
            assert_eq!(Cents::parse(text), Err(Problem::NotMoney), "{text}");
        }
        for text in ["10000000", "99999999999999", "9".repeat(40).as_str()] {
            assert!(
                matches!(Cents::parse(text), Err(Problem::TooLarge(_))),
                "{text}"
            );
        }
        assert_eq!(Cents(1999).to_string(), "19.99");
        assert_eq!(Cents(5).to_string(), "0.05");
        assert_eq!(Cents::MAX.to_string(), "9999999.99");
        assert_eq!(Cents::MAX.grouped(), "9,999,999.99");
    }
}
