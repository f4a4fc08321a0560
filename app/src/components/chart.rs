//! A chart of figures over time, drawn as SVG on the server: lines for the eye, and a table that says the same. The words
//! at its axes are HTML, so that they are as large on a phone as anywhere; no style or script stands in it.

use leptos::prelude::*;

use crate::{model::grouped, texts::Lang};

/// The drawing's own units; the style sheet says how large it is shown.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 160.0;

/// How wide a value is drawn that has none beside it.
const DOT: f64 = 4.0;

/// One line of a chart.
pub(crate) struct Line {
    /// What it shows.
    pub(crate) name: String,
    /// Which of the style sheet's lines it is, from 1.
    pub(crate) look: u8,
    /// Its value at each time; `None` where there is nothing that could have one.
    pub(crate) values: Vec<Option<f64>>,
    /// What stands beside its name.
    pub(crate) sum: String,
}

impl Line {
    fn most(&self) -> f64 {
        self.values.iter().flatten().copied().fold(0.0, f64::max)
    }
}

/// A chart.
pub(crate) struct Chart {
    /// The beginning of the ids in it.
    pub(crate) id: &'static str,
    /// What it shows, with its unit.
    pub(crate) title: String,
    /// Its values are whole: the scale has no halves.
    pub(crate) is_whole: bool,
    /// The times, as they are read.
    pub(crate) times: Vec<String>,
    /// The lines. What never happened has none.
    pub(crate) lines: Vec<Line>,
}

impl Chart {
    /// The whole of it. Its two parts may be put in the place of older ones.
    pub(crate) fn view(&self, lang: Lang) -> impl IntoView + use<> {
        view! {
            <figure class="chart">
                <figcaption><h3>{self.title.clone()}</h3></figcaption>
                <div id=self.plot_id()>{self.plot(lang)}</div>
                <details>
                    <summary>{lang.text("chart-figures")}</summary>
                    <div id=self.table_id()>{self.table(lang)}</div>
                </details>
            </figure>
        }
    }

    /// The parts that change, by the ids of the elements that hold them.
    pub(crate) fn parts(&self, lang: Lang) -> [(String, String); 2] {
        [
            (self.plot_id(), self.plot(lang).to_html()),
            (self.table_id(), self.table(lang).to_html()),
        ]
    }

    fn plot_id(&self) -> String {
        format!("{}-plot", self.id)
    }

    fn table_id(&self) -> String {
        format!("{}-table", self.id)
    }

    fn plot(&self, lang: Lang) -> impl IntoView + use<> {
        let most = self.lines.iter().map(Line::most).fold(0.0, f64::max);
        let top = top_of(most, self.is_whole);
        let legend = self.lines.iter().map(|line| {
            let look = format!("line line-{}", line.look);
            view! {
                <li>
                    <svg class="swatch" viewBox="0 0 28 4" width="28" height="4" aria-hidden="true">
                        <line class=look x1="0" x2="28" y1="2" y2="2"></line>
                    </svg>
                    <span>{line.name.clone()}</span>" "<b>{line.sum.clone()}</b>
                </li>
            }
        });
        let legend = if self.lines.is_empty() {
            view! { <li>{lang.text("chart-nothing")}</li> }.into_any()
        } else {
            legend.collect_view().into_any()
        };
        let ends = [self.times.first(), self.times.last()];
        let ends = ends.map(|time| view! { <span>{time.cloned()}</span> });
        view! {
            <ul class="legend" role="list">{legend}</ul>
            <div class="plot">
                <div class="scale" aria-hidden="true">
                    <span>{amount(top)}</span><span>{amount(top / 2.0)}</span><span>"0"</span>
                </div>
                {self.drawing(lang, top)}
                <div class="ends" aria-hidden="true">{ends.into_iter().collect_view()}</div>
            </div>
        }
    }

    fn drawing(&self, lang: Lang, top: f64) -> impl IntoView + use<> {
        let (title, said) = (format!("{}-title", self.id), format!("{}-said", self.id));
        let labelled = format!("{title} {said}");
        let grid = [0.0, 0.5, 1.0].map(|part| {
            let y = part * HEIGHT;
            view! { <line class="grid" x1="0" x2=WIDTH y1=y y2=y vector-effect="non-scaling-stroke"></line> }
        });
        let lines = self.lines.iter().map(|line| {
            let look = format!("line line-{}", line.look);
            let parts = parts(&line.values, top).into_iter().map(|points| {
                view! { <polyline class=look.clone() points=points vector-effect="non-scaling-stroke"></polyline> }
            });
            parts.collect::<Vec<_>>()
        });
        view! {
            <svg
                role="img" aria-labelledby=labelled preserveAspectRatio="none"
                viewBox=format!("0 0 {WIDTH} {HEIGHT}")
            >
                <title id=title>{self.title.clone()}</title>
                <desc id=said>{self.said(lang)}</desc>
                {grid.into_iter().collect_view()}
                {lines.collect_view()}
            </svg>
        }
    }

    /// The chart in words: from when to when, and of each line the most and the last.
    fn said(&self, lang: Lang) -> String {
        let ends =
            [self.times.first(), self.times.last()].map(|time| time.cloned().unwrap_or_default());
        let [from, until] = ends;
        let mut said = lang.text_with(
            "chart-span",
            [("from", from.into()), ("until", until.into())],
        );
        for line in &self.lines {
            let most = line.most();
            let last = line.values.iter().flatten().last().copied();
            let last = last.unwrap_or_default();
            said.push(' ');
            said += &lang.text_with(
                "chart-line",
                [
                    ("name", line.name.clone().into()),
                    ("most", amount(most).into()),
                    ("last", amount(last).into()),
                ],
            );
        }
        if self.lines.is_empty() {
            said.push(' ');
            said += &lang.text("chart-nothing");
        }
        said
    }

    /// The figures themselves, the newest first, without times at which nothing happened.
    fn table(&self, lang: Lang) -> impl IntoView + use<> {
        let heads = self.lines.iter().map(|line| {
            view! { <th scope="col" class="count">{line.name.clone()}</th> }
        });
        let happened = |step: &usize| self.lines.iter().any(|line| line.values[*step] > Some(0.0));
        let rows = (0..self.times.len()).rev().filter(happened).map(|step| {
            let values = self
                .lines
                .iter()
                .map(|line| view! { <td class="count">{value(line.values[step])}</td> });
            view! { <tr><th scope="row">{self.times[step].clone()}</th>{values.collect_view()}</tr> }
        });
        let rows = rows.collect::<Vec<_>>();
        if rows.is_empty() {
            return view! { <p class="muted small">{lang.text("chart-nothing")}</p> }.into_any();
        }
        view! {
            <div class="scroll" role="region" tabindex="0" aria-label=self.title.clone()>
                <table>
                    <thead><tr><th scope="col">{lang.text("chart-time")}</th>{heads.collect_view()}</tr></thead>
                    <tbody>{rows.into_iter().collect_view()}</tbody>
                </table>
            </div>
        }
        .into_any()
    }
}

/// A value as it is read: whole, or with one decimal where that says more.
pub(crate) fn amount(value: f64) -> String {
    if value >= 10.0 || value.fract() == 0.0 {
        let whole = format!("{value:.0}");
        whole.parse().map_or(whole, grouped)
    } else {
        format!("{value:.1}")
    }
}

/// A value of a table; a dash where there is none.
fn value(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), amount)
}

/// The top of a scale that holds a value: 1, 2 or 5 with noughts, at least 1; one more where its middle would not be whole
/// and has to be.
fn top_of(most: f64, is_whole: bool) -> f64 {
    let tens = 10f64.powf(most.max(1.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * tens);
    let top = steps.into_iter().find(|top| *top >= most).unwrap_or(most);
    if is_whole && (top / 2.0).fract() != 0.0 {
        top + 1.0
    } else {
        top
    }
}

/// The points of a line, part by part: it is broken where there is no value.
fn parts(values: &[Option<f64>], top: f64) -> Vec<String> {
    let last = u32::try_from(values.len().saturating_sub(1)).unwrap_or(1);
    let mut parts: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    for (step, value) in (0u32..).zip(values) {
        match (value, parts.last_mut()) {
            (Some(value), Some(part)) => {
                let x = WIDTH * f64::from(step) / f64::from(last.max(1));
                part.push((x, HEIGHT * (1.0 - value / top)));
            }
            _ => parts.push(Vec::new()),
        }
    }
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts
        .map(|part| {
            // One value is a line as well: of the whole width where it is all there is.
            let half = if last == 0 { WIDTH } else { DOT / 2.0 };
            let part = match *part.as_slice() {
                [(x, y)] => vec![((x - half).max(0.0), y), ((x + half).min(WIDTH), y)],
                _ => part,
            };
            let points = part.into_iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
            points.collect::<Vec<_>>().join(" ")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_at_a_round_number_that_holds_everything() {
        for (most, top) in [
            (0.0, 1.0),
            (0.4, 1.0),
            (1.0, 1.0),
            (3.0, 5.0),
            (10.0, 10.0),
            (11.0, 20.0),
            (5001.0, 10_000.0),
        ] {
            assert!(
                (top_of(most, false) - top).abs() < 1e-9,
                "{most}: {}",
                top_of(most, false)
            );
        }
        let whole = [0.0, 1.0, 2.0, 3.0, 11.0].map(|most| top_of(most, true));
        assert_eq!(whole.map(amount), ["2", "2", "2", "6", "20"]);
    }

    #[test]
    fn points_go_from_edge_to_edge() {
        let all = [Some(0.0), Some(5.0), Some(10.0)];
        assert_eq!(parts(&all, 10.0), ["0.0,160.0 300.0,80.0 600.0,0.0"]);
        assert_eq!(parts(&[Some(5.0)], 10.0), ["0.0,80.0 600.0,80.0"]);
        assert_eq!(parts(&[], 10.0), [""; 0]);
    }

    #[test]
    fn a_line_is_broken_where_there_is_no_value() {
        let broken = [None, Some(5.0), None, Some(0.0), Some(10.0)];
        assert_eq!(
            parts(&broken, 10.0),
            ["148.0,80.0 152.0,80.0", "450.0,160.0 600.0,0.0"]
        );
        assert_eq!([None, Some(0.0), Some(2.5)].map(value), ["–", "0", "2.5"]);
    }

    #[test]
    fn a_value_is_as_short_as_it_may_be() {
        assert_eq!(
            [0.0, 0.25, 9.96, 12.3, 7.0, 1234.5].map(amount),
            ["0", "0.2", "10.0", "12", "7", "1,234"]
        );
    }
}
