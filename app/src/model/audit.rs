//! The audit log as an admin reads it: who did what, when, to what, and what was changed.

use time::OffsetDateTime;

use super::{ShopId, UserId, VoucherId};

/// Which entries are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditSearch {
    /// Only about this sale.
    pub sale: Option<VoucherId>,
    /// Only by this person, or, unless a sale is named, about them.
    pub user: Option<UserId>,
    /// Those before this one.
    pub before: Option<i64>,
}

/// A page of the audit log, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditPage {
    /// The entries.
    pub entries: Vec<AuditEntry>,
    /// The entry before which the next page begins, if there is one.
    pub next: Option<i64>,
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its place in the log.
    pub id: i64,
    /// When.
    pub at: OffsetDateTime,
    /// Who did it.
    pub actor: Actor,
    /// What, as a word of the program: `edit_sale`.
    pub action: String,
    /// To what.
    pub subject: Subject,
    /// More about it.
    pub detail: Detail,
}

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// Somebody, and the name that they have now; empty for an account that was deleted.
    User(UserId, String),
    /// Somebody else, by the word that stands in the log: the program itself, the command line.
    Other(String),
}

impl Actor {
    /// Reads what the log says; `name` is that of the account of this number.
    #[must_use]
    pub fn read(noted: String, name: Option<String>) -> Self {
        match number(&noted, "user ").map(UserId) {
            Some(id) => Self::User(id, name.unwrap_or_default()),
            None => Self::Other(noted),
        }
    }
}

/// What something was done to, with the name that it has now, if it is still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A sale.
    Sale(VoucherId, Option<String>),
    /// A shop.
    Shop(ShopId, Option<String>),
    /// Somebody; of an account that was deleted the name is empty.
    User(UserId, Option<String>),
    /// Something else, as the log calls it.
    Other(String),
}

impl Subject {
    /// Reads what the log says; `name` is that of what it names.
    #[must_use]
    pub fn read(noted: String, name: Option<String>) -> Self {
        let small = |prefix| number(&noted, prefix).and_then(|id| i32::try_from(id).ok());
        if let Some(id) = small("voucher ") {
            Self::Sale(VoucherId(id), name)
        } else if let Some(id) = small("shop ") {
            Self::Shop(ShopId(id), name)
        } else if let Some(id) = number(&noted, "user ") {
            Self::User(UserId(id), name)
        } else {
            Self::Other(noted)
        }
    }
}

fn number(noted: &str, prefix: &str) -> Option<i64> {
    let digits = noted.strip_prefix(prefix)?;
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// More about an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What was changed: only what is not as it was.
    Changes(Vec<Difference>),
    /// What the program says of it, in its own words; may be empty.
    Words(String),
}

/// One thing that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which: one of [`Detail::FIELDS`].
    pub field: &'static str,
    /// What was; `none` where there was nothing.
    pub was: String,
    /// What is since.
    pub is: String,
}

impl Detail {
    /// What may be changed, as the log calls it.
    pub const FIELDS: [&str; 16] = [
        "title",
        "subtitle",
        "rules",
        "price",
        "face_value",
        "granted",
        "cut_to",
        "begins_at",
        "ends_at",
        "zone",
        "state",
        "name",
        "category",
        "address",
        "picture",
        "role",
    ];

    /// Reads what was noted of an action; what does not look like changes is words.
    #[must_use]
    pub fn read(action: &str, noted: String) -> Self {
        let found = match action {
            "set_role" => pair(&noted, "role", " → "),
            "set_shop_picture" | "remove_shop_picture" => pair(&noted, "picture", " -> "),
            "create_sale" => noted
                .strip_suffix(" units")
                .map(|units| vec![difference("granted", "none", units)]),
            _ => changes(&noted),
        };
        found.map_or(Self::Words(noted), Self::Changes)
    }
}

fn difference(field: &'static str, was: &str, is: &str) -> Difference {
    Difference {
        field,
        was: was.to_owned(),
        is: is.to_owned(),
    }
}

fn pair(noted: &str, field: &'static str, arrow: &str) -> Option<Vec<Difference>> {
    let (was, is) = noted.split_once(arrow)?;
    Some(vec![difference(field, was, is)])
}

/// Reads `granted 100 -> 110; title "a" -> "b"`, as [`super::Voucher::differences`] writes it; `None` for anything else.
fn changes(noted: &str) -> Option<Vec<Difference>> {
    let mut rest = noted;
    let mut found = Vec::new();
    loop {
        let (field, after) = rest.split_once(' ')?;
        let field = Detail::FIELDS.into_iter().find(|known| *known == field)?;
        let (was, after) = value(after, " -> ")?;
        let (is, after) = value(after.strip_prefix(" -> ")?, "; ")?;
        found.push(Difference { field, was, is });
        match after.strip_prefix("; ") {
            Some(next) => rest = next,
            None if after.is_empty() => return Some(found),
            None => return None,
        }
    }
}

/// The value at the beginning of a text, and what follows it: quoted, or as far as `end`.
fn value<'a>(text: &'a str, end: &str) -> Option<(String, &'a str)> {
    match text.strip_prefix('"') {
        Some(quoted) => unquoted(quoted),
        None => {
            let cut = text.find(end).unwrap_or(text.len());
            Some((text[..cut].to_owned(), &text[cut..]))
        }
    }
}

/// The letters up to the closing quotation mark, and what follows it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut letters = text.char_indices();
    let mut found = String::new();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((found, &text[at + 1..])),
            '\\' => found.push(escaped(&mut letters)?),
            letter => found.push(letter),
        }
    }
    None
}

/// The letter that a backslash stands before, as Rust writes it and as JSON does.
fn escaped(letters: &mut std::str::CharIndices<'_>) -> Option<char> {
    match letters.next()?.1 {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        '0' => Some('\0'),
        'u' => coded(letters),
        letter => Some(letter),
    }
}

/// The letter of a code: `{202e}`, or four digits.
fn coded(letters: &mut std::str::CharIndices<'_>) -> Option<char> {
    let rest = letters.as_str();
    let (digits, length) = match rest.strip_prefix('{') {
        Some(braced) => {
            let digits = braced.split_once('}')?.0;
            (digits, digits.len() + 2)
        }
        None => (rest.get(..4)?, 4),
    };
    let letter = u32::from_str_radix(digits, 16)
        .ok()
        .and_then(char::from_u32)?;
    letters.nth(length - 1)?;
    Some(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(action: &str, noted: &str) -> Vec<(&'static str, String, String)> {
        match Detail::read(action, noted.to_owned()) {
            Detail::Changes(changes) => changes
                .into_iter()
                .map(|one| (one.field, one.was, one.is))
                .collect(),
            Detail::Words(_) => Vec::new(),
        }
    }

    fn change(field: &'static str, was: &str, is: &str) -> (&'static str, String, String) {
        (field, was.to_owned(), is.to_owned())
    }

    #[test]
    fn changes_are_read_as_they_were_noted() {
        let odd = "a\"; granted 1 -> 2\\ \u{202e}<b>\n";
        let noted = format!("granted 100 -> 110; title {odd:?} -> \"\"; cut_to none -> 5");
        let right = [
            change("granted", "100", "110"),
            change("title", odd, ""),
            change("cut_to", "none", "5"),
        ];
        assert_eq!(read("edit_sale", &noted), right);
        let json = r#"name "\u0001\t\"" -> "新""#;
        let right = [change("name", "\u{1}\t\"", "新")];
        assert_eq!(read("edit_shop", json), right);
        let role = read("set_role", "admin → clerk of shop 3");
        assert_eq!(role, [change("role", "admin", "clerk of shop 3")]);
        assert_eq!(
            read("create_sale", "5 units"),
            [change("granted", "none", "5")]
        );
        let picture = read("set_shop_picture", "none -> 0a");
        assert_eq!(picture, [change("picture", "none", "0a")]);
    }

    #[test]
    fn what_does_not_look_like_changes_is_words() {
        for noted in [
            "",
            "title",
            "title \"a",
            "title \"a\" -> \"b\"x",
            "title \"\\u{110000}\" -> \"\"",
            "title \"\\u12\" -> \"\"",
            "a, b -> c, d",
            "stock 3 of 5, 0 promises enqueued again",
        ] {
            let detail = Detail::read("edit_sale", noted.to_owned());
            assert_eq!(detail, Detail::Words(noted.to_owned()), "{noted}");
        }
    }

    #[test]
    fn names_belong_to_what_the_log_names_by_number() {
        let name = || Some("amy".to_owned());
        assert_eq!(
            Actor::read("user 7".to_owned(), name()),
            Actor::User(UserId(7), "amy".to_owned())
        );
        for other in ["program", "user", "user ", "user x", "user +7", "amy"] {
            assert_eq!(
                Actor::read(other.to_owned(), None),
                Actor::Other(other.to_owned())
            );
        }
        assert_eq!(
            Subject::read("voucher 7".to_owned(), name()),
            Subject::Sale(VoucherId(7), name())
        );
        let huge = "voucher 99999999999".to_owned();
        assert_eq!(Subject::read(huge.clone(), None), Subject::Other(huge));
    }
}
