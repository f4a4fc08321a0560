//! What is printed: a line a round, then a table of all.

use std::{collections::BTreeMap, fmt, time::Duration};

use crate::{
    healing::DEADLINE,
    plan::Kind,
    round::Course,
    table::{Table, median},
};

/// Lines a minute that no process may log more of during an outage (case O08).
const LINES: usize = 20;

/// Share of a core beyond which it counts as pinned.
const PINNED: f64 = 0.9;

impl Course {
    /// Were all promises kept, and did everything heal, quietly?
    pub fn is_good(&self) -> bool {
        self.broken.is_empty() && self.healed.is_ok() && self.log.0 < LINES && self.share.0 < PINNED
    }
}

impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.plan)?;
        write!(f, "  |  answers: {}", counts(&self.answers))?;
        write!(f, "  |  orders: {}", counts(&self.orders))?;
        write!(f, "  |  log {}/min ({}), ", self.log.0, self.log.1)?;
        write!(f, "core {:.2} ({})", self.share.0, self.share.1)?;
        match &self.healed {
            Ok(time) => write!(f, "  |  healed in {:.1} s", time.as_secs_f64())?,
            Err(amiss) => write!(f, "  |  NOT HEALED within {DEADLINE:?}: {amiss}")?,
        }
        for broken in &self.broken {
            write!(f, "\n  BROKEN: {broken}")?;
        }
        Ok(())
    }
}

fn counts<K: fmt::Display>(of: &BTreeMap<K, usize>) -> String {
    let counts: Vec<String> = of
        .iter()
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    counts.join(", ")
}

/// All rounds together.
#[derive(Default)]
pub struct Report {
    rounds: usize,
    kinds: BTreeMap<(Kind, &'static str), usize>,
    orders: BTreeMap<String, usize>,
    answers: BTreeMap<&'static str, usize>,
    heal_seconds: Vec<f64>,
    not_healed: usize,
    bad: usize,
    broken: usize,
    log: (usize, String),
    share: (f64, String),
}

impl Report {
    pub fn add(&mut self, course: &Course) {
        self.rounds += 1;
        for fault in &course.plan.faults {
            // Only for Redis it matters how it writes.
            let how = match fault.kind {
                Kind::KillRedis => course.plan.appendfsync,
                _ => "",
            };
            *self.kinds.entry((fault.kind, how)).or_default() += 1;
        }
        for (end, count) in &course.orders {
            *self.orders.entry(end.clone()).or_default() += count;
        }
        for (answer, count) in &course.answers {
            *self.answers.entry(answer).or_default() += count;
        }
        match &course.healed {
            Ok(time) => self.heal_seconds.push(time.as_secs_f64()),
            Err(_) => self.not_healed += 1,
        }
        self.broken += course.broken.len();
        self.bad += usize::from(!course.is_good());
        if course.log.0 > self.log.0 {
            self.log = course.log.clone();
        }
        if course.share.0 > self.share.0 {
            self.share = course.share.clone();
        }
    }

    pub fn print(&self, took: Duration) {
        let mut table = Table::new("faults");
        for ((kind, how), count) in &self.kinds {
            table.row(&format!("{} {how}", kind.name()), count.to_string());
        }
        table.print();
        let mut table = Table::new("all rounds");
        table.row(
            "rounds",
            format!("{} in {:.0} s", self.rounds, took.as_secs_f64()),
        );
        table.row("answers", counts(&self.answers));
        table.row("orders told", counts(&self.orders));
        table.row("promises broken", self.broken.to_string());
        table.row("rounds not healed", self.not_healed.to_string());
        let worst = self.heal_seconds.iter().copied().fold(0.0, f64::max);
        let half = median(&self.heal_seconds);
        table.row(
            "time to heal",
            format!("median {half:.1} s, worst {worst:.1} s"),
        );
        table.row(
            "most lines of log",
            format!("{} a minute ({})", self.log.0, self.log.1),
        );
        table.row(
            "most of a core",
            format!("{:.0} % ({})", self.share.0 * 100.0, self.share.1),
        );
        table.print();
    }

    /// Was there a round, and each good?
    pub fn is_good(&self) -> bool {
        self.rounds > 0 && self.bad == 0
    }
}
