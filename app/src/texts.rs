//! The words of the product: one file per language under `app/texts`, found by key.
//! Rendered on the server only; islands get their words as props.

use std::{borrow::Cow, collections::HashMap};

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
        TEXTS.lookup(&self.id(), key)
    }

    /// The text of a key that may be none.
    #[must_use]
    pub fn find(self, key: &str) -> Option<String> {
        TEXTS.try_lookup(&self.id(), key)
    }

    /// The text of a key with values in it.
    #[must_use]
    pub fn text_with<const N: usize>(
        self,
        key: &str,
        values: [(&'static str, FluentValue<'_>); N],
    ) -> String {
        let values: HashMap<Cow<'static, str>, FluentValue<'_>> = values
            .into_iter()
            .map(|(name, value)| (Cow::Borrowed(name), value))
            .collect();
        TEXTS.lookup_with_args(&self.id(), key, &values)
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
        let zh = include_str!("../texts/zh/main.ftl");
        let en = include_str!("../texts/en/main.ftl");
        assert_eq!(keys(zh), keys(en));
        assert!(keys(zh).len() > 20);
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
