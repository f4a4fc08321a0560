//! A picture of a run: rates as bars, what each request costs on the processor by part, and how far each goal was
//! reached. Drawn from the file of figures, as SVG without script or fonts of its own.

use std::{fmt::Write, path::Path};

use serde_json::Value;

use crate::{
    Result,
    record::{grouped, shown},
};

/// Rates that are drawn, in this order.
const RATES: [&str; 36] = [
    "ping",
    "raw_gate",
    "accepted_50",
    "accepted_200",
    "steady",
    "sold_out",
    "repeats",
    "not_started",
    "drained",
    "raw_gate_always",
    "accepted_200_always",
    "page_cached",
    "page_uncached",
    "page_signed_in",
    "shops_cached",
    "shops_uncached",
    "raw_gate_1",
    "raw_gate_2",
    "raw_gate_3",
    "redis_1_shards_1",
    "redis_1_shards_3",
    "redis_1_shards_16",
    "cluster_1_shards_16",
    "cluster_2_shards_16",
    "cluster_3_shards_16",
    "instances_1",
    "instances_2",
    "instances_3",
    "batch_1",
    "batch_10",
    "batch_25",
    "batch_50",
    "batch_100",
    "batch_250",
    "batch_500",
    "batch_1000",
];

/// Whose time on the processor is drawn, with its colour.
const PARTS: [(&str, &str, &str); 4] = [
    ("server", "server", "#2b6cb0"),
    ("redis", "Redis", "#c05621"),
    ("postgres", "PostgreSQL", "#6b46c1"),
    ("load", "load generator", "#a0aec0"),
];

const WIDTH: f64 = 960.0;
/// Where bars begin, and how long the longest is.
const LEFT: f64 = 360.0;
const LONGEST: f64 = 460.0;
const ROW: f64 = 24.0;

const GOOD: &str = "#2f855a";
const BAD: &str = "#c53030";
const BAR: &str = "#2b6cb0";
const INK: &str = "#1a202c";
const GREY: &str = "#4a5568";

/// Draws the figures of one file into another.
pub fn draw(from: &Path, to: &Path) -> Result<()> {
    let record: Value = serde_json::from_str(&std::fs::read_to_string(from)?)?;
    let mut picture = Picture::default();
    picture.rates(&record["figures"])?;
    for (what, are_pages) in [("a buy", false), ("a page", true)] {
        picture.costs(&record["figures"], what, are_pages)?;
    }
    picture.goals(&record["goals"])?;
    std::fs::write(to, picture.finish(&record["about"])?)?;
    Ok(())
}

#[derive(Default)]
struct Picture {
    body: String,
    y: f64,
}

impl Picture {
    fn rates(&mut self, figures: &Value) -> Result<()> {
        let rows: Vec<(&str, f64)> = RATES
            .iter()
            .filter_map(|name| {
                let figure = &figures[name];
                Some((figure["label"].as_str()?, figure["median"].as_f64()?))
            })
            .collect();
        let most = rows.iter().map(|row| row.1).fold(1.0, f64::max);
        self.heading("Calls, pages and orders a second")?;
        for (label, rate) in rows {
            self.label(label)?;
            let width = rate / most * LONGEST;
            self.bar(LEFT, width, BAR)?;
            self.text(LEFT + width + 8.0, &grouped(rate), INK, "start")?;
            self.y += ROW;
        }
        Ok(())
    }

    /// Of buys and pages apart, since a page costs many times what a buy does.
    fn costs(&mut self, figures: &Value, what: &str, are_pages: bool) -> Result<()> {
        let costs = |name: &str| {
            let figure = &figures[name];
            let costs = PARTS.map(|part| figure["cpu_us"][part.0].as_f64());
            let all = costs.into_iter().collect::<Option<Vec<f64>>>()?;
            Some((figure["label"].as_str()?.to_owned(), all))
        };
        let rows: Vec<(String, Vec<f64>)> = RATES
            .iter()
            .filter(|name| is_page(name) == are_pages)
            .filter_map(|name| costs(name))
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let most = rows
            .iter()
            .map(|row| row.1.iter().sum())
            .fold(1.0, f64::max);
        self.heading(&format!("Time on the processor, {what}, µs"))?;
        let mut x = LEFT;
        for (_, part, colour) in PARTS {
            self.rect(x, 4.0, 12.0, 12.0, colour)?;
            self.text(x + 18.0, part, GREY, "start")?;
            x += 115.0;
        }
        self.y += ROW;
        for (label, costs) in rows {
            self.label(&label)?;
            let mut x = LEFT;
            for (cost, (_, _, colour)) in costs.iter().zip(PARTS) {
                let width = cost.max(0.0) / most * LONGEST;
                self.bar(x, width, colour)?;
                x += width;
            }
            let all: f64 = costs.iter().sum();
            self.text(x + 8.0, &format!("{all:.0}"), INK, "start")?;
            self.y += ROW;
        }
        Ok(())
    }

    /// Each goal is one line long; what was found is longer where it is better.
    fn goals(&mut self, goals: &Value) -> Result<()> {
        const GOAL: f64 = LONGEST / 2.0;
        let are_measured = |goals: &Vec<Value>| goals.iter().any(|goal| !goal["found"].is_null());
        if !goals.as_array().is_some_and(are_measured) {
            return Ok(());
        }
        self.heading("Goals: how far, the line is the goal, longer is better")?;
        let top = self.y;
        for goal in goals.as_array().into_iter().flatten() {
            let what = goal["what"].as_str().unwrap_or_default();
            self.label(what)?;
            let said = goal["said"].as_str().unwrap_or_default();
            let (Some(wanted), Some(found)) = (goal["wanted"].as_f64(), goal["found"].as_f64())
            else {
                self.text(LEFT, "not measured", GREY, "start")?;
                self.y += ROW;
                continue;
            };
            let is_reached = goal["is_reached"] == true;
            let share = match goal["is_floor"] == true {
                true => found / wanted,
                false => wanted / found,
            };
            let width = share.clamp(0.01, 1.6) * GOAL;
            self.bar(LEFT, width, if is_reached { GOOD } else { BAD })?;
            let unit = goal["unit"].as_str().unwrap_or_default();
            let word = if is_reached { "" } else { ", missed" };
            let text = format!("{} {unit} ({said}{word})", shown(found));
            self.text(LEFT + width.max(GOAL) + 8.0, &text, INK, "start")?;
            self.y += ROW;
        }
        let x = LEFT + GOAL;
        writeln!(
            self.body,
            r#"<line x1="{x}" y1="{top}" x2="{x}" y2="{}" stroke="{INK}" stroke-width="1.5" stroke-dasharray="4 3"/>"#,
            self.y
        )?;
        Ok(())
    }

    fn heading(&mut self, text: &str) -> Result<()> {
        self.y += 24.0;
        writeln!(
            self.body,
            r#"<text x="20" y="{}" font-size="16" font-weight="600" fill="{INK}">{}</text>"#,
            self.y + 16.0,
            escaped(text)
        )?;
        self.y += 32.0;
        Ok(())
    }

    fn label(&mut self, text: &str) -> Result<()> {
        self.text(LEFT - 10.0, text.trim(), GREY, "end")
    }

    fn bar(&mut self, x: f64, width: f64, colour: &str) -> Result<()> {
        self.rect(x, 3.0, width, ROW - 8.0, colour)
    }

    fn rect(&mut self, x: f64, top: f64, width: f64, height: f64, colour: &str) -> Result<()> {
        writeln!(
            self.body,
            r#"<rect x="{x:.1}" y="{:.1}" width="{width:.1}" height="{height}" fill="{colour}"/>"#,
            self.y + top
        )?;
        Ok(())
    }

    fn text(&mut self, x: f64, text: &str, colour: &str, anchor: &str) -> Result<()> {
        writeln!(
            self.body,
            r#"<text x="{x:.1}" y="{:.1}" fill="{colour}" text-anchor="{anchor}">{}</text>"#,
            self.y + 15.0,
            escaped(text)
        )?;
        Ok(())
    }

    fn finish(self, about: &Value) -> Result<String> {
        let mut text = String::new();
        let height = self.y + 86.0;
        writeln!(
            text,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="Figures of a run">
<rect width="{WIDTH}" height="{height}" fill="white"/>"#
        )?;
        text.push_str(&self.body);
        let lines = ["run", "processor", "Redis", "PostgreSQL"];
        for (place, what) in (0u8..).zip(lines) {
            let value = about[what].as_str().unwrap_or_default();
            writeln!(
                text,
                r#"<text x="20" y="{}" fill="{GREY}" font-size="11">{what}: {}</text>"#,
                height - 60.0 + f64::from(place) * 16.0,
                escaped(value)
            )?;
        }
        text.push_str("</svg>\n");
        Ok(text)
    }
}

fn is_page(name: &str) -> bool {
    name.starts_with("page") || name.starts_with("shops")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
