//! Rehearsals: what one is to be like, how far it has come, and what it found.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{Fields, Outcome, Problem, VoucherId};
use crate::error::AppError;

/// The number of a rehearsal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RehearsalId(pub i32);

impl RehearsalId {
    /// Reads the number in an address.
    ///
    /// # Errors
    /// `Problem::NotANumber` for anything else.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        number(text, i32::MAX).map(Self)
    }
}

impl std::fmt::Display for RehearsalId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How shoppers arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A few too early, most at once when the sale opens, fewer and fewer after it.
    #[default]
    Spike,
    /// More and more.
    Ramp,
    /// As many every second.
    Steady,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Spike, Self::Ramp, Self::Steady];

    /// The word, as in forms, tables and text keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Spike => "spike",
            Self::Ramp => "ramp",
            Self::Steady => "steady",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.as_str() == word)
    }
}

/// What a rehearsal is to be like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RehearsalPlan {
    /// Shoppers, each signed in.
    pub shoppers: u32,
    /// Units on sale.
    pub units: u32,
    /// How shoppers arrive.
    pub shape: Shape,
    /// For how long they do, in seconds from the opening of the sale.
    pub seconds: u32,
    /// The voucher whose sale is copied; a made-up one without.
    pub voucher: Option<VoucherId>,
    /// The same number gives the same arrivals.
    pub seed: u32,
    /// Although the database looks like one that people use.
    pub on_production: bool,
}

impl RehearsalPlan {
    /// The most shoppers.
    pub const SHOPPERS: u32 = 100_000;
    /// The most units.
    pub const UNITS: u32 = 1_000_000;
    /// The longest arrivals, in seconds.
    pub const SECONDS: u32 = 600;
}

/// The form of a rehearsal as it was typed.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "RehearsalPlan explains them")]
pub struct RehearsalForm {
    pub shoppers: String,
    pub units: String,
    pub shape: String,
    pub seconds: String,
    pub voucher_id: String,
    pub on_production: String,
}

impl RehearsalForm {
    /// Reads it. Whoever starts it draws the number that its arrivals are told by.
    ///
    /// # Errors
    /// `AppError::Invalid` with every field that is not accepted.
    pub fn parse(&self) -> Result<RehearsalPlan, AppError> {
        let mut fields = Fields::default();
        let shoppers = fields.take("shoppers", bounded(&self.shoppers, RehearsalPlan::SHOPPERS));
        let units = fields.take("units", bounded(&self.units, RehearsalPlan::UNITS));
        let shape = Shape::parse(&self.shape).ok_or(Problem::Unknown);
        let shape = fields.take("shape", shape);
        let seconds = fields.take("seconds", bounded(&self.seconds, RehearsalPlan::SECONDS));
        let voucher = match self.voucher_id.trim() {
            "" => Ok(None),
            id => VoucherId::parse(id).map(Some),
        };
        let voucher = fields.take("voucher_id", voucher);
        match (shoppers, units, shape, seconds, voucher) {
            (Some(shoppers), Some(units), Some(shape), Some(seconds), Some(voucher)) => {
                Ok(RehearsalPlan {
                    shoppers,
                    units,
                    shape,
                    seconds,
                    voucher,
                    seed: 0,
                    on_production: self.on_production == "yes",
                })
            }
            _ => Err(fields.into()),
        }
    }
}

/// A number from 1 to `most`.
fn bounded(text: &str, most: u32) -> Result<u32, Problem> {
    let number: i32 = number(text, i32::try_from(most).unwrap_or(i32::MAX))?;
    Ok(number.unsigned_abs())
}

fn number(text: &str, most: i32) -> Result<i32, Problem> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Problem::Missing);
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Problem::NotANumber);
    }
    match text.parse() {
        Ok(0) => Err(Problem::TooSmall(1)),
        Ok(number) if number <= most => Ok(number),
        _ => Err(Problem::TooLarge(most.into())),
    }
}

/// What a rehearsal is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RehearsalPhase {
    /// Shoppers and their login sessions are made.
    #[default]
    Shoppers,
    /// They arrive.
    Arrivals,
    /// What was promised is stored.
    Storing,
    /// All that was made is removed.
    Removing,
}

impl RehearsalPhase {
    /// The word, as in text keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shoppers => "shoppers",
            Self::Arrivals => "arrivals",
            Self::Storing => "storing",
            Self::Removing => "removing",
        }
    }
}

/// How far a rehearsal has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RehearsalProgress {
    /// What it is at.
    pub phase: RehearsalPhase,
    /// How much of that is done,
    pub done: u64,
    /// and of how much.
    pub of: u64,
}

/// What was found of each promise: how often it was broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// Units promised or sold beyond what was granted.
    pub oversold: u64,
    /// Units left over although somebody was told that none are.
    pub undersold: u64,
    /// Orders beyond the first of a shopper.
    pub duplicates: u64,
    /// Units that are in no place, or in two; `None` where the gate did not know the sale in the end.
    pub drift: Option<i64>,
    /// Orders that somebody was told of, and that are nowhere.
    pub broken: u64,
}

impl Verdicts {
    /// Were all promises kept?
    #[must_use]
    pub fn held(&self) -> bool {
        let broken = [self.oversold, self.undersold, self.duplicates, self.broken];
        broken == [0; 4] && self.drift == Some(0)
    }

    /// Each with its word, as in text keys; the drift without its sign, and all that is not known as `None`.
    #[must_use]
    pub fn all(&self) -> [(&'static str, Option<u64>); 5] {
        [
            ("oversold", Some(self.oversold)),
            ("undersold", Some(self.undersold)),
            ("duplicates", Some(self.duplicates)),
            ("drift", self.drift.map(i64::unsigned_abs)),
            ("broken", Some(self.broken)),
        ]
    }
}

/// How often something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// In all.
    pub count: u64,
    /// A second, from the first to the last time; over at least one second.
    pub per_second: f64,
    /// In the busiest second.
    pub most: u64,
}

/// Why somebody who pressed the button got nothing by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// No unit was left.
    SoldOut,
    /// The sale had not begun.
    NotStarted,
    /// The sale was over.
    Ended,
    /// Nothing was sold for now.
    Closed,
    /// The shopper has an order already, and was told which.
    AlreadyBought,
    /// Too often in a short time (429).
    TooOften,
    /// Come again later (503).
    Unavailable,
    /// Any other answer.
    OtherAnswer,
    /// The connection failed, or nothing came in time.
    NoAnswer,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::SoldOut,
        Self::NotStarted,
        Self::Ended,
        Self::Closed,
        Self::AlreadyBought,
        Self::TooOften,
        Self::Unavailable,
        Self::OtherAnswer,
        Self::NoAnswer,
    ];

    /// The word, as in JSON and text keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SoldOut => "sold_out",
            Self::NotStarted => "not_started",
            Self::Ended => "ended",
            Self::Closed => "closed",
            Self::AlreadyBought => "already_bought",
            Self::TooOften => "too_often",
            Self::Unavailable => "unavailable",
            Self::OtherAnswer => "other_answer",
            Self::NoAnswer => "no_answer",
        }
    }

    /// Why an outcome is a refusal; `None` for one that is none.
    #[must_use]
    pub fn of(outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::Queued => None,
            Outcome::AlreadyBought => Some(Self::AlreadyBought),
            Outcome::SoldOut => Some(Self::SoldOut),
            Outcome::NotStarted => Some(Self::NotStarted),
            Outcome::Ended => Some(Self::Ended),
            Outcome::Closed => Some(Self::Closed),
        }
    }
}

/// How often somebody was refused, and why.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// Why.
    pub cause: Cause,
    /// How often.
    #[serde(flatten)]
    pub rate: Rate,
}

/// Times in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "percentiles")]
pub struct Times {
    pub p50: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

/// What happened in one step of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RehearsalStep {
    /// Presses that were due.
    pub due: u64,
    /// Accepted, by when the answer came.
    pub accepted: u64,
    /// Refused by the gate.
    pub refused: u64,
    /// Not answered by the gate: turned away before it, or failed.
    pub failed: u64,
    /// Orders stored.
    pub stored: u64,
    /// Times from due to answered, of presses due in this step: the median,
    pub p50_ms: Option<f64>,
    /// and of the slowest in a hundred.
    pub p99_ms: Option<f64>,
    /// Times from accepted to stored, of orders accepted in this step: the median,
    pub lag_p50_ms: Option<f64>,
    /// and the longest.
    pub lag_max_ms: Option<f64>,
}

/// What a rehearsal found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RehearsalReport {
    /// What it was like.
    pub plan: RehearsalPlan,
    /// The instances that were asked.
    pub instances: Vec<String>,
    /// When the first shopper was due.
    #[serde(with = "time::serde::rfc3339")]
    pub begun_at: OffsetDateTime,
    /// Were all promises kept?
    pub held: bool,
    /// How often each was broken.
    pub verdicts: Verdicts,
    /// Presses of the button.
    pub presses: u64,
    /// Of them, by people who hung up before an answer came.
    pub hang_ups: u64,
    /// Looks at the voucher's page.
    pub looks: u64,
    /// Of them, those that showed it.
    pub looks_answered: u64,
    /// Presses that got a unit.
    pub accepted: Rate,
    /// Presses that did not, by cause.
    pub refused: Vec<Refused>,
    /// Orders stored.
    pub persisted: Rate,
    /// Of them, those that were refused in the end, after they had been accepted.
    pub refused_in_the_end: u64,
    /// Of them, those that nobody was told of: they had hung up, or the line broke.
    pub unheard: u64,
    /// Orders that were not stored when it ended: in the queue still, or dead letters.
    pub waiting: u64,
    /// From accepted to stored.
    pub lag_ms: Times,
    /// From due to answered: what a shopper waits, however late the request was sent.
    pub answer_ms: Times,
    /// From sent to answered: what the program alone took.
    pub service_ms: Times,
    /// From due to sent: how late this generator was, waiting for connections included.
    pub late_ms: Times,
    /// The same as `answer_ms` of the voucher's page.
    pub page_ms: Times,
    /// Milliseconds of one step.
    pub step_ms: u64,
    /// What happened over time.
    pub steps: Vec<RehearsalStep>,
}

/// Where a rehearsal stands.
#[derive(Clone, Debug, PartialEq)]
pub enum RehearsalState {
    /// It is under way.
    Running(RehearsalProgress),
    /// It has ended.
    Ended(Box<RehearsalReport>),
    /// It could not be carried through.
    Failed(String),
}

/// A rehearsal as it is listed and shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// Its number.
    pub id: RehearsalId,
    /// Who wanted it: a name, or what the program calls itself.
    pub asked_by: String,
    /// When.
    pub asked_at: OffsetDateTime,
    /// What it is to be like.
    pub plan: RehearsalPlan,
    /// Where it stands.
    pub state: RehearsalState,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verdict_alone_breaks_what_is_promised() {
        let kept = Verdicts {
            drift: Some(0),
            ..Verdicts::default()
        };
        assert!(kept.held());
        for broken in [
            Verdicts {
                oversold: 1,
                ..kept
            },
            Verdicts {
                undersold: 1,
                ..kept
            },
            Verdicts {
                duplicates: 1,
                ..kept
            },
            Verdicts {
                drift: Some(-1),
                ..kept
            },
            Verdicts {
                drift: None,
                ..kept
            },
            Verdicts { broken: 1, ..kept },
        ] {
            assert!(!broken.held(), "{broken:?}");
        }
    }

    #[test]
    fn a_form_names_every_field_that_is_wrong() {
        let form = RehearsalForm {
            shoppers: "0".to_owned(),
            units: "x".to_owned(),
            shape: "cube".to_owned(),
            seconds: "601".to_owned(),
            voucher_id: "-1".to_owned(),
            on_production: String::new(),
        };
        let Err(AppError::Invalid(problems)) = form.parse() else {
            panic!("it is not accepted");
        };
        let fields: Vec<_> = problems.into_keys().collect();
        assert_eq!(
            fields,
            ["seconds", "shape", "shoppers", "units", "voucher_id"]
        );
        let form = RehearsalForm {
            shoppers: " 200 ".to_owned(),
            units: "50".to_owned(),
            shape: "ramp".to_owned(),
            seconds: "2".to_owned(),
            ..RehearsalForm::default()
        };
        let plan = form.parse().unwrap();
        assert_eq!((plan.shoppers, plan.units, plan.seconds), (200, 50, 2));
        assert_eq!((plan.voucher, plan.on_production), (None, false));
    }
}
