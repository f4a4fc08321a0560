//! The part of a voucher's page that changes: countdown, units left, and the one button. The button is a plain
//! form: it works before this island lives, and without it; the gate judges every press. Once the island lives it sends
//! the form itself, so that a line that breaks loses neither the page nor the press.

use leptos::{ev::SubmitEvent, prelude::*, server_fn::ServerFn};

use super::{
    Words, browser,
    clock::{Clock, parts},
    pace::{AGAIN_MS, backed_off, spread, tries_to_listen},
};
use crate::{
    api::{Buy, GetSaleStatus},
    model::{BuyReply, SalePhase, SaleReply, grouped},
};

/// A press that leads nowhere for so long is given up, and the button works again: longer than an answer and a pause take.
const GIVE_UP_MS: i64 = 25_000;

/// A press that gets no answer is sent again so many milliseconds later, and up to so many more; longer and longer. It is the
/// same order, or the one that stands, however often it arrives.
const PRESS_AGAIN_MS: (f64, f64) = (700.0, 600.0);

/// It is sent so often.
const PRESSES: u32 = 6;

/// Countdown, units left and the button.
#[island]
pub fn SaleArea(
    /// The sale when the page was rendered.
    sale: SaleReply,
    /// The words.
    words: Words,
    /// Whether the visitor is signed in.
    signed_in: bool,
) -> impl IntoView {
    let voucher_id = sale.voucher_id.to_string();
    let now = RwSignal::new(Now::new(sale, signed_in));
    browser::when_live(move || start(now));
    let (own_words, see_words) = (words.text("own-order"), words.text("see-order"));
    let words = StoredValue::new(words);
    let text = move |of: fn(&Now, &Words) -> String| {
        Signal::derive(move || words.with_value(|words| now.with(|now| of(now, words))))
    };
    let is = move |so: fn(&Now) -> bool| Signal::derive(move || now.with(so));
    let phase = text(|now, _| now.phase().as_str().to_owned());
    let press = move |press: SubmitEvent| {
        press.prevent_default();
        if now.try_update(Now::press).unwrap_or_default() {
            browser::spawn(send(now));
        }
    };
    view! {
        <div class="sale" data-phase=phase>
            <p class="state">
                <span class="badge" data-phase=phase>
                    {text(|now, words| words.of("phase", now.phase().as_str()))}
                </span>
                <span class="countdown" hidden=is(|now| now.target().is_none())>
                    <span>{text(Now::countdown_name)}</span>
                    <span class="clock" role="timer" aria-live="off">{text(Now::countdown)}</span>
                </span>
            </p>
            <p class="left" hidden=is(|now| now.sale.left.is_none()) data-left=text(|now, _| now.left())>
                <progress
                    aria-hidden="true"
                    max=text(|now, _| now.sale.granted.to_string())
                    value=text(|now, _| now.left())
                ></progress>
                <span>{text(Now::units)}</span>
            </p>
            <p class="unseen" role="status">{text(Now::change)}</p>
            <div class="own" hidden=is(|now| now.own_order.is_none())>
                <p>{own_words}</p>
                <a class="button wide" href=text(|now, _| now.order_address())>{see_words}</a>
            </div>
            <form method="post" action="/api/buy" hidden=is(|now| !now.buys()) on:submit=press>
                <input type="hidden" name="voucher_id" value=voucher_id/>
                <button class="button buy wide" disabled=is(|now| !now.can_press())>{text(Now::button)}</button>
            </form>
            <p class="notice" role="alert" hidden=is(|now| now.trouble.is_empty())>
                {text(|now, words| if now.trouble.is_empty() { String::new() } else { words.text(now.trouble) })}
            </p>
        </div>
    }
}

fn start(now: RwSignal<Now>) {
    now.update(|now| {
        now.clock = Clock::new(now.sale.now_ms, browser::answered_ms());
        now.live = true;
    });
    browser::spawn(tick(now));
    browser::spawn(follow(now));
    // A page that comes back out of the browser's memory has its button ready.
    let _ =
        window_event_listener_untyped("pageshow", move |_| now.update(|now| now.pressed_ms = None));
}

/// Sends a press until it is answered, and goes on to where its answer leads: where the form itself would have led.
async fn send(now: RwSignal<Now>) {
    let id = now.with_untracked(|now| now.sale.voucher_id).to_string();
    let (page, form) = (["/vouchers/", &id].concat(), ["voucher_id=", &id].concat());
    for failures in 0..PRESSES {
        if failures > 0 {
            now.update(|now| now.trouble = "press-again");
            let pause = spread(PRESS_AGAIN_MS, browser::chance());
            browser::pause(backed_off(pause, failures)).await;
        }
        now.update(|now| now.pressed_ms = Some(now.now_ms));
        if let Some((status, said)) = browser::post(Buy::PATH, &form).await {
            let to = match (status, browser::read::<BuyReply>(&said)) {
                // Too fast, or a store is away: ask again.
                (429 | 503, _) => continue,
                (_, Some(reply)) => led_to(&page, &reply),
                (401, None) => ["/sign-in?next=", &page].concat(),
                (403 | 404, None) => page,
                (_, None) => [&page, "?error=internal"].concat(),
            };
            now.update(|now| now.trouble = "");
            return browser::go_to(&to);
        }
    }
    now.update(|now| (now.pressed_ms, now.trouble) = (None, "press-unknown"));
}

/// Where a decision leads: to the order, or back to the voucher's page, which says why there is none.
fn led_to(page: &str, reply: &BuyReply) -> String {
    match &reply.order_id {
        Some(order) => ["/orders/", order].concat(),
        None => [page, "?outcome=", reply.outcome.as_str()].concat(),
    }
}

/// Follows the server's clock, second by second of the countdown.
async fn tick(now: RwSignal<Now>) {
    loop {
        now.update(|now| now.advance(browser::monotonic_ms()));
        browser::pause(now.with_untracked(Now::to_next_second)).await;
    }
}

/// Listens to what is told of the sale, until it is over. Where nothing can be heard, it is asked for again and again.
async fn follow(now: RwSignal<Now>) {
    let id = now.with_untracked(|now| now.sale.voucher_id).to_string();
    let path = ["/live/vouchers/", &id].concat();
    let (mut silences, mut failures) = (0, 0);
    while now.with_untracked(|now| !now.phase().is_last()) {
        if tries_to_listen(silences) {
            let sent_ms = browser::monotonic_ms();
            let mut is_first = true;
            let hear = move |said: &str| {
                if let Some(sale) = browser::read(said) {
                    let heard_ms = browser::monotonic_ms();
                    let sent_ms = is_first.then_some(sent_ms);
                    is_first = false;
                    now.update(|now| now.hear(sale, sent_ms, heard_ms));
                }
            };
            if browser::listen(&path, hear).await {
                silences = 0;
                browser::pause(spread(AGAIN_MS, browser::chance())).await;
                continue;
            }
        }
        silences += 1;
        let pause = now.with_untracked(|now| pause(&now.sale, now.now_ms, browser::chance()));
        browser::pause(backed_off(pause, failures)).await;
        let sent_ms = browser::monotonic_ms();
        let answer = browser::ask::<SaleReply>(GetSaleStatus::PATH, "voucher_id", &id).await;
        // An answer that did not come changes nothing: the next one will.
        failures += 1;
        if let Ok(sale) = answer {
            failures = 0;
            let heard_ms = browser::monotonic_ms();
            now.update(|now| now.hear(sale, Some(sent_ms), heard_ms));
        }
    }
}

/// What is known of the sale.
struct Now {
    /// What the server said last.
    sale: SaleReply,
    clock: Clock,
    /// The server's time, in steps of a second.
    now_ms: i64,
    /// The phase that began while the page was open, and the one before it.
    changed: Option<(SalePhase, SalePhase)>,
    /// The text of what is amiss with a press, by its key; empty while nothing is.
    trouble: &'static str,
    /// Whether the island lives: only then may it switch off a button that would work again without a reload.
    live: bool,
    /// When the button was pressed, while that is under way.
    pressed_ms: Option<i64>,
    signed_in: bool,
    /// The visitor's own order, once it is known.
    own_order: Option<String>,
}

impl Now {
    fn new(sale: SaleReply, signed_in: bool) -> Self {
        Self {
            clock: Clock::new(sale.now_ms, 0.0),
            now_ms: sale.now_ms,
            own_order: sale.order_id.clone(),
            signed_in,
            sale,
            changed: None,
            trouble: "",
            live: false,
            pressed_ms: None,
        }
    }

    /// Takes what was told. The server read its clock half-way between question and answer; without a question, at some
    /// time before: then only a clock that is behind is put right.
    fn hear(&mut self, sale: SaleReply, sent_ms: Option<f64>, heard_ms: f64) {
        let before = self.phase();
        let read_ms = sent_ms.map_or(heard_ms, |sent_ms| f64::midpoint(sent_ms, heard_ms));
        let clock = Clock::new(sale.now_ms, read_ms);
        if sent_ms.is_some() || clock.at(heard_ms) > self.clock.at(heard_ms) {
            self.clock = clock;
        }
        if sale.order_id.is_some() {
            self.own_order.clone_from(&sale.order_id);
        }
        self.sale = sale;
        self.go_to(heard_ms, before);
    }

    /// Goes on to the time that the monotonic clock shows.
    fn advance(&mut self, monotonic_ms: f64) {
        self.go_to(monotonic_ms, self.phase());
    }

    fn go_to(&mut self, monotonic_ms: f64, before: SalePhase) {
        self.now_ms = self.clock.at(monotonic_ms);
        if self.phase() != before {
            self.changed = Some((before, self.phase()));
        }
        if self
            .pressed_ms
            .is_some_and(|pressed| self.now_ms - pressed > GIVE_UP_MS)
        {
            self.pressed_ms = None;
        }
    }

    fn to_next_second(&self) -> i32 {
        let rest = self
            .target()
            .map_or(1000, |target| (target - self.now_ms).rem_euclid(1000));
        i32::try_from(rest).unwrap_or(1000).max(20)
    }

    /// Lets the first press through and no other while it is under way.
    fn press(&mut self) -> bool {
        let is_first = self.pressed_ms.is_none();
        if is_first {
            (self.pressed_ms, self.trouble) = (Some(self.now_ms), "");
        }
        is_first
    }

    fn phase(&self) -> SalePhase {
        phase_at(&self.sale, self.now_ms)
    }

    /// One who may press the button: signed in, without an order of it.
    fn buys(&self) -> bool {
        self.signed_in && self.own_order.is_none()
    }

    fn order_address(&self) -> String {
        let order = self.own_order.as_ref();
        order.map_or_else(String::new, |order| ["/orders/", order].concat())
    }

    /// Before the island lives, the button may be pressed early: the gate then says so.
    fn can_press(&self) -> bool {
        match self.phase() {
            SalePhase::Running => self.pressed_ms.is_none(),
            SalePhase::NotStarted => !self.live,
            _ => false,
        }
    }

    /// The instant that the countdown runs to.
    fn target(&self) -> Option<i64> {
        match self.phase() {
            SalePhase::NotStarted => Some(self.sale.begins_ms),
            SalePhase::Running | SalePhase::SoldOut => Some(self.sale.ends_ms),
            _ => None,
        }
    }

    fn button(&self, words: &Words) -> String {
        match self.pressed_ms {
            Some(_) => words.text("sending"),
            None => words.of("button", self.phase().as_str()),
        }
    }

    fn change(&self, words: &Words) -> String {
        match self.changed {
            None => String::new(),
            // It had begun before.
            Some((before, SalePhase::Running)) if before != SalePhase::NotStarted => {
                words.text("change-again")
            }
            Some((_, phase)) => words.of("change", phase.as_str()),
        }
    }

    fn countdown_name(&self, words: &Words) -> String {
        words.text(match self.phase() {
            SalePhase::NotStarted => "begins-in",
            _ => "ends-in",
        })
    }

    fn countdown(&self, words: &Words) -> String {
        let (days, clock) = parts(self.target().unwrap_or_default() - self.now_ms);
        if days > 0 {
            let days = words.text("days").replace("{days}", &days.to_string());
            [&days, " ", &clock].concat()
        } else {
            clock
        }
    }

    /// Units left; empty while unknown.
    fn left(&self) -> String {
        self.sale
            .left
            .map(|left| left.to_string())
            .unwrap_or_default()
    }

    fn units(&self, words: &Words) -> String {
        let words = words.text("units-left-of");
        let left = self.sale.left.map(grouped).unwrap_or_default();
        let words = words.replace("{left}", &left);
        words.replace("{granted}", &grouped(self.sale.granted))
    }
}

/// Where a sale stands at an instant, going on from what the server said last.
fn phase_at(sale: &SaleReply, now_ms: i64) -> SalePhase {
    match sale.phase {
        SalePhase::Withdrawn => SalePhase::Withdrawn,
        _ if now_ms >= sale.ends_ms => SalePhase::Ended,
        SalePhase::NotStarted if now_ms < sale.begins_ms => SalePhase::NotStarted,
        SalePhase::NotStarted if sale.left == Some(0) => SalePhase::SoldOut,
        SalePhase::NotStarted => SalePhase::Running,
        phase => phase,
    }
}

/// Milliseconds until the sale is asked for again; `chance` (0 to 1) spreads the visitors.
fn pause(sale: &SaleReply, now_ms: i64, chance: f64) -> i32 {
    let spread = |from_ms, width_ms| spread((from_ms, width_ms), chance);
    let until_begin = i32::try_from(sale.begins_ms - now_ms).unwrap_or(i32::MAX);
    match phase_at(sale, now_ms) {
        // Nothing is asked in the seconds around the begin: the clock is known, and all would ask at once.
        SalePhase::NotStarted if until_begin < 45_000 => until_begin + spread(500.0, 4000.0),
        SalePhase::NotStarted => spread(20_000.0, 20_000.0).min(until_begin - 10_000),
        SalePhase::Running => spread(2500.0, 1500.0),
        SalePhase::Closed => spread(3000.0, 2000.0),
        _ => spread(8000.0, 4000.0),
    }
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
            order_id: None,
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
    fn the_button_changes_at_the_begin_and_says_so_once() {
        let mut now = Now::new(sale(SalePhase::NotStarted), true);
        assert!(now.can_press(), "without script the gate is asked");
        now.live = true;
        now.advance(59_999.0);
        assert!(!now.can_press());
        assert_eq!((now.to_next_second(), now.changed), (20, None));
        now.advance(60_000.0);
        assert!(now.can_press());
        let (before, running) = (SalePhase::NotStarted, SalePhase::Running);
        assert_eq!(now.changed, Some((before, running)));
    }

    #[test]
    fn what_the_server_says_is_announced_when_it_changes_the_phase() {
        let mut now = Now::new(sale(SalePhase::Running), true);
        now.hear(sale(SalePhase::Running), Some(0.0), 100.0);
        assert_eq!((now.changed, now.now_ms), (None, 50));
        now.hear(sale(SalePhase::SoldOut), Some(200.0), 200.0);
        let (before, sold_out) = (SalePhase::Running, SalePhase::SoldOut);
        assert_eq!(now.changed, Some((before, sold_out)));
    }

    #[test]
    fn a_press_that_leads_nowhere_is_given_up() {
        let mut now = Now::new(sale(SalePhase::Running), true);
        now.pressed_ms = Some(0);
        now.advance(25_000.0);
        assert!(!now.can_press());
        now.advance(25_001.0);
        assert!(now.can_press());
    }

    #[test]
    fn nobody_asks_in_the_seconds_before_the_begin_and_not_all_at_once_after_it() {
        let waiting = sale(SalePhase::NotStarted);
        for now_ms in (0..60_000).step_by(500) {
            let at = |chance| now_ms + i64::from(pause(&waiting, now_ms, chance));
            for chance in [0.0, 0.3, 0.999] {
                assert!(!(50_001..60_500).contains(&at(chance)), "{now_ms}");
            }
            if now_ms > 20_000 {
                assert!(at(0.999) - at(0.0) > 3000);
            }
        }
    }
}
