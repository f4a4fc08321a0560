//! Where a rehearsal stands: a bar while it is under way, what it found after that.

use leptos::prelude::*;

use super::rehearsal_report;
use crate::{
    model::{Rehearsal, RehearsalProgress, RehearsalState, grouped},
    texts::Lang,
};

/// What is so now. It has one element that holds it all, so that a newer one can be put into it.
pub(crate) fn rehearsal_now(lang: Lang, rehearsal: &Rehearsal) -> AnyView {
    match &rehearsal.state {
        RehearsalState::Running(progress) => bar(lang, *progress).into_any(),
        RehearsalState::Ended(report) => rehearsal_report(lang, report).into_any(),
        RehearsalState::Failed(why) => {
            // The program's own words are English.
            let language = (lang != Lang::En).then_some("en");
            view! {
                <p class="notice" role="note">
                    {lang.text("rehearsal-failure")}" "<bdi lang=language>{why.clone()}</bdi>
                </p>
            }
            .into_any()
        }
    }
}

fn bar(lang: Lang, progress: RehearsalProgress) -> impl IntoView {
    let RehearsalProgress { phase, done, of } = progress;
    let number = |n: u64| grouped(i64::try_from(n).unwrap_or(i64::MAX));
    let words = lang.text(&format!("rehearsal-phase-{}", phase.as_str()));
    let count = lang.text_with(
        "rehearsal-done-of",
        [("done", number(done).into()), ("of", number(of).into())],
    );
    let (max, value) = (of.max(1).to_string(), done.to_string());
    view! {
        <dl class="figures">
            <div>
                <dt>{words.clone()}</dt>
                <dd>
                    <span>{count}</span>
                    <progress aria-label=words max=max value=value></progress>
                </dd>
            </div>
        </dl>
    }
}
