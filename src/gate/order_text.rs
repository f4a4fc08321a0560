//! How an order is written in Redis, in marks and in entries: 22 letters, base64url of the 16 bytes of its UUID. Versions
//! before wrote 36 letters, 16 bytes more in each mark; what they left is read as well. Everywhere else an order is its
//! UUID. Knows no Redis, so that the fuzz target `entry` compiles this file beside `entry.rs`.

use app::model::OrderId;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};

/// Letters of an order.
const LETTERS: usize = 22;

/// An order as it is written.
#[must_use]
pub fn write(order: OrderId) -> [u8; LETTERS] {
    let mut text = [0; LETTERS];
    BASE64_URL_SAFE_NO_PAD
        .encode_slice(order.0.as_bytes(), &mut text)
        .expect("16 bytes are 22 letters");
    text
}

/// An order as versions before have written it. Nobody writes it now; scripts that compare a mark are told both.
#[must_use]
pub fn former(order: OrderId) -> String {
    order.to_string()
}

/// Reads an order, in either text. Each has one of either: another spelling of its bytes names no order.
#[must_use]
pub fn read(text: &[u8]) -> Option<OrderId> {
    if text.len() != LETTERS {
        return OrderId::parse(std::str::from_utf8(text).ok()?);
    }
    let mut bytes = [0; 16];
    BASE64_URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
    OrderId::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    const ORDER: &str = "019f0000-0000-8000-8000-000000000001";
    const SHORT: &str = "AZ8AAAAAgACAAAAAAAAAAQ";

    #[test]
    fn an_order_is_written_with_22_letters_and_read_with_36_too() {
        let order = OrderId::parse(ORDER).unwrap();
        assert_eq!(write(order), SHORT.as_bytes());
        assert_eq!(former(order), ORDER);
        for text in [SHORT, ORDER] {
            assert_eq!(read(text.as_bytes()), Some(order), "{text}");
        }
    }

    #[test]
    fn another_spelling_names_no_order() {
        for text in [
            "",
            "x",
            // Bits that are left over.
            "AZ8AAAAAgACAAAAAAAAAAR",
            "AZ8AAAAAgACAAAAAAAAAA",
            "AZ8AAAAAgACAAAAAAAAAAQ==",
            " AZ8AAAAAgACAAAAAAAAAAQ",
            "AZ8AAAAAgACAAAAAAAAAA\n",
            // Letters of the other base64.
            "AZ8AAAAAgACAAAAAAAA+/Q",
            // Another version.
            "AZ8AAAAAcACAAAAAAAAAAQ",
            "019f0000-0000-7000-8000-000000000001",
            "019F0000-0000-8000-8000-000000000001",
            "019f0000000080008000000000000001",
        ] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(read(&[0xFF; LETTERS]), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_no_two_orders_are_written_alike(bytes: [u8; 16], other: [u8; 16]) {
            let order = |bytes| OrderId(uuid::Builder::from_custom_bytes(bytes).into_uuid());
            let (order, other) = (order(bytes), order(other));
            prop_assert_eq!(read(&write(order)), Some(order));
            prop_assert_eq!(read(former(order).as_bytes()), Some(order));
            prop_assert_eq!(write(order) == write(other), order == other);
        }

        #[test]
        fn whatever_is_read_is_one_of_the_two_texts_of_its_order(letters in "[A-Za-z0-9_-]{22}", bytes in any::<[u8; LETTERS]>()) {
            for text in [letters.as_bytes(), &bytes] {
                if let Some(order) = read(text) {
                    prop_assert_eq!(&write(order), text);
                }
            }
            prop_assert!(read(&letters.as_bytes()[1..]).is_none());
        }
    }
}
