//! What open pages are told as it happens, as Server-Sent Events: of a sale, where it stands and, at first, the own
//! order of whoever has one; of an order, what becomes of it. A stream ends with the login session that it belongs to, with the program,
//! and once there is nothing left to tell.

use std::{convert::Infallible, sync::Arc, time::Duration};

use app::{
    backend::Backend,
    error::AppError,
    model::{OrderId, OrderReply, Status, VoucherId},
    texts::Lang,
};
use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, header},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::get,
};
use futures::{Stream, StreamExt, stream};
use tokio::time::{Instant, sleep_until};
use tower_sessions::Session;

use super::{PathPart, guard, of_request};
use crate::{
    auth::right::Right,
    backend::{RequestBackend, Services},
    live::{Hold, Login, OrderWatch, SaleWatch, Watcher},
};

/// An event without words keeps a stream alive: the server finds out who is gone, and a page whether its line is deaf.
const ALIVE: Duration = Duration::from_secs(20);

/// A queued order is asked for without any news, at first after so long, then less and less often up to the second.
const ASK_FIRST: Duration = Duration::from_secs(3);
const ASK_LAST: Duration = Duration::from_secs(30);

/// Whoever finds no place asks by themselves meanwhile.
const COME_AGAIN_S: u32 = 30;

/// Proxies pass on what they get at once.
const UNBUFFERED: (HeaderName, HeaderValue) = (
    HeaderName::from_static("x-accel-buffering"),
    HeaderValue::from_static("no"),
);

pub(super) fn routes() -> Router<Arc<Services>> {
    Router::new()
        .route("/live/vouchers/{id}", get(sale))
        .route("/live/orders/{id}", get(order))
}

/// Who asks for a stream.
struct Asker {
    services: Arc<Services>,
    session: Session,
    backend: RequestBackend,
}

async fn sale(
    State(services): State<Arc<Services>>,
    PathPart(id): PathPart,
    session: Session,
    request: Request,
) -> Response {
    let client = super::around::client(request.extensions()).0;
    let (asker, refused) = asks(services, session, &request);
    let told = asker.tell_of_sale(&id, client).await;
    told.unwrap_or_else(refused)
}

async fn order(
    State(services): State<Arc<Services>>,
    PathPart(id): PathPart,
    session: Session,
    request: Request,
) -> Response {
    let (asker, refused) = asks(services, session, &request);
    let told = asker.tell_of_order(&id).await;
    told.unwrap_or_else(refused)
}

/// Who asks, and how a refusal is answered.
fn asks(
    services: Arc<Services>,
    session: Session,
    request: &Request,
) -> (Asker, impl FnOnce(AppError) -> Response + use<>) {
    let (lang, request_id) = (Lang::of(request.headers()), super::request_id(request));
    let asker = Asker {
        backend: of_request(Arc::clone(&services), session.clone(), request),
        services,
        session,
    };
    let refused = move |error| guard::refuse(&error, lang, Some(request_id));
    (asker, refused)
}

impl Asker {
    async fn tell_of_sale(self, id: &str, client: std::net::IpAddr) -> Result<Response, AppError> {
        self.backend.require(Right::Everybody).await?;
        let id = VoucherId::parse(id).map_err(|_| AppError::NotFound)?;
        let user = self.backend.user().await?;
        let watcher = user.map_or_else(|| Watcher::guest(client), Watcher::User);
        let hold = self.hold(watcher)?;
        // Watched before it is looked at: nothing falls in between.
        let watch = self.services.live.sale(id);
        let remembered = self.backend.sale_status(id).await?;
        let is_over = remembered.phase.is_last();
        let mut sale = self.services.live.first(remembered);
        let own = self.backend.own_order(id).await;
        sale.order_id = own.map(|order| order.to_string());
        let later = stream::unfold((!is_over).then_some((watch, hold)), next_of_sale);
        Ok(answer(stream::iter([json(&sale)]).chain(later)))
    }

    async fn tell_of_order(self, id: &str) -> Result<Response, AppError> {
        self.backend.require(Right::SignedIn).await?;
        let id = OrderId::parse(id).ok_or(AppError::NotFound)?;
        let user = self.backend.user().await?.ok_or(AppError::SignInRequired)?;
        let hold = self.hold(Watcher::User(user))?;
        let watch = self.services.live.order(id);
        let order: OrderReply = self.backend.order(id).await?.into();
        let is_final = order.status != Status::Queued;
        let first = stream::iter([json(&order)]);
        let waiting = (!is_final).then(|| Waiting {
            asker: self,
            id,
            watch,
            hold,
            pause: ASK_FIRST,
            ask_at: Instant::now() + ASK_FIRST,
        });
        Ok(answer(first.chain(stream::unfold(waiting, next_of_order))))
    }

    /// Takes a place, for as long as the stream lasts.
    fn hold(&self, watcher: Watcher) -> Result<Hold, AppError> {
        let live = &self.services.live;
        let place = live.seat(watcher.clone()).map_err(|full| {
            metrics::counter!("seckill_streams_refused_total", "places" => full.as_str())
                .increment(1);
            full.refusal(COME_AGAIN_S)
        })?;
        let login = match watcher {
            Watcher::User(user) => {
                let (logins, session) = (self.services.logins.clone(), self.session.clone());
                Some(Login::new(live, logins, session, user))
            }
            Watcher::Guest(_) => None,
        };
        Ok(Hold::new(live, login, place))
    }
}

/// A stream of a sale that is not over.
type Watching = Option<(SaleWatch, Hold)>;

/// What there is to tell of a sale next; nothing follows its end.
async fn next_of_sale(watching: Watching) -> Option<(Event, Watching)> {
    let (mut watch, mut hold) = watching?;
    tokio::select! {
        (told, is_over) = watch.next() => {
            let watching = (!is_over).then_some((watch, hold));
            Some((Event::default().data(told), watching))
        }
        () = hold.over() => None,
    }
}

/// A stream of an order that is still queued.
struct Waiting {
    asker: Asker,
    id: OrderId,
    watch: OrderWatch,
    hold: Hold,
    pause: Duration,
    ask_at: Instant,
}

/// What there is to tell of an order next; nothing follows what is final.
async fn next_of_order(waiting: Option<Waiting>) -> Option<(Event, Option<Waiting>)> {
    let mut waiting = waiting?;
    loop {
        tokio::select! {
            () = waiting.watch.next() => {}
            () = sleep_until(waiting.ask_at) => waiting.pause = (waiting.pause * 2).min(ASK_LAST),
            () = waiting.hold.over() => return None,
        }
        waiting.ask_at = Instant::now() + waiting.pause;
        if let Some(order) = waiting.ask().await {
            return Some((json(&order), None));
        }
    }
}

impl Waiting {
    /// The order, once it is final. What cannot be asked now is asked again.
    async fn ask(&self) -> Option<OrderReply> {
        let order = self.asker.backend.afresh().order(self.id).await.ok()?;
        Some(order.into()).filter(|order: &OrderReply| order.status != Status::Queued)
    }
}

fn json(value: &impl serde::Serialize) -> Event {
    // Plain words and numbers always make JSON of one line.
    Event::default().json_data(value).unwrap_or_default()
}

fn answer(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let events = events.map(Ok::<_, Infallible>);
    let alive = KeepAlive::new()
        .interval(ALIVE)
        .event(Event::default().data("-"));
    let no_store = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    ([no_store, UNBUFFERED], Sse::new(events).keep_alive(alive)).into_response()
}
