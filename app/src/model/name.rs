//! Names of accounts. A name is shown as it was typed, and belongs to whoever took its folded form first: letters that
//! differ in case, width or composition, or that cannot be seen, make no second name.

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeEmoji, UnicodeGeneralCategory};
use unicode_security::{MixedScript, RestrictionLevel, RestrictionLevelDetection};

use super::{Line, Problem, text::is_unseen};

/// The shortest and the longest name, in letters.
const LENGTH: (usize, usize) = (2, 32);

/// Joins emoji to one picture.
const JOINER: char = '\u{200D}';

/// Marks above and below one letter.
const MARKS_AT_MOST: u8 = 4;

/// Asks for the coloured picture of the letter before it.
const AS_EMOJI: char = '\u{FE0F}';

/// A name to sign in with: one line of 2 to 32 letters, of which all can be seen and none passes for one of another
/// alphabet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    shown: Line,
    key: String,
}

impl Name {
    /// Reads a name: composed (NFC), without spaces around it, and with one space where there are several.
    ///
    /// # Errors
    /// As [`Line::parse`]; `BadLetter` also for letters that cannot be seen, `MixedScripts` for alphabets that do not
    /// go together.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let composed: String = text.nfc().collect();
        let spaced: Vec<&str> = composed
            .trim()
            .split(is_space)
            .filter(|word| !word.is_empty())
            .collect();
        let shown = Line::parse(&spaced.join(" "), LENGTH.0, LENGTH.1)?;
        if holds_unseen(shown.as_str()) || piles_marks(shown.as_str()) {
            return Err(Problem::BadLetter);
        }
        let key = folded(shown.as_str());
        if mixes_scripts(&key) {
            return Err(Problem::MixedScripts);
        }
        Ok(Self { shown, key })
    }

    /// The name as its owner wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.shown.as_str()
    }

    /// The folded form, by which names are told apart and looked up.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// Spaces of any width within a line; what breaks a line is none.
fn is_space(letter: char) -> bool {
    letter.is_whitespace() && !letter.is_control() && !matches!(letter, '\u{2028}' | '\u{2029}')
}

/// One form for what is one name: compatibility composed (NFKC: width, ligatures, accents), case folded, without what
/// cannot be seen; near to NFKC_Casefold of the Unicode Standard, section 3.13.
fn folded(shown: &str) -> String {
    let folded = shown.nfkc().default_case_fold().nfkc();
    folded.filter(|letter| !is_unseen(*letter)).collect()
}

/// Letters that leave no trace on a page; but for what holds emoji together, right behind one.
fn holds_unseen(shown: &str) -> bool {
    let mut in_emoji = false;
    shown.chars().any(|letter| {
        let joins = in_emoji && (letter == JOINER || letter == AS_EMOJI);
        // Digits, `*` and `#` are parts of emoji too, but none by themselves.
        in_emoji = joins || (letter.is_emoji_char() && !letter.is_ascii());
        is_unseen(letter) && !joins
    })
}

/// Marks pile up on a letter beyond what any script needs, or on none: UTS 39, section 5.4.
fn piles_marks(shown: &str) -> bool {
    let mut marks = MARKS_AT_MOST;
    shown.chars().any(|letter| {
        let is_mark =
            letter.general_category_group() == GeneralCategoryGroup::Mark && letter != AS_EMOJI;
        marks = if is_mark { marks + 1 } else { 0 };
        marks > MARKS_AT_MOST
    })
}

/// Alphabets that are not written together, of which one may pass for the other, by UTS 39. In a word: "highly
/// restrictive", one script, or Latin with those of Chinese, Japanese and Korean. In the whole name: "moderately
/// restrictive", Latin with any other but Cyrillic and Greek.
fn mixes_scripts(key: &str) -> bool {
    let fits = |text: &str, level| {
        let letters: String = text
            .chars()
            .filter(|letter| letter.is_alphabetic())
            .collect();
        letters.as_str().is_single_script() || letters.as_str().check_restriction_level(level)
    };
    let words_fit = key
        .split(' ')
        .all(|word| fits(word, RestrictionLevel::HighlyRestrictive));
    !words_fit || !fits(key, RestrictionLevel::ModeratelyRestrictive)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> String {
        Name::parse(text).map(|name| name.key).unwrap()
    }

    #[test]
    fn what_is_one_name_has_one_key() {
        for (one, same) in [
            ("Amy", " aMY "),
            ("Amy", "Ａｍｙ"),
            ("José", "Jose\u{301}"),
            ("Straße", "STRASSE"),
            ("ΟΔΟΣ", "οδος"),
            ("ΟΔΟΣ", "οδοσ"),
            ("ﬁona", "Fiona"),
            ("Amy 小美", "amy\u{3000}\u{a0} 小美"),
            ("ｶﾞﾝﾊﾞ", "ガンバ"),
            ("a👍", "A👍\u{FE0F}"),
            ("Ⅻ th", "XII TH"),
        ] {
            assert_eq!(key(one), key(same), "{one:?} {same:?}");
        }
        assert_ne!(key("Amy"), key("Ann"));
        assert_ne!(key("amy1"), key("amyl"), "a digit is no letter");
    }

    #[test]
    fn a_name_is_shown_as_it_was_typed() {
        for (typed, shown) in [
            (" Amy  小美 ", "Amy 小美"),
            ("Ａｍｙ", "Ａｍｙ"),
            ("Jose\u{301}", "José"),
            ("👨\u{200D}👩\u{200D}👧 家", "👨\u{200D}👩\u{200D}👧 家"),
            ("小美 👍🏽", "小美 👍🏽"),
            ("❤\u{FE0F} amy", "❤\u{FE0F} amy"),
        ] {
            assert_eq!(Name::parse(typed).unwrap().as_str(), shown);
        }
    }

    #[test]
    fn letters_that_cannot_be_seen_are_refused() {
        for unseen in [
            '\u{00AD}',
            '\u{034F}',
            '\u{061C}',
            '\u{115F}',
            '\u{17B4}',
            '\u{180E}',
            '\u{200B}',
            '\u{200C}',
            '\u{200D}',
            '\u{200E}',
            '\u{202E}',
            '\u{2060}',
            '\u{2066}',
            '\u{206F}',
            '\u{2800}',
            '\u{3164}',
            '\u{FE0F}',
            '\u{FEFF}',
            '\u{FFA0}',
            '\u{FFFE}',
            '\u{E000}',
            '\u{E0061}',
            '\u{FFF9}',
            '\u{FFFA}',
            '\u{FFFC}',
            '\0',
            '\u{7}',
        ] {
            let name = format!("am{unseen}y");
            assert_eq!(Name::parse(&name), Err(Problem::BadLetter), "{unseen:?}");
        }
        for joined in ["1\u{200D}2", "*\u{200D}admin", "#\u{FE0F}a"] {
            assert_eq!(Name::parse(joined), Err(Problem::BadLetter), "{joined:?}");
        }
        let piled = format!("am\u{65}{}", "\u{333}\u{332}".repeat(3));
        assert_eq!(Name::parse(&piled), Err(Problem::BadLetter));
        assert_eq!(Name::parse("\u{333}amy"), Err(Problem::BadLetter));
        assert_eq!(Name::parse("  \u{3000} "), Err(Problem::Missing));
        assert_eq!(Name::parse("a"), Err(Problem::TooShort(2)));
        assert_eq!(Name::parse(&"券".repeat(33)), Err(Problem::TooLong(32)));
    }

    #[test]
    fn letters_that_pass_for_those_of_another_alphabet_are_refused() {
        for mixed in [
            "b\u{585}b",    // Armenian
            "b\u{5E1}b",    // Hebrew
            "b\u{D20}b",    // Malayalam
            "p\u{430}ypal", // Cyrillic а
            "\u{391}my",    // Greek capital alpha
            "\u{13AA}my",   // Cherokee
            "am\u{443}小",  // Cyrillic у among Latin and Han
            "小\u{430}",    // Cyrillic and Han
            "\u{2CA0}my",   // Coptic
            "𝐩\u{430}ypal", // and the same in bold
        ] {
            assert_eq!(Name::parse(mixed), Err(Problem::MixedScripts), "{mixed}");
        }
        for written in [
            "Amy 小美",
            "李小龍ブルース",
            "김amy",
            "Иван",
            "Γιώργος",
            "สมชาย",
            "som สมชาย",
            "محمد",
            "ㄅㄆ小",
            "amy_42-x",
            "𠮷野家",
            "ᠮᠣᠩᠭᠣᠯ",
            "བོད་ཡིག",
            "O’Neill",
            "renée",
            "Nguyễn",
        ] {
            assert!(
                Name::parse(written).is_ok(),
                "{written}: {:?}",
                Name::parse(written)
            );
        }
    }
}
