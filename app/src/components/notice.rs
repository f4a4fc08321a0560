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
    let error = known("error", &ERRORS).map(|code| refusal(lang, code, query.value("wait")));
    // An old form has words of its own.
    let problem = query
        .problems()
        .find(|(_, problem)| *problem != Problem::OldForm);
    let whole = query.problem("body").map(|problem| lang.problem(problem));
    let invalid = problem.map(|_| lang.text("check-fields"));
    let fields = outcome.is_none() && error.is_none() && whole.is_none() && invalid.is_some();
    let said = outcome.map(|key| lang.text(&key)).or(error);
    said.or(whole).or(invalid).map(|words| {
        view! {
            <div class="notice">
                <p role="alert">{words}</p>
                {fields.then(|| view! { <ul class="wrong" role="list">{wrong_fields(lang, &query)}</ul> })}
            </div>
        }
    })
}

/// A failure in words; of one that passes by itself, after how many seconds.
fn refusal(lang: Lang, code: &str, wait: &str) -> String {
    let seconds = wait.parse::<u32>().ok();
    match seconds.filter(|seconds| (1..=86_400).contains(seconds)) {
        Some(seconds) if code == "too_many_requests" => too_often(lang, seconds),
        _ => lang.text(&format!("error-{code}-hint")),
    }
}

/// That it was too often, and how long to wait: never less than is needed.
fn too_often(lang: Lang, seconds: u32) -> String {
    if seconds <= 90 {
        lang.text_with("too-often-seconds", [("seconds", seconds.into())])
    } else {
        let minutes = seconds.div_ceil(60);
        lang.text_with("too-often-minutes", [("minutes", minutes.into())])
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_to_wait_is_rounded_up() {
        let said = |wait| refusal(Lang::En, "too_many_requests", wait);
        assert!(said("1").ends_with("in 1 s."), "{}", said("1"));
        assert!(said("90").ends_with("in 90 s."));
        assert!(said("91").ends_with("in 2 min."));
        assert!(said("121").ends_with("in 3 min."));
        for odd in ["", "0", "-1", "x", "99999999"] {
            assert!(said(odd).ends_with("wait a moment and try again."), "{odd}");
        }
        let other = refusal(Lang::En, "unavailable", "7");
        assert_eq!(other, Lang::En.text("error-unavailable-hint"));
    }
}
