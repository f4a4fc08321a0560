//! The words of what refreshes itself on a page.

use crate::{islands::Words, texts::Lang};

/// What the island `LiveParts` says.
pub(crate) fn live_words(lang: Lang) -> Words {
    let keys = ["live-pause", "live-resume", "live-signed-out"];
    Words::new(keys.map(|key| (key.to_owned(), lang.text(key))))
}
