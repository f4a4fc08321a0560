//! Reads a body whole, before anything is asked of a store: no larger than it may be, and in time. Of a GET nobody reads it.
//! A browser whose form is too large is led back to it.

use std::time::Duration;

use app::{
    api::{local_path, refused_at},
    error::AppError,
    model::Problem,
    texts::Lang,
};
use axum::{
    body::{Body, Bytes, HttpBody, to_bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    response::{Html, IntoResponse, Redirect, Response},
};
use http_body_util::BodyExt;

use super::guard;
use crate::config::Limits;

/// Bytes of a browser's form that are read so that it gets to hear the answer, and forgotten.
const FORGOTTEN: u64 = 1_048_576;

/// What a body may cost.
#[derive(Clone, Copy)]
pub(super) struct BodyLimits {
    bytes: u32,
    patience: Duration,
}

impl BodyLimits {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            bytes: limits.body_bytes,
            patience: limits.slow_client(),
        }
    }

    fn too_large(self, headers: &HeaderMap) -> Response {
        let lang = Lang::of(headers);
        let problem = Problem::TooManyBytes(self.bytes.into());
        over(if !guard::wants_html(headers) {
            guard::unreadable(413, &[("body", problem)], lang)
        } else if let Some(form) = form_page(headers) {
            Redirect::to(&refused_at(&form, &AppError::field("body", problem))).into_response()
        } else {
            too_large_page(lang, problem)
        })
    }
}

/// The page that a form was sent from, as the browser says: only its path, on this site. Of a long address browsers say no
/// more than the site; no form is sent from the front page that could be too large.
fn form_page(headers: &HeaderMap) -> Option<String> {
    let page: Uri = headers.get(header::REFERER)?.to_str().ok()?.parse().ok()?;
    local_path(page.path())
        .filter(|path| *path != "/")
        .map(str::to_owned)
}

/// What a browser shows that does not say which page to go back to.
fn too_large_page(lang: Lang, problem: Problem) -> Response {
    let page = format!(
        "<!DOCTYPE html><html lang=\"{}\"><meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <h1>{title}</h1><p>{}</p><p><a href=\"/\">{}</a></p></html>",
        lang.html(),
        lang.problem(problem),
        lang.text("to-front-page"),
        title = lang.text("error-invalid"),
    );
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    (StatusCode::PAYLOAD_TOO_LARGE, [no_store], Html(page)).into_response()
}

/// Reads the body of a request.
///
/// # Errors
/// The answer to one that is too large, too late, or broken off.
pub(super) async fn whole(limits: BodyLimits, request: Request) -> Result<Request, Box<Response>> {
    if request.method() == Method::GET {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    match read(limits, &parts.headers, body).await {
        Ok(bytes) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Err(refusal) => Err(refusal),
    }
}

/// Reads a body, of a request with this head.
///
/// # Errors
/// As [`whole`].
pub(super) async fn read(
    limits: BodyLimits,
    headers: &HeaderMap,
    body: Body,
) -> Result<Bytes, Box<Response>> {
    // A body that says so itself is refused before a byte of it is sent.
    let said = body.size_hint().lower();
    if said > limits.bytes.into() {
        if said <= FORGOTTEN && guard::wants_html(headers) {
            forget(body, limits.patience).await;
        }
        return Err(Box::new(limits.too_large(headers)));
    }
    let unreadable = |status| over(guard::unreadable(status, &[], Lang::of(headers)));
    let limit = usize::try_from(limits.bytes).unwrap_or(usize::MAX);
    match tokio::time::timeout(limits.patience, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_too_large(&error) => Err(Box::new(limits.too_large(headers))),
        // Broken off, or no body by the rules of HTTP.
        Ok(Err(_)) => Err(Box::new(unreadable(400))),
        Err(_) => Err(Box::new(unreadable(408))),
    }
}

/// Reads a body and keeps nothing of it: a browser that is still sending would not hear the answer.
async fn forget(mut body: Body, patience: Duration) {
    let read = async { while let Some(Ok(_)) = body.frame().await {} };
    // What comes too late is answered all the same.
    let _ = tokio::time::timeout(patience, read).await;
}

fn is_too_large(error: &axum::Error) -> bool {
    std::error::Error::source(error)
        .is_some_and(|source| source.is::<http_body_util::LengthLimitError>())
}

/// What is left of the body is not read any more.
pub(super) fn over(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_gone_back_to_by_its_path_alone() {
        let page = |referer: &'static str| {
            let referer = HeaderValue::from_static(referer);
            form_page(&HeaderMap::from_iter([(header::REFERER, referer)]))
        };
        for (referer, path) in [
            ("http://shop/admin/sales/new?title=a", "/admin/sales/new"),
            ("https://evil/sign-in", "/sign-in"),
        ] {
            assert_eq!(page(referer).as_deref(), Some(path), "{referer}");
        }
        for referer in [
            "http://shop/",
            "http://shop//evil/x",
            "http://shop/api/buy",
            "http://shop/x/../api",
            "about:blank",
            "",
        ] {
            assert_eq!(page(referer), None, "{referer}");
        }
        assert_eq!(form_page(&HeaderMap::new()), None);
    }
}
