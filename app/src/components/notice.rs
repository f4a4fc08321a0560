//! What a form's answer left in the address: `?outcome=sold_out`, `?error=unavailable`. Only known codes are
//! shown, so that an address cannot put words on a page.

use leptos::prelude::*;

use super::Query;
use crate::{model::Problem, texts::Lang};

const CHANGES: [&str; 4] = ["password", "role", "picture", "shop"];
const OUTCOMES: [&str; 4] = ["sold_out", "not_started", "ended", "closed"];
const ERRORS: [&str; 5] = [
    "forbidden",
    "not_found",
    "too_many_requests",
    "unavailable",
    "internal",
];

/// The message that the address asks for, if it is one of ours.
#[component]
pub(crate) fn Notice(
    /// The visitor's language.
    lang: Lang,
    /// The request's query.
    query: Query,
) -> impl IntoView {
    let known = |name: &str, codes: &[&'static str]| {
        let code = query.value(name);
        codes.iter().copied().find(|known| *known == code)
    };
    let outcome = known("outcome", &OUTCOMES).map(|code| format!("outcome-{code}"));
    let error = known("error", &ERRORS).map(|code| format!("error-{code}-hint"));
    // An old form has words of its own.
    let problem = query
        .problems()
        .find(|(_, problem)| *problem != Problem::OldForm);
    let whole = query.problem("body").map(|problem| lang.problem(problem));
    let invalid = problem.map(|_| lang.text("check-fields"));
    let fields = outcome.is_none() && error.is_none() && whole.is_none() && invalid.is_some();
    let said = outcome.or(error).map(|key| lang.text(&key));
    said.or(whole).or(invalid).map(|words| {
        view! {
            <div class="notice">
                <p role="alert">{words}</p>
                {fields.then(|| view! { <ul class="wrong" role="list">{wrong_fields(lang, &query)}</ul> })}
            </div>
        }
    })
}

/// Links to the fields that need a change; of names in the address only those of fields have words.
fn wrong_fields(lang: Lang, query: &Query) -> impl IntoView + use<> {
    let names = query.problems().filter_map(|(field, _)| {
        let words = lang.find(&format!("field-{}", field.replace('_', "-")))?;
        Some(view! { <li><a href=format!("#{field}")>{words}</a></li> })
    });
    names.collect_view()
}

/// That a change was made, if the address says so and the change is one of ours.
#[component]
pub(crate) fn Changed(
    /// The visitor's language.
    lang: Lang,
    /// The request's query.
    query: Query,
) -> impl IntoView {
    let changed = query.value("changed");
    let known = CHANGES.contains(&changed);
    let words = known.then(|| lang.text(&format!("changed-{changed}")));
    words.map(|words| view! { <p class="notice good" role="status">{words}</p> })
}
