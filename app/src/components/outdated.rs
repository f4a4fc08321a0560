//! That a form is older than what is stored: nothing was saved, and who changed it meanwhile.

use leptos::prelude::*;

use super::{Query, visitor_zone};
use crate::{
    model::{LastChange, Problem},
    texts::Lang,
};

/// Is the form of this address older than what is stored?
pub(crate) fn is_outdated(query: &Query) -> bool {
    query.problem("version") == Some(Problem::OldForm)
}

/// The version that a form is to be sent with: the one that it was made from, as long as its owner has not been shown what
/// has changed since.
pub(crate) fn form_version(query: &Query, stored: i64) -> String {
    let made_from = query.given("version").filter(|_| !is_outdated(query));
    made_from.map_or_else(|| stored.to_string(), str::to_owned)
}

/// Says that the form is old, by whom and when the thing was changed, and what to do.
#[component]
pub(crate) fn Outdated(
    /// The visitor's language.
    lang: Lang,
    /// Who changed it last.
    last_change: Option<LastChange>,
) -> impl IntoView {
    let by = last_change.map(|change| {
        let at = visitor_zone(lang).show(change.at);
        lang.text_with(
            "changed-by",
            [("name", change.actor.into()), ("at", at.into())],
        )
    });
    view! {
        <div class="notice" role="alert">
            <p>{lang.text("problem-old-form")}</p>
            {by.map(|by| view! { <p><bdi>{by}</bdi></p> })}
            <p>{lang.text("old-form-hint")}</p>
        </div>
    }
}
