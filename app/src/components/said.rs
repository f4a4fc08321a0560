//! What people typed, as text of its own: its direction touches nothing around it, and a reader hears it in its language.

use leptos::prelude::*;

use crate::texts::Lang;

/// Somebody's words on a page in `lang`.
pub(crate) fn said(lang: Lang, words: String) -> impl IntoView {
    let foreign = foreign(lang, &words);
    view! { <bdi lang=foreign>{words}</bdi> }
}

/// The language of words, where it is certain and not the page's (WCAG 3.1.2): Chinese letters without Japanese ones.
/// Latin letters may be of any language.
pub(crate) fn foreign(lang: Lang, words: &str) -> Option<&'static str> {
    let is_han = |c| matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}');
    let is_kana = |c| matches!(c, '\u{3041}'..='\u{30ff}');
    let is_chinese = words.contains(is_han) && !words.contains(is_kana);
    (lang != Lang::Zh && is_chinese).then_some("zh")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_words_are_marked_on_an_english_page_only() {
        assert_eq!(foreign(Lang::En, "100 元代金券"), Some("zh"));
        assert_eq!(foreign(Lang::Zh, "100 元代金券"), None);
        assert_eq!(foreign(Lang::En, "Noodles for two"), None);
        assert_eq!(foreign(Lang::En, "抹茶ラテ"), None);
    }
}
