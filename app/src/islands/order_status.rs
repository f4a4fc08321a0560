//! Watches an order until it is final. Being slow is never called a failure.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    browser,
    polling::{Next, grown, poll},
};
use crate::{
    api::order_status,
    error::AppError,
    model::{OrderReply, Reason, Status},
};

/// After so long in the queue the page says that it takes longer than usual.
const SLOW_MS: f64 = 30_000.0;

/// The words of an order's status.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OrderWords {
    /// The names of `queued`, `confirmed` and `refused`.
    pub statuses: [String; 3],
    /// What each means.
    pub hints: [String; 3],
    /// Why an order was refused and what to do, in the order of [`Reason`].
    pub reasons: [String; 5],
    /// It takes longer than usual.
    pub slow: String,
    /// The way to the order that stands.
    pub live_order: String,
    /// The way to the voucher, after a refusal.
    pub voucher: String,
    /// The login session has ended.
    pub signed_out: String,
    /// The way to sign in.
    pub sign_in: String,
    /// The address to sign in at, and come back.
    pub sign_in_address: String,
}

impl OrderWords {
    fn status(&self, status: Status) -> (String, String) {
        let at = match status {
            Status::Queued => 0,
            Status::Confirmed => 1,
            Status::Refused => 2,
        };
        (self.statuses[at].clone(), self.hints[at].clone())
    }

    fn reason(&self, reason: Reason) -> String {
        let at = match reason {
            Reason::AlreadyBought => 0,
            Reason::SoldOut => 1,
            Reason::Discarded => 2,
            Reason::Lost => 3,
            Reason::IdClash => 4,
        };
        self.reasons[at].clone()
    }
}

/// Shows an order's status and follows it.
#[island]
pub fn OrderStatus(
    /// The order when the page was rendered.
    order: OrderReply,
    /// How long it had waited then, in milliseconds.
    waited_ms: u32,
    /// The words.
    words: OrderWords,
) -> impl IntoView {
    let waited_ms = f64::from(waited_ms);
    let watch = Watch {
        order: RwSignal::new(order),
        slow: RwSignal::new(waited_ms > SLOW_MS),
        signed_out: RwSignal::new(false),
    };
    Effect::new(move |_| {
        untrack(|| watch.start(waited_ms));
        browser::mark_hydrated();
    });
    let Watch {
        order,
        slow,
        signed_out,
    } = watch;
    let words = StoredValue::new(words);
    let status = Memo::new(move |_| order.with(|order| order.status));
    let name = move || words.with_value(|words| words.status(status.get()).0);
    let hint = move || {
        words.with_value(|words| match order.with(|order| order.reason) {
            Some(reason) => words.reason(reason),
            None if status.get() == Status::Queued && slow.get() => words.slow.clone(),
            None => words.status(status.get()).1,
        })
    };
    let next = move || {
        let order = order.get();
        let (address, words) = match (order.live_order_id, order.status) {
            (Some(live), _) => (
                format!("/orders/{live}"),
                words.with_value(|w| w.live_order.clone()),
            ),
            (None, Status::Refused) => (
                format!("/vouchers/{}", order.voucher_id),
                words.with_value(|w| w.voucher.clone()),
            ),
            (None, Status::Queued | Status::Confirmed) => return None,
        };
        Some(view! { <p><a class="button" href=address>{words}</a></p> })
    };
    let sign_in = move || {
        let words = signed_out.get().then(|| words.get_value())?;
        Some(view! {
            <p role="alert">{words.signed_out}" "<a href=words.sign_in_address>{words.sign_in}</a></p>
        })
    };
    view! {
        <div class="order-status" data-status=move || status.get().as_str()>
            <div role="status">
                <p class="status-name">{name}</p>
                <p>{hint}</p>
            </div>
            {next}
            {sign_in}
        </div>
    }
}

#[derive(Clone, Copy)]
struct Watch {
    order: RwSignal<OrderReply>,
    slow: RwSignal<bool>,
    signed_out: RwSignal<bool>,
}

impl Watch {
    fn start(self, waited_ms: f64) {
        if self.order.with_untracked(|order| order.status) != Status::Queued {
            return;
        }
        let began_ms = browser::monotonic_ms() - waited_ms;
        let pause = StoredValue::new(500);
        poll(Next::In(500), move || async move {
            let id = self.order.with_untracked(|order| order.order_id.clone());
            self.hear(order_status(id).await);
            if browser::monotonic_ms() - began_ms > SLOW_MS && !self.slow.get_untracked() {
                self.slow.set(true);
            }
            pause.update_value(|pause| *pause = grown(*pause));
            match self.order.with_untracked(|order| order.status) {
                Status::Queued => Next::In(pause.get_value()),
                Status::Confirmed | Status::Refused => Next::Never,
            }
        });
    }

    /// Takes an answer. One that did not come, or says that a store is away, changes nothing: ask again.
    fn hear(self, answer: Result<OrderReply, crate::error::ErrorBody>) {
        let signed_out = match answer {
            Ok(order) => {
                if self.order.with_untracked(|known| *known != order) {
                    self.order.set(order);
                }
                false
            }
            Err(error) => error.error == AppError::SignInRequired.code(),
        };
        if self.signed_out.get_untracked() != signed_out {
            self.signed_out.set(signed_out);
        }
    }
}
