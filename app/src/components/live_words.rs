//! The words of what refreshes itself on a page.

use crate::{islands::Words, texts::Lang};

/// What the island `LiveParts` says, and where it asks for the parts.
pub(crate) fn live_words(lang: Lang, address: String) -> Words {
    let keys = ["live-pause", "live-resume", "live-signed-out"];
    // The time follows.
    let lost = ("live-lost".to_owned(), lang.text("live-lost") + " ");
    let words = keys.map(|key| (key.to_owned(), lang.text(key)));
    Words::new(
        [("address".to_owned(), address)]
            .into_iter()
            .chain(words)
            .chain([lost]),
    )
}
