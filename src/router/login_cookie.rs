//! The cookie of the login session. The layer of the sessions takes it back whenever its session is gone, also in the answer
//! to a request that was sent before a new sign-in and arrives after it, as that of a page that polls; the browser would
//! then lose the new one. So only calls that begin or end a login session may touch it.

use axum::{
    extract::{Request, State},
    http::{HeaderValue, header::SET_COOKIE},
    middleware::Next,
    response::Response,
};

/// Its name. With the prefix a browser takes it from no other host of the domain, and over HTTPS only.
pub(super) fn name(https: bool) -> &'static str {
    if https { "__Host-session" } else { "session" }
}

/// The calls that begin or end a login session.
const CALLS: [&str; 5] = [
    "/api/sign_up",
    "/api/sign_in",
    "/api/sign_out",
    "/api/change_password",
    "/api/delete_account",
];

/// Keeps the cookie as it is, unless the call is about it.
pub(super) async fn keep(
    State(name): State<&'static str>,
    request: Request,
    next: Next,
) -> Response {
    let is_about_it = CALLS.contains(&request.uri().path());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let cookies: Vec<HeaderValue> = headers.get_all(SET_COOKIE).iter().cloned().collect();
    headers.remove(SET_COOKIE);
    for cookie in cookies {
        if !is_named(&cookie, name) {
            headers.append(SET_COOKIE, cookie);
        } else if is_about_it {
            headers.append(SET_COOKIE, as_prefixed(cookie, name));
        }
    }
    response
}

/// A cookie with the prefix is believed only with `Secure`, which the layer leaves out where it takes one back.
fn as_prefixed(cookie: HeaderValue, name: &str) -> HeaderValue {
    let text = cookie.to_str().unwrap_or_default();
    if !name.starts_with("__Host-") || text.contains("Secure") {
        return cookie;
    }
    HeaderValue::from_str(&format!("{text}; Secure")).unwrap_or(cookie)
}

fn is_named(cookie: &HeaderValue, name: &str) -> bool {
    let rest = cookie.as_bytes().strip_prefix(name.as_bytes());
    rest.is_some_and(|rest| rest.starts_with(b"="))
}
