//! The page of a voucher as guests see it: rendered once for each thing that there is to see, and sent to all who come while
//! that is so. What a page is remembered by is all that it shows, so none shows what is over; only the gate's clock and
//! the nonce are written into it anew for each who asks.

use std::{sync::Arc, time::Duration};

use app::{model::VoucherView, texts::Lang};
use axum::{
    body::{Body, to_bytes},
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use moka::future::Cache;
use time::OffsetDateTime;

use super::headers;
use crate::gate::unix_ms;

/// A page is remembered for so long: it says, in whole seconds, when a browser without script is to load it again.
const FOR: Duration = Duration::from_secs(1);

/// Pages at a time; one is about 10 kB.
const PAGES: u64 = 2_000;

/// Bytes of the largest page that is remembered.
const LARGEST: usize = 256 * 1024;

/// All that a page depends on, but for the clock.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shown(Lang, VoucherView);

/// The pages that are remembered.
pub(super) struct Pages(Cache<Shown, Option<Arc<Page>>>);

impl Default for Pages {
    fn default() -> Self {
        Self(
            Cache::builder()
                .max_capacity(PAGES)
                .time_to_live(FOR)
                .build(),
        )
    }
}

/// A page in which the places of clock and nonce are known.
struct Page {
    headers: HeaderMap,
    text: String,
    /// Where something is written anew, in order: from, to, what.
    places: Vec<(usize, usize, Anew)>,
}

/// What is written anew.
#[derive(Clone, Copy)]
enum Anew {
    Clock,
    Nonce,
}

impl Pages {
    /// The page that shows this, rendered by `render` unless it is remembered; `None` where it cannot be remembered. Many
    /// who ask at once wait for one rendering.
    pub(super) async fn page(
        &self,
        lang: Lang,
        view: &VoucherView,
        render: impl Future<Output = Response>,
    ) -> Option<Response> {
        let mut shown = view.clone();
        shown.now = OffsetDateTime::UNIX_EPOCH;
        let read = async { Page::read(render.await, view.now).await.map(Arc::new) };
        let page = self.0.get_with(Shown(lang, shown), read).await?;
        page.at(view.now)
    }
}

impl Page {
    /// Takes a page apart that was rendered with this clock.
    async fn read(rendered: Response, clock: OffsetDateTime) -> Option<Self> {
        let (parts, body) = rendered.into_parts();
        if parts.status != StatusCode::OK {
            return None;
        }
        let nonce = headers::nonce_of(&parts.headers)?.to_owned();
        let bytes = to_bytes(body, LARGEST).await.ok()?;
        let text = String::from_utf8(bytes.into()).ok()?;
        // To the millisecond: nobody has typed that before.
        let clock = unix_ms(clock).to_string();
        let mut places = Vec::new();
        for (what, anew) in [(&clock, Anew::Clock), (&nonce, Anew::Nonce)] {
            let found = text.match_indices(what);
            places.extend(found.map(|(from, what)| (from, from + what.len(), anew)));
        }
        places.sort_unstable_by_key(|(from, ..)| *from);
        Some(Self {
            headers: parts.headers,
            text,
            places,
        })
    }

    /// The page as it is sent now.
    fn at(&self, now: OffsetDateTime) -> Option<Response> {
        let nonce = format!("{:032x}", rand::random::<u128>());
        let clock = unix_ms(now).to_string();
        let mut text = String::with_capacity(self.text.len() + 64);
        let mut done = 0;
        for (from, to, anew) in &self.places {
            text.push_str(&self.text[done..*from]);
            text.push_str(match anew {
                Anew::Clock => &clock,
                Anew::Nonce => &nonce,
            });
            done = *to;
        }
        text.push_str(&self.text[done..]);
        let mut response = Response::new(Body::from(text));
        *response.headers_mut() = self.headers.clone();
        let policy = headers::page_policy(Some(&nonce))?;
        response
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, policy);
        Some(response)
    }
}
