//! The page for addresses that lead nowhere.

use leptos::prelude::*;

use crate::{components::failure, error::AppError};

/// The page for addresses that lead nowhere.
#[component]
pub(crate) fn NotFound() -> impl IntoView {
    failure(&AppError::NotFound)
}
