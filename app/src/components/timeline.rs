//! How an order went: asked, accepted, and how it ended, each with its time to the second.
//!
//! The last step is there once for each status, and the style sheet shows the one that the island above says: what the
//! page was rendered with, and what the island has learned since, cannot contradict each other.

use leptos::prelude::*;

use super::Moment;
use crate::{
    model::{OrderView, Status, Zone},
    texts::Lang,
};

/// The steps of an order.
#[component]
pub(crate) fn Timeline(
    /// The visitor's language.
    lang: Lang,
    /// The order when the page was rendered.
    order: OrderView,
    /// The zone of its voucher.
    zone: Zone,
) -> impl IntoView {
    let at = |at| view! { <Moment at=at zone=zone.clone() seconds=true/> }.into_any();
    let seen_live = || view! { <span>{lang.text("seen-live")}</span> }.into_any();
    let ends = [Status::Queued, Status::Confirmed, Status::Refused].map(|status| {
        let when = match status {
            Status::Queued => None,
            _ => Some(order.stored_at.map_or_else(seen_live, at)),
        };
        step(lang, status.as_str(), Some(status), when)
    });
    // An order's number is made in the moment of asking, and its unit is taken within the same request.
    view! {
        <ol class="timeline" role="list">
            {step(lang, "asked", None, Some(at(order.accepted_at)))}
            {step(lang, "accepted", None, Some(at(order.accepted_at)))}
            {ends.into_iter().collect_view()}
        </ol>
    }
}

/// A step that was taken, or, with a status, one that is shown while the order has it.
fn step(
    lang: Lang,
    name: &'static str,
    while_status: Option<Status>,
    when: Option<AnyView>,
) -> impl IntoView {
    view! {
        <li class="step" data-while=while_status.map(Status::as_str)>
            <p class="step-name">{lang.text(&format!("step-{name}"))}</p>
            {when.map(|when| view! { <p class="muted small">{when}</p> })}
            <p class="small">{lang.text(&format!("step-{name}-hint"))}</p>
        </li>
    }
}
