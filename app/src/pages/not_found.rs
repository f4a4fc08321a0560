//! The page for addresses that lead nowhere.
use leptos::prelude::*;
/// The page for addresses that lead nowhere.
#[component]
pub(crate) fn NotFound() -> impl IntoView {
    view! { <h1>"404"</h1> }
}
