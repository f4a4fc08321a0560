//! Text that a person types: trimmed, counted in letters, free of letters that cannot be shown.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_security::{GeneralSecurityProfile, general_security_profile::IdentifierType};

use super::Problem;

/// One line of text, at most as long as its maker allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line(String);

/// Text of several lines; `\r\n` becomes `\n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paragraph(String);

impl Line {
    /// Reads a line of `min` to `max` letters.
    ///
    /// # Errors
    /// `Missing` when empty and `min` is above 0, `TooShort`, `TooLong`, `BadLetter`.
    pub fn parse(text: &str, min: usize, max: usize) -> Result<Self, Problem> {
        let text = text.trim();
        measure(text, min, max)?;
        if min > 0 && text.chars().all(is_unseen) {
            return Err(Problem::Missing);
        }
        if text.chars().any(is_bad) {
            return Err(Problem::BadLetter);
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Paragraph {
    /// Reads at most `max` letters in any number of lines; may be empty.
    ///
    /// # Errors
    /// `TooLong`, `BadLetter`.
    pub fn parse(text: &str, max: usize) -> Result<Self, Problem> {
        let text = text.trim().replace("\r\n", "\n");
        measure(&text, 0, max)?;
        if text
            .chars()
            .any(|letter| letter != '\n' && letter != '\t' && is_bad(letter))
        {
            return Err(Problem::BadLetter);
        }
        Ok(Self(text))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A number as a program writes it, of one as people do: digits and marks of full width become narrow, and the commas
/// between groups of three digits are left out. Any other comma stays, and the number is none.
pub(super) fn plain_number(text: &str) -> String {
    let narrow: String = text.trim().chars().map(narrow).collect();
    let (whole, decimals) = narrow.split_at(narrow.find('.').unwrap_or(narrow.len()));
    if is_grouped(whole.strip_prefix('-').unwrap_or(whole)) {
        whole.replace(',', "") + decimals
    } else {
        narrow
    }
}

/// Chinese keyboards write these wide.
fn narrow(letter: char) -> char {
    match letter {
        '。' => '.',
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(letter) - 0xFEE0).unwrap_or(letter),
        _ => letter,
    }
}

fn is_grouped(digits: &str) -> bool {
    let mut groups = digits.split(',');
    let is_first = |group: &str| (1..=3).contains(&group.len()) && !group.starts_with('0');
    groups.next().is_some_and(is_first) && groups.all(|group| group.len() == 3)
}

fn measure(text: &str, min: usize, max: usize) -> Result<(), Problem> {
    let letters = text.chars().count();
    let limit = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    match letters {
        0 if min > 0 => Err(Problem::Missing),
        n if n < min => Err(Problem::TooShort(limit(min))),
        n if n > max => Err(Problem::TooLong(limit(max))),
        _ => Ok(()),
    }
}

/// Control letters, and marks that turn the direction of the text around them (case O29).
fn is_bad(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// Letters that leave no trace on a page: formats, control, private and unassigned letters, what UTS 39 calls default
/// ignorable or deprecated, and blanks that are counted among the visible (the empty Braille cell, Hangul fillers, the
/// place of an object).
pub(super) fn is_unseen(letter: char) -> bool {
    let is_ignorable = matches!(
        letter.identifier_type(),
        Some(IdentifierType::Default_Ignorable | IdentifierType::Deprecated)
    );
    let has_no_shape = matches!(
        letter.general_category(),
        GeneralCategory::Format
            | GeneralCategory::Control
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
    );
    let is_blank = matches!(
        letter,
        '\u{2800}' | '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' | '\u{FFFC}'
    );
    is_ignorable || has_no_shape || is_blank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (typed, plain) in [
            ("1,000", "1000"),
            ("１０", "10"),
            (" １，０００，０００．５ ", "1000000.5"),
            ("-1,000", "-1000"),
            ("0", "0"),
            ("10,00", "10,00"),
            ("1,0000", "1,0000"),
            ("0,001", "0,001"),
            (",", ","),
            ("", ""),
        ] {
            assert_eq!(plain_number(typed), plain, "{typed:?}");
        }
    }

    #[test]
    fn letters_are_counted_not_bytes() {
        assert_eq!(
            Line::parse(&"券".repeat(60), 1, 60).map(|l| l.as_str().chars().count()),
            Ok(60)
        );
        assert_eq!(
            Line::parse(&"券".repeat(61), 1, 60),
            Err(Problem::TooLong(60))
        );
        for nothing in [
            " \u{3000} ",
            "\u{200B}",
            "\u{FEFF}\u{AD}",
            "\u{2060}\u{FFFC}",
        ] {
            assert_eq!(
                Line::parse(nothing, 1, 60),
                Err(Problem::Missing),
                "{nothing:?}"
            );
        }
        for text in ["a\0b", "a\nb", "a\u{202E}b"] {
            assert_eq!(
                Line::parse(text, 1, 60),
                Err(Problem::BadLetter),
                "{text:?}"
            );
        }
        assert_eq!(
            Paragraph::parse("a\r\nb", 9).map(|p| p.0),
            Ok("a\nb".to_owned())
        );
        assert_eq!(Line::parse("👍🏽", 1, 60).map(|l| l.0), Ok("👍🏽".to_owned()));
    }
}
