//! What the program is to reach on two cores, the load generator included, and what it has reached.

use serde_json::{Value, json};

use crate::{
    args::Args,
    record::{Record, shown, spaced},
    table::Table,
};

/// One goal, and what was found.
pub struct Goal {
    what: &'static str,
    unit: &'static str,
    wanted: f64,
    /// As it is said: the goal may be a rounded figure.
    said: &'static str,
    is_floor: bool,
    found: Option<f64>,
}

impl Goal {
    /// `None`: not measured.
    fn is_reached(&self) -> Option<bool> {
        let found = self.found?;
        Some(match self.is_floor {
            true => found >= self.wanted,
            false => found <= self.wanted,
        })
    }
}

/// All goals, beside the medians of this run.
pub fn compare(record: &Record, args: &Args) -> Vec<Goal> {
    // A run with less than the goal speaks of says nothing about it.
    let is_large = args.buyers >= 1_000_000 && args.sales >= 1_000;
    let is_long = args.steady_seconds >= 60;
    let large = |name| record.median(name).filter(|_| is_large);
    let long = |name| record.median(name).filter(|_| is_long);
    let is_crowded = args.watchers >= 10_000;
    let floor = |what, unit, wanted, said, found| Goal {
        what,
        unit,
        wanted,
        said,
        is_floor: true,
        found,
    };
    let ceiling = |what, unit, wanted, said, found| Goal {
        what,
        unit,
        wanted,
        said,
        is_floor: false,
        found,
    };
    vec![
        floor(
            "accepted at 200 connections ÷ raw gate",
            "",
            0.5,
            "≥ 0.5",
            record.ratio("accepted_200", "raw_gate"),
        ),
        ceiling(
            "p99 of an accepted buy at half of that rate",
            "ms",
            10.0,
            "< 10",
            record.p99("accepted_paced"),
        ),
        // What is on its way when the minute ends is no backlog: less than a hundredth.
        floor(
            "stored ÷ accepted over a minute, rounded to 1.0",
            "",
            0.99,
            "≥ 0.99",
            long("steady_ratio"),
        ),
        ceiling(
            "accepted to stored, p99",
            "ms",
            1000.0,
            "< 1000",
            long("steady_lag_p99"),
        ),
        floor(
            "consumer from a full queue",
            "/s",
            40_000.0,
            "≥ 40,000",
            record.median("drained"),
        ),
        floor(
            "sold-out answers ÷ accepted",
            "",
            1.0,
            "≥ 1.0",
            record.ratio("sold_out", "accepted_200"),
        ),
        floor(
            "voucher page, cached",
            "/s",
            10_000.0,
            "≥ 10,000",
            record.median("page_cached"),
        ),
        floor(
            "voucher page, uncached",
            "/s",
            4_000.0,
            "≥ 4,000",
            record.median("page_uncached"),
        ),
        ceiling(
            "buy, 1,000,000 buyers and 1,000 sales ÷ 1,000 and 1",
            "",
            1.1,
            "≤ 1.1",
            large("size_ratio"),
        ),
        ceiling(
            "the same, buying of all 1,000 sales by turns",
            "",
            1.1,
            "≤ 1.1",
            large("size_spread_ratio"),
        ),
        ceiling(
            "memory at 10,000 connections",
            "MB",
            250.0,
            "≤ 250",
            record.median("watchers_memory").filter(|_| is_crowded),
        ),
        ceiling(
            "memory of Redis, a stored order's mark",
            "bytes",
            90.0,
            "≤ 90",
            record.median("redis_bytes_marks"),
        ),
        ceiling(
            "memory of Redis a stored order, all of it",
            "bytes",
            90.0,
            "≤ 90",
            record.median("redis_bytes_grown"),
        ),
    ]
}

/// Prints them, if any was measured.
pub fn print(goals: &[Goal]) {
    if goals.iter().all(|goal| goal.found.is_none()) {
        return;
    }
    let mut table = Table::new("goals");
    for goal in goals {
        let verdict = match goal.is_reached() {
            Some(true) => "reached",
            Some(false) => "MISSED",
            None => "not measured",
        };
        let found = goal.found.map_or_else(
            || "-".to_owned(),
            |found| format!("{}{}", shown(found), spaced(goal.unit)),
        );
        table.row(
            goal.what,
            format!("{verdict}: {found}, wanted {}", goal.said),
        );
    }
    table.print();
}

/// The same as JSON.
pub fn json(goals: &[Goal]) -> Value {
    goals
        .iter()
        .map(|goal| {
            json!({
                "what": goal.what,
                "unit": goal.unit,
                "wanted": goal.wanted,
                "said": goal.said,
                "is_floor": goal.is_floor,
                "found": goal.found,
                "is_reached": goal.is_reached(),
            })
        })
        .collect()
}
