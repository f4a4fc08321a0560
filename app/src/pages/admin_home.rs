//! `/admin` leads to the list of sales.

use http::{HeaderValue, StatusCode, header};
use leptos::prelude::*;
use leptos_axum::ResponseOptions;

/// Goes on to the list of sales, where sign-in and role are asked for.
#[component]
pub(crate) fn AdminHome() -> impl IntoView {
    if let Some(response) = use_context::<ResponseOptions>() {
        let list = HeaderValue::from_static("/admin/sales");
        response.insert_header(header::LOCATION, list);
        response.set_status(StatusCode::SEE_OTHER);
    }
}
