//! Rehearsals: starting one, and how far it has come.

#![expect(
    missing_docs,
    reason = "the contract names the fields of the generated argument types"
)]

use leptos::{
    prelude::*,
    server_fn::codec::{GetUrl, Json},
};
use serde::{Deserialize, Serialize};

use crate::error::ErrorBody;

/// The element that holds what is so now.
#[cfg(feature = "ssr")]
pub(crate) const REHEARSAL_NOW: &str = "rehearsal-now";

/// The rehearsal that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RehearsalStarted {
    /// Its number.
    pub rehearsal_id: i32,
}

/// Starts a rehearsal, unless another is under way.
#[server(name = Rehearse, prefix = "/api/admin", endpoint = "rehearse", output = Json)]
pub async fn rehearse(
    #[server(default)] shoppers: String,
    #[server(default)] units: String,
    #[server(default)] shape: String,
    #[server(default)] seconds: String,
    #[server(default)] voucher_id: String,
    #[server(default)] on_production: String,
) -> Result<RehearsalStarted, ErrorBody> {
    use super::answer::{Page, answer};
    use crate::{backend::backend, model::RehearsalForm};
    let form = RehearsalForm {
        shoppers,
        units,
        shape,
        seconds,
        voucher_id,
        on_production,
    };
    let result = match form.parse() {
        Ok(plan) => backend()
            .rehearse(plan)
            .await
            .map(|id| RehearsalStarted { rehearsal_id: id.0 }),
        Err(error) => Err(error),
    };
    let typed = [
        ("shoppers", form.shoppers.as_str()),
        ("units", &form.units),
        ("shape", &form.shape),
        ("seconds", &form.seconds),
        ("voucher_id", &form.voucher_id),
        ("on_production", &form.on_production),
    ];
    let page = Page {
        form: "/admin/rehearsals".to_owned(),
        typed: &typed,
    };
    answer(result, &page, |started| {
        format!("/admin/rehearsals/{}", started.rehearsal_id)
    })
}

/// What is so now of a rehearsal: how far it has come, or what it has found.
#[server(name = GetRehearsalParts, prefix = "/api/admin", endpoint = "rehearsal_parts", input = GetUrl, output = Json)]
pub async fn rehearsal_parts(#[server(default)] rehearsal_id: String) -> Result<String, ErrorBody> {
    use super::{
        answer::{reply, visitor_lang},
        console::joined,
    };
    use crate::{backend::backend, components::rehearsal_now, error::AppError, model::RehearsalId};
    let rehearsal = match RehearsalId::parse(&rehearsal_id) {
        Ok(id) => backend().rehearsal(id).await,
        Err(problem) => Err(AppError::field("rehearsal_id", problem)),
    };
    reply(rehearsal.map(|rehearsal| {
        let now = rehearsal_now(visitor_lang(), &rehearsal).to_html();
        joined(vec![(REHEARSAL_NOW.to_owned(), now)])
    }))
}

/// Where the parts of a rehearsal's page are asked for.
#[cfg(feature = "ssr")]
pub(crate) fn rehearsal_address(id: crate::model::RehearsalId) -> String {
    use leptos::server_fn::ServerFn;
    format!("{}?rehearsal_id={id}", GetRehearsalParts::PATH)
}
