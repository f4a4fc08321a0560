//! The report of a rehearsal as a file that needs nothing beside it.

use leptos::prelude::*;

use crate::{
    components::{rehearsal_plan, rehearsal_report, zone_named},
    model::{Rehearsal, RehearsalReport},
    texts::Lang,
};

/// The document, with its style sheet in it.
#[must_use]
pub fn rehearsal_page(
    lang: Lang,
    rehearsal: &Rehearsal,
    report: &RehearsalReport,
    style: &str,
) -> String {
    let number = rehearsal.id.to_string();
    let title = lang.text_with("rehearsal-number", [("id", number.into())]);
    let begun = zone_named("UTC").format(report.begun_at, "%Y-%m-%d %H:%M:%S UTC");
    let page = view! {
        <html lang=lang.html()>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <title>{title.clone()}</title>
                <style inner_html=style.to_owned()></style>
            </head>
            <body>
                <main class="console">
                    <h1>{title}</h1>
                    <p>{rehearsal_plan(lang, &report.plan)}</p>
                    <p class="muted">{begun}</p>
                    {rehearsal_report(lang, report)}
                </main>
            </body>
        </html>
    };
    format!("<!DOCTYPE html>\n{}", page.to_html())
}
