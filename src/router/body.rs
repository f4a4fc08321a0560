//! Reads a body whole, before anything is asked of a store: no larger than it may be, and in time. Of a GET nobody reads it.

use std::time::Duration;

use app::{model::Problem, texts::Lang};
use axum::{
    body::{Body, HttpBody, to_bytes},
    extract::{Request, State},
    http::{HeaderValue, Method, header},
    middleware::Next,
    response::Response,
};

use super::guard;
use crate::config::Limits;

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

    fn too_large(self, lang: Lang) -> Response {
        let problem = Problem::TooManyBytes(self.bytes.into());
        over(guard::unreadable(413, &[("body", problem)], lang))
    }
}

/// The layer around all that reads bodies.
pub(super) async fn whole(
    State(limits): State<BodyLimits>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() == Method::GET {
        return next.run(request).await;
    }
    let lang = Lang::of(request.headers());
    let (parts, body) = request.into_parts();
    // A body that says so itself is refused before a byte of it is sent.
    if body.size_hint().lower() > limits.bytes.into() {
        return limits.too_large(lang);
    }
    let limit = usize::try_from(limits.bytes).unwrap_or(usize::MAX);
    match tokio::time::timeout(limits.patience, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => {
            next.run(Request::from_parts(parts, Body::from(bytes)))
                .await
        }
        Ok(Err(error)) if is_too_large(&error) => limits.too_large(lang),
        // Broken off, or no body by the rules of HTTP.
        Ok(Err(_)) => over(guard::unreadable(400, &[], lang)),
        Err(_) => over(guard::unreadable(408, &[], lang)),
    }
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
