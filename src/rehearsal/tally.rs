//! Adds up what was seen: rates, times by HDR histogram, and what happened over time.

use std::{collections::HashSet, time::Duration};

use app::model::{
    Cause, OrderId, Rate, Refused, RehearsalPlan, RehearsalReport, RehearsalStep, Times, UserId,
};
use hdrhistogram::Histogram;
use time::OffsetDateTime;

use super::{
    arrivals::What,
    client::Answer,
    load::{Came, Seen},
    stage::Shopper,
    verdict::{Evidence, Stored, Told},
};
use crate::db::rehearsals::RehearsedOrder;

/// The longest time that is told apart, in µs; more counts as this.
const LONGEST: u64 = 86_400_000_000;

/// The steps that a chart may have, in ms,
const STEPS_MS: [u64; 8] = [100, 200, 500, 1000, 2000, 5000, 10_000, 60_000];

/// and how many of them at most.
const STEPS: u64 = 120;

/// All that is known in the end.
pub struct Findings {
    /// What it was to be like.
    pub plan: RehearsalPlan,
    /// The instances.
    pub instances: Vec<String>,
    /// The shoppers.
    pub shoppers: Vec<Shopper>,
    /// When the first arrival might be due.
    pub begun_at: OffsetDateTime,
    /// What came of each arrival.
    pub seen: Vec<Seen>,
    /// The orders as they are stored.
    pub orders: Vec<RehearsedOrder>,
    /// Orders that are not stored.
    pub held: u64,
    /// By the gate's own sums.
    pub drift: Option<i64>,
}

impl Findings {
    /// The report of it.
    #[must_use]
    pub fn report(&self) -> RehearsalReport {
        let told = self.told();
        let named: HashSet<OrderId> = told.iter().filter_map(|told| told.order).collect();
        let verdicts = Evidence {
            granted: self.plan.units.into(),
            stored: self.stored(),
            held: self.held,
            drift: self.drift,
            told,
        }
        .judge();
        let answers = || self.seen.iter().filter_map(answer);
        let refused = Cause::ALL.map(|cause| {
            let with_cause = answers().filter(|(_, answer)| answer.refusal() == Some(cause));
            let rate = rate(with_cause.map(|(seen, _)| seen.done));
            Refused { cause, rate }
        });
        let hung_up = |seen: &&Seen| seen.arrival.what == What::PressAndHangUp;
        let pages = || {
            self.seen
                .iter()
                .filter(|seen| seen.arrival.what == What::Look)
        };
        let presses = answers().filter(|(seen, _)| seen.arrival.what == What::Press);
        let mut answer_times = Clock::default();
        let mut service_times = Clock::default();
        let mut late = Clock::default();
        for (seen, _) in presses {
            answer_times.note(seen.done.saturating_sub(seen.arrival.due));
            service_times.note(seen.done.saturating_sub(seen.sent));
            late.note(seen.sent.saturating_sub(seen.arrival.due));
        }
        let (step_ms, steps) = self.steps();
        RehearsalReport {
            plan: self.plan.clone(),
            instances: self.instances.clone(),
            begun_at: self.begun_at,
            held: verdicts.held(),
            verdicts,
            presses: count(self.seen.len() - pages().count()),
            hang_ups: count(self.seen.iter().filter(hung_up).count()),
            looks: count(pages().count()),
            looks_answered: count(pages().filter(|seen| seen.came == Came::Page(true)).count()),
            accepted: rate(
                answers()
                    .filter(|(_, answer)| answer.refusal().is_none())
                    .map(|(seen, _)| seen.done),
            ),
            refused: refused
                .into_iter()
                .filter(|some| some.rate.count > 0)
                .collect(),
            persisted: rate(self.orders.iter().map(|order| self.since(order.stored_at))),
            refused_in_the_end: count(self.orders.iter().filter(|order| !order.is_live).count()),
            unheard: count(
                self.orders
                    .iter()
                    .filter(|order| !named.contains(&OrderId(order.id)))
                    .count(),
            ),
            waiting: self.held,
            lag_ms: Clock::of(self.orders.iter().map(lag)).times(),
            answer_ms: answer_times.times(),
            service_ms: service_times.times(),
            late_ms: late.times(),
            page_ms: Clock::of(pages().map(|seen| seen.done.saturating_sub(seen.arrival.due)))
                .times(),
            step_ms,
            steps,
        }
    }

    fn told(&self) -> Vec<Told> {
        let told = self.seen.iter().filter_map(|seen| match seen.came {
            Came::Answer(Answer::Gate(outcome, order)) => Some(Told {
                user: self.user(seen.arrival.shopper),
                outcome,
                order,
            }),
            _ => None,
        });
        told.collect()
    }

    fn user(&self, place: usize) -> UserId {
        let shopper = self.shoppers.get(place);
        shopper.map_or(UserId(0), |shopper| shopper.id)
    }

    fn stored(&self) -> Vec<Stored> {
        let stored = self.orders.iter().map(|order| Stored {
            id: OrderId(order.id),
            user: UserId(order.user_id),
            is_live: order.is_live,
        });
        stored.collect()
    }

    /// How long after the first arrival might be due something happened, by the clock on the wall.
    fn since(&self, at: OffsetDateTime) -> Duration {
        (at - self.begun_at).try_into().unwrap_or_default()
    }

    /// The length of a step, and what happened in each.
    fn steps(&self) -> (u64, Vec<RehearsalStep>) {
        let ends = self.seen.iter().map(|seen| seen.done);
        let stored = self.orders.iter().map(|order| self.since(order.stored_at));
        let last = millis(ends.chain(stored).max().unwrap_or_default());
        let step_ms = STEPS_MS.into_iter().find(|step| last / step < STEPS);
        let step_ms = step_ms.unwrap_or(STEPS_MS[STEPS_MS.len() - 1]);
        let place = |at: Duration| usize::try_from(millis(at) / step_ms).unwrap_or(usize::MAX);
        let mut steps = vec![Step::default(); usize::try_from(last / step_ms + 1).unwrap_or(1)];
        for seen in &self.seen {
            let Some((seen, answer)) = answer(seen) else {
                continue;
            };
            if let Some(step) = steps.get_mut(place(seen.arrival.due)) {
                step.sums.due += 1;
                step.answers
                    .note(seen.done.saturating_sub(seen.arrival.due));
            }
            if let Some(step) = steps.get_mut(place(seen.done)) {
                match answer.refusal() {
                    None => step.sums.accepted += 1,
                    Some(_) if answer.is_the_gates() => step.sums.refused += 1,
                    Some(_) => step.sums.failed += 1,
                }
            }
        }
        for order in &self.orders {
            if let Some(step) = steps.get_mut(place(self.since(order.stored_at))) {
                step.sums.stored += 1;
            }
            if let Some(step) = steps.get_mut(place(self.since(order.accepted_at))) {
                step.lags.note(lag(order));
            }
        }
        (step_ms, steps.into_iter().map(Step::end).collect())
    }
}

/// A press whose answer somebody waited for, with the answer.
fn answer(seen: &Seen) -> Option<(&Seen, Answer)> {
    match seen.came {
        Came::Answer(answer) => Some((seen, answer)),
        _ => None,
    }
}

/// From accepted to stored. Two clocks may differ.
fn lag(order: &RehearsedOrder) -> Duration {
    let lag = order.stored_at - order.accepted_at;
    lag.try_into().unwrap_or_default()
}

#[derive(Clone, Default)]
struct Step {
    sums: RehearsalStep,
    answers: Clock,
    lags: Clock,
}

impl Step {
    fn end(self) -> RehearsalStep {
        let (answers, lags) = (self.answers.any(), self.lags.any());
        RehearsalStep {
            p50_ms: answers.map(|times| times.p50),
            p99_ms: answers.map(|times| times.p99),
            lag_p50_ms: lags.map(|times| times.p50),
            lag_max_ms: lags.map(|times| times.max),
            ..self.sums
        }
    }
}

/// Times, three digits of each.
#[derive(Clone)]
struct Clock(Histogram<u64>);

impl Default for Clock {
    fn default() -> Self {
        Self(Histogram::new(3).expect("three digits can be told apart"))
    }
}

impl Clock {
    fn of(times: impl Iterator<Item = Duration>) -> Self {
        let mut clock = Self::default();
        times.for_each(|time| clock.note(time));
        clock
    }

    fn note(&mut self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(LONGEST);
        let recorded = self.0.record(micros.clamp(1, LONGEST));
        recorded.expect("it grows with what is recorded, up to days");
    }

    fn any(&self) -> Option<Times> {
        (!self.0.is_empty()).then(|| self.times())
    }

    fn times(&self) -> Times {
        let at = |quantile| ms(self.0.value_at_quantile(quantile));
        Times {
            p50: at(0.5),
            p99: at(0.99),
            p999: at(0.999),
            max: ms(self.0.max()),
        }
    }
}

/// How often, a second and in the busiest, something happened at these times.
fn rate(times: impl Iterator<Item = Duration>) -> Rate {
    let times: Vec<Duration> = times.collect();
    let (Some(first), Some(last)) = (times.iter().min(), times.iter().max()) else {
        return Rate::default();
    };
    let seconds = (*last - *first).as_secs_f64().max(1.0);
    let mut by_second = std::collections::BTreeMap::<u64, u64>::new();
    for time in &times {
        *by_second.entry(time.as_secs()).or_default() += 1;
    }
    Rate {
        count: count(times.len()),
        per_second: float(count(times.len())) / seconds,
        most: by_second.into_values().max().unwrap_or_default(),
    }
}

fn ms(micros: u64) -> f64 {
    float(micros) / 1000.0
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
fn float(n: u64) -> f64 {
    n as f64
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use app::model::{Outcome, Shape};
    use time::macros::datetime;
    use uuid::Uuid;

    use super::{super::arrivals::Arrival, *};

    const BEGUN: OffsetDateTime = datetime!(2026-11-30 10:00:00 UTC);

    fn press(shopper: usize, due_ms: u64, sent_ms: u64, done_ms: u64, answer: Answer) -> Seen {
        Seen {
            arrival: Arrival {
                due: Duration::from_millis(due_ms),
                shopper,
                what: What::Press,
            },
            sent: Duration::from_millis(sent_ms),
            done: Duration::from_millis(done_ms),
            came: Came::Answer(answer),
        }
    }

    fn order(n: u128) -> OrderId {
        OrderId(Uuid::from_u128(n))
    }

    fn findings() -> Findings {
        let shopper = |id| Shopper {
            id: UserId(id),
            cookie: String::new(),
        };
        let stored = |n: u128, user_id, accepted_ms: i64, stored_ms: i64| RehearsedOrder {
            id: Uuid::from_u128(n),
            user_id,
            is_live: true,
            accepted_at: BEGUN + time::Duration::milliseconds(accepted_ms),
            stored_at: BEGUN + time::Duration::milliseconds(stored_ms),
        };
        Findings {
            plan: RehearsalPlan {
                shoppers: 3,
                units: 2,
                shape: Shape::Steady,
                seconds: 3,
                voucher: None,
                seed: 1,
                on_production: false,
            },
            instances: Vec::new(),
            shoppers: vec![shopper(11), shopper(12), shopper(13)],
            begun_at: BEGUN,
            seen: vec![
                press(
                    0,
                    100,
                    400,
                    450,
                    Answer::Gate(Outcome::Queued, Some(order(1))),
                ),
                press(1, 2100, 2100, 2110, Answer::Gate(Outcome::SoldOut, None)),
                press(1, 2200, 2200, 2210, Answer::Other(Cause::TooOften)),
            ],
            orders: vec![stored(1, 11, 440, 640), stored(2, 13, 500, 1500)],
            held: 0,
            drift: Some(0),
        }
    }

    #[test]
    fn time_counts_from_when_somebody_was_due_and_not_from_when_it_was_sent() {
        let report = findings().report();
        assert!((report.answer_ms.max - 350.0).abs() < 1.0, "{report:?}");
        assert!((report.service_ms.max - 50.0).abs() < 1.0, "{report:?}");
        assert!((report.late_ms.max - 300.0).abs() < 1.0, "{report:?}");
    }

    #[test]
    fn refusals_are_told_by_cause_and_an_order_of_who_hung_up_is_unheard() {
        let report = findings().report();
        assert!(report.held, "{report:?}");
        let refused: Vec<_> = report
            .refused
            .iter()
            .map(|some| (some.cause, some.rate.count))
            .collect();
        assert_eq!(refused, [(Cause::SoldOut, 1), (Cause::TooOften, 1)]);
        assert_eq!((report.accepted.count, report.presses), (1, 3));
        assert_eq!((report.persisted.count, report.unheard), (2, 1));
        assert!((report.lag_ms.max - 1000.0).abs() < 1.0, "{report:?}");
    }

    #[test]
    fn what_happened_stands_in_its_step() {
        let report = findings().report();
        assert_eq!((report.step_ms, report.steps.len()), (100, 23));
        let step = |n: usize| report.steps[n].clone();
        assert_eq!((step(1).due, step(1).accepted, step(4).accepted), (1, 0, 1));
        assert_eq!((step(21).refused, step(22).failed), (1, 1));
        assert_eq!((step(6).stored, step(15).stored), (1, 1));
        assert!((step(5).lag_max_ms.unwrap() - 1000.0).abs() < 1.0);
        assert_eq!(step(10), RehearsalStep::default());
    }

    #[test]
    fn a_rate_is_over_a_second_at_least_and_knows_the_busiest() {
        let times = [10, 20, 30, 2010].map(Duration::from_millis);
        let rate = rate(times.into_iter());
        assert_eq!((rate.count, rate.most), (4, 3));
        assert!((rate.per_second - 2.0).abs() < 1e-9);
        let short = super::rate([10, 20].map(Duration::from_millis).into_iter());
        assert!((short.per_second - 2.0).abs() < 1e-9);
    }
}
