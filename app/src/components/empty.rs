//! What a list says that has nothing in it: so, and what to do next.

use leptos::prelude::*;

/// An empty list, with a way on.
#[component]
pub(crate) fn Empty(
    /// That there is nothing, in one sentence.
    words: String,
    /// What there could be, and how it comes about.
    hint: String,
    /// Where to go on, and the words for it.
    #[prop(optional, into)]
    way: Option<(String, String)>,
) -> impl IntoView {
    view! {
        <div class="empty">
            <svg class="mark" viewBox="0 0 48 48" width="48" height="48" aria-hidden="true">
                <path d="M6 14h36v7a4 4 0 0 0 0 8v7H6v-7a4 4 0 0 0 0-8zM29 16v3M29 23v3M29 30v3"></path>
            </svg>
            <p class="empty-words">{words}</p>
            <p class="muted">{hint}</p>
            {way.map(|(address, words)| view! { <p><a class="button" href=address>{words}</a></p> })}
        </div>
    }
}
