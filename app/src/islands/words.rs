//! The words of an island, found by key as on the server.

use serde::{Deserialize, Serialize};

/// Texts by key, written as lines of `key=text`: one string to send and hardly any code to read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Words(String);

impl Words {
    /// Takes texts of one line each.
    #[cfg(feature = "ssr")]
    pub(crate) fn new(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let lines = texts
            .into_iter()
            .map(|(key, text)| format!("{key}={text}\n"));
        Self(lines.collect())
    }

    /// The text of a key; empty when the page did not send it.
    pub(super) fn text(&self, key: &str) -> String {
        let mut lines = self.0.lines();
        let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        found.unwrap_or_default().to_owned()
    }

    /// The text of a kind and a word, as `phase-ended`.
    pub(super) fn of(&self, kind: &str, word: &str) -> String {
        self.text(&[kind, "-", word].concat())
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_by_its_whole_key() {
        let texts = [("phase-ended", "Over"), ("phase", "a=b")];
        let words = Words::new(texts.map(|(key, text)| (key.to_owned(), text.to_owned())));
        assert_eq!(words.text("phase"), "a=b");
        assert_eq!(words.of("phase", "ended"), "Over");
        assert_eq!(words.text("phas"), "");
    }
}
