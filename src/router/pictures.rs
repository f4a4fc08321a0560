//! `/pictures/<hash>.jpg`: the pictures of shops. What is under an address never changes, so that browsers and proxies keep
//! it for ever; whoever asks again all the same is told that it is the same.

use std::sync::Arc;

use app::{error::AppError, model::PictureId, texts::Lang};
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    middleware,
    response::{IntoResponse, Response},
    routing::get,
};

use super::{PathPart, guard};
use crate::backend::Services;

/// For a year, and never asked for again.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// The route of all pictures.
pub(super) fn routes() -> Router<Arc<Services>> {
    Router::new()
        .route("/pictures/{file}", get(picture))
        .layer(middleware::from_fn(super::in_time))
}

async fn picture(
    State(services): State<Arc<Services>>,
    PathPart(file): PathPart,
    headers: HeaderMap,
) -> Response {
    let lang = Lang::of(&headers);
    let Some(id) = file.strip_suffix(".jpg").and_then(PictureId::parse) else {
        return guard::refuse(&AppError::NotFound, lang, None);
    };
    let tag = format!("\"{id}\"");
    let kept = [
        (header::CACHE_CONTROL, FOR_EVER.to_owned()),
        (header::ETAG, tag.clone()),
    ];
    if is_known(&headers, &tag) {
        return (StatusCode::NOT_MODIFIED, kept).into_response();
    }
    match services.gallery.jpeg(id).await {
        Ok(jpeg) => (kept, [(header::CONTENT_TYPE, "image/jpeg")], jpeg).into_response(),
        Err(error) if matches!(*error, sqlx::Error::RowNotFound) => {
            guard::refuse(&AppError::NotFound, lang, None)
        }
        Err(error) => {
            let error = services.reveal.reveal(&error.into(), "");
            guard::refuse(&error, lang, None)
        }
    }
}

/// Whether the browser has it: an id is the hash of the bytes, so that nothing has to be looked up.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let tags = headers.get_all(header::IF_NONE_MATCH).iter();
    tags.filter_map(|tags| tags.to_str().ok())
        .flat_map(|tags| tags.split(','))
        .any(|known| known.trim().trim_start_matches("W/") == tag)
}
