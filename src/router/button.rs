//! The flash-sale button as the page's script and programs press it: the one call that in the opening minute everybody makes
//! at once. It is asked the same, by the same rules and in the same order, as every other call, but by calling them one
//! after the other: layers in boxes and a server function around them cost more than the decision itself
//! (docs/bench/NOTES.md). A browser without script sends a form to the same address, and goes the ordinary way.

use std::sync::Arc;

use app::{api::voucher_pressed, backend::Backend, error::AppError, model::BuyReply, texts::Lang};
use axum::{
    Json,
    body::Bytes,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, header, request::Parts},
    response::{IntoResponse, Response},
};
use tokio::time::timeout;
use tower_sessions::Session;

use super::{ANSWER_LIMIT, around, body, body::BodyLimits, guard, login_cookie};
use crate::{
    auth::right::{self, Right},
    backend::{RequestBackend, Services},
};

/// Its address.
pub(super) const ADDRESS: &str = "/api/buy";

/// Does a script, or a program, press it with this request?
pub(super) fn is_pressed(request: &Request) -> bool {
    request.uri().path() == ADDRESS
        && request.method() == Method::POST
        && !guard::wants_html(request.headers())
}

/// What it takes to answer those who press it.
pub(super) struct Button {
    services: Arc<Services>,
    cookie: &'static str,
    body: BodyLimits,
    right: Right,
}

impl Button {
    /// The button; `None` where nobody may press it.
    pub(super) fn new(
        services: Arc<Services>,
        cookie: &'static str,
        body: BodyLimits,
    ) -> Option<Self> {
        Some(Self {
            services,
            cookie,
            body,
            right: right::of_call(ADDRESS)?,
        })
    }

    /// Answers a press.
    pub(super) async fn answer(&self, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let form = match self.readable(&parts.headers, body).await {
            Ok(form) => form,
            Err(refusal) => return *refusal,
        };
        let pressed = timeout(ANSWER_LIMIT, self.pressed(&parts, &form)).await;
        match pressed.unwrap_or(Err(AppError::UNAVAILABLE)) {
            Ok(reply) => {
                let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
                ([no_store], Json(reply)).into_response()
            }
            Err(error) => {
                let id = around::request_id(&parts.headers);
                guard::refuse(&error, Lang::of(&parts.headers), Some(id))
            }
        }
    }

    async fn readable(
        &self,
        headers: &HeaderMap,
        body: axum::body::Body,
    ) -> Result<Bytes, Box<Response>> {
        let form = body::read(self.body, headers, body).await?;
        guard::form(headers, &form)?;
        Ok(form)
    }

    /// Who presses it.
    fn backend(&self, parts: &Parts) -> RequestBackend {
        let id = login_cookie::value(self.cookie, &parts.headers).and_then(|id| id.parse().ok());
        let session = Session::new(id, self.services.logins.store(), None);
        RequestBackend::new(
            Arc::clone(&self.services),
            session,
            around::request_id(&parts.headers),
            around::client(&parts.extensions).0,
        )
    }

    /// One press.
    async fn pressed(&self, parts: &Parts, form: &[u8]) -> Result<BuyReply, AppError> {
        let backend = self.backend(parts);
        backend.require(self.right).await?;
        backend.renew_login().await;
        let voucher = voucher_pressed(&guard::field(form, "voucher_id"))?;
        backend.buy(voucher).await.map(BuyReply::from)
    }
}
