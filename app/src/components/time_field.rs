//! A local time of a form, with the question which of two is meant where the clocks show it twice.

use leptos::prelude::*;

use super::{Field, Form, Kind};
use crate::model::{Zone, is_same_local};

/// A time as it was before the form was filled in.
#[derive(Clone, Default)]
pub(crate) struct Stored {
    /// As [`Zone::input`] writes it.
    pub(crate) local: String,
    /// As [`Zone::offset`] writes it.
    pub(crate) offset: String,
    /// As people read it, with its zone.
    pub(crate) shown: String,
}

impl Stored {
    /// An instant in its sale's zone.
    pub(crate) fn of(at: time::OffsetDateTime, zone: &Zone) -> Self {
        Self {
            local: zone.input(at),
            offset: zone.offset(at),
            shown: zone.show(at),
        }
    }
}

/// A local time.
#[component]
pub(crate) fn TimeField(
    /// The form it is in.
    form: Form,
    /// Its name, as in the contract.
    name: &'static str,
    /// The name of the field that says which of two is meant.
    offset_name: &'static str,
    /// The zone that the form names.
    zone: Option<Zone>,
    /// The time when nothing was typed yet.
    #[prop(optional)]
    stored: Stored,
    /// Whether it cannot be changed any more.
    #[prop(optional)]
    fixed: bool,
    /// Whether the form is older than what is stored, which is to be shown beside it.
    #[prop(optional)]
    outdated: bool,
) -> impl IntoView {
    let lang = form.lang;
    let given = form.query.given(name).filter(|_| !fixed);
    // What people read of a time is not what is sent, which is compared.
    let present = outdated && given.is_some_and(|typed| !is_same_local(&stored.local, typed));
    let typed = given.unwrap_or(&stored.local).to_owned();
    let offsets = zone.and_then(|zone| zone.offsets(&typed));
    let choices = offsets.map(|[first, second]| {
        let words = |key: &str, offset: &str| {
            lang.text_with(key, [("offset", format!("UTC{offset}").into())])
        };
        vec![
            (String::new(), lang.text("choose")),
            (first.clone(), words("first-of-two", &first)),
            (second.clone(), words("second-of-two", &second)),
        ]
    });
    let hint = present.then_some(stored.shown);
    view! {
        <div class="time-field">
            <Field form=form.clone() name=name kind=Kind::Time initial=stored.local fixed=fixed present=hint/>
            {match choices {
                // Fixed, it is sent on as it was.
                Some(_) if fixed => view! { <input type="hidden" name=offset_name value=stored.offset/> }.into_any(),
                Some(choices) => view! {
                    <Field form=form name=offset_name kind=Kind::Choice(choices) initial=stored.offset/>
                }
                .into_any(),
                None => ().into_any(),
            }}
        </div>
    }
}
