//! Who looks at this page: asked once a request, told to every part.

use leptos::prelude::{expect_context, provide_context};

use crate::{backend::backend, error::AppError, model::Account};

/// The visitor of this request.
#[derive(Clone)]
pub(crate) struct Visitor(Result<Option<Account>, AppError>);

impl Visitor {
    /// Asks, and tells all that is rendered from here on.
    pub(crate) async fn provide() -> Self {
        let visitor = Self(backend().visitor().await);
        provide_context(visitor.clone());
        visitor
    }

    /// The visitor of this request.
    pub(crate) fn here() -> Self {
        expect_context()
    }

    /// The account, if one is signed in. While the sessions are away nobody is: browsing goes on.
    pub(crate) fn account(&self) -> Option<&Account> {
        self.0.as_ref().ok()?.as_ref()
    }

    /// Whether it is certain that nobody is signed in.
    pub(crate) fn is_guest(&self) -> bool {
        self.0 == Ok(None)
    }
}
