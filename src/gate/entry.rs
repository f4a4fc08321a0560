//! What stands in a stream. It may have been written by anyone, so every entry is parsed, and none can stop the line
//! (case O10). Knows no Redis, so that the fuzz target `entry` compiles this file and `order_text.rs` alone.

use app::model::{OrderId, UserId, VoucherId};

use super::order_text;

/// A promise of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The order promised.
    pub order: OrderId,
    /// To whom.
    pub user: UserId,
    /// Of what.
    pub voucher: VoucherId,
}

/// An entry of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id in the stream.
    pub id: String,
    /// What it says; `None` when it says nothing of ours.
    pub promise: Option<Promise>,
}

/// Names and values as they lie in Redis.
pub type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// An entry's id and pairs; `None` when it was deleted.
pub type RawEntry = (String, Option<Pairs>);

/// Reads an entry, whatever it is.
#[must_use]
pub fn parse((id, pairs): RawEntry) -> Entry {
    let pairs = pairs.unwrap_or_default();
    let field = |name: &str| {
        let (_, value) = pairs.iter().find(|(key, _)| key == name.as_bytes())?;
        Some(value.as_slice())
    };
    let text = |name: &str| std::str::from_utf8(field(name)?).ok();
    let promise = || {
        Some(Promise {
            order: order_text::read(field("order")?)?,
            user: UserId::parse(text("user")?).ok()?,
            voucher: VoucherId::parse(text("voucher")?).ok()?,
        })
    };
    Entry {
        id,
        promise: promise(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::*;

    fn entry(pairs: &[(&str, &str)]) -> Entry {
        let pairs = pairs
            .iter()
            .map(|(k, v)| (k.as_bytes().to_vec(), v.as_bytes().to_vec()))
            .collect();
        parse(("1-0".to_owned(), Some(pairs)))
    }

    #[test]
    fn an_entry_is_a_promise_only_with_three_good_fields() {
        let order = "019f0000-0000-8000-8000-000000000001";
        assert!(
            entry(&[("order", order), ("user", "1"), ("voucher", "2")])
                .promise
                .is_some()
        );
        assert!(entry(&[]).promise.is_none());
        assert!(
            entry(&[("order", order), ("user", "1"), ("voucher", "two")])
                .promise
                .is_none()
        );
        assert!(
            entry(&[("order", order), ("user", "0"), ("voucher", "2")])
                .promise
                .is_none()
        );
        assert!(
            entry(&[("order", "x"), ("user", "1"), ("voucher", "2")])
                .promise
                .is_none()
        );
    }

    proptest! {
        #[test]
        fn no_entry_makes_the_parser_panic(pairs: Vec<(Vec<u8>, Vec<u8>)>, gone in any::<bool>()) {
            assert!(parse(("1-0".to_owned(), (!gone).then_some(pairs))).promise.is_none());
        }

        #[test]
        fn a_promise_is_read_as_it_was_written_whatever_stands_beside_it(
            order in any::<u128>(),
            user in 1..=i64::MAX,
            voucher in 1..=i32::MAX,
            beside in any::<Vec<u8>>(),
        ) {
            let order = OrderId(uuid::Builder::from_custom_bytes(order.to_be_bytes()).into_uuid());
            let (user, voucher) = (UserId(user), VoucherId(voucher));
            for written in [order_text::write(order).to_vec(), order_text::former(order).into_bytes()] {
                let fields = [
                    ("order", written),
                    ("user", user.to_string().into_bytes()),
                    ("voucher", voucher.to_string().into_bytes()),
                ];
                let fields = fields.map(|(name, value)| (name.into(), value));
                let beside = [(beside.clone(), beside.clone())];
                let pairs = beside.into_iter().chain(fields).collect();
                let promise = parse(("1-0".to_owned(), Some(pairs))).promise;
                assert_eq!(promise, Some(Promise { order, user, voucher }));
            }
        }
    }
}
