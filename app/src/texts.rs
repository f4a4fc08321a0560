//! The words of the product: one file per language under `app/texts`, found by key.
//! Rendered on the server only; islands get their words as props.

use std::{collections::HashMap, sync::OnceLock};

use fluent_templates::{
    LanguageIdentifier, Loader, fluent_bundle::FluentValue, langid, static_loader,
};
use http::{HeaderMap, header};

use crate::{
    error::{AppError, ErrorBody},
    model::{Problem, grouped},
};

static_loader! {
    static TEXTS = {
        locales: "./texts",
        fallback_language: "en",
        // No isolation marks around values: pages isolate names with <bdi>.
        customise: |bundle| bundle.set_use_isolating(false),
    };
}

/// The files of texts.
const ZH: &str = include_str!("../texts/zh/main.ftl");
const EN: &str = include_str!("../texts/en/main.ftl");

/// The texts in which there is nothing to choose or to reckon, as nearly all are. Fluent takes a microsecond or more for each,
/// and a page has up to two hundred.
static PLAIN: PerLang<HashMap<&str, Vec<Part>>> = PerLang::new();

/// A part of a plain text.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Words(&'static str),
    /// The value of this name.
    Value(&'static str),
}

/// A language of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lang {
    /// 简体中文
    Zh,
    /// English
    En,
}

/// The cookie that holds a visitor's own choice.
pub const COOKIE: &str = "lang";

impl Lang {
    /// Reads `zh` or `en`.
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        [Self::Zh, Self::En]
            .into_iter()
            .find(|lang| lang.code() == code)
    }

    /// The code, as in the cookie.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Zh => "zh",
            Self::En => "en",
        }
    }

    /// The value of `<html lang>`.
    #[must_use]
    pub fn html(self) -> &'static str {
        match self {
            Self::Zh => "zh-CN",
            Self::En => "en",
        }
    }

    /// The visitor's language: the choice in the cookie, else the first known one of `Accept-Language`
    /// (in the order written; browsers sort it), else English.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let chosen = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .find(|(name, _)| *name == COOKIE)
            .and_then(|(_, code)| Self::parse(code));
        let accepted = || {
            let languages = headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
            languages
                .split(',')
                .find_map(|part| Self::parse(part.trim().get(..2)?.to_lowercase().as_str()))
        };
        chosen.or_else(accepted).unwrap_or(Self::En)
    }

    /// The text of a key.
    #[must_use]
    pub fn text(self, key: &str) -> String {
        self.plain(key, &[])
            .unwrap_or_else(|| TEXTS.lookup(&self.id(), key))
    }

    /// The text of a key that may be none.
    #[must_use]
    pub fn find(self, key: &str) -> Option<String> {
        self.plain(key, &[])
            .or_else(|| TEXTS.try_lookup(&self.id(), key))
    }

    /// The text of a key with values in it.
    #[must_use]
    pub fn text_with<const N: usize>(
        self,
        key: &str,
        values: [(&'static str, FluentValue<'_>); N],
    ) -> String {
        self.plain(key, &values).unwrap_or_else(|| {
            let values = HashMap::from(values.map(|(name, value)| (name.into(), value)));
            TEXTS.lookup_with_args(&self.id(), key, &values)
        })
    }

    /// A plain text, if it is one and all that it names are words.
    fn plain(self, key: &str, values: &[(&'static str, FluentValue<'_>)]) -> Option<String> {
        let texts = PLAIN.get(self, || plain_texts(self.file()));
        let mut text = String::new();
        for part in texts.get(key)? {
            text.push_str(match part {
                Part::Words(words) => words,
                Part::Value(wanted) => match values.iter().find(|(name, _)| name == wanted)? {
                    (_, FluentValue::String(value)) => value,
                    _ => return None,
                },
            });
        }
        Some(text)
    }

    fn file(self) -> &'static str {
        match self {
            Self::Zh => ZH,
            Self::En => EN,
        }
    }

    /// A field's problem in words.
    #[must_use]
    pub fn problem(self, problem: Problem) -> String {
        let (code, limit) = problem.code();
        self.text_with(
            &format!("problem-{code}"),
            [("limit", grouped(limit.unwrap_or_default()).into())],
        )
    }

    /// An error as it goes over the wire.
    #[must_use]
    pub fn error(self, error: &AppError, request_id: Option<String>) -> ErrorBody {
        let fields = match error {
            AppError::Invalid(problems) => problems
                .iter()
                .map(|(field, problem)| ((*field).to_owned(), self.problem(*problem)))
                .collect(),
            _ => Default::default(),
        };
        let request_id = request_id.filter(|_| matches!(error, AppError::Internal));
        ErrorBody {
            error: error.code().to_owned(),
            fields,
            request_id,
        }
    }

    fn id(self) -> LanguageIdentifier {
        match self {
            Self::Zh => langid!("zh"),
            Self::En => langid!("en"),
        }
    }
}

/// The plain texts of a file: those of one line, with words and values in it.
fn plain_texts(file: &'static str) -> HashMap<&'static str, Vec<Part>> {
    let next = file.lines().skip(1).chain([""]);
    let lines = file.lines().zip(next);
    let whole = lines.filter(|(line, next)| {
        line.starts_with(|first: char| first.is_ascii_lowercase()) && !next.starts_with(' ')
    });
    let texts = whole.filter_map(|(line, _)| {
        let (key, text) = line.split_once(" = ")?;
        Some((key, parts(text.trim())?))
    });
    texts.collect()
}

/// The parts of a text, where it is plain.
fn parts(text: &'static str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((words, from_name)) = rest.split_once('{') {
        let (name, after) = from_name.split_once('}')?;
        let name = name.trim().strip_prefix('$')?;
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if !name.chars().all(is_name) {
            return None;
        }
        parts.extend([Part::Words(words), Part::Value(name)]);
        rest = after;
    }
    parts.push(Part::Words(rest));
    Some(parts)
}

/// What is made once a language, when it is first asked for.
pub(crate) struct PerLang<T>([OnceLock<T>; 2]);

impl<T> PerLang<T> {
    /// Nothing yet.
    pub(crate) const fn new() -> Self {
        Self([OnceLock::new(), OnceLock::new()])
    }

    /// That of a language; `make` makes it.
    pub(crate) fn get(&self, lang: Lang, make: impl FnOnce() -> T) -> &T {
        self.0[lang as usize].get_or_init(make)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn keys(texts: &str) -> BTreeSet<&str> {
        texts
            .lines()
            .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
            .filter_map(|line| line.split_once(" ="))
            .map(|(key, _)| key)
            .collect()
    }

    #[test]
    fn both_languages_have_the_same_keys() {
        assert_eq!(keys(ZH), keys(EN));
        assert!(keys(ZH).len() > 20);
    }

    #[test]
    fn a_plain_text_is_what_fluent_makes_of_it() {
        for lang in [Lang::Zh, Lang::En] {
            let texts = plain_texts(lang.file());
            assert!(texts.len() * 10 > keys(lang.file()).len() * 9);
            for (key, parts) in texts {
                let names = parts.iter().filter_map(|part| match part {
                    Part::Value(name) => Some(*name),
                    Part::Words(_) => None,
                });
                let values: Vec<_> = names
                    .map(|name| (name, format!("<{name}>").into()))
                    .collect();
                let fluent = values.iter().cloned();
                let fluent = fluent.map(|(name, value)| (name.into(), value)).collect();
                let fluent = TEXTS.lookup_with_args(&lang.id(), key, &fluent);
                assert_eq!(lang.plain(key, &values), Some(fluent), "{key}");
            }
        }
    }

    #[test]
    fn what_is_more_than_words_and_values_is_fluents() {
        for text in [
            "{ NUMBER($n) }",
            "{ $n -> [one] a",
            "{ other }",
            "{ \"{\" }",
            "{ $a.b }",
        ] {
            assert_eq!(parts(text), None, "{text}");
        }
        let file = "one = a { $b } c\nmany = { $n ->\n    *[other] x\n}\nlong =\n  two\nlater = x\n    y\n# no = text";
        let plain = [Part::Words("a "), Part::Value("b"), Part::Words(" c")];
        assert_eq!(plain_texts(file), HashMap::from([("one", plain.into())]));
        let seconds = |value: FluentValue<'static>| {
            Lang::En.text_with("too-often-seconds", [("seconds", value)])
        };
        assert_eq!(seconds(7.into()), seconds("7".into()));
        assert_eq!(Lang::En.find("no-such-text"), None);
        assert_eq!(Lang::En.plain("money", &[]), None, "no amount is given");
    }

    #[test]
    fn the_visitors_choice_stands_before_the_browsers() {
        let mut headers = HeaderMap::new();
        assert_eq!(Lang::of(&headers), Lang::En);
        headers.insert(
            header::ACCEPT_LANGUAGE,
            "fr,zh-CN;q=0.9,en;q=0.8".parse().unwrap(),
        );
        assert_eq!(Lang::of(&headers), Lang::Zh);
        headers.insert(header::COOKIE, "session=x; lang=en".parse().unwrap());
        assert_eq!(Lang::of(&headers), Lang::En);
    }
}
