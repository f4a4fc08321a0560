//! The part of a voucher's page that changes: countdown, units left, and the one button. The button is a plain
//! form: it works before this island lives, and without it; the gate judges every press.

use std::time::Duration;

use leptos::{ev::SubmitEvent, prelude::*};
use serde::{Deserialize, Serialize};

use super::{
    browser,
    clock::{Clock, parts},
    polling::{Next, poll},
};
use crate::{
    api::sale_status,
    model::{SalePhase, SaleReply},
};

/// A press that leads nowhere for so long is given up, and the button works again.
const GIVE_UP: Duration = Duration::from_secs(10);

/// The words of the sale area. Arrays are in the order of [`SalePhase`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SaleWords {
    /// Before the countdown to the begin.
    pub begins_in: String,
    /// Before the countdown to the end.
    pub ends_in: String,
    /// `{days}` days, before the clock.
    pub days: String,
    /// `{left}` of `{granted}` units left.
    pub left_of: String,
    /// The names of the phases.
    pub phases: [String; 5],
    /// What the button says.
    pub buttons: [String; 5],
    /// What is announced when a phase begins.
    pub changes: [String; 5],
    /// What the button says while its press is under way.
    pub sending: String,
    /// What a guest reads instead.
    pub sign_in: String,
    /// The visitor has an order of this.
    pub own_order: String,
    /// The way to that order.
    pub see_order: String,
}

/// Countdown, units left and the button.
#[island]
pub fn SaleArea(
    /// The sale when the page was rendered.
    sale: SaleReply,
    /// The words.
    words: SaleWords,
    /// The address of the visitor's order of it.
    own_order: Option<String>,
    /// For a guest: the address to sign in at, and come back.
    sign_in: Option<String>,
) -> impl IntoView {
    let voucher_id = sale.voucher_id;
    let area = Area::new(sale);
    Effect::new(move |_| {
        untrack(|| area.start());
        browser::mark_hydrated();
    });
    let words = StoredValue::new(words);
    let phase = area.phase;
    view! {
        <div class="sale" data-phase=move || phase.get().as_str()>
            <p class="state">
                <span class="badge" data-phase=move || phase.get().as_str()>
                    {move || words.with_value(|words| words.phases[index(phase.get())].clone())}
                </span>
                <span class="countdown" hidden=move || area.target().is_none()>
                    <span>{move || words.with_value(|words| area.countdown_name(words))}</span>
                    <span class="clock" role="timer" aria-live="off">
                        {move || words.with_value(|words| area.countdown(words))}
                    </span>
                </span>
            </p>
            <p class="left" hidden=move || area.left().is_none() data-left=move || area.left()>
                <progress
                    aria-hidden="true"
                    max=move || area.sale.with(|sale| sale.granted.to_string())
                    value=move || area.left()
                ></progress>
                <span>{move || words.with_value(|words| area.units(words))}</span>
            </p>
            <p class="unseen" role="status">
                {move || area.changed.get().map(|phase| words.with_value(|words| words.changes[index(phase)].clone()))}
            </p>
            {match (own_order, sign_in) {
                (Some(order), _) => {
                    let words = words.get_value();
                    view! {
                        <div class="own">
                            <p>{words.own_order}</p>
                            <a class="button wide" href=order>{words.see_order}</a>
                        </div>
                    }
                    .into_any()
                }
                (None, Some(address)) => guest(phase, words, address).into_any(),
                (None, None) => button(area, words, voucher_id).into_any(),
            }}
        </div>
    }
}

/// The button itself.
fn button(area: Area, words: StoredValue<SaleWords>, voucher_id: i32) -> impl IntoView {
    let label = move || {
        words.with_value(|words| match area.sending.get() {
            true => words.sending.clone(),
            false => words.buttons[index(area.phase.get())].clone(),
        })
    };
    view! {
        <form method="post" action="/api/buy" on:submit=move |press| area.press(&press)>
            <input type="hidden" name="voucher_id" value=voucher_id.to_string()/>
            <button class="button buy wide" disabled=move || !area.can_press()>{label}</button>
        </form>
    }
}

/// What a guest sees: the way to sign in while there is something to buy or to wait for.
fn guest(phase: Memo<SalePhase>, words: StoredValue<SaleWords>, address: String) -> impl IntoView {
    move || {
        let words = words.get_value();
        match phase.get() {
            SalePhase::NotStarted | SalePhase::Running => {
                view! { <a class="button buy wide" href=address.clone()>{words.sign_in}</a> }
                    .into_any()
            }
            phase => {
                let label = words.buttons[index(phase)].clone();
                view! { <button class="button buy wide" type="button" disabled>{label}</button> }
                    .into_any()
            }
        }
    }
}

fn index(phase: SalePhase) -> usize {
    match phase {
        SalePhase::NotStarted => 0,
        SalePhase::Running => 1,
        SalePhase::SoldOut => 2,
        SalePhase::Ended => 3,
        SalePhase::Closed => 4,
    }
}

#[derive(Clone, Copy)]
struct Area {
    /// What the server said last.
    sale: RwSignal<SaleReply>,
    /// The server's clock, in steps of a second.
    now_ms: RwSignal<i64>,
    /// Where the sale stands by that clock.
    phase: Memo<SalePhase>,
    /// The phase that began while the page was open.
    changed: RwSignal<Option<SalePhase>>,
    /// Whether the island lives: only then may it switch off a button that would work again without a reload.
    live: RwSignal<bool>,
    sending: RwSignal<bool>,
    clock: StoredValue<Clock>,
}

impl Area {
    fn new(sale: SaleReply) -> Self {
        let now_ms = RwSignal::new(sale.now_ms);
        let clock = StoredValue::new(Clock::new(sale.now_ms, 0.0));
        let sale = RwSignal::new(sale);
        Self {
            sale,
            now_ms,
            phase: Memo::new(move |_| sale.with(|sale| phase_at(sale, now_ms.get()))),
            changed: RwSignal::new(None),
            live: RwSignal::new(false),
            sending: RwSignal::new(false),
            clock,
        }
    }

    fn start(self) {
        let said_ms = self.sale.with_untracked(|sale| sale.now_ms);
        self.clock
            .set_value(Clock::new(said_ms, browser::answered_ms()));
        self.live.set(true);
        self.tick();
        self.announce();
        // A page that comes back out of the browser's memory has its button ready.
        let listener = window_event_listener_untyped("pageshow", move |_| self.sending.set(false));
        on_cleanup(move || listener.remove());
        let first = self.pause(browser::chance());
        poll(first, move || async move {
            self.ask().await;
            self.pause(browser::chance())
        });
    }

    /// Follows the server's clock, second by second of the countdown.
    fn tick(self) {
        let now_ms = self.clock.get_value().at(browser::monotonic_ms());
        self.now_ms.set(now_ms);
        let target = untrack(|| self.target());
        let rest = target.map_or(1000, |target| (target - now_ms).rem_euclid(1000));
        let pause = u64::try_from(rest).unwrap_or(1000).max(20);
        set_timeout(move || self.tick(), Duration::from_millis(pause));
    }

    fn announce(self) {
        Effect::new(move |before: Option<SalePhase>| {
            let phase = self.phase.get();
            if before.is_some_and(|before| before != phase) {
                self.changed.set(Some(phase));
            }
            phase
        });
    }

    async fn ask(self) {
        let sent_ms = browser::monotonic_ms();
        let id = self.sale.with_untracked(|sale| sale.voucher_id);
        // An answer that did not come changes nothing: the next one will.
        if let Ok(sale) = sale_status(id.to_string()).await {
            let halfway = f64::midpoint(sent_ms, browser::monotonic_ms());
            self.clock.set_value(Clock::new(sale.now_ms, halfway));
            self.sale.set(sale);
        }
    }

    /// How long until the sale is asked for again; spread, and never in a burst at the begin.
    fn pause(self, chance: f64) -> Next {
        let now_ms = self.clock.get_value().at(browser::monotonic_ms());
        self.sale.with_untracked(|sale| pause(sale, now_ms, chance))
    }

    fn press(self, press: &SubmitEvent) {
        if self.sending.get_untracked() {
            press.prevent_default();
            return;
        }
        self.sending.set(true);
        set_timeout(move || self.sending.set(false), GIVE_UP);
    }

    /// Before the island lives, the button may be pressed early: the gate then says so.
    fn can_press(self) -> bool {
        match self.phase.get() {
            SalePhase::Running => !self.sending.get(),
            SalePhase::NotStarted => !self.live.get(),
            SalePhase::SoldOut | SalePhase::Ended | SalePhase::Closed => false,
        }
    }

    /// The instant that the countdown runs to.
    fn target(self) -> Option<i64> {
        self.sale.with(|sale| match self.phase.get() {
            SalePhase::NotStarted => Some(sale.begins_ms),
            SalePhase::Running | SalePhase::SoldOut => Some(sale.ends_ms),
            SalePhase::Ended | SalePhase::Closed => None,
        })
    }

    fn countdown_name(self, words: &SaleWords) -> String {
        match self.phase.get() {
            SalePhase::NotStarted => words.begins_in.clone(),
            _ => words.ends_in.clone(),
        }
    }

    fn countdown(self, words: &SaleWords) -> String {
        let (days, clock) = parts(self.target().unwrap_or_default() - self.now_ms.get());
        if days > 0 {
            format!(
                "{} {clock}",
                words.days.replace("{days}", &days.to_string())
            )
        } else {
            clock
        }
    }

    fn left(self) -> Option<String> {
        self.sale
            .with(|sale| sale.left.map(|left| left.to_string()))
    }

    fn units(self, words: &SaleWords) -> String {
        let granted = self.sale.with(|sale| sale.granted.to_string());
        let left = self.left().unwrap_or_default();
        words
            .left_of
            .replace("{left}", &left)
            .replace("{granted}", &granted)
    }
}

/// Where a sale stands at an instant, going on from what the server said last.
fn phase_at(sale: &SaleReply, now_ms: i64) -> SalePhase {
    match sale.phase {
        SalePhase::Closed | SalePhase::Ended => sale.phase,
        _ if now_ms >= sale.ends_ms => SalePhase::Ended,
        SalePhase::NotStarted if now_ms < sale.begins_ms => SalePhase::NotStarted,
        SalePhase::NotStarted if sale.left == Some(0) => SalePhase::SoldOut,
        SalePhase::NotStarted => SalePhase::Running,
        phase => phase,
    }
}

/// Milliseconds until the sale is asked for again; `chance` (0 to 1) spreads the visitors.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pauses are small and positive"
)]
fn pause(sale: &SaleReply, now_ms: i64, chance: f64) -> Next {
    let spread = |from_ms: f64, width_ms: f64| (from_ms + width_ms * chance) as u64;
    let until_begin = u64::try_from(sale.begins_ms - now_ms).unwrap_or_default();
    Next::In(match phase_at(sale, now_ms) {
        // Nothing is asked in the seconds around the begin: the clock is known, and all would ask at once.
        SalePhase::NotStarted if until_begin < 45_000 => until_begin + spread(500.0, 4000.0),
        SalePhase::NotStarted => spread(20_000.0, 20_000.0).min(until_begin - 10_000),
        SalePhase::Running => spread(2500.0, 1500.0),
        SalePhase::SoldOut | SalePhase::Closed => spread(8000.0, 4000.0),
        SalePhase::Ended => return Next::Never,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sale(phase: SalePhase) -> SaleReply {
        SaleReply {
            voucher_id: 7,
            phase,
            left: Some(3),
            granted: 10,
            now_ms: 0,
            begins_ms: 60_000,
            ends_ms: 120_000,
        }
    }

    #[test]
    fn the_begin_is_included_and_the_end_is_not() {
        let waiting = sale(SalePhase::NotStarted);
        assert_eq!(phase_at(&waiting, 59_999), SalePhase::NotStarted);
        assert_eq!(phase_at(&waiting, 60_000), SalePhase::Running);
        assert_eq!(phase_at(&waiting, 119_999), SalePhase::Running);
        assert_eq!(phase_at(&waiting, 120_000), SalePhase::Ended);
        assert_eq!(
            phase_at(&sale(SalePhase::Closed), 60_000),
            SalePhase::Closed
        );
        assert_eq!(
            phase_at(&sale(SalePhase::SoldOut), 60_000),
            SalePhase::SoldOut
        );
    }

    #[test]
    fn nobody_asks_in_the_seconds_before_the_begin_and_not_all_at_once_after_it() {
        let waiting = sale(SalePhase::NotStarted);
        for now_ms in (0..60_000).step_by(500) {
            let asks = |chance| match pause(&waiting, now_ms, chance) {
                Next::In(pause) => now_ms + i64::try_from(pause).unwrap(),
                Next::Never => unreachable!(),
            };
            for chance in [0.0, 0.3, 0.999] {
                let at = asks(chance);
                assert!(!(50_001..60_500).contains(&at), "{now_ms} {at}");
            }
            if now_ms > 20_000 {
                assert!(asks(0.999) - asks(0.0) > 3000);
            }
        }
        assert_eq!(pause(&sale(SalePhase::Ended), 0, 0.5), Next::Never);
    }
}
