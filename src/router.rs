//! Routes, and layers in order. From the outside in: client address, request id, headers, panics, same origin, body, time
//! limit, cookie of the login session, login session; then for server functions: encoding (422), right (401, 403), and
//! only then the fields. A call or page without a declared right is not served: the program does not start with one.

mod body;
mod export;
mod guard;
mod head;
mod headers;
mod health;
mod live;
mod login_cookie;
mod pictures;
mod site;
mod upload;

use std::{
    convert::Infallible,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use app::{
    app::{App, shell},
    backend::Backend,
    error::AppError,
};
use axum::{
    Extension, Router,
    body::Body,
    extract::{ConnectInfo, FromRequestParts, Path, Request, State},
    http::{HeaderName, Method, StatusCode, request::Parts},
    middleware,
    response::{IntoResponse, Redirect, Response},
    routing::{MethodFilter, get, on},
};
use leptos::prelude::{LeptosOptions, provide_context};
use metrics_exporter_prometheus::PrometheusHandle;
use tower::ServiceBuilder;
use tower_http::{
    catch_panic::CatchPanicLayer,
    csrf::{CsrfLayer, ProtectionError},
    request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer},
};
use tower_sessions::{Expiry, Session, SessionManagerLayer, cookie::SameSite};

use self::body::BodyLimits;
use crate::{
    auth::right::{self, Right},
    backend::{RequestBackend, Services, denied::Denied},
    client_address::{ClientAddress, TrustedProxies},
    config::{Config, Limits},
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// An answer that takes longer is none (case O13).
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

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
pub fn router(services: Arc<Services>, web: Web) -> io::Result<Router> {
    // Set once a process; a second router finds it set, which is as good.
    let _ = any_spawner::Executor::init_tokio();
    let cookie = login_cookie::name(web.https);
    let session_layer = SessionManagerLayer::new(services.logins.store())
        .with_name(cookie)
        .with_same_site(SameSite::Lax)
        .with_http_only(true)
        .with_secure(web.https)
        // A sign-in sets its own end; no other session is ever made.
        .with_expiry(Expiry::OnSessionEnd);
    let site = site::Site::find(&web.site)?;
    let dynamic = server_functions(&services)?
        .merge(pages()?)
        .merge(live::routes())
        .merge(export::routes())
        .layer(Extension(site.leptos.clone()))
        .layer(session_layer.clone())
        .layer(middleware::from_fn_with_state(cookie, login_cookie::keep))
        .layer(middleware::from_fn(in_time))
        .layer(middleware::from_fn_with_state(web.body, body::whole));
    // Reads its body itself, once it knows whose it is.
    let upload = upload::routes(&web.limits)
        .layer(session_layer)
        .layer(middleware::from_fn_with_state(cookie, login_cookie::keep));
    let router = dynamic
        .merge(upload)
        .layer(CsrfLayer::new().with_rejection_response(foreign_page))
        .merge(pictures::routes())
        .merge(health::routes())
        .merge(site.routes())
        .route("/metrics", get(metrics).with_state(web.metrics))
        .with_state(services);
    let head_bytes = web.limits.head_bytes;
    Ok(around_everything(
        router,
        web.https,
        web.proxies,
        head_bytes,
    ))
}

/// The layers that every answer passes, errors of other layers included.
fn around_everything(
    router: Router,
    https: bool,
    proxies: TrustedProxies,
    head_bytes: u32,
) -> Router {
    let layers = ServiceBuilder::new()
        .layer(middleware::from_fn_with_state(proxies, client_known))
        .layer(SetRequestIdLayer::new(REQUEST_ID, MakeRequestUuid))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(middleware::map_response_with_state(https, headers::guard))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(
            head_bytes,
            head::well_formed,
        ));
    router.layer(layers)
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

/// One route a page; every other address is a page that says so, also where the router of pages would take it for one of
/// them, as with a slash at the end.
fn pages() -> io::Result<Router<Arc<Services>>> {
    let mut routes = Router::new();
    for page in leptos_axum::generate_route_list(App) {
        let right = right::of_page(page.path()).ok_or_else(|| undeclared(page.path()))?;
        routes = routes.route(page.path(), get(show).layer(Extension(right)));
    }
    Ok(routes.fallback(nowhere))
}

async fn nowhere(
    services: State<Arc<Services>>,
    options: Extension<LeptosOptions>,
    session: Session,
    request: Request,
) -> Response {
    let path = request.uri().path();
    let page = path.strip_suffix('/').and_then(app::api::local_path);
    if let Some(page) = page.filter(|_| request.method() == Method::GET) {
        return Redirect::permanent(page).into_response();
    }
    render(services, options, None, session, request).await
}

fn undeclared(path: &str) -> io::Error {
    io::Error::other(format!(
        "{path} does not say who may use it (auth/right.rs)"
    ))
}

async fn show(
    services: State<Arc<Services>>,
    options: Extension<LeptosOptions>,
    Extension(right): Extension<Right>,
    session: Session,
    request: Request,
) -> Response {
    render(services, options, Some(right), session, request).await
}

/// Renders a page to whom it is for; without a right there is no such page.
async fn render(
    State(services): State<Arc<Services>>,
    Extension(options): Extension<LeptosOptions>,
    right: Option<Right>,
    session: Session,
    request: Request,
) -> Response {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let backend = of_request(services, session, &request);
    let backend: Arc<dyn Backend> = match right {
        Some(right) => permitted(backend, right).await,
        None => Arc::new(Denied::new(backend, AppError::NotFound)),
    };
    let context = move || {
        provide_context(Arc::clone(&backend));
        headers::permit_page();
    };
    leptos_axum::render_app_async_with_context(context, move || shell(options.clone()))(request)
        .await
}

/// The backend of a request, whatever its visitor may do.
fn of_request(services: Arc<Services>, session: Session, request: &Request) -> RequestBackend {
    RequestBackend::new(services, session, request_id(request), client(request).0)
}

/// The backend for this visitor: one that refuses, where they are not what the right asks for.
async fn permitted(backend: RequestBackend, right: Right) -> Arc<dyn Backend> {
    match backend.require(right).await {
        Ok(()) => Arc::new(backend),
        Err(error) => Arc::new(Denied::new(backend, error)),
    }
}

fn request_id(request: &Request) -> String {
    let id = request.headers().get(REQUEST_ID);
    id.and_then(|id| id.to_str().ok())
        .unwrap_or_default()
        .to_owned()
}

/// Notes whose request it is. The id that it has for the log is ours, or that of a proxy whose word is taken.
async fn client_known(
    State(proxies): State<TrustedProxies>,
    mut request: Request,
    next: middleware::Next,
) -> Response {
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>() {
        let (peer, headers) = (peer.ip(), request.headers());
        let client = proxies.client(peer, headers);
        let id = headers.get(REQUEST_ID);
        let id_is_good = id.is_none_or(|id| proxies.sent(peer) && is_id(id.as_bytes()));
        if !id_is_good {
            request.headers_mut().remove(REQUEST_ID);
        }
        request.extensions_mut().insert(client);
    }
    next.run(request).await
}

/// Can it be an id for the log, as proxies make them?
fn is_id(id: &[u8]) -> bool {
    let is_plain = |letter: &u8| letter.is_ascii_alphanumeric() || b"-_.:=".contains(letter);
    (1..=64).contains(&id.len()) && id.iter().all(is_plain)
}

/// Whose request it is; the unspecified address where it came over no network.
fn client(request: &Request) -> ClientAddress {
    let known = request.extensions().get::<ClientAddress>().copied();
    known.unwrap_or(ClientAddress(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

/// What stands in the path, which may be anything; empty where it is no UTF-8, which names nothing either.
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
        Some(metrics) if client(&request).0.is_loopback() && !passed_on => {
            metrics.render().into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
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

fn panicked(panic: Box<dyn std::any::Any + Send + 'static>) -> Response<Body> {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = said.unwrap_or("no words"), "a handler panicked");
    guard::refuse(&AppError::Internal, app::texts::Lang::En, None)
}

#[cfg(test)]
mod tests {
    use tower::Service;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_answered_with_all_headers_and_https_is_asked_for_only_behind_it() {
        async fn panics() -> Response {
            panic!("on purpose")
        }
        for https in [false, true] {
            let mut router = around_everything(
                Router::new().fallback(panics),
                https,
                TrustedProxies::new(&[]),
                1000,
            );
            let request = Request::builder().header("host", "localhost");
            let answer = router
                .call(request.body(Body::empty()).expect("a request"))
                .await
                .expect("no error");
            assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
            let headers = answer.headers();
            for name in ["content-security-policy", "referrer-policy", "x-request-id"] {
                assert!(headers.contains_key(name), "{name}");
            }
            assert_eq!(headers.contains_key("strict-transport-security"), https);
        }
    }
}
