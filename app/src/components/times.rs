//! Instants as people read them: always with their zone (case O17).

use leptos::prelude::*;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{model::Zone, texts::Lang};

/// The zone that a visitor of this language most likely lives in, for times that have no zone of their own.
pub(crate) fn visitor_zone(lang: Lang) -> Zone {
    match lang {
        Lang::Zh => zone_named("Asia/Shanghai"),
        Lang::En => Zone::default(),
    }
}

/// The zone of that name; UTC for a name that no longer exists.
pub(crate) fn zone_named(name: &str) -> Zone {
    Zone::parse(name).unwrap_or_default()
}

/// An instant in a zone.
#[component]
pub(crate) fn Moment(
    /// The instant.
    at: OffsetDateTime,
    /// The zone to show it in.
    zone: Zone,
    /// Whether the seconds matter.
    #[prop(optional)]
    seconds: bool,
) -> impl IntoView {
    let machine = at.format(&Rfc3339).unwrap_or_default();
    let shown = if seconds {
        zone.show_seconds(at)
    } else {
        zone.show(at)
    };
    view! { <time datetime=machine>{shown}</time> }
}
