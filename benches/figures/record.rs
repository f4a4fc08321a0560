//! What a run has found: each figure by its name, with one value a round, and what it cost on the processor. Printed
//! as tables of medians, and written as JSON.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::{
    Result,
    cpu::Times,
    http::Answers,
    table::{Table, median},
};

/// All figures of a run.
#[derive(Default)]
pub struct Record {
    about: Vec<(&'static str, String)>,
    figures: Vec<Figure>,
}

/// One figure.
struct Figure {
    name: String,
    label: String,
    unit: &'static str,
    /// One a round.
    values: Vec<f64>,
    /// p50, p99 and the longest, in ms, one a round.
    times: Vec<[f64; 3]>,
    /// µs on the processor for each request, one a round.
    costs: Vec<Times>,
}

impl Record {
    /// A line about the run: machine, versions, settings.
    pub fn about(&mut self, what: &'static str, value: impl Into<String>) {
        self.about.push((what, value.into()));
    }

    /// Adds a round's value of a figure.
    pub fn value(&mut self, name: &str, label: &str, unit: &'static str, value: f64) {
        eprintln!("  {label}: {} {unit}", shown(value));
        self.figure(name, label, unit).values.push(value);
    }

    /// Adds a round's load: its rate and times, and what each request has cost.
    pub fn load(&mut self, name: &str, label: &str, answers: &Answers, costs: Times) {
        self.value(name, label, "/s", answers.rate());
        let times = [0.5, 0.99, 1.0].map(|part| answers.ms_of(part));
        let figure = self.figure(name, label, "/s");
        figure.times.push(times);
        figure.costs.push(costs);
    }

    /// Adds what each of a round has cost.
    pub fn cost(&mut self, name: &str, label: &str, unit: &'static str, costs: Times) {
        self.figure(name, label, unit).costs.push(costs);
    }

    /// Adds a round's times of a figure, in ms: p50, p99, longest.
    pub fn times(&mut self, name: &str, label: &str, unit: &'static str, times: [f64; 3]) {
        self.figure(name, label, unit).times.push(times);
    }

    /// The median of a figure; `None` where it was not measured.
    pub fn median(&self, name: &str) -> Option<f64> {
        let figure = self.find(name)?;
        (!figure.values.is_empty()).then(|| median(&figure.values))
    }

    /// The value of a figure's last round.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.find(name)?.values.last().copied()
    }

    /// The median of the rounds' p99, in ms.
    pub fn p99(&self, name: &str) -> Option<f64> {
        let figure = self.find(name)?;
        (!figure.times.is_empty()).then(|| figure.time(1))
    }

    /// The median of what each has cost, in µs.
    pub fn costs(&self, name: &str) -> Option<Times> {
        let figure = self.find(name)?;
        (!figure.costs.is_empty()).then(|| figure.costs())
    }

    /// The median of the rounds' ratios of two figures; both were measured in each round, one after the other.
    pub fn ratio(&self, of: &str, to: &str) -> Option<f64> {
        let ratios: Vec<f64> = (self.find(of)?.values.iter())
            .zip(&self.find(to)?.values)
            .map(|(of, to)| of / to)
            .collect();
        (!ratios.is_empty()).then(|| median(&ratios))
    }

    /// How many figures there are: where a part begins.
    pub fn len(&self) -> usize {
        self.figures.len()
    }

    /// Prints what there is about the run.
    pub fn print_about(&self) {
        let mut table = Table::new("machine and settings");
        for (what, value) in &self.about {
            table.row(what, value);
        }
        table.print();
    }

    /// Prints the figures of a part, which began at `from`.
    pub fn print(&self, heading: &str, from: usize) {
        let mut table = Table::new(heading);
        for figure in &self.figures[from..] {
            figure.rows(&mut table);
        }
        table.print();
    }

    /// Writes all of it, with what `goals` holds.
    pub fn write(&self, to: &Path, goals: Value) -> Result<()> {
        let about: Map<String, Value> = self
            .about
            .iter()
            .map(|(what, value)| ((*what).to_owned(), json!(value)))
            .collect();
        let figures: Map<String, Value> = self
            .figures
            .iter()
            .map(|figure| (figure.name.clone(), figure.json()))
            .collect();
        let all = json!({"about": about, "figures": figures, "goals": goals});
        std::fs::write(to, format!("{all:#}\n"))?;
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    fn figure(&mut self, name: &str, label: &str, unit: &'static str) -> &mut Figure {
        let place = self.figures.iter().position(|figure| figure.name == name);
        let place = place.unwrap_or_else(|| {
            self.figures.push(Figure {
                name: name.to_owned(),
                label: label.to_owned(),
                unit,
                values: Vec::new(),
                times: Vec::new(),
                costs: Vec::new(),
            });
            self.figures.len() - 1
        });
        &mut self.figures[place]
    }
}

impl Figure {
    fn rows(&self, table: &mut Table) {
        if !self.values.is_empty() {
            let mut text = format!("{}{}", shown(median(&self.values)), spaced(self.unit));
            if self.values.len() > 1 {
                let all: Vec<String> = self.values.iter().map(|value| shown(*value)).collect();
                text.push_str(&format!(", of {}", all.join(" ")));
            }
            table.row(&self.label, text);
        }
        if !self.times.is_empty() {
            let [p50, p99, max] = [0, 1, 2].map(|which| shown(self.time(which)));
            table.row("  times", format!("p50 {p50} p99 {p99} max {max} ms"));
        }
        if !self.costs.is_empty() {
            table.row("  each costs", self.costs().to_string());
        }
    }

    fn json(&self) -> Value {
        let mut json = json!({
            "label": self.label,
            "unit": self.unit,
            "median": median(&self.values),
            "values": self.values,
        });
        if !self.times.is_empty() {
            let [p50, p99, max] = [0, 1, 2].map(|which| self.time(which));
            json["ms"] = json!({"p50": p50, "p99": p99, "max": max});
        }
        if !self.costs.is_empty() {
            let costs = self.costs();
            json["cpu_us"] = json!({
                "server": costs.server,
                "redis": costs.redis,
                "postgres": costs.postgres,
                "load": costs.load,
            });
        }
        json
    }

    fn time(&self, which: usize) -> f64 {
        let times: Vec<f64> = self.times.iter().map(|times| times[which]).collect();
        median(&times)
    }

    fn costs(&self) -> Times {
        let of = |part: fn(&Times) -> f64| median(&self.costs.iter().map(part).collect::<Vec<_>>());
        Times {
            server: of(|costs| costs.server),
            redis: of(|costs| costs.redis),
            postgres: of(|costs| costs.postgres),
            load: of(|costs| costs.load),
        }
    }
}

/// A number with as many digits as say something.
pub fn shown(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A whole number with its thousands apart.
pub fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A unit after its number.
pub fn spaced(unit: &str) -> String {
    if unit.is_empty() || unit.starts_with('/') {
        unit.to_owned()
    } else {
        format!(" {unit}")
    }
}
