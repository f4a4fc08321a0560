//! What a rehearsal found: the verdicts first, then rates and times, then charts. On its page in the console, and in the file
//! that `seckill rehearse --html` writes.

use leptos::prelude::*;

use super::chart::{Chart, Line, amount};
use crate::{
    model::{Rate, RehearsalPlan, RehearsalReport, RehearsalStep, Times, grouped},
    texts::Lang,
};

/// The whole of it.
pub(crate) fn rehearsal_report(lang: Lang, report: &RehearsalReport) -> impl IntoView + use<> {
    let (class, held) = if report.held {
        ("notice good", "rehearsal-held")
    } else {
        ("notice", "rehearsal-broken")
    };
    let charts = charts(lang, report);
    let place = lang.text_with(
        "rehearsal-place",
        [
            ("instances", report.instances.join(", ").into()),
            ("seed", report.plan.seed.to_string().into()),
        ],
    );
    view! {
        <p class=class role="note"><strong>{lang.text(held)}</strong></p>
        {verdicts(lang, report)}
        <p class="muted small">{lang.text("rehearsal-verdicts-explained")}</p>
        <p class="muted small">{place}</p>
        <h2>{lang.text("rehearsal-rates")}</h2>
        {rates(lang, report)}
        <h2>{lang.text("rehearsal-times")}</h2>
        {times(lang, report)}
        <p class="muted small">{lang.text("rehearsal-times-explained")}</p>
        <section aria-labelledby="over-time">
            <h2 id="over-time">{lang.text("over-time")}</h2>
            <div class="charts">{charts.iter().map(|chart| chart.view(lang)).collect_view()}</div>
        </section>
    }
}

/// What a rehearsal was to be like, in one line.
pub(crate) fn rehearsal_plan(lang: Lang, plan: &RehearsalPlan) -> String {
    let number = |n: u32| grouped(n.into());
    lang.text_with(
        "rehearsal-plan",
        [
            ("shoppers", number(plan.shoppers).into()),
            ("units", number(plan.units).into()),
            ("seconds", number(plan.seconds).into()),
            (
                "shape",
                lang.text(&format!("shape-{}", plan.shape.as_str())).into(),
            ),
        ],
    )
}

fn verdicts(lang: Lang, report: &RehearsalReport) -> impl IntoView + use<> {
    let figures = report.verdicts.all().map(|(word, value)| {
        let shown = value.map_or_else(|| lang.text("unknown"), number);
        view! {
            <div data-verdict=word>
                <dt>{lang.text(&format!("verdict-{word}"))}</dt>
                <dd class:sick=value != Some(0)>{shown}</dd>
            </div>
        }
    });
    view! { <dl class="figures">{figures.into_iter().collect_view()}</dl> }
}

fn rates(lang: Lang, report: &RehearsalReport) -> impl IntoView + use<> {
    let plain = |key: &str, count: u64| row(lang.text(key), [number(count), dash(), dash()]);
    let rate = |name: String, rate: Rate| {
        let (per_second, most) = (amount(rate.per_second), number(rate.most));
        row(name, [number(rate.count), per_second, most])
    };
    let refused = report.refused.iter().map(|refused| {
        let cause = lang.text(&format!("refused-{}", refused.cause.as_str()));
        let name = lang.text_with("rehearsal-refused", [("cause", cause.into())]);
        rate(name, refused.rate)
    });
    let rows = [
        plain("rehearsal-presses", report.presses),
        plain("rehearsal-hang-ups", report.hang_ups),
        plain("rehearsal-looks", report.looks),
        rate(lang.text("chart-accepted"), report.accepted),
    ]
    .into_iter()
    .chain(refused)
    .chain([
        rate(lang.text("rehearsal-persisted"), report.persisted),
        plain("rehearsal-refused-in-the-end", report.refused_in_the_end),
        plain("rehearsal-unheard", report.unheard),
        plain("rehearsal-waiting", report.waiting),
    ]);
    let heads = [
        "rehearsal-count",
        "rehearsal-per-second",
        "rehearsal-busiest",
    ];
    table(lang, "rehearsal-rates", heads, rows.collect())
}

fn times(lang: Lang, report: &RehearsalReport) -> impl IntoView + use<> {
    let of = |key: &str, times: Times| {
        let Times {
            p50,
            p99,
            p999,
            max,
        } = times;
        row(
            lang.text(key),
            [p50, p99, p999, max].map(|ms| format!("{ms:.1}")),
        )
    };
    let rows = vec![
        of("rehearsal-answer", report.answer_ms),
        of("rehearsal-service", report.service_ms),
        of("rehearsal-late", report.late_ms),
        of("rehearsal-page", report.page_ms),
        of("rehearsal-lag", report.lag_ms),
    ];
    let heads = [
        "rehearsal-p50",
        "rehearsal-p99",
        "rehearsal-p999",
        "rehearsal-max",
    ];
    table(lang, "rehearsal-times", heads, rows)
}

fn table<const N: usize>(
    lang: Lang,
    name: &str,
    heads: [&str; N],
    rows: Vec<AnyView>,
) -> impl IntoView + use<N> {
    let heads = heads.map(|key| view! { <th scope="col" class="count">{lang.text(key)}</th> });
    view! {
        <div class="scroll" role="region" tabindex="0" aria-label=lang.text(name)>
            <table>
                <thead><tr><th scope="col">{lang.text("rehearsal-what")}</th>{heads.into_iter().collect_view()}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

fn row<const N: usize>(name: String, values: [String; N]) -> AnyView {
    let values = values.map(|value| view! { <td class="count">{value}</td> });
    view! { <tr><th scope="row">{name}</th>{values.into_iter().collect_view()}</tr> }.into_any()
}

fn dash() -> String {
    "–".to_owned()
}

fn number(n: u64) -> String {
    grouped(i64::try_from(n).unwrap_or(i64::MAX))
}

fn charts(lang: Lang, report: &RehearsalReport) -> [Chart; 4] {
    let drawing = Drawing { lang, report };
    let chart = |id: &'static str, is_whole: bool, lines: Vec<Line>| Chart {
        id,
        title: lang.text(id),
        is_whole,
        times: drawing.times(),
        lines: lines
            .into_iter()
            .filter(|line| line.values.iter().any(|value| *value > Some(0.0)))
            .collect(),
    };
    [
        chart(
            "rehearsal-chart-orders",
            false,
            vec![
                drawing.rate("chart-accepted", 1, |step| step.accepted),
                drawing.rate("rehearsal-persisted", 2, |step| step.stored),
            ],
        ),
        chart(
            "rehearsal-chart-refused",
            false,
            vec![
                drawing.rate("rehearsal-due", 5, |step| step.due),
                drawing.rate("rehearsal-refused-at-gate", 1, |step| step.refused),
                drawing.rate("rehearsal-failed", 3, |step| step.failed),
            ],
        ),
        chart(
            "rehearsal-chart-answers",
            false,
            vec![
                drawing.ms("rehearsal-p50", 1, |step| step.p50_ms),
                drawing.ms("rehearsal-p99", 2, |step| step.p99_ms),
            ],
        ),
        chart(
            "rehearsal-chart-lag",
            false,
            vec![
                drawing.ms("rehearsal-p50", 1, |step| step.lag_p50_ms),
                drawing.ms("rehearsal-max", 2, |step| step.lag_max_ms),
            ],
        ),
    ]
}

struct Drawing<'a> {
    lang: Lang,
    report: &'a RehearsalReport,
}

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
impl Drawing<'_> {
    /// Seconds since the first shopper might be due.
    fn times(&self) -> Vec<String> {
        let steps = 0..self.report.steps.len() as u64;
        let seconds = |step: u64| (step * self.report.step_ms) as f64 / 1000.0;
        steps
            .map(|step| format!("{:.1} s", seconds(step)))
            .collect()
    }

    /// How often something happened, a second; its sum beside the name.
    fn rate(&self, name: &str, look: u8, of: fn(&RehearsalStep) -> u64) -> Line {
        let steps = self.report.steps.iter();
        let step_s = self.report.step_ms as f64 / 1000.0;
        Line {
            name: self.lang.text(name),
            look,
            sum: number(steps.clone().map(of).sum()),
            values: steps.map(|step| Some(of(step) as f64 / step_s)).collect(),
        }
    }

    /// How long something took; the longest beside the name.
    fn ms(&self, name: &str, look: u8, of: fn(&RehearsalStep) -> Option<f64>) -> Line {
        let values: Vec<Option<f64>> = self.report.steps.iter().map(of).collect();
        Line {
            name: self.lang.text(name),
            look,
            sum: amount(values.iter().flatten().copied().fold(0.0, f64::max)),
            values,
        }
    }
}
