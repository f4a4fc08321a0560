//! What the address of a request says. Everything in it is a visitor's: read it, never trust it.

use http::{Uri, request::Parts, uri::PathAndQuery};
use leptos::reactive::owner::with_context;

use crate::{
    api::local_path,
    error::AppError,
    model::{Problem, ShopId, VoucherId},
};

/// Browsers say in it where a request comes from.
const FETCH_SITE: &str = "sec-fetch-site";

/// The fields of all forms, in an order in which each form has its own.
const FIELDS: [&str; 26] = [
    "name",
    "current_password",
    "new_password",
    "password",
    "role",
    "shop_id",
    "title",
    "subtitle",
    "rules",
    "price",
    "face_value",
    "stock",
    "begins_at",
    "begins_at_offset",
    "ends_at",
    "ends_at_offset",
    "zone",
    "category",
    "address",
    "picture",
    "shoppers",
    "units",
    "shape",
    "seconds",
    "voucher_id",
    "on_production",
];

/// The part of an address after `?`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// The query of this request.
    pub(crate) fn here() -> Self {
        let here = |parts: &Parts| Self::parse(parts.uri.query().unwrap_or_default());
        with_context(here).unwrap_or_default()
    }

    /// The query of this request as what was typed into a form of the page, which is shown again; empty where another site
    /// sent the visitor here: it fills in no form for them.
    pub(crate) fn typed_here() -> Self {
        let site = with_context(|parts: &Parts| parts.headers.get(FETCH_SITE).cloned());
        match site.flatten() {
            Some(site) if site != "same-origin" && site != "none" => Self::default(),
            _ => Self::here(),
        }
    }

    fn parse(query: &str) -> Self {
        let pairs = form_urlencoded::parse(query.as_bytes());
        Self(
            pairs
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect(),
        )
    }

    /// The first value of a name; empty when there is none.
    pub(crate) fn value(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value)
    }

    /// The first value of a name, where the address has the name at all.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// A value to search by: at most so many letters, none of them a control letter.
    pub(crate) fn words(&self, name: &str, letters: usize) -> String {
        let words = self.value(name).trim().chars();
        words.filter(|c| !c.is_control()).take(letters).collect()
    }

    /// A path of this site to go on to, if one is named.
    pub(crate) fn next(&self) -> Option<&str> {
        local_path(self.value("next"))
    }

    /// What is wrong with a field, from `invalid=stock.too-small.1`.
    pub(crate) fn problem(&self, field: &str) -> Option<Problem> {
        self.problems()
            .find(|(name, _)| *name == field)
            .map(|(_, problem)| problem)
    }

    /// All problems, in the order in which the fields stand in their form.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&str, Problem)> {
        let invalid = self.0.iter().filter(|(key, _)| key == "invalid");
        let problems = invalid.filter_map(|(_, value)| {
            let (field, problem) = value.split_once('.')?;
            Some((field, Problem::from_query(problem)?))
        });
        let mut problems: Vec<_> = problems.collect();
        problems.sort_by_key(|(field, _)| FIELDS.iter().position(|known| known == field));
        problems.into_iter()
    }
}

/// The path and query of this request, to come back to; the path alone where both are too long.
pub(crate) fn here() -> String {
    with_context(|parts: &Parts| address_of(&parts.uri)).unwrap_or_else(|| "/".to_owned())
}

fn address_of(uri: &Uri) -> String {
    let whole = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let found = [whole, uri.path()].into_iter().find_map(local_path);
    found.unwrap_or("/").to_owned()
}

/// Escapes a text for the query of an address.
pub(crate) fn encode(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// What stands in the place of `{id}` in the address of the page; empty where it has none.
#[derive(Clone)]
pub(crate) struct InPath(pub(crate) String);

/// The id in the address of the page.
///
/// # Errors
/// `NotFound`: what can be no id names nothing.
pub(crate) fn path_id<T: PathId>() -> Result<T, AppError> {
    let id = with_context(|InPath(id)| T::read(id));
    id.flatten().ok_or(AppError::NotFound)
}

/// An id that may stand in an address.
pub(crate) trait PathId: Sized {
    /// Reads it.
    fn read(text: &str) -> Option<Self>;
}

impl PathId for ShopId {
    fn read(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}

impl PathId for VoucherId {
    fn read(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}

impl PathId for crate::model::RehearsalId {
    fn read(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}

impl PathId for crate::model::OrderId {
    fn read(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_query_does_not_hide_where_somebody_is() {
        let here = |address: &str| address_of(&address.parse().unwrap());
        assert_eq!(here("/admin/sales?a=b"), "/admin/sales?a=b");
        let long = format!("/admin/sales/7/edit?rules={}", "x".repeat(600));
        assert_eq!(here(&long), "/admin/sales/7/edit");
        assert_eq!(here(&format!("/{}", "x".repeat(600))), "/");
    }

    #[test]
    fn an_address_gives_back_what_was_typed_and_no_more() {
        let query =
            Query::parse("name=50%25+off&invalid=name.too-long.60&invalid=x.<b>&next=//evil");
        assert_eq!(query.value("name"), "50% off");
        assert_eq!(query.problem("name"), Some(Problem::TooLong(60)));
        assert_eq!(query.problems().count(), 1);
        assert_eq!(query.next(), None);
        let wrong = "invalid=ends_at.past&invalid=price.missing&invalid=title.missing";
        let wrong = Query::parse(wrong);
        let order: Vec<&str> = wrong.problems().map(|(field, _)| field).collect();
        assert_eq!(order, ["title", "price", "ends_at"]);
        assert_eq!(Query::parse("words=a%00b%0Acd").words("words", 3), "abc");
    }
}
