//! What every page does: load, then show; and the one way in which a failure is shown.

use http::{HeaderValue, StatusCode, header};
use leptos::prelude::*;
use leptos_axum::ResponseOptions;

use super::{Head, encode, here};
use crate::{api::visitor_lang, error::AppError};

/// A page that is loaded first and then shown in one piece, with the status that fits.
pub(crate) fn page(
    load: impl Future<Output = Result<AnyView, AppError>> + Send + 'static,
) -> impl IntoView {
    Suspend::new(async move { load.await.unwrap_or_else(|error| failure(&error)) })
}

/// A failure in plain words. A visitor who has to sign in is sent there, and then back.
pub(crate) fn failure(error: &AppError) -> AnyView {
    let lang = visitor_lang();
    set_status(error);
    let code = error.code();
    let title = lang.text(&format!("error-{code}"));
    Head::title(title.clone());
    let hint = lang.text(&format!("error-{code}-hint"));
    let signs_in = *error == AppError::SignInRequired;
    let way = if signs_in {
        (sign_in_address(), lang.text("sign-in"))
    } else {
        ("/".to_owned(), lang.text("to-front-page"))
    };
    let retries = error.retry_after_s().is_some();
    view! {
        <div class="failure" data-error=code>
            <svg class="mark" viewBox="0 0 48 48" width="56" height="56" aria-hidden="true">
                <path d="M6 14h36v7a4 4 0 0 0 0 8v7H6v-7a4 4 0 0 0 0-8zM20 20l8 10M28 20l-8 10"></path>
            </svg>
            <h1>{title}</h1>
            <p>{hint}</p>
            <p class="actions">
                {retries.then(|| view! { <a class="button" href=here()>{lang.text("try-again")}</a> })}
                <a class="button quiet" href=way.0>{way.1}</a>
            </p>
        </div>
    }
    .into_any()
}

/// Keeps a page out of caches: each shows who is signed in.
pub(crate) fn forbid_storing() {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.insert_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// Sends the browser on to another page of this site.
pub(crate) fn go_on(address: &str) {
    let response = use_context::<ResponseOptions>();
    if let (Some(response), Ok(location)) = (response, HeaderValue::from_str(address)) {
        response.insert_header(header::LOCATION, location);
        response.set_status(StatusCode::SEE_OTHER);
    }
}

fn set_status(error: &AppError) {
    let Some(response) = use_context::<ResponseOptions>() else {
        return;
    };
    if *error == AppError::SignInRequired {
        if let Ok(location) = HeaderValue::from_str(&sign_in_address()) {
            response.insert_header(header::LOCATION, location);
            response.set_status(StatusCode::SEE_OTHER);
        }
        return;
    }
    let status = StatusCode::from_u16(error.status());
    response.set_status(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    if let Some(seconds) = error.retry_after_s() {
        response.insert_header(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
}

fn sign_in_address() -> String {
    format!("/sign-in?next={}", encode(&here()))
}
