//! Routes, and layers in order. From the outside in: request id, headers, panics, time limit, same origin, login session;
//! then for server functions: body and encoding (422), sign-in (401), role (403), and only then the fields.

mod guard;
mod headers;
mod health;
mod site;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use app::{app::shell, backend::Backend};
use axum::{
    Extension, Router,
    body::Body,
    extract::{ConnectInfo, Request, State},
    http::{HeaderName, Method, StatusCode},
    middleware,
    response::{IntoResponse, Response},
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

use crate::{
    auth::session_store::RedisSessions,
    backend::{RequestBackend, Services},
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A login session lasts so long after the last sign-in.
const SESSION_DAYS: i64 = 30;

/// An answer that takes longer is none (case O13).
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// What the web part needs besides the services.
pub struct Web {
    /// Folder of the built site.
    pub site: std::path::PathBuf,
    /// Cookie over HTTPS only.
    pub secure_cookie: bool,
    /// Renders `/metrics` on loopback; `None` when it has an address of its own.
    pub metrics: Option<PrometheusHandle>,
}

/// The whole web part.
///
/// # Errors
/// When the site has not been built.
pub fn router(services: Arc<Services>, web: Web) -> std::io::Result<Router> {
    // Set once a process; a second router finds it set, which is as good.
    let _ = any_spawner::Executor::init_tokio();
    let sessions = RedisSessions::new(
        services.gate.connection().clone(),
        services.gate.keys().clone(),
    );
    let session_layer = SessionManagerLayer::new(sessions)
        .with_name("session")
        .with_same_site(SameSite::Lax)
        .with_http_only(true)
        .with_secure(web.secure_cookie)
        .with_expiry(Expiry::OnInactivity(time::Duration::days(SESSION_DAYS)));
    let site = site::Site::find(&web.site)?;
    let dynamic = server_functions(&services)
        .fallback(page)
        .layer(Extension(site.leptos.clone()))
        .layer(session_layer)
        .layer(CsrfLayer::new().with_rejection_response(foreign_page))
        .layer(middleware::from_fn(in_time));
    let router = dynamic
        .merge(health::routes())
        .merge(site.routes())
        .route("/metrics", get(metrics).with_state(web.metrics))
        .with_state(services);
    Ok(around_everything(router, web.secure_cookie))
}

/// The layers that every answer passes, errors of other layers included.
fn around_everything(router: Router, https: bool) -> Router {
    let layers = ServiceBuilder::new()
        .layer(SetRequestIdLayer::new(REQUEST_ID, MakeRequestUuid))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(middleware::map_response_with_state(https, headers::guard))
        .layer(CatchPanicLayer::custom(panicked));
    router.layer(layers)
}

/// One route a server function, with its own method only: no change by GET.
fn server_functions(services: &Arc<Services>) -> Router<Arc<Services>> {
    let mut routes = Router::new();
    for (path, method) in leptos::server_fn::axum::server_fn_paths() {
        let filter = if method == Method::GET {
            MethodFilter::GET
        } else {
            MethodFilter::POST
        };
        routes = routes.route(path, on(filter, server_function));
    }
    routes
        .route("/api", axum::routing::any(guard::no_such_call))
        .route("/api/{*rest}", axum::routing::any(guard::no_such_call))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(services),
            guard::guard,
        ))
}

async fn server_function(
    State(services): State<Arc<Services>>,
    session: Session,
    request: Request,
) -> Response {
    let backend = backend(services, session, &request);
    let context = move || provide_context(Arc::clone(&backend));
    leptos_axum::handle_server_fns_with_context(context, request)
        .await
        .into_response()
}

async fn page(
    State(services): State<Arc<Services>>,
    Extension(options): Extension<LeptosOptions>,
    session: Session,
    request: Request,
) -> Response {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let backend = backend(services, session, &request);
    let context = move || {
        provide_context(Arc::clone(&backend));
        headers::permit_page();
    };
    leptos_axum::render_app_async_with_context(context, move || shell(options.clone()))(request)
        .await
}

fn backend(services: Arc<Services>, session: Session, request: &Request) -> Arc<dyn Backend> {
    let id = request
        .headers()
        .get(REQUEST_ID)
        .and_then(|id| id.to_str().ok())
        .unwrap_or_default();
    Arc::new(RequestBackend::new(services, session, id.to_owned()))
}

async fn metrics(State(metrics): State<Option<PrometheusHandle>>, request: Request) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    // A proxy on this machine is loopback too: what it passes on comes from elsewhere.
    let passed_on = request.headers().contains_key("x-forwarded-for")
        || request.headers().contains_key("forwarded");
    match (metrics, peer) {
        (Some(metrics), Some(ConnectInfo(peer))) if peer.ip().is_loopback() && !passed_on => {
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
        .unwrap_or_else(|_| guard::refuse(&app::error::AppError::UNAVAILABLE, lang, None))
}

fn foreign_page(_: ProtectionError) -> Response {
    guard::refuse(&app::error::AppError::Forbidden, app::texts::Lang::En, None)
}

fn panicked(panic: Box<dyn std::any::Any + Send + 'static>) -> Response<Body> {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = said.unwrap_or("no words"), "a handler panicked");
    guard::refuse(&app::error::AppError::Internal, app::texts::Lang::En, None)
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
            let mut router = around_everything(Router::new().fallback(panics), https);
            let answer = router
                .call(Request::new(Body::empty()))
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
