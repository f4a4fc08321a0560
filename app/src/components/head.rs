//! What a page says about itself in the document's head. The body is rendered first, so the head can follow it.

use std::sync::{Arc, Mutex, PoisonError};

use leptos::prelude::{expect_context, provide_context};

/// The head of this request's document, filled in while the body is rendered.
#[derive(Clone, Default)]
pub(crate) struct Head(Arc<Mutex<Notes>>);

/// What the head holds beyond the standing parts.
#[derive(Clone, Default)]
pub(crate) struct Notes {
    /// The page's own part of the title.
    pub(crate) title: String,
    /// For visitors without script: seconds until the page loads again, and the address to load.
    pub(crate) refresh: Option<(i64, String)>,
}

impl Head {
    /// Starts an empty head for this request.
    pub(crate) fn provide() -> Self {
        let head = Self::default();
        provide_context(head.clone());
        head
    }

    /// What the page has said.
    pub(crate) fn notes(&self) -> Notes {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Sets the page's title.
    pub(crate) fn title(title: impl Into<String>) {
        Self::note(|notes| notes.title = title.into());
    }

    /// Loads the page again after so many seconds where no script runs.
    pub(crate) fn refresh(seconds: i64, address: impl Into<String>) {
        Self::note(|notes| notes.refresh = Some((seconds, address.into())));
    }

    fn note(change: impl FnOnce(&mut Notes)) {
        let head: Self = expect_context();
        change(&mut head.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
