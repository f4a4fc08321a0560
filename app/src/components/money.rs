//! Amounts as people read them.

use crate::{model::Cents, texts::Lang};

/// An amount with its currency.
pub(crate) fn money(lang: Lang, amount: Cents) -> String {
    lang.text_with("money", [("amount", amount.to_string().into())])
}
