//! What people look for among the shops. Query and text are folded in the same way, so that case, width and accents make no
//! difference, and then compared letter by letter: a word is found anywhere in a text, as Chinese needs it.
//! Knows no store; `db::shop_search` does the looking.

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::{Problem, ShopId, text::is_unseen};

/// Words of a search that count; more narrow nothing down.
const WORDS_AT_MOST: usize = 8;

/// Chinese words are written without spaces: one of so many letters may be several.
const CUT_LETTERS: std::ops::RangeInclusive<usize> = 4..=10;

/// Ways to cut what was typed that are looked for, one after the other.
const CUTS_AT_MOST: usize = 8;

/// The form in which texts are searched: words of folded letters with one space in between. Compatibility letters and
/// widths become plain ones, accents of Latin, Greek and Cyrillic letters go, capital letters become small; punctuation
/// parts words, so that no text holds a wildcard of SQL. Folding what is folded changes nothing.
#[must_use]
pub fn folded(text: &str) -> String {
    let letters: String = text
        .nfkd()
        .default_case_fold()
        .nfkd()
        .filter(|letter| !is_accent(*letter))
        .nfkc()
        .filter(|letter| letter.is_whitespace() || !is_unseen(*letter))
        .map(|letter| if parts_words(letter) { ' ' } else { letter })
        .collect();
    let words: Vec<&str> = letters.split(' ').filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The combining marks above and below letters of European scripts. Those of other scripts are letters of their own.
fn is_accent(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36F}')
}

fn parts_words(letter: char) -> bool {
    letter.is_whitespace()
        || matches!(
            letter.general_category_group(),
            GeneralCategoryGroup::Punctuation | GeneralCategoryGroup::Separator
        )
}

/// Words to search by. Every one must be found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Words {
    typed: String,
    folded: Vec<String>,
}

impl Words {
    /// Reads what was typed.
    #[must_use]
    pub fn read(typed: &str) -> Self {
        let typed = typed.trim().to_owned();
        let all = folded(&typed);
        let words = all.split(' ').filter(|word| !word.is_empty());
        Self {
            folded: words.take(WORDS_AT_MOST).map(str::to_owned).collect(),
            typed,
        }
    }

    /// What was typed.
    #[must_use]
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// What was typed, with one space between words; `None` for nothing.
    #[must_use]
    pub fn plain(&self) -> Option<String> {
        let words: Vec<&str> = self.typed.split_whitespace().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// Nothing was typed: there is no choice to make.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.typed.is_empty()
    }

    /// The folded words; none although something was typed, if it was punctuation alone.
    #[must_use]
    pub fn folded(&self) -> &[String] {
        &self.folded
    }

    /// The words that have to be looked for letter by letter: of one or two letters, the index knows all.
    pub fn long(&self) -> impl Iterator<Item = &String> {
        self.folded.iter().filter(|word| word.chars().count() > 2)
    }

    /// The words as one text.
    #[must_use]
    pub fn phrase(&self) -> String {
        self.folded.join(" ")
    }

    /// The letters and pairs of letters that a text with all words has, as `shop_grams` cuts a text.
    #[must_use]
    pub fn grams(&self) -> Vec<String> {
        let mut grams: Vec<String> = self.folded.iter().flat_map(|word| grams(word)).collect();
        grams.sort_unstable();
        grams.dedup();
        grams
    }

    /// The same with words of Chinese letters cut into pieces of two and three letters, in each way there is: what has larger
    /// pieces has these too. None where no word can be cut.
    #[must_use]
    pub fn cuts(&self) -> Vec<Self> {
        let mut ways: Vec<Vec<String>> = vec![Vec::new()];
        for word in &self.folded {
            let pieces = cuts(word);
            ways = ways
                .iter()
                .flat_map(|way| {
                    pieces
                        .iter()
                        .map(move |more| [way.as_slice(), more].concat())
                })
                .take(CUTS_AT_MOST)
                .collect();
        }
        ways.retain(|way| way.len() > self.folded.len());
        let cut = ways.into_iter().map(|folded| Self {
            typed: self.typed.clone(),
            folded,
        });
        cut.collect()
    }

    /// How many of the words a folded text has.
    #[must_use]
    pub fn found_in(&self, text: &str) -> usize {
        let found = self.folded.iter().filter(|word| text.contains(*word));
        found.count()
    }

    /// For texts that are almost right: both halves of every word that is long enough to be misspelt. One wrong letter
    /// leaves one of the halves whole.
    #[must_use]
    pub fn halves(&self) -> Vec<String> {
        let words = self.folded.iter().filter(|word| slips(word) > 0);
        let halves = words.flat_map(|word| {
            let letters: Vec<char> = word.chars().collect();
            let (front, back) = letters.split_at(letters.len() / 2);
            [front.iter().collect(), back.iter().collect()]
        });
        halves.collect()
    }

    /// How many letters of these words are wrong for a folded text; `None` for more than a slip.
    #[must_use]
    pub fn slips_in(&self, text: &str) -> Option<usize> {
        let text: Vec<char> = text.chars().collect();
        self.folded.iter().try_fold(0, |sum, word| {
            let distance = distance(word, &text);
            (distance <= slips(word)).then_some(sum + distance)
        })
    }
}

fn grams(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    match letters.as_slice() {
        [_] => vec![word.to_owned()],
        _ => letters
            .windows(2)
            .map(|pair| pair.iter().collect())
            .collect(),
    }
}

/// The ways to cut a word, or the word alone.
fn cuts(word: &str) -> Vec<Vec<String>> {
    let letters: Vec<char> = word.chars().collect();
    if CUT_LETTERS.contains(&letters.len()) && letters.iter().copied().all(is_han) {
        pieces(&letters)
    } else {
        vec![vec![word.to_owned()]]
    }
}

/// Pieces of two and three letters, in each way there is.
fn pieces(letters: &[char]) -> Vec<Vec<String>> {
    if letters.is_empty() {
        return vec![Vec::new()];
    }
    let firsts = [2, 3].into_iter().filter(|first| *first <= letters.len());
    let ways = firsts.flat_map(|first| {
        let (front, rest) = letters.split_at(first);
        let front: String = front.iter().collect();
        pieces(rest)
            .into_iter()
            .map(move |rest| [std::slice::from_ref(&front), rest.as_slice()].concat())
    });
    ways.collect()
}

fn is_han(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// Letters of a word that may be wrong. A Chinese word has few letters; of a short Latin one every other is only one
/// letter away.
fn slips(word: &str) -> usize {
    let letters = word.chars().count();
    match letters {
        0 | 1 => 0,
        2 | 3 if word.is_ascii() => 0,
        2..=6 => 1,
        _ => 2,
    }
}

/// Letters to change, to add or to leave out until `word` is a part of `text`: Levenshtein's distance, with a free begin
/// and end (Sellers, 1980).
fn distance(word: &str, text: &[char]) -> usize {
    let mut row = vec![0; text.len() + 1];
    for (line, letter) in word.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for place in 1..row.len() {
            let changed = diagonal + usize::from(text[place - 1] != letter);
            diagonal = row[place];
            row[place] = changed.min(row[place] + 1).min(row[place - 1] + 1);
        }
    }
    row.into_iter().min().unwrap_or_default()
}

/// The place of a shop in the list, by which it is paged: how well it fits, then its id. It never changes by what is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShopKey {
    /// 0 where the name begins with the words, 1 where it holds them, 2 where they are elsewhere.
    pub rank: i32,
    /// The shop.
    pub id: ShopId,
}

impl ShopKey {
    /// Reads `1-532`, or `532` for rank 0.
    ///
    /// # Errors
    /// `Problem::NotANumber` for anything else.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let (rank, id) = text.split_once('-').unwrap_or(("0", text));
        let rank = match rank {
            "0" => 0,
            "1" => 1,
            "2" => 2,
            _ => return Err(Problem::NotANumber),
        };
        Ok(Self {
            rank,
            id: ShopId::parse(id)?,
        })
    }
}

impl std::fmt::Display for ShopKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.rank, self.id)
    }
}

/// What the list of shops was asked for; empty means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShopSearch {
    /// Parts of names, categories, addresses, and titles of vouchers.
    pub words: Words,
    /// A category, whole.
    pub category: String,
    /// Shops after this one.
    pub after: Option<ShopKey>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_one_text() {
        for (one, same) in [
            ("Café", "CAFE"),
            ("ＮＯＯＤＬＥ　Ｈｏｕｓｅ", "noodle house"),
            ("Crème\u{301} brûlée!", "creme brulee"),
            ("Straße", "STRASSE"),
            ("КОФЕЙНЯ", "кофеиня"),
            ("Ψάρι", "ψαρι"),
            ("ｶﾞﾝﾊﾞ", "ガンバ"),
            ("ﬁne①", "FINE1"),
            ("老巷子·火锅（南京路）", "老巷子 火锅 南京路"),
            ("a\u{200B}b", "AB"),
            ("O’Neill's", "o neill s"),
            ("100%_off\\now", "100 off now"),
            ("C++ ☕", "c++ ☕"),
            (" \t\n", ""),
        ] {
            assert_eq!(folded(one), folded(same), "{one:?} {same:?}");
        }
        assert_eq!(folded("火锅 Hot-Pot"), "火锅 hot pot");
        assert_ne!(folded("か"), folded("が"), "another letter, not an accent");
    }

    #[test]
    fn words_are_cut_as_texts_are() {
        let words = Words::read("  火锅  Tea 茶 ");
        assert_eq!(words.typed(), "火锅  Tea 茶");
        assert_eq!(words.folded(), ["火锅", "tea", "茶"]);
        assert_eq!(words.grams(), ["ea", "te", "火锅", "茶"]);
        assert!(Words::read(" ").is_empty());
        let nothing = Words::read("%_\\");
        assert!(!nothing.is_empty() && nothing.folded().is_empty());
        assert_eq!(Words::read(&"a ".repeat(50)).folded().len(), WORDS_AT_MOST);
    }

    #[test]
    fn chinese_words_without_spaces_are_cut() {
        let cut = |typed: &str| -> Vec<String> {
            let cuts = Words::read(typed).cuts().into_iter();
            cuts.map(|words| words.phrase()).collect()
        };
        assert_eq!(cut("上海火锅"), ["上海 火锅"]);
        assert_eq!(cut("上海火锅店"), ["上海 火锅店", "上海火 锅店"]);
        assert_eq!(cut("上海火锅 tea"), ["上海 火锅 tea"]);
        assert_eq!(cut("上海南京火锅"), ["上海 南京 火锅", "上海南 京火锅"]);
        for whole in [
            "",
            "火锅店",
            "上海",
            "noodle",
            "上海tea馆",
            &"茶".repeat(11),
        ] {
            assert_eq!(cut(whole), [""; 0], "{whole}");
        }
        let many = Words::read(&format!("{0} {0} {0}", "茶".repeat(10))).cuts();
        assert_eq!(many.len(), CUTS_AT_MOST);
        let words = Words::read("上海 火锅 店");
        assert_eq!(words.found_in("老巷子火锅店"), 2);
    }

    #[test]
    fn a_slip_is_told_from_another_word() {
        let slips = |typed: &str, text: &str| Words::read(typed).slips_in(&folded(text));
        assert_eq!(slips("cofee", "North Coffee House"), Some(1));
        assert_eq!(slips("coffee", "North Coffee House"), Some(0));
        assert_eq!(slips("老港子火锅", "老巷子火锅"), Some(1));
        assert_eq!(slips("火过", "老巷子火锅"), Some(1));
        assert_eq!(slips("nudel hause", "Noodle House"), None);
        assert_eq!(slips("noodl hause", "Noodle House"), Some(1));
        assert_eq!(slips("tee", "Tea"), None, "too short to guess");
        assert_eq!(slips("书店", "咖啡"), None);
        assert_eq!(Words::read("cofee ab").halves(), ["co", "fee"]);
    }

    #[test]
    fn a_key_survives_the_way_through_an_address() {
        for key in [(0, 1), (2, 1_999_999_999)] {
            let key = ShopKey {
                rank: key.0,
                id: ShopId(key.1),
            };
            assert_eq!(ShopKey::parse(&key.to_string()), Ok(key));
        }
        assert_eq!(
            ShopKey::parse("7"),
            Ok(ShopKey {
                rank: 0,
                id: ShopId(7)
            })
        );
        for odd in ["", "-", "3-1", "0-0", "1-", "-1", "+1-2", "1-2-3", "１-2"] {
            assert!(ShopKey::parse(odd).is_err(), "{odd}");
        }
    }
}
