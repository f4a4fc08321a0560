//! Around every answer, errors of all other layers included: whose request it is, an id for the log, a head that is well
//! formed, a panic that ends one request alone, the headers that every answer has. No layer of axum's, whose boxes cost a
//! request about as much each as a call to Redis does (docs/bench/NOTES.md).

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    panic::AssertUnwindSafe,
};

use app::{error::AppError, texts::Lang};
use axum::{
    extract::{ConnectInfo, Request},
    http::{HeaderMap, HeaderName, HeaderValue},
    response::Response,
};
use futures::FutureExt;

use super::{guard, head, headers};
use crate::client_address::{ClientAddress, TrustedProxies};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What is the same for all requests.
pub(super) struct Surroundings {
    /// Proxies that say whose request it is.
    pub(super) proxies: TrustedProxies,
    /// The program is reached over HTTPS.
    pub(super) https: bool,
    /// Bytes of the largest head.
    pub(super) head_bytes: u32,
}

impl Surroundings {
    /// Surrounds what `answers` a request.
    pub(super) async fn answer<F: Future<Output = Response>>(
        &self,
        mut request: Request,
        answers: impl FnOnce(Request) -> F,
    ) -> Response {
        self.note_client(&mut request);
        let id = identify(request.headers_mut());
        let mut response = match head::fault(&request, self.head_bytes) {
            Some(status) => guard::unreadable(status, &[], Lang::of(request.headers())),
            None => AssertUnwindSafe(async { answers(request).await })
                .catch_unwind()
                .await
                .unwrap_or_else(panicked),
        };
        headers::guard(&mut response, self.https);
        response.headers_mut().entry(REQUEST_ID).or_insert(id);
        response
    }

    /// Notes whose request it is. The id that it has for the log is ours, or that of a proxy whose word is taken.
    fn note_client(&self, request: &mut Request) {
        let Some(&ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>() else {
            return;
        };
        let (peer, headers) = (peer.ip(), request.headers());
        let client = self.proxies.client(peer, headers);
        let id = headers.get(REQUEST_ID);
        if !id.is_none_or(|id| self.proxies.sent(peer) && is_id(id.as_bytes())) {
            request.headers_mut().remove(REQUEST_ID);
        }
        request.extensions_mut().insert(client);
    }
}

/// The id of a request, which is given one, by chance, where it has none.
fn identify(headers: &mut HeaderMap) -> HeaderValue {
    let made = || {
        let id = uuid::Builder::from_random_bytes(rand::random()).into_uuid();
        let mut letters = uuid::Uuid::encode_buffer();
        // Digits, letters and hyphens.
        HeaderValue::from_str(id.hyphenated().encode_lower(&mut letters)).ok()
    };
    let nameless = || HeaderValue::from_static("-");
    headers
        .entry(REQUEST_ID)
        .or_insert_with(|| made().unwrap_or_else(nameless))
        .clone()
}

/// Can it be an id for the log, as proxies make them?
fn is_id(id: &[u8]) -> bool {
    let is_plain = |letter: &u8| letter.is_ascii_alphanumeric() || b"-_.:=".contains(letter);
    (1..=64).contains(&id.len()) && id.iter().all(is_plain)
}

/// The id of a request, for the log.
pub(super) fn request_id(headers: &HeaderMap) -> String {
    let id = headers.get(REQUEST_ID);
    id.and_then(|id| id.to_str().ok())
        .unwrap_or_default()
        .to_owned()
}

/// Whose request it is, by its extensions; the unspecified address where it came over no network.
pub(super) fn client(extensions: &axum::http::Extensions) -> ClientAddress {
    let known = extensions.get::<ClientAddress>().copied();
    known.unwrap_or(ClientAddress(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

fn panicked(panic: Box<dyn std::any::Any + Send + 'static>) -> Response {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = said.unwrap_or("no words"), "a handler panicked");
    guard::refuse(&AppError::Internal, Lang::En, None)
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::StatusCode};

    use super::*;

    #[tokio::test]
    async fn a_panic_is_answered_with_all_headers_and_https_is_asked_for_only_behind_it() {
        async fn panics(_: Request) -> Response {
            panic!("on purpose")
        }
        for https in [false, true] {
            let surroundings = Surroundings {
                proxies: TrustedProxies::new(&[]),
                https,
                head_bytes: 1000,
            };
            let request = Request::builder().header("host", "localhost");
            let request = request.body(Body::empty()).expect("a request");
            let answer = surroundings.answer(request, panics).await;
            assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
            let headers = answer.headers();
            for name in ["content-security-policy", "referrer-policy", "x-request-id"] {
                assert!(headers.contains_key(name), "{name}");
            }
            assert_eq!(headers.contains_key("strict-transport-security"), https);
        }
    }

    #[test]
    fn every_request_has_an_id_of_its_own_and_keeps_one_that_it_has() {
        let mut headers = HeaderMap::new();
        let id = identify(&mut headers);
        assert_eq!(headers.get(REQUEST_ID), Some(&id));
        assert_eq!(identify(&mut headers), id);
        assert!(uuid::Uuid::try_parse(id.to_str().unwrap()).is_ok());
        assert_ne!(identify(&mut HeaderMap::new()), id);
    }
}
