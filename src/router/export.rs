//! The orders of a sale as a file. It is sent as it is read: the next rows are asked for when those before are on their way,
//! and whoever hangs up ends it. An error half-way, or the end of the right to it, breaks the answer off, so that no part
//! passes for the whole.

use std::sync::Arc;

use app::{error::AppError, model::VoucherId, texts::Lang};
use axum::{
    Router,
    body::Body,
    extract::{MatchedPath, Request, State},
    http::{HeaderValue, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use tower_sessions::Session;

use super::{PathPart, guard};
use crate::{
    auth::right,
    backend::{RequestBackend, Services, orders_file::OrdersFile},
};

pub(super) fn routes() -> Router<Arc<Services>> {
    Router::new().route("/admin/sales/{id}/orders.csv", get(orders))
}

async fn orders(
    State(services): State<Arc<Services>>,
    PathPart(id): PathPart,
    route: MatchedPath,
    session: Session,
    request: Request,
) -> Response {
    let lang = Lang::of(request.headers());
    let request_id = super::request_id(&request);
    let backend = super::of_request(services, session, &request);
    match file(&backend, route.as_str(), &id).await {
        Ok(file) => answer(file),
        Err(AppError::SignInRequired) if guard::wants_html(request.headers()) => {
            Redirect::to(&format!("/sign-in?next={}", request.uri().path())).into_response()
        }
        Err(error) => guard::refuse(&error, lang, Some(request_id)),
    }
}

async fn file(backend: &RequestBackend, route: &str, id: &str) -> Result<OrdersFile, AppError> {
    let right = right::of_other(route).ok_or(AppError::NotFound)?;
    backend.require(right).await?;
    let id = VoucherId::parse(id).map_err(|_| AppError::NotFound)?;
    backend.orders_file(id).await
}

fn answer(file: OrdersFile) -> Response {
    let disposition = format!("attachment; filename=\"{}\"", file.name());
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/csv; charset=utf-8"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // A number and a date: always the value of a header.
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_str(&disposition).unwrap_or(HeaderValue::from_static("attachment")),
        ),
    ];
    (headers, Body::from_stream(file.chunks())).into_response()
}
