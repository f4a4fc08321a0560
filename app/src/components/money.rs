//! Amounts as people read them.

use crate::{model::Cents, texts::Lang};

/// An amount with its currency.
pub(crate) fn money(lang: Lang, amount: Cents) -> String {
    lang.text_with("money", [("amount", amount.grouped().into())])
}

/// How many whole percent of its face value a voucher saves, rounded down; `None` when that is nothing.
pub(crate) fn saved_percent(price: Cents, face_value: Cents) -> Option<i64> {
    let percent = (face_value.0 - price.0) * 100 / face_value.0.max(1);
    (percent > 0).then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saving_is_never_said_to_be_more_than_it_is() {
        for (price, face_value, percent) in [
            (5900, 10000, Some(41)),
            (1, 300, Some(99)),
            (9999, 10000, None),
            (100, 100, None),
            (0, 0, None),
            (0, 999_999_999, Some(100)),
        ] {
            let saved = saved_percent(Cents(price), Cents(face_value));
            assert_eq!(saved, percent, "{price} of {face_value}");
        }
    }
}
