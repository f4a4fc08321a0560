//! The fields that the forms of a sale have in common: what is offered, at which price, and when.

use leptos::prelude::*;
use time::OffsetDateTime;

use super::{Field, Form, Kind, Stored, TimeField, zone_named};
use crate::model::{RULES, SUBTITLE, TITLE, Voucher, Zone};

/// Zones to suggest; any IANA name is taken.
const ZONES: [&str; 12] = [
    "Asia/Shanghai",
    "Asia/Hong_Kong",
    "Asia/Taipei",
    "Asia/Singapore",
    "Asia/Tokyo",
    "Asia/Urumqi",
    "Europe/London",
    "Europe/Berlin",
    "America/New_York",
    "America/Los_Angeles",
    "Australia/Sydney",
    "UTC",
];

/// What the fields show before anything is typed, and what of it can be changed.
#[derive(Clone, Default)]
pub(crate) struct OfferShown {
    title: String,
    subtitle: String,
    rules: String,
    price: String,
    face_value: String,
    begins_at: Stored,
    ends_at: Stored,
    zone: String,
    /// The sale has begun: neither its begin nor what it costs can be changed.
    has_begun: bool,
    /// The sale is over: its end cannot be changed.
    is_over: bool,
    /// The form is older than these values, which are to be shown beside what was typed.
    outdated: bool,
}

impl OfferShown {
    /// Nothing yet, in a zone.
    pub(crate) fn empty(zone: &Zone) -> Self {
        Self {
            zone: zone.name().to_owned(),
            ..Self::default()
        }
    }

    /// A sale, to be edited at `now`.
    pub(crate) fn of(voucher: &Voucher, now: OffsetDateTime, outdated: bool) -> Self {
        Self {
            has_begun: voucher.has_begun(now) || voucher.is_over(now),
            is_over: voucher.is_over(now),
            outdated,
            ..Self::at(voucher, Some([voucher.begins_at, voucher.ends_at]))
        }
    }

    /// A sale like another, on the first day on which its window can be again, to the second: what is finer nobody has typed.
    pub(crate) fn like(voucher: &Voucher, now: OffsetDateTime) -> Self {
        let window = [voucher.begins_at, voucher.ends_at].map(|at| at.truncate_to_second());
        Self::at(voucher, zone_named(&voucher.zone).next(window, now))
    }

    fn at(voucher: &Voucher, window: Option<[OffsetDateTime; 2]>) -> Self {
        let zone = zone_named(&voucher.zone);
        let [begins_at, ends_at] = window
            .map(|window| window.map(|at| Stored::of(at, &zone)))
            .unwrap_or_default();
        Self {
            title: voucher.title.clone(),
            subtitle: voucher.subtitle.clone(),
            rules: voucher.rules.clone(),
            price: voucher.price.to_string(),
            face_value: voucher.face_value.to_string(),
            begins_at,
            ends_at,
            zone: voucher.zone.clone(),
            ..Self::default()
        }
    }

    fn present(&self, value: &str) -> Option<String> {
        self.outdated.then(|| value.to_owned())
    }
}

/// Texts and price.
#[component]
pub(crate) fn OfferFields(
    /// The form they are in.
    form: Form,
    /// What they show.
    shown: OfferShown,
) -> impl IntoView {
    let lang = form.lang;
    let fixed = shown.has_begun;
    let present = |value: &String| shown.present(value);
    view! {
        <Field form=form.clone() name="title" kind=Kind::Line letters=TITLE hinted=true initial=shown.title.clone() present=present(&shown.title)/>
        <Field form=form.clone() name="subtitle" kind=Kind::Line letters=SUBTITLE optional=true initial=shown.subtitle.clone() present=present(&shown.subtitle)/>
        <Field form=form.clone() name="rules" kind=Kind::Lines letters=RULES optional=true initial=shown.rules.clone() present=present(&shown.rules)/>
        <div class="pair">
            <Field form=form.clone() name="price" kind=Kind::Money initial=shown.price.clone() fixed=fixed present=present(&shown.price)/>
            <Field form=form name="face_value" kind=Kind::Money initial=shown.face_value.clone() fixed=fixed present=present(&shown.face_value)/>
        </div>
        {fixed.then(|| view! { <p class="hint">{lang.text("price-is-fixed")}</p> })}
    }
}

/// When it sells.
#[component]
pub(crate) fn WindowFields(
    /// The form they are in.
    form: Form,
    /// What they show.
    shown: OfferShown,
) -> impl IntoView {
    let lang = form.lang;
    let zone = Zone::parse(form.query.given("zone").unwrap_or(&shown.zone)).ok();
    let present = shown.present(&shown.zone);
    let outdated = shown.outdated;
    let fixed = match (shown.has_begun, shown.is_over) {
        (_, true) => Some("window-is-over"),
        (true, false) => Some("begin-is-fixed"),
        (false, false) => None,
    };
    view! {
        <fieldset>
            <legend>{lang.text("window")}</legend>
            <p class="hint">{lang.text("window-rule")}</p>
            {fixed.map(|key| view! { <p class="hint">{lang.text(key)}</p> })}
            <div class="pair">
                <TimeField form=form.clone() name="begins_at" offset_name="begins_at_offset" zone=zone.clone() stored=shown.begins_at fixed=shown.has_begun outdated=outdated/>
                <TimeField form=form.clone() name="ends_at" offset_name="ends_at_offset" zone=zone stored=shown.ends_at fixed=shown.is_over outdated=outdated/>
            </div>
            <Field form=form name="zone" kind=Kind::Suggest(&ZONES) hinted=true initial=shown.zone fixed=fixed.is_some() present=present/>
        </fieldset>
    }
}
