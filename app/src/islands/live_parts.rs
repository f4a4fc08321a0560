//! Keeps parts of a page up to date: asks the server for them again and again, and puts them in the place of the old ones.
//! Whoever looks can stop that, and is told when nothing comes any more. It draws nothing itself: a part is what the server would have rendered.

use leptos::prelude::*;

use super::{
    Words,
    browser::{self, Refusal},
    pace::{backed_off, spread},
};
use crate::api::{ID_END, PART_END};

/// How often the parts are asked for: milliseconds, and up to so many more.
const EVERY_MS: (f64, f64) = (2250.0, 500.0);

/// A switch that stops the refreshing, and starts it again.
#[island]
pub fn LiveParts(
    /// The words; under `address`, where the parts are asked for. One property costs the browser less than two.
    words: Words,
) -> impl IntoView {
    let now = RwSignal::new(Now {
        live: false,
        paused: false,
        signed_out: false,
        lost: false,
        as_of: String::new(),
    });
    let address = words.text("address");
    browser::when_live(move || {
        now.update(|now| {
            now.live = true;
            now.as_of = browser::time_of_day();
        });
        browser::spawn(follow(now, address));
    });
    let words = StoredValue::new(words);
    let text = move |of: fn(&Now) -> &'static str| {
        Signal::derive(move || words.with_value(|words| words.text(now.with(of))))
    };
    let hidden = move |unless: fn(&Now) -> bool| Signal::derive(move || !now.with(unless));
    let lost = Signal::derive(move || {
        now.with(|now| {
            if !now.lost {
                return String::new();
            }
            words.with_value(|words| words.text("live-lost") + &now.as_of)
        })
    });
    let switch = move |_| now.update(|now| now.paused = !now.paused);
    view! {
        <button type="button" class="button quiet" hidden=hidden(|now| now.live) on:click=switch>
            {text(|now| if now.paused { "live-resume" } else { "live-pause" })}
        </button>
        <span role="status" hidden=hidden(|now| now.lost)>{lost}</span>
        <span role="alert" hidden=hidden(|now| now.signed_out)>{text(|now| if now.signed_out { "live-signed-out" } else { "" })}</span>
    }
}

/// What is known of the refreshing.
struct Now {
    live: bool,
    paused: bool,
    signed_out: bool,
    /// Nothing came so often in a row that it is no accident.
    lost: bool,
    /// When the figures that are shown came, by the browser's clock.
    as_of: String,
}

/// So many questions in vain are no accident any more.
const LOST: u32 = 2;

async fn follow(now: RwSignal<Now>, address: String) {
    let (mut shown, mut failures) = (String::new(), 0);
    loop {
        browser::pause(backed_off(spread(EVERY_MS, browser::chance()), failures)).await;
        if now.with_untracked(|now| now.paused) {
            continue;
        }
        let answer = browser::ask_at::<String>(&address).await;
        failures = if answer.is_ok() { 0 } else { failures + 1 };
        now.update(|now| {
            now.signed_out = matches!(answer, Err(Refusal::SignInRequired));
            now.lost = failures >= LOST && !now.signed_out;
            if failures == 0 && !now.paused {
                now.as_of = browser::time_of_day();
            }
        });
        // An answer that did not come changes nothing: the next one will. Nor does one that came after the switch.
        if let (Ok(parts), false) = (answer, now.with_untracked(|now| now.paused)) {
            shown = show(&parts, &shown);
        }
    }
}

/// Shows those parts that are not shown. Gives what is shown now: a part that could not be put in place is tried again.
fn show(parts: &str, shown: &str) -> String {
    let mut now_shown = String::new();
    for part in parts.split(PART_END) {
        if let Some((id, html)) = part.split_once(ID_END)
            && (shown.contains(part) || browser::replace(id, html))
        {
            now_shown.push_str(part);
            now_shown.push(PART_END);
        }
    }
    now_shown
}
