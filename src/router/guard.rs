//! What is asked before a server function reads its fields: is the body a form in UTF-8, and has the visitor the right that
//! the call declares (`auth::right`). Whoever has not is answered here; a browser without script is sent to a page by the
//! server function itself, which gets a backend that refuses.

use std::{borrow::Cow, collections::HashSet, sync::Arc};

use app::{
    backend::Backend,
    error::{AppError, ErrorBody},
    model::Problem,
    texts::Lang,
};
use axum::{
    Json,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tower_sessions::Session;

use crate::{
    auth::right,
    backend::{Services, denied::Denied},
};

/// The layer around all server functions.
pub(super) async fn guard(
    State(services): State<Arc<Services>>,
    session: Session,
    request: Request,
    next: Next,
) -> Response {
    let lang = Lang::of(request.headers());
    let Some(right) = right::of_call(request.uri().path()) else {
        return refuse(&AppError::NotFound, lang, None);
    };
    let mut request = match readable(request, lang).await {
        Ok(request) => request,
        Err(response) => return *response,
    };
    let request_id = super::request_id(&request);
    let backend = super::of_request(services, session, &request);
    let backend: Arc<dyn Backend> = match backend.require(right).await {
        Ok(()) => {
            if request.method() == Method::POST {
                backend.renew_login().await;
            }
            Arc::new(backend)
        }
        Err(error) if wants_html(request.headers()) => Arc::new(Denied::new(backend, error)),
        Err(error) => return refuse(&error, lang, Some(request_id)),
    };
    request.extensions_mut().insert(backend);
    // The server-function machinery would send a browser back to wherever it came from, another site included.
    request.headers_mut().remove(header::REFERER);
    let mut response = next.run(request).await;
    // What a call answers is one visitor's, and true for a moment.
    response
        .headers_mut()
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The answer at addresses that are no call.
pub(super) async fn no_such_call(headers: HeaderMap) -> Response {
    refuse(&AppError::NotFound, Lang::of(&headers), None)
}

/// An error as a program reads it.
pub(super) fn refuse(error: &AppError, lang: Lang, request_id: Option<String>) -> Response {
    answer(
        error.status(),
        lang.error(error, request_id),
        error.retry_after_s(),
    )
}

/// Refuses what the form decoder would replace or fail on in its own way: bytes that are no UTF-8, a field given twice,
/// another kind of body.
async fn readable(request: Request, lang: Lang) -> Result<Request, Box<Response>> {
    let (parts, body) = request.into_parts();
    let fail = |status, fields: &[(&str, Problem)]| Box::new(unreadable(status, fields, lang));
    if parts.method == Method::GET {
        let query = parts.uri.query().unwrap_or_default();
        return match odd_field(query.as_bytes()) {
            Some((name, problem)) => Err(fail(422, &[(&name, problem)])),
            None => Ok(Request::from_parts(parts, body)),
        };
    }
    // It is all here already, and no larger than it may be: `body::whole`.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return Err(fail(400, &[]));
    };
    form(&parts.headers, &bytes)?;
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// Is this body a form?
///
/// # Errors
/// The answer to one that is none.
pub(super) fn form(headers: &HeaderMap, bytes: &[u8]) -> Result<(), Box<Response>> {
    const FORM: &str = "application/x-www-form-urlencoded";
    let fail = |status, fields: &[(&str, Problem)]| {
        Err(Box::new(unreadable(status, fields, Lang::of(headers))))
    };
    let kind = headers
        .get(header::CONTENT_TYPE)
        .map_or(&[][..], HeaderValue::as_bytes);
    let is_form = kind
        .get(..FORM.len())
        .is_some_and(|kind| kind.eq_ignore_ascii_case(FORM.as_bytes()));
    if !bytes.is_empty() && !is_form {
        return fail(415, &[]);
    }
    match odd_field(bytes) {
        Some((name, problem)) => fail(422, &[(&name, problem)]),
        None => Ok(()),
    }
}

/// A field of a form that has been found to be one; empty where it is not there.
pub(super) fn field<'a>(form: &'a [u8], name: &str) -> Cow<'a, str> {
    let mut fields = form_urlencoded::parse(form);
    fields
        .find(|(its_name, _)| its_name == name)
        .map_or_else(Cow::default, |(_, value)| value)
}

/// The answer to a body that is not read as a form.
pub(super) fn unreadable(status: u16, fields: &[(&str, Problem)], lang: Lang) -> Response {
    let fields = fields
        .iter()
        .map(|(name, problem)| ((*name).to_owned(), lang.problem(*problem)))
        .collect();
    let body = ErrorBody {
        error: "invalid".to_owned(),
        fields,
        request_id: None,
    };
    answer(status, body, None)
}

/// The first field that cannot be read, or that stands twice.
fn odd_field(form: &[u8]) -> Option<(String, Problem)> {
    let mut seen = HashSet::new();
    for pair in form
        .split(|byte| *byte == b'&')
        .filter(|pair| !pair.is_empty())
    {
        let cut = pair
            .iter()
            .position(|byte| *byte == b'=')
            .unwrap_or(pair.len());
        let (name, value) = (&pair[..cut], pair.get(cut + 1..).unwrap_or_default());
        let Some(name) = decoded(name) else {
            return Some(("body".to_owned(), Problem::BadLetter));
        };
        let name: String = name.chars().take(40).collect();
        // `stock[]` and `stock[a]` are a list and a map to the form decoder; every field of ours is one text.
        if let Some((field, _)) = name.split_once('[') {
            return Some((field.to_owned(), Problem::Unknown));
        }
        if decoded(value).is_none() {
            return Some((name, Problem::BadLetter));
        }
        if !seen.insert(name.clone()) {
            return Some((name, Problem::Doubled));
        }
    }
    None
}

fn decoded(part: &[u8]) -> Option<String> {
    percent_encoding::percent_decode(part)
        .decode_utf8()
        .ok()
        .map(Cow::into_owned)
}

pub(super) fn wants_html(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}

fn answer(status: u16, body: ErrorBody, retry_after_s: Option<u32>) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let mut response = (status, [no_store], Json(body)).into_response();
    if let Some(seconds) = retry_after_s {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_bytes_and_doubled_fields_are_named() {
        assert_eq!(odd_field(b""), None);
        assert_eq!(odd_field("title=%E5%88%B8&rules=a+b".as_bytes()), None);
        assert_eq!(
            odd_field(b"title=%FF"),
            Some(("title".to_owned(), Problem::BadLetter))
        );
        assert_eq!(
            odd_field(b"title=\xFF"),
            Some(("title".to_owned(), Problem::BadLetter))
        );
        assert_eq!(
            odd_field(b"stock=1&stock=2"),
            Some(("stock".to_owned(), Problem::Doubled))
        );
        assert_eq!(
            odd_field(b"stock[]=1"),
            Some(("stock".to_owned(), Problem::Unknown))
        );
        assert_eq!(
            odd_field(b"stock%5Ba%5D=1"),
            Some(("stock".to_owned(), Problem::Unknown))
        );
    }
}
