//! Ids: one type each, so that two of them are never mixed up.

use serde::{Deserialize, Serialize};

use super::Problem;

macro_rules! numeric_id {
    ($name:ident, $raw:ty, set_apart: $first:literal, is_typed: $typed:literal, $of:literal) => {
        #[doc = concat!("The id of ", $of, ": a positive number.")]
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $raw);

        impl $name {
            /// The first number of those that rehearsals make; ordinary ones are below (migration 0009).
            const SET_APART: $raw = $first;

            /// Was it made by a rehearsal?
            #[must_use]
            pub const fn is_rehearsal(self) -> bool {
                self.0 >= Self::SET_APART
            }

            /// Reads an id that a person or program sent: decimal digits only, positive, in range.
            ///
            /// # Errors
            /// `Problem::Missing` for nothing, `Problem::NotANumber` for anything that cannot be an id.
            pub fn parse(text: &str) -> Result<Self, Problem> {
                let text = text.trim();
                if text.is_empty() {
                    return Err(Problem::Missing);
                }
                if !text.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(Problem::NotANumber);
                }
                match text.parse::<$raw>() {
                    Ok(id) if id > 0 && ($typed || id < Self::SET_APART) => Ok(Self(id)),
                    _ => Err(Problem::NotANumber),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

// Nobody names the shop of a rehearsal, not even its shoppers.
numeric_id!(
    ShopId,
    i32,
    set_apart: 2_000_000_000,
    is_typed: false,
    "a shop"
);
numeric_id!(
    VoucherId,
    i32,
    set_apart: 2_000_000_000,
    is_typed: true,
    "a voucher and of its sale (32 bits: it is part of every order id)"
);
numeric_id!(
    UserId,
    i64,
    set_apart: 1_099_511_627_776,
    is_typed: true,
    "a user"
);

/// The id of an order: a UUID of version 8 whose parts `gate::order_id` writes and checks. A string in JSON,
/// since JavaScript would round a number (case O14).
#[cfg(feature = "ssr")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderId(pub uuid::Uuid);

#[cfg(feature = "ssr")]
impl OrderId {
    /// Reads the one written form: 36 lower-case letters with hyphens. Anything else names no order.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let id = Self::from_bytes(uuid::Uuid::try_parse(text).ok()?.into_bytes())?;
        (id.to_string() == text).then_some(id)
    }

    /// The order of these bytes; those of a UUID of another version name none.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
        let id = uuid::Uuid::from_bytes(bytes);
        (id.get_version_num() == 8).then_some(Self(id))
    }
}

#[cfg(feature = "ssr")]
impl std::fmt::Display for OrderId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_out_of_range_are_problems_not_panics() {
        for text in [
            "0",
            "-1",
            "2147483648",
            "9".repeat(30).as_str(),
            "1e3",
            "１２",
            "1.5",
            "a\0b",
        ] {
            assert_eq!(VoucherId::parse(text), Err(Problem::NotANumber), "{text:?}");
        }
        assert_eq!(VoucherId::parse("  "), Err(Problem::Missing));
        assert_eq!(VoucherId::parse(" 2147483647 "), Ok(VoucherId(i32::MAX)));
    }

    #[test]
    fn what_rehearsals_make_has_numbers_of_its_own() {
        assert!(!VoucherId(1_999_999_999).is_rehearsal());
        assert!(VoucherId(2_000_000_000).is_rehearsal());
        assert!(!UserId((1 << 40) - 1).is_rehearsal());
        assert!(UserId(1 << 40).is_rehearsal());
        assert_eq!(ShopId::parse("1999999999"), Ok(ShopId(1_999_999_999)));
        assert_eq!(ShopId::parse("2000000000"), Err(Problem::NotANumber));
    }
}
