//! Watches an order until it is final. Being slow is never called a failure.

use leptos::{prelude::*, server_fn::ServerFn};

use super::{
    Words,
    browser::{self, Refusal},
    pace::{AGAIN_MS, backed_off, spread, tries_to_listen},
};
use crate::{
    api::GetOrderStatus,
    model::{OrderReply, Status},
};

/// After so long in the queue the page says that it takes longer than usual.
const SLOW_MS: f64 = 30_000.0;

/// Shows an order's status and follows it.
#[island]
pub fn OrderStatus(
    /// The order when the page was rendered.
    order: OrderReply,
    /// How long it had waited then, in milliseconds.
    waited_ms: u32,
    /// The words.
    words: Words,
    /// The address to sign in at, and come back.
    sign_in: String,
) -> impl IntoView {
    let waited_ms = f64::from(waited_ms);
    let now = RwSignal::new(Now {
        order,
        slow: waited_ms > SLOW_MS,
        signed_out: false,
    });
    // Rendered while its voucher could not be told.
    let is_half = !words.text("half").is_empty();
    browser::when_live(move || {
        browser::spawn(async move {
            follow(now).await;
            if is_half {
                browser::reload();
            }
        });
        browser::spawn(notice_slowness(now, waited_ms));
    });
    let sign_in_words = words.text("sign-in");
    let words = StoredValue::new(words);
    let text = move |of: fn(&Now, &Words) -> String| {
        Signal::derive(move || words.with_value(|words| now.with(|now| of(now, words))))
    };
    let hidden = move |unless: fn(&Now) -> bool| Signal::derive(move || !now.with(unless));
    view! {
        <div class="order-status" data-status=text(|now, _| now.order.status.as_str().to_owned())>
            <div role="status">
                <p class="status-name">{text(|now, words| words.of("status", now.order.status.as_str()))}</p>
                <p>{text(Now::hint)}</p>
            </div>
            <p hidden=hidden(|now| now.order.status == Status::Refused)>
                <a class="button" href=text(|now, _| now.next())>{text(Now::next_words)}</a>
            </p>
            <p role="alert" hidden=hidden(|now| now.signed_out)>
                <span>{text(|now, words| now.signed_out_words(words))}</span>
                " "
                <a href=sign_in>{sign_in_words}</a>
            </p>
        </div>
    }
}

/// Listens to what becomes of the order, until it is final. Where nothing can be heard, it is asked for, less and less
/// often.
async fn follow(now: RwSignal<Now>) {
    let id = now.with_untracked(|now| now.order.order_id.clone());
    let path = ["/live/orders/", &id].concat();
    let (mut silences, mut failures, mut pause) = (0, 0, 500);
    while now.with_untracked(Now::waits) {
        let mut wait = pause;
        // Who is signed out is told nothing; in a while they may be signed in again.
        if tries_to_listen(silences) && !now.with_untracked(|now| now.signed_out) {
            let hear = move |said: &str| {
                if let Some(order) = browser::read(said) {
                    now.update(|now| now.hear(Ok(order)));
                }
            };
            if browser::listen(&path, hear).await {
                (silences, pause, wait) = (0, 500, spread(AGAIN_MS, browser::chance()));
            }
        }
        if now.with_untracked(Now::waits) {
            silences += 1;
            browser::pause(backed_off(wait, failures)).await;
            let answer = browser::ask(GetOrderStatus::PATH, "order_id", &id).await;
            failures = match answer {
                Err(Refusal::NotNow) => failures + 1,
                _ => 0,
            };
            now.update(|now| now.hear(answer));
            pause = grown(pause);
        }
    }
}

/// Says that it takes longer than usual, once it does.
async fn notice_slowness(now: RwSignal<Now>, waited_ms: f64) {
    let began_ms = browser::monotonic_ms() - waited_ms;
    while now.with_untracked(|now| now.waits() && !now.slow) {
        browser::pause(1000).await;
        if browser::monotonic_ms() - began_ms > SLOW_MS {
            now.update(|now| now.slow = true);
        }
    }
}

/// The next pause of a series that grows by half, from 0.5 s to 5 s.
fn grown(pause_ms: i32) -> i32 {
    (pause_ms * 3 / 2).min(5000)
}

struct Now {
    order: OrderReply,
    slow: bool,
    signed_out: bool,
}

impl Now {
    fn waits(&self) -> bool {
        self.order.status == Status::Queued
    }

    /// Takes an answer. One that is of no use changes nothing: the next one will.
    fn hear(&mut self, answer: Result<OrderReply, Refusal>) {
        self.signed_out = matches!(answer, Err(Refusal::SignInRequired));
        if let Ok(order) = answer {
            self.order = order;
        }
    }

    /// What the status means and what to do next.
    fn hint(&self, words: &Words) -> String {
        match (self.order.reason, self.order.status) {
            (Some(reason), _) => words.of("reason", reason.as_str()),
            (None, Status::Queued) if self.slow => words.text("slow"),
            (None, status) => words.of("hint", status.as_str()),
        }
    }

    /// After a refusal: the address of the order that stands, or of the voucher.
    fn next(&self) -> String {
        match &self.order.live_order_id {
            Some(order) => ["/orders/", order].concat(),
            None => ["/vouchers/", &self.order.voucher_id.to_string()].concat(),
        }
    }

    fn next_words(&self, words: &Words) -> String {
        match &self.order.live_order_id {
            Some(_) => words.text("live-order"),
            None => words.text("see-voucher"),
        }
    }

    /// Empty while signed in, so that it is announced when it appears.
    fn signed_out_words(&self, words: &Words) -> String {
        if self.signed_out {
            words.text("signed-out")
        } else {
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_half_a_second_to_five() {
        let pauses = std::iter::successors(Some(500), |pause| Some(grown(*pause)));
        let pauses: Vec<i32> = pauses.take(8).collect();
        assert_eq!(pauses, [500, 750, 1125, 1687, 2530, 3795, 5000, 5000]);
    }
}
