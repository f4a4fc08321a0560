//! The charts of one sale: what the gate accepted and refused, what was stored, what waits, and for how long it did.

use leptos::prelude::*;

use super::chart::{Chart, Line, amount};
use crate::{
    model::{Counts, Series, Zone, grouped},
    texts::Lang,
};

/// What is counted.
type Of = fn(&Counts) -> i64;

/// Why the gate refused, in the order of its words.
const CAUSES: [(&str, Of); 5] = [
    ("sold_out", |counts| counts.sold_out),
    ("not_started", |counts| counts.not_started),
    ("ended", |counts| counts.ended),
    ("closed", |counts| counts.closed),
    ("already_bought", |counts| counts.already_bought),
];

/// All charts, one below the other.
pub(crate) fn sale_charts(lang: Lang, series: &Series, zone: &Zone) -> impl IntoView + use<> {
    let charts = charts(lang, series, zone);
    let zone = lang.text_with("window-zone", [("zone", zone.name().to_owned().into())]);
    view! {
        <p class="muted small">{zone}</p>
        <div class="charts">{charts.iter().map(|chart| chart.view(lang)).collect_view()}</div>
    }
}

/// The parts of them that change, by the ids of the elements that hold them.
pub(crate) fn sale_chart_parts(lang: Lang, series: &Series, zone: &Zone) -> Vec<(String, String)> {
    let charts = charts(lang, series, zone);
    charts.iter().flat_map(|chart| chart.parts(lang)).collect()
}

fn charts(lang: Lang, series: &Series, zone: &Zone) -> [Chart; 4] {
    let drawing = Drawing { lang, series };
    let stored = [
        ("accepted", 1, (|counts| counts.accepted) as Of),
        ("confirmed", 2, |counts| counts.confirmed),
        ("refused", 3, |counts| counts.refused),
    ];
    let stored = stored.map(|(key, look, of)| drawing.rate(format!("chart-{key}"), look, of));
    let refused = (1..).zip(CAUSES);
    let refused =
        refused.map(|(look, (cause, of))| drawing.rate(format!("refused-{cause}"), look, of));
    let chart = |id: &'static str, is_whole: bool, lines: Vec<Line>| Chart {
        id,
        is_whole,
        title: lang.text(id),
        times: times(series, zone),
        lines: lines
            .into_iter()
            .filter(|line| line.values.iter().any(|value| *value > Some(0.0)))
            .collect(),
    };
    [
        chart("chart-orders", false, stored.into()),
        chart("chart-refused-at-gate", false, refused.collect()),
        chart(
            "chart-backlog",
            true,
            vec![drawing.most("chart-waiting", 1, |counts| Some(counts.backlog))],
        ),
        chart(
            "chart-lag",
            true,
            vec![
                drawing.most("chart-lag-mean", 1, Counts::mean_lag_ms),
                // Where nothing was stored, nothing took its time.
                drawing.most("chart-lag-most", 2, |counts| {
                    counts.mean_lag_ms().map(|_| counts.max_lag_ms)
                }),
            ],
        ),
    ]
}

/// When each step begins: to the second while steps are short, and with the day where a day is not enough.
fn times(series: &Series, zone: &Zone) -> Vec<String> {
    let count = i64::try_from(series.steps.len()).unwrap_or(i64::MAX);
    let format = match (series.step_s, count.saturating_mul(series.step_s)) {
        (..60, _) => "%H:%M:%S",
        (_, ..86_400) => "%H:%M",
        _ => "%m-%d %H:%M",
    };
    let steps = 0..series.steps.len();
    steps
        .map(|step| zone.format(series.begins(step), format))
        .collect()
}

struct Drawing<'a> {
    lang: Lang,
    series: &'a Series,
}

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
impl Drawing<'_> {
    /// How often something happened, a second; its sum beside the name.
    fn rate(&self, name: String, look: u8, of: Of) -> Line {
        let Series { steps, .. } = self.series;
        let rate = |(step, counts): (usize, &Counts)| {
            Some(of(counts) as f64 / self.series.seconds(step) as f64)
        };
        Line {
            name: self.lang.text(&name),
            look,
            values: steps.iter().enumerate().map(rate).collect(),
            sum: grouped(steps.iter().map(of).sum()),
        }
    }

    /// How much there was; the most of it beside the name.
    fn most(&self, name: &str, look: u8, of: fn(&Counts) -> Option<i64>) -> Line {
        let steps = self.series.steps.iter();
        let values: Vec<Option<f64>> = steps
            .map(|counts| of(counts).map(|count| count as f64))
            .collect();
        Line {
            name: self.lang.text(name),
            look,
            sum: amount(values.iter().flatten().copied().fold(0.0, f64::max)),
            values,
        }
    }
}
