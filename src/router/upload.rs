//! `POST /api/admin/set_shop_picture`: the one call with a file in it, as `multipart/form-data`. Who may is asked before a
//! byte of the body is read; few bodies are read at a time and one picture is made at a time, so that memory stays bounded
//! however many come. Answers like a server function: a program with JSON, a browser with a redirect.

use std::{sync::Arc, time::Duration};

use app::{
    api::refused_at,
    error::AppError,
    model::{Fields, Problem, ShopId},
    texts::Lang,
};
use axum::{
    Extension, Json, Router,
    body::{Body, Bytes, HttpBody},
    extract::{DefaultBodyLimit, FromRequest, Multipart, Request, State},
    http::{HeaderValue, header, request::Parts},
    response::{IntoResponse, Redirect, Response},
    routing::post,
};
use http_body_util::BodyExt;
use serde::Serialize;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout, timeout_at},
};
use tower_sessions::Session;

use super::{body, guard};
use crate::{
    auth::right,
    backend::{RequestBackend, Services},
    config::Limits,
    picture::{self, Pictures},
};

/// What a form has around its file.
const AROUND: usize = 64 * 1024;

/// Beyond the limit so much is read and forgotten, that a browser gets to hear the answer.
const FORGOTTEN: usize = 4 * picture::FILE;

/// Bodies in memory at a time.
const READING: usize = 4;

/// How long an upload waits for its turn to be read, and again to be made.
const TURN: Duration = Duration::from_secs(20);

/// How long a body may take as a whole: 5 MB at 0.7 Mbit/s. Between two parts of it no client may be slower than others.
const WHOLE: Duration = Duration::from_secs(60);

/// The places in which uploads take their turns.
struct Uploads {
    reading: Semaphore,
    making: Arc<Semaphore>,
    patience: Duration,
}

/// The new pictures of a shop.
#[derive(Serialize)]
struct PictureSet {
    picture: String,
    tile: String,
}

/// The route of the upload.
pub(super) fn routes(limits: &Limits) -> Router<Arc<Services>> {
    let uploads = Uploads {
        reading: Semaphore::new(READING),
        making: Arc::new(Semaphore::new(1)),
        patience: limits.slow_client(),
    };
    Router::new()
        .route("/api/admin/set_shop_picture", post(upload))
        // Its own are those of `whole`.
        .layer(DefaultBodyLimit::disable())
        .layer(Extension(Arc::new(uploads)))
}

async fn upload(
    State(services): State<Arc<Services>>,
    Extension(uploads): Extension<Arc<Uploads>>,
    session: Session,
    request: Request,
) -> Response {
    let caller = Caller::of(&request);
    let backend = super::of_request(services, session, &request);
    if let Err(error) = permitted(&backend, request.uri().path()).await {
        return body::over(caller.refuse(None, &error));
    }
    let (parts, body) = request.into_parts();
    // Kept until the pictures are made: what has been read is in memory so long.
    let (_turn, bytes) = match uploads.whole(body).await {
        Ok(read) => read,
        Err(why) => return caller.unread(why),
    };
    let form = match Form::read(parts, bytes).await {
        Ok(form) => form,
        Err(status) => return guard::unreadable(status, &[], caller.lang),
    };
    let shop = form.shop();
    if let Err(Problem::FileTooLarge(_)) = form.picture {
        return caller.too_large(shop);
    }
    match uploads.set(&backend, form).await {
        Ok(set) => caller.done(shop, set),
        Err(error) => caller.refuse(shop, &error),
    }
}

/// May this visitor? As `auth::right` declares it, like that of every address.
async fn permitted(backend: &RequestBackend, path: &str) -> Result<(), AppError> {
    let right = right::of_other(path).ok_or(AppError::NotFound)?;
    backend.require(right).await
}

/// Why a body was not read.
enum Unread {
    TooLarge,
    BrokenOff,
    TooSlow,
    Busy,
}

impl Uploads {
    /// The body, once it is its turn, and the turn.
    async fn whole(&self, mut body: Body) -> Result<(SemaphorePermit<'_>, Bytes), Unread> {
        let limit = picture::FILE + AROUND;
        let said = body.size_hint().lower();
        if said > u64::try_from(FORGOTTEN).unwrap_or(u64::MAX) {
            return Err(Unread::TooLarge);
        }
        let turn = timeout(TURN, self.reading.acquire()).await;
        let turn = turn.ok().and_then(Result::ok);
        // Of one whose turn does not come nothing is kept: it is read so that its sender gets to hear the answer.
        let kept = if turn.is_some() { limit } else { 0 };
        let deadline = Instant::now() + WHOLE;
        let (mut bytes, mut length) = (Vec::new(), 0);
        loop {
            let next = timeout_at(deadline, timeout(self.patience, body.frame())).await;
            let Ok(Ok(frame)) = next else {
                return Err(Unread::TooSlow);
            };
            let Some(frame) = frame else { break };
            let data = frame.map_err(|_| Unread::BrokenOff)?.into_data();
            let data = data.unwrap_or_default();
            length += data.len();
            if length > FORGOTTEN {
                return Err(Unread::TooLarge);
            }
            if length <= kept {
                bytes.extend_from_slice(&data);
            } else {
                bytes = Vec::new();
            }
        }
        if length > limit {
            return Err(Unread::TooLarge);
        }
        Ok((turn.ok_or(Unread::Busy)?, bytes.into()))
    }

    /// Makes the pictures, off the async threads, and gives them to the shop.
    async fn set(&self, backend: &RequestBackend, form: Form) -> Result<PictureSet, AppError> {
        let mut fields = Fields::default();
        let shop = fields.take("shop_id", form.shop_id.and_then(|id| ShopId::parse(&id)));
        let file = fields.take("picture", form.picture);
        let (Some(shop), Some(file)) = (shop, file) else {
            return Err(fields.into());
        };
        let making = Arc::clone(&self.making).acquire_owned();
        let making = timeout(TURN, making).await.ok().and_then(Result::ok);
        let making = making.ok_or(AppError::UNAVAILABLE)?;
        let made = tokio::task::spawn_blocking(move || {
            let made = Pictures::of(&file);
            // Whoever hangs up does not let the next one begin before this is over.
            drop(making);
            made
        });
        let pictures = match made.await {
            Ok(made) => made.map_err(|problem| AppError::field("picture", problem))?,
            Err(panic) => {
                tracing::error!(error = %panic, "the decoder of pictures failed");
                return Err(AppError::field("picture", Problem::NotAPicture));
            }
        };
        let set = PictureSet {
            picture: pictures.large.picture.id.address(),
            tile: pictures.tile.picture.id.address(),
        };
        backend.set_shop_picture(shop, pictures).await?;
        Ok(set)
    }
}

/// The fields of the form.
struct Form {
    shop_id: Result<String, Problem>,
    picture: Result<Bytes, Problem>,
}

impl Form {
    /// Reads the form; the status of the answer where it is none.
    async fn read(parts: Parts, bytes: Bytes) -> Result<Self, u16> {
        let mut form = Self {
            shop_id: Err(Problem::Missing),
            picture: Err(Problem::Missing),
        };
        let request = Request::from_parts(parts, Body::from(bytes));
        let fields = Multipart::from_request(request, &()).await;
        let mut fields = fields.map_err(|_| 415_u16)?;
        while let Some(field) = fields.next_field().await.map_err(|_| 400_u16)? {
            let name = field.name().unwrap_or_default().to_owned();
            let value = field.bytes().await.map_err(|_| 400_u16)?;
            match name.as_str() {
                "shop_id" => form.shop_id = once(&form.shop_id).and_then(|()| text(&value)),
                "picture" => form.picture = once(&form.picture).and_then(|()| file(value)),
                _ => {}
            }
        }
        Ok(form)
    }

    fn shop(&self) -> Option<ShopId> {
        ShopId::parse(self.shop_id.as_ref().ok()?).ok()
    }
}

fn once<T>(before: &Result<T, Problem>) -> Result<(), Problem> {
    match before {
        Err(Problem::Missing) => Ok(()),
        _ => Err(Problem::Doubled),
    }
}

fn text(value: &[u8]) -> Result<String, Problem> {
    let text = std::str::from_utf8(value).map_err(|_| Problem::BadLetter)?;
    Ok(text.to_owned())
}

/// A form in which no file was chosen has an empty one.
fn file(value: Bytes) -> Result<Bytes, Problem> {
    match value.len() {
        0 => Err(Problem::Missing),
        length if length > picture::FILE => Err(Problem::FileTooLarge(picture::FILE_MB)),
        _ => Ok(value),
    }
}

/// Who is answered, and how.
struct Caller {
    lang: Lang,
    is_browser: bool,
    request_id: String,
    /// The page of the form, so long as the form has not been read.
    page: Option<String>,
}

impl Caller {
    fn of(request: &Request) -> Self {
        let headers = request.headers();
        Self {
            lang: Lang::of(headers),
            is_browser: guard::wants_html(headers),
            request_id: super::request_id(request),
            page: form_page(request.uri().query().unwrap_or_default()),
        }
    }

    fn page(&self, shop: Option<ShopId>) -> String {
        let of_shop = shop.map(|shop| format!("/admin/shops/{shop}/picture"));
        let page = of_shop.or_else(|| self.page.clone());
        page.unwrap_or_else(|| "/admin/sales".to_owned())
    }

    fn done(&self, shop: Option<ShopId>, set: PictureSet) -> Response {
        if self.is_browser {
            return Redirect::to(&format!("{}?changed=picture", self.page(shop))).into_response();
        }
        let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        ([no_store], Json(set)).into_response()
    }

    fn refuse(&self, shop: Option<ShopId>, error: &AppError) -> Response {
        if self.is_browser {
            return Redirect::to(&refused_at(&self.page(shop), error)).into_response();
        }
        guard::refuse(error, self.lang, Some(self.request_id.clone()))
    }

    /// The answer where the file is larger than it may be.
    fn too_large(&self, shop: Option<ShopId>) -> Response {
        let problem = Problem::FileTooLarge(picture::FILE_MB);
        if self.is_browser {
            return self.refuse(shop, &AppError::field("picture", problem));
        }
        guard::unreadable(413, &[("picture", problem)], self.lang)
    }

    /// The answer to a body that was not read.
    fn unread(&self, why: Unread) -> Response {
        let answer = match why {
            Unread::TooLarge => self.too_large(None),
            Unread::BrokenOff => guard::unreadable(400, &[], self.lang),
            Unread::TooSlow => guard::unreadable(408, &[], self.lang),
            Unread::Busy => self.refuse(None, &AppError::UNAVAILABLE),
        };
        body::over(answer)
    }
}

/// The form's page, from the address that it posts to: a body that is too large to be read says no shop.
fn form_page(query: &str) -> Option<String> {
    let shop = ShopId::parse(query.strip_prefix("shop=")?).ok()?;
    Some(format!("/admin/shops/{shop}/picture"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_shops_are_gone_back_to() {
        assert_eq!(
            form_page("shop=7").as_deref(),
            Some("/admin/shops/7/picture")
        );
        for odd in ["", "shop=", "shop=//evil", "shop=7&x", "x=7"] {
            assert_eq!(form_page(odd), None, "{odd}");
        }
    }
}
