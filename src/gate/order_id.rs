//! Order ids: UUIDs of version 8 that say when, of which voucher, and for whom they were made, without a counter
//! and without a round trip. 48 bits of Unix milliseconds, 32 of voucher id, 42 of a keyed tag over user, voucher
//! and time: a forged id, and somebody else's, is refused without a look-up (cases O14, O15, O23).

use app::model::{OrderId, UserId, VoucherId};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use time::OffsetDateTime;
use uuid::Uuid;

const TAG_BITS: u32 = 42;
const TAG_MASK: u64 = (1 << TAG_BITS) - 1;

/// Makes and checks order ids with the key that `migrate` put into PostgreSQL.
#[derive(Clone)]
pub struct OrderIds {
    mac: Hmac<Sha256>,
}

impl OrderIds {
    /// Takes the key, 32 bytes of chance.
    ///
    /// # Panics
    /// Never: HMAC takes keys of any length.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        Self {
            mac: Hmac::new_from_slice(key).expect("HMAC takes keys of any length"),
        }
    }

    /// The id of what `user` buys of `voucher` at `now`. The same three give the same id.
    #[must_use]
    pub fn make(&self, user: UserId, voucher: VoucherId, now: OffsetDateTime) -> OrderId {
        let millis = u64::try_from(now.unix_timestamp_nanos() / 1_000_000).unwrap_or_default()
            & ((1 << 48) - 1);
        let tag = self.tag(user, voucher, millis);
        let voucher = u128::from(voucher.0.unsigned_abs());
        let bits = (u128::from(millis) << 80)
            | (8 << 76)
            | ((voucher >> 20) << 64)
            | (0b10 << 62)
            | ((voucher & 0xF_FFFF) << TAG_BITS)
            | u128::from(tag);
        OrderId(Uuid::from_u128(bits))
    }

    /// Was this id made here, and for this user?
    #[must_use]
    pub fn is_genuine(&self, id: OrderId, user: UserId) -> bool {
        let tag = self.tag(user, voucher_of(id), millis_of(id));
        u128::from(tag) == id.0.as_u128() & u128::from(TAG_MASK)
    }

    fn tag(&self, user: UserId, voucher: VoucherId, millis: u64) -> u64 {
        let mut mac = self.mac.clone();
        mac.update(&user.0.to_be_bytes());
        mac.update(&voucher.0.to_be_bytes());
        mac.update(&millis.to_be_bytes());
        let bytes = mac.finalize().into_bytes();
        let mut first = [0; 8];
        first.copy_from_slice(&bytes[..8]);
        u64::from_be_bytes(first) & TAG_MASK
    }
}

/// The voucher that an order id names.
#[must_use]
pub fn voucher_of(id: OrderId) -> VoucherId {
    let bits = id.0.as_u128();
    let voucher = ((bits >> 64) & 0xFFF) << 20 | (bits >> TAG_BITS) & 0xF_FFFF;
    VoucherId(i32::try_from(voucher).unwrap_or(i32::MAX))
}

/// When an order id was made.
#[must_use]
pub fn made_at(id: OrderId) -> OffsetDateTime {
    let nanos = i128::from(millis_of(id)) * 1_000_000;
    OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

fn millis_of(id: OrderId) -> u64 {
    u64::try_from(id.0.as_u128() >> 80).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-29 10:00:00.123 UTC);

    #[test]
    fn an_id_says_when_of_what_and_for_whom() {
        let ids = OrderIds::new(&[7; 32]);
        for voucher in [1, 0x000F_FFFF, 0x0010_0000, i32::MAX] {
            let id = ids.make(UserId(42), VoucherId(voucher), NOW);
            assert_eq!(voucher_of(id), VoucherId(voucher));
            assert_eq!(made_at(id), NOW);
            assert_eq!(id.0.get_version_num(), 8);
            assert_eq!(id.0.get_variant(), uuid::Variant::RFC4122);
            assert_eq!(OrderId::parse(&id.to_string()), Some(id));
            assert!(ids.is_genuine(id, UserId(42)));
            assert!(!ids.is_genuine(id, UserId(43)));
            assert!(!OrderIds::new(&[8; 32]).is_genuine(id, UserId(42)));
        }
    }

    #[test]
    fn neighbours_of_an_id_are_forged() {
        let ids = OrderIds::new(&[7; 32]);
        let id = ids.make(UserId(42), VoucherId(9), NOW);
        for step in [1u128, 1 << 42, 1 << 80] {
            let next = OrderId(Uuid::from_u128(id.0.as_u128() + step));
            assert!(!ids.is_genuine(next, UserId(42)));
        }
    }

    #[test]
    fn ids_do_not_repeat_when_the_clock_goes_back() {
        let ids = OrderIds::new(&[7; 32]);
        let mut seen = HashSet::new();
        for user in 0..1000 {
            assert!(seen.insert(ids.make(UserId(user), VoucherId(9), NOW)));
        }
    }
}
