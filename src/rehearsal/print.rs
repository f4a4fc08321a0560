//! The report as a table for a terminal.

use std::fmt::{self, Write};

use app::model::{RehearsalId, RehearsalReport, Times, grouped};

/// Rows under headings.
pub struct Table(String);

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Table {
    /// The table of a report.
    #[must_use]
    pub fn of(id: RehearsalId, report: &RehearsalReport) -> Self {
        let plan = &report.plan;
        let mut table = Self(format!(
            "Rehearsal {id}: {} shoppers for {} units at {}, {} of {} s, seed {}\n\n",
            number(plan.shoppers.into()),
            number(plan.units.into()),
            report.instances.join(", "),
            plan.shape.as_str(),
            plan.seconds,
            plan.seed
        ));
        for (word, value) in report.verdicts.all() {
            let word = if word == "broken" {
                "promises broken"
            } else {
                word
            };
            table.row(word, &value.map_or_else(|| "not known".to_owned(), number));
        }
        table.0.push('\n');
        table.counts(report);
        table.0.push('\n');
        table.row("accepted → persisted", &times(report.lag_ms));
        table.row("due → answered", &times(report.answer_ms));
        table.row("sent → answered", &times(report.service_ms));
        table.row("due → sent", &times(report.late_ms));
        if report.looks > 0 {
            table.row("page: due → answered", &times(report.page_ms));
        }
        let sentence = if report.held {
            "All promises were kept."
        } else {
            "A promise was broken."
        };
        let _ = writeln!(
            table.0,
            "\n{sentence} Nothing of it is left but this report."
        );
        table
    }

    fn counts(&mut self, report: &RehearsalReport) {
        let rate = |rate: app::model::Rate| {
            format!(
                "{:>9}   {:.0} a second, {} in the busiest",
                number(rate.count),
                rate.per_second,
                number(rate.most)
            )
        };
        let plain = |count: u64| format!("{:>9}", number(count));
        self.row("presses", &plain(report.presses));
        self.row("  hung up", &plain(report.hang_ups));
        self.row("looks at the page", &plain(report.looks));
        self.row("accepted", &rate(report.accepted));
        for refused in &report.refused {
            let cause = refused.cause.as_str().replace('_', " ");
            self.row(&format!("refused: {cause}"), &rate(refused.rate));
        }
        self.row("persisted", &rate(report.persisted));
        self.row("  refused in the end", &plain(report.refused_in_the_end));
        self.row("  nobody was told", &plain(report.unheard));
        self.row("not persisted", &plain(report.waiting));
    }

    fn row(&mut self, what: &str, value: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "  {what:24} {value}");
    }
}

fn number(n: u64) -> String {
    grouped(i64::try_from(n).unwrap_or(i64::MAX))
}

fn times(times: Times) -> String {
    let Times {
        p50,
        p99,
        p999,
        max,
    } = times;
    format!("p50 {p50:.1}  p99 {p99:.1}  p99.9 {p999:.1}  max {max:.1} ms")
}
