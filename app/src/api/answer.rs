//! Turns an outcome into an HTTP answer, in one place. A program (or island) gets JSON with a status; a browser
//! without script gets a redirect to a page that reads its own state from its address.

use http::request::Parts;
use http::{HeaderValue, StatusCode, header};
use leptos::{
    prelude::use_context, reactive::owner::with_context, server_fn::error::ServerFnErrorErr,
};
use leptos_axum::ResponseOptions;

use crate::{
    components::encode,
    error::{AppError, ErrorBody},
    texts::Lang,
};

/// Letters of a field that are carried back to its form: as many as can be typed into the longest.
const TYPED_SHOWN: usize = 2 * crate::model::RULES;

/// Where a browser without script goes on.
pub(super) struct Page<'a> {
    /// The page of the form, where errors are shown.
    pub(super) form: String,
    /// What was typed, to be shown again; never a password.
    pub(super) typed: &'a [(&'static str, &'a str)],
}

impl Page<'_> {
    /// A page that keeps nothing that was typed.
    pub(super) fn at(form: impl Into<String>) -> Self {
        Self {
            form: form.into(),
            typed: &[],
        }
    }
}

/// Answers a program with JSON and a status, a browser with a redirect: on success to `done`, on failure back to
/// the form's page, or to sign-in and then there.
pub(super) fn answer<T>(
    result: Result<T, AppError>,
    page: &Page<'_>,
    done: impl FnOnce(&T) -> String,
) -> Result<T, ErrorBody> {
    if wants_html() {
        match &result {
            Ok(value) => redirect(&done(value)),
            Err(error) => redirect(&failed_page(error, page)),
        }
    }
    reply(result)
}

/// Answers with JSON and a status, whoever asks: for calls that only read.
pub(super) fn reply<T>(result: Result<T, AppError>) -> Result<T, ErrorBody> {
    result.map_err(|error| {
        if !wants_html() {
            set_status(&error);
        }
        visitor_lang().error(&error, request_id())
    })
}

/// The answer to a body that is no form of ours; called by the server-function machinery.
pub(crate) fn undecodable(error: &ServerFnErrorErr) -> ErrorBody {
    let error = match error {
        ServerFnErrorErr::Args(_)
        | ServerFnErrorErr::MissingArg(_)
        | ServerFnErrorErr::Deserialization(_)
        | ServerFnErrorErr::UnsupportedRequestMethod(_) => AppError::Invalid(Default::default()),
        _ => AppError::Internal,
    };
    if !wants_html() {
        set_status(&error);
    }
    visitor_lang().error(&error, request_id())
}

/// The language of the visitor of this request.
pub(crate) fn visitor_lang() -> Lang {
    with_context(|parts: &Parts| Lang::of(&parts.headers)).unwrap_or(Lang::En)
}

/// The address of a page of this site to go on to, or `None` for anything that could lead elsewhere. It begins with
/// exactly one slash and holds neither backslashes nor control letters; no part of it is `.` or `..`, which a browser
/// would walk; and it is no call, where a browser that is sent there finds an error (case O26).
#[must_use]
pub fn local_path(address: &str) -> Option<&str> {
    let plain = address.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let parts = path.strip_prefix('/')?;
    // Browsers take an encoded dot for a dot.
    let walks = |part: &str| {
        matches!(
            part.to_ascii_lowercase().replace("%2e", ".").as_str(),
            "." | ".."
        )
    };
    let ok = plain
        && address.len() <= 512
        && !parts.starts_with('/')
        && !parts.split('/').any(walks)
        && parts.split('/').next() != Some("api");
    ok.then_some(address)
}

/// Where a browser without script goes on after a refusal: the form's page, which shows it, or sign-in.
#[must_use]
pub fn refused_at(form: &str, error: &AppError) -> String {
    failed_page(error, &Page::at(form))
}

/// The page of a form, to be shown again with what was typed and what is wrong with it.
pub(crate) fn back_to_form(error: &AppError, form: &str, typed: &[(&'static str, &str)]) -> String {
    let form = form.to_owned();
    failed_page(error, &Page { form, typed })
}

fn failed_page(error: &AppError, page: &Page<'_>) -> String {
    let (path, query) = page.form.split_once('?').unwrap_or((&page.form, ""));
    if *error == AppError::SignInRequired {
        return format!("/sign-in?next={}", encode(&page.form));
    }
    let mut pairs: Vec<String> = Vec::new();
    if !query.is_empty() {
        pairs.push(query.to_owned());
    }
    match error {
        AppError::Invalid(problems) => pairs.extend(
            problems
                .iter()
                .map(|(field, problem)| format!("invalid={field}.{}", problem.to_query())),
        ),
        _ => pairs.push(format!("error={}", error.code())),
    }
    if let AppError::TooManyRequests { retry_after_s } = error {
        pairs.push(format!("wait={retry_after_s}"));
    }
    pairs.extend(
        page.typed
            .iter()
            .map(|(field, value)| (field, value.chars().take(TYPED_SHOWN).collect::<String>()))
            .map(|(field, value)| format!("{field}={}", encode(&value))),
    );
    format!("{path}?{}", pairs.join("&"))
}

fn redirect(path: &str) {
    let Some(response) = use_context::<ResponseOptions>() else {
        return;
    };
    // Addresses are made of escaped parts, so this holds; a browser would else stay where it is.
    if let Ok(location) = HeaderValue::from_str(path) {
        response.insert_header(header::LOCATION, location);
        response.set_status(StatusCode::SEE_OTHER);
    }
}

fn set_status(error: &AppError) {
    let Some(response) = use_context::<ResponseOptions>() else {
        return;
    };
    response.set_status(
        StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
    );
    if let Some(seconds) = error.retry_after_s() {
        response.insert_header(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
}

fn wants_html() -> bool {
    let accepted = |parts: &Parts| {
        let accepted = parts.headers.get(header::ACCEPT)?.to_str().ok()?;
        Some(accepted.contains("text/html"))
    };
    with_context(accepted).flatten().unwrap_or_default()
}

fn request_id() -> Option<String> {
    let id = |parts: &Parts| {
        let id = parts.headers.get("x-request-id")?.to_str().ok()?;
        Some(id.to_owned())
    };
    with_context(id).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_site_are_followed() {
        for path in [
            "/",
            "/vouchers/7?x=1",
            "/?words=%2F%2Fevil&next=//evil",
            "/orders#..",
            "/apis",
            "/sign-in?next=/api/buy",
            "/%252e%252e/evil",
            "/%2F%2Fevil",
            "/%5Cevil",
            "/x//evil",
            "/...",
        ] {
            assert_eq!(local_path(path), Some(path), "{path:?}");
        }
        for path in [
            "",
            "evil",
            "//evil",
            "///evil",
            "https://evil",
            "https:evil",
            "/\\evil",
            "\\/evil",
            "\\\\evil",
            "/\t/evil",
            "/\n/evil",
            "\t//evil",
            " //evil",
            "/a\nb",
            "/a\0b",
            "/a\u{7f}b",
            "/a b",
            "/券",
            "/.//evil",
            "/..//evil",
            "/./evil",
            "/x/../evil",
            "/x/..",
            "/%2e%2e//evil",
            "/x/%2E./api/buy",
            "/.%2e/api/buy",
            "/api",
            "/api/buy",
            "/api?x",
            "/api#x",
            "javascript:alert(1)",
            "?x",
            "#x",
        ] {
            assert_eq!(local_path(path), None, "{path:?}");
        }
    }
}
