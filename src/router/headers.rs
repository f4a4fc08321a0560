//! What every answer tells the browser about itself: that it may do nothing, unless it is a page of ours; a page may run
//! our own script alone. What gets into a page by a fault finds no way to run, to send, or to be framed.

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::Response,
};
use leptos::{nonce::use_nonce, prelude::use_context};
use leptos_axum::ResponseOptions;

/// Of answers that are no page: data, files, errors.
const NOTHING: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Of a page, after its script sources. `connect-src` is for what islands ask, and for their WebAssembly.
const PAGE: &str = "style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'self'; frame-ancestors 'none'";

/// What stands before a nonce.
const OWN: &str = "'nonce-";

/// Of every answer. The referrer goes to our own pages alone; not `no-referrer`, with which browsers send forms under
/// the origin `null`, and those are refused as foreign.
const ALWAYS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

/// For a year browsers come back over HTTPS only. Without the names below this one, which may be somebody else's.
const HTTPS_ONLY: &str = "max-age=31536000";

/// Sets them on an answer; `https` says whether the program is reached over HTTPS only.
pub(super) fn guard(response: &mut Response, https: bool) {
    let headers = response.headers_mut();
    // Those that are set here, and the id of the request.
    headers.reserve(ALWAYS.len() + 3);
    set_default(headers, header::CONTENT_SECURITY_POLICY, NOTHING);
    for (name, value) in ALWAYS {
        set_default(headers, name, value);
    }
    if https {
        set_default(headers, header::STRICT_TRANSPORT_SECURITY, HTTPS_ONLY);
        secure_cookies(headers);
    }
}

/// Lets the page that is about to be rendered run its own script, which carries the page's nonce. `'self'` is for the
/// preloaded module, which Leptos gives no nonce: all that this site serves as script is the same for everybody.
pub(super) fn permit_page() {
    let policy = page_policy(use_nonce().as_deref());
    if let (Some(response), Some(policy)) = (use_context::<ResponseOptions>(), policy) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// The policy of a page whose script carries this nonce.
pub(super) fn page_policy(nonce: Option<&str>) -> Option<HeaderValue> {
    let own = nonce.map_or_else(String::new, |nonce| format!(" {OWN}{nonce}'"));
    let policy = format!("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{own}; {PAGE}");
    // A nonce is letters, digits, `-` and `_`, so that this holds; without the header the page could do nothing.
    HeaderValue::from_str(&policy).ok()
}

/// The nonce that the policy of an answer names.
pub(super) fn nonce_of(headers: &HeaderMap) -> Option<&str> {
    let policy = headers
        .get(header::CONTENT_SECURITY_POLICY)?
        .to_str()
        .ok()?;
    let (_, rest) = policy.split_once(OWN)?;
    rest.split_once('\'').map(|(nonce, _)| nonce)
}

/// Behind HTTPS no cookie goes over anything else, whoever set it.
fn secure_cookies(headers: &mut HeaderMap) {
    let cookies = headers.get_all(header::SET_COOKIE).iter();
    let is_open = |cookie: &HeaderValue| {
        let attributes = cookie.as_bytes().split(|byte| *byte == b';').skip(1);
        let mut attributes = attributes.map(<[u8]>::trim_ascii);
        !attributes.any(|attribute| attribute.eq_ignore_ascii_case(b"Secure"))
    };
    let cookies: Vec<HeaderValue> = cookies.cloned().collect();
    if !cookies.iter().any(is_open) {
        return;
    }
    headers.remove(header::SET_COOKIE);
    for cookie in cookies {
        let secured = is_open(&cookie).then(|| [cookie.as_bytes(), b"; Secure"].concat());
        let secured = secured.and_then(|cookie| HeaderValue::from_bytes(&cookie).ok());
        headers.append(header::SET_COOKIE, secured.unwrap_or(cookie));
    }
}

fn set_default(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers
        .entry(name)
        .or_insert(HeaderValue::from_static(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_its_nonce() {
        for nonce in [None, Some("aB3-_")] {
            let policy = page_policy(nonce).unwrap();
            let headers = HeaderMap::from_iter([(header::CONTENT_SECURITY_POLICY, policy)]);
            assert_eq!(nonce_of(&headers), nonce);
        }
    }

    #[test]
    fn behind_https_every_cookie_is_secure_once() {
        let mut headers = HeaderMap::new();
        for cookie in ["lang=zh; Path=/", "__Host-session=x; HttpOnly; Secure"] {
            headers.append(header::SET_COOKIE, HeaderValue::from_static(cookie));
        }
        secure_cookies(&mut headers);
        let cookies: Vec<_> = headers.get_all(header::SET_COOKIE).iter().collect();
        let right = [
            "lang=zh; Path=/; Secure",
            "__Host-session=x; HttpOnly; Secure",
        ];
        assert_eq!(cookies, right);
    }
}
