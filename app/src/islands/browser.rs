//! What islands ask of the browser. Called in effects and events only, so never on the server.

use leptos::{
    prelude::{document, window},
    wasm_bindgen::JsCast,
};
use web_sys::PerformanceNavigationTiming;

/// Marks the document: its islands are live. For tests.
pub(super) fn mark_hydrated() {
    if let Some(html) = document().document_element() {
        // Only a malformed name could fail.
        let _ = html.set_attribute("data-hydrated", "");
    }
}

/// Whether nobody can see the page.
pub(super) fn is_hidden() -> bool {
    document().hidden()
}

/// Milliseconds since the page's navigation began: a clock that nobody sets.
pub(super) fn monotonic_ms() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// When, on that clock, the server had answered with this page.
pub(super) fn answered_ms() -> f64 {
    let entries = window()
        .performance()
        .map(|clock| clock.get_entries_by_type("navigation"));
    let first = entries.map(|entries| entries.get(0));
    first
        .and_then(|entry| entry.dyn_into::<PerformanceNavigationTiming>().ok())
        .map_or(0.0, |entry| entry.response_start())
}

/// A random fraction, to spread requests.
pub(super) fn chance() -> f64 {
    js_sys::Math::random()
}
