//! Routes, and layers in order. From the outside in: what surrounds every answer (`around.rs`), same origin, body, time limit,
//! cookie of the login session, login session; then for server functions: encoding (422), right (401, 403), and only then
//! the fields. A call or page without a declared right is not served: the program does not start with one. The
//! flash-sale button takes the same steps on a shorter way (`button.rs`).

mod around;
mod body;
mod button;
mod export;
mod guard;
mod head;
mod headers;
mod health;
mod live;
mod login_cookie;
mod pictures;
mod remembered;
mod site;
mod upload;

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use app::{
    app::{Files, PAGES, View, shell},
    backend::Backend,
    error::AppError,
    model::VoucherId,
};
use axum::{
    Extension, Router,
    body::Body,
    extract::{FromRequestParts, Path, Request, State},
    http::{Method, StatusCode, request::Parts},
    middleware,
    response::{IntoResponse, Redirect, Response},
    routing::{MethodFilter, get, on},
};
use leptos::prelude::provide_context;
use metrics_exporter_prometheus::PrometheusHandle;
use tower::{Layer, Service};
use tower_http::csrf::{CsrfLayer, ProtectionError};
use tower_sessions::{Expiry, Session, SessionManagerLayer, cookie::SameSite};

use self::{around::Surroundings, body::BodyLimits, button::Button, remembered::Pages};
use crate::{
    auth::right::{self, Right},
    backend::{RequestBackend, Services, denied::Denied},
    client_address::TrustedProxies,
    config::{Config, Limits},
    web_server::Answer,
};

/// An answer that takes longer is none (case O13).
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// The page of a voucher, as the router has it.
const VOUCHER: &str = "/vouchers/{id}";

/// What the web part needs besides the services.
pub struct Web {
    /// Folder of the built site.
    pub site: std::path::PathBuf,
    /// The program is reached over HTTPS.
    pub https: bool,
    /// Proxies that say whose request it is.
    pub proxies: TrustedProxies,
    /// What a body may cost.
    body: BodyLimits,
    /// What an upload may cost.
    limits: Limits,
    /// Renders `/metrics` on loopback; `None` when it has an address of its own.
    pub metrics: Option<PrometheusHandle>,
}

impl Web {
    /// As the settings say.
    #[must_use]
    pub fn new(config: &Config, metrics: Option<PrometheusHandle>) -> Self {
        Self {
            site: config.site.clone(),
            https: config.https,
            proxies: TrustedProxies::new(&config.trusted_proxies),
            body: BodyLimits::new(&config.limits),
            limits: config.limits.clone(),
            metrics,
        }
    }
}

/// The whole web part.
///
/// # Errors
/// When the site has not been built, or a call or page declares no right.
pub fn router(services: Arc<Services>, web: Web) -> io::Result<impl Answer> {
    // Set once a process; a second router finds it set, which is as good.
    let _ = any_spawner::Executor::init_tokio();
    let cookie = login_cookie::name(web.https);
    let session_layer = SessionManagerLayer::new(services.logins.store().as_ref().clone())
        .with_name(cookie)
        .with_same_site(SameSite::Lax)
        .with_http_only(true)
        .with_secure(web.https)
        // A sign-in sets its own end; no other session is ever made.
        .with_expiry(Expiry::OnSessionEnd);
    let site = site::Site::find(&web.site)?;
    let dynamic = server_functions(&services)?
        .merge(pages(&site.files)?)
        .merge(live::routes())
        .merge(export::routes())
        .layer(session_layer.clone())
        .layer(middleware::from_fn_with_state(
            (cookie, web.body),
            whole_and_in_time,
        ));
    // Reads its body itself, once it knows whose it is.
    let upload = upload::routes(&web.limits)
        .layer(session_layer)
        .layer(middleware::map_response(move |mut answer: Response| {
            login_cookie::keep(cookie, false, answer.headers_mut());
            std::future::ready(answer)
        }));
    let same_origin = CsrfLayer::new().with_rejection_response(foreign_page);
    let surroundings = Arc::new(Surroundings {
        proxies: web.proxies,
        https: web.https,
        head_bytes: web.limits.head_bytes,
    });
    let ordinary = dynamic
        .merge(upload)
        .layer(same_origin.clone())
        .with_state(Arc::clone(&services));
    let button = Button::new(Arc::clone(&services), cookie, web.body)
        .ok_or_else(|| undeclared(button::ADDRESS))?;
    let button = Arc::new(button);
    let press = tower::service_fn(move |request| {
        let button = Arc::clone(&button);
        async move { Ok::<_, Infallible>(button.answer(request).await) }
    });
    let others = Router::new()
        .merge(pictures::routes())
        .merge(health::routes())
        .merge(site.routes())
        .route("/metrics", get(metrics).with_state(web.metrics))
        .with_state(services)
        // Merged, and not a router of its own behind this one, which every page would come through.
        .merge(ordinary);
    Ok(Routes {
        surroundings,
        button: same_origin.layer(press),
        others,
    })
}

/// All that is answered: a press of the button on its short way, everything else by its route.
#[derive(Clone)]
struct Routes<B> {
    surroundings: Arc<Surroundings>,
    button: B,
    others: Router,
}

impl<B> Answer for Routes<B>
where
    B: Service<Request, Response = Response, Error = Infallible> + Clone + Send + Sync + 'static,
    B::Future: Send,
{
    async fn answer(&self, request: Request) -> Response {
        let answers = async |request: Request| {
            if !button::is_pressed(&request) {
                return self.others.answer(request).await;
            }
            let Ok(answer) = self.button.clone().call(request).await;
            answer
        };
        self.surroundings.answer(request, answers).await
    }
}

/// One route a server function, with its own method only: no change by GET.
fn server_functions(services: &Arc<Services>) -> io::Result<Router<Arc<Services>>> {
    let mut routes = Router::new();
    for (path, method) in leptos::server_fn::axum::server_fn_paths() {
        right::of_call(path).ok_or_else(|| undeclared(path))?;
        let filter = if method == Method::GET {
            MethodFilter::GET
        } else {
            MethodFilter::POST
        };
        routes = routes.route(path, on(filter, server_function));
    }
    let routes = routes
        .route("/api", axum::routing::any(guard::no_such_call))
        .route("/api/{*rest}", axum::routing::any(guard::no_such_call))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(services),
            guard::guard,
        ));
    Ok(routes)
}

async fn server_function(
    Extension(backend): Extension<Arc<dyn Backend>>,
    request: Request,
) -> Response {
    let context = move || provide_context(Arc::clone(&backend));
    leptos_axum::handle_server_fns_with_context(context, request)
        .await
        .into_response()
}

/// What an address shows.
struct Page {
    /// Who may see it, and what shows it; `None` for an address that leads nowhere.
    known: Option<(Right, View)>,
    files: Arc<Files>,
}

/// One route a page; every other address is a page that says so, also where the router would take it for one of them, as
/// with a slash at the end. Each handler holds its page: a layer that brings it would cost every request a box.
fn pages(files: &Arc<Files>) -> io::Result<Router<Arc<Services>>> {
    let page = |known| {
        let files = Arc::clone(files);
        Arc::new(Page { known, files })
    };
    let remembered = Arc::new(Pages::default());
    let mut routes = Router::new();
    for (address, view) in PAGES {
        let right = right::of_page(address).ok_or_else(|| undeclared(address))?;
        let page = page(Some((right, view)));
        let remembered = Arc::clone(&remembered);
        let handler = if address == VOUCHER {
            get(move |services, session, id, request| {
                show_voucher(page, remembered, services, session, id, request)
            })
        } else {
            get(move |services, session, id, request| show(page, services, session, id, request))
        };
        routes = routes.route(address, handler);
    }
    let page = page(None);
    Ok(
        routes
            .fallback(move |services, session, request| nowhere(page, services, session, request)),
    )
}

async fn nowhere(
    page: Arc<Page>,
    services: State<Arc<Services>>,
    session: Session,
    request: Request,
) -> Response {
    let path = request.uri().path();
    let known = path.strip_suffix('/').and_then(app::api::local_path);
    if let Some(known) = known.filter(|_| request.method() == Method::GET) {
        return Redirect::permanent(known).into_response();
    }
    show(page, services, session, PathPart::default(), request).await
}

fn undeclared(path: &str) -> io::Error {
    io::Error::other(format!(
        "{path} does not say who may use it (auth/right.rs)"
    ))
}

/// The page of a voucher: for guests it may be remembered. A page with words in its address shows what they say.
async fn show_voucher(
    page: Arc<Page>,
    remembered: Arc<Pages>,
    services: State<Arc<Services>>,
    session: Session,
    id: PathPart,
    request: Request,
) -> Response {
    let is_plain = request.method() == Method::GET && request.uri().query().is_none();
    if !is_plain || session.id().is_some() {
        return show(page, services, session, id, request).await;
    }
    let lang = app::texts::Lang::of(request.headers());
    let backend = permitted(of_request(services.0, session, &request), &page).await;
    let (parts, body) = request.into_parts();
    if let Ok(voucher) = VoucherId::parse(&id.0)
        && let Ok(view) = backend.voucher(voucher).await
    {
        let rendering = async {
            let same = Request::from_parts(parts.clone(), Body::empty());
            page.rendered(Arc::clone(&backend), id.clone(), same).await
        };
        if let Some(page) = remembered.page(lang, &view, rendering).await {
            return page;
        }
    }
    let request = Request::from_parts(parts, body);
    page.rendered(backend, id, request).await
}

/// Shows a page to whom it is for.
async fn show(
    page: Arc<Page>,
    State(services): State<Arc<Services>>,
    session: Session,
    id: PathPart,
    request: Request,
) -> Response {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let backend = permitted(of_request(services, session, &request), &page).await;
    page.rendered(backend, id, request).await
}

impl Page {
    async fn rendered(
        &self,
        backend: Arc<dyn Backend>,
        PathPart(id): PathPart,
        request: Request,
    ) -> Response {
        let context = move || {
            provide_context(Arc::clone(&backend));
            headers::permit_page();
        };
        let view = self.known.map(|(_, view)| view);
        let files = Arc::clone(&self.files);
        let shell = move || shell(Arc::clone(&files), view, id.clone());
        leptos_axum::render_app_async_with_context(context, shell)(request).await
    }
}

/// The backend of a request, whatever its visitor may do.
fn of_request(services: Arc<Services>, session: Session, request: &Request) -> RequestBackend {
    let client = around::client(request.extensions()).0;
    RequestBackend::new(services, session, request_id(request), client)
}

/// The backend for this visitor: one that refuses, where they are not what the page asks for.
async fn permitted(backend: RequestBackend, page: &Page) -> Arc<dyn Backend> {
    let permitted = match page.known {
        Some((right, _)) => backend.require(right).await,
        None => Err(AppError::NotFound),
    };
    match permitted {
        Ok(()) => Arc::new(backend),
        Err(error) => Arc::new(Denied::new(backend, error)),
    }
}

fn request_id(request: &Request) -> String {
    around::request_id(request.headers())
}

/// What stands in the path, which may be anything; empty where it is no UTF-8, which names nothing either.
#[derive(Clone, Default)]
struct PathPart(String);

impl<S: Send + Sync> FromRequestParts<S> for PathPart {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let part = Path::<String>::from_request_parts(parts, state).await;
        Ok(Self(part.map(|Path(part)| part).unwrap_or_default()))
    }
}

async fn metrics(State(metrics): State<Option<PrometheusHandle>>, request: Request) -> Response {
    // A proxy on this machine that is not trusted is loopback too: what it passes on comes from elsewhere.
    let passed_on = request.headers().contains_key("x-forwarded-for")
        || request.headers().contains_key("forwarded");
    match metrics {
        Some(metrics) if around::client(request.extensions()).0.is_loopback() && !passed_on => {
            metrics.render().into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Reads a body whole, and only then asks for the answer, in time; the cookie of the login session stays as it is.
async fn whole_and_in_time(
    State((cookie, limits)): State<(&'static str, BodyLimits)>,
    request: Request,
    next: middleware::Next,
) -> Response {
    let request = match body::whole(limits, request).await {
        Ok(request) => request,
        Err(refusal) => return *refusal,
    };
    let is_about_login = login_cookie::is_set_by(request.uri().path());
    let mut answer = in_time(request, next).await;
    login_cookie::keep(cookie, is_about_login, answer.headers_mut());
    answer
}

/// Answers "try again" where an answer takes too long: what a request waits for may never come, when a line to a store
/// has gone deaf. What it was writing is one statement, or goes on without it.
async fn in_time(request: Request, next: middleware::Next) -> Response {
    let lang = app::texts::Lang::of(request.headers());
    tokio::time::timeout(ANSWER_LIMIT, next.run(request))
        .await
        .unwrap_or_else(|_| guard::refuse(&AppError::UNAVAILABLE, lang, None))
}

fn foreign_page(_: ProtectionError) -> Response {
    guard::refuse(&AppError::Forbidden, app::texts::Lang::En, None)
}
