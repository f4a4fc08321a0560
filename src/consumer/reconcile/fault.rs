//! What can be wrong between gate, queue and database, and how it is found in what was read of one sale.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use app::model::{OrderId, UserId, VoucherId};
use time::{Duration, OffsetDateTime};

use crate::gate::{keys::Shard, order_id};

/// A promise younger than this may still be on its way from the gate to the queue's reader.
pub const YOUNG: Duration = Duration::seconds(30);

/// One thing that is not as it must be. The same fault in two looks is proven; by one look alone, what moves between the
/// three places may seem to be missing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// A key in the gate is missing or malformed: it sells nothing until it is rebuilt.
    Broken(VoucherId),
    /// The gate has other settings than the database.
    Behind(VoucherId),
    /// The database's counter is not the number of live orders.
    Sold {
        /// The sale.
        voucher: VoucherId,
        /// The counter.
        sold: i64,
        /// Live orders.
        live: i64,
    },
    /// A promise that stands by its mark alone: in no queue, no dead letter, not stored.
    Lost(VoucherId, UserId, OrderId),
    /// An order is stored as refused, and still holds its mark.
    Unreleased(VoucherId, UserId, OrderId),
    /// A live order whose buyer has no mark.
    Unmarked(VoucherId, UserId, OrderId),
    /// An entry that was delivered to a consumer whose name was deleted.
    Orphan(Shard, String),
    /// granted − (stock + marks) is not 0: units are nowhere (positive), or in two places (negative). The last, so that it
    /// is repaired last: a unit that is nowhere may belong to an order that has no mark.
    Drift(VoucherId, i64),
}

impl Fault {
    /// The sale that it is about.
    #[must_use]
    pub fn voucher(&self) -> Option<VoucherId> {
        match self {
            Self::Orphan(..) => None,
            Self::Broken(voucher)
            | Self::Behind(voucher)
            | Self::Drift(voucher, _)
            | Self::Sold { voucher, .. }
            | Self::Lost(voucher, ..)
            | Self::Unreleased(voucher, ..)
            | Self::Unmarked(voucher, ..) => Some(*voucher),
        }
    }

    /// Is it about this sale?
    #[must_use]
    pub fn is_of(&self, voucher: VoucherId) -> bool {
        self.voucher() == Some(voucher)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(voucher) => write!(
                f,
                "voucher {voucher}: a key of the gate is missing or malformed"
            ),
            Self::Behind(voucher) => write!(
                f,
                "voucher {voucher}: the gate has other settings than the database"
            ),
            Self::Drift(voucher, drift) => write!(f, "voucher {voucher}: drift {drift}"),
            Self::Sold {
                voucher,
                sold,
                live,
            } => {
                write!(
                    f,
                    "voucher {voucher}: sold says {sold}, live orders are {live}"
                )
            }
            Self::Lost(voucher, user, order) => {
                write!(
                    f,
                    "voucher {voucher}: order {order} of user {user} stands by its mark alone"
                )
            }
            Self::Unreleased(voucher, user, order) => {
                write!(
                    f,
                    "voucher {voucher}: refused order {order} of user {user} still holds its mark"
                )
            }
            Self::Unmarked(voucher, user, order) => {
                write!(
                    f,
                    "voucher {voucher}: live order {order} of user {user} has no mark"
                )
            }
            Self::Orphan(shard, entry) => {
                write!(f, "shard {}: entry {entry} is pending with nobody", shard.0)
            }
        }
    }
}

/// What was read of one sale: the queues first, then the marks, then the database, so that a promise which moves on
/// meanwhile is met at the later place.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Orders in the queue or among the dead letters, with their buyers.
    pub(super) waiting: HashMap<OrderId, UserId>,
    /// The marks.
    pub(super) marks: HashMap<UserId, OrderId>,
    /// Live orders, by buyer.
    pub(super) live: HashMap<UserId, OrderId>,
    /// Marked orders that are stored as refused.
    pub(super) refused: HashSet<OrderId>,
}

impl Places {
    /// Does an order wait whose buyer has no mark? It takes its unit when it is stored; until then the unit is nowhere.
    pub(super) fn a_unit_is_on_its_way(&self) -> bool {
        self.waiting
            .values()
            .any(|user| !self.marks.contains_key(user))
    }

    /// Marks that are in no other place, and too young to say that they are lost.
    pub(super) fn young(&self, read_at: OffsetDateTime) -> usize {
        let is_young = |user: &UserId, order: &OrderId| {
            self.live.get(user) != Some(order)
                && !self.refused.contains(order)
                && !self.waiting.contains_key(order)
                && order_id::made_at(*order) >= read_at - YOUNG
        };
        self.marks
            .iter()
            .filter(|(user, order)| is_young(user, order))
            .count()
    }

    /// Matches marks and orders by id. `read_at`: when the first place was read.
    pub(super) fn faults(&self, voucher: VoucherId, read_at: OffsetDateTime) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (user, order) in &self.marks {
            if self.live.get(user) == Some(order) {
                continue;
            }
            if self.refused.contains(order) {
                faults.push(Fault::Unreleased(voucher, *user, *order));
            } else if !self.waiting.contains_key(order)
                && order_id::made_at(*order) < read_at - YOUNG
            {
                faults.push(Fault::Lost(voucher, *user, *order));
            }
        }
        let unmarked = self
            .live
            .iter()
            .filter(|(user, _)| !self.marks.contains_key(user));
        faults.extend(unmarked.map(|(user, order)| Fault::Unmarked(voucher, *user, *order)));
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::order_id::OrderIds;

    const VOUCHER: VoucherId = VoucherId(7);

    #[test]
    fn a_mark_is_matched_by_its_order_and_a_young_one_is_left_alone() {
        let ids = OrderIds::new(&[7; 32]);
        let now = OffsetDateTime::from_unix_timestamp(1_795_000_000).unwrap();
        let order =
            |user: i64, age: i64| ids.make(UserId(user), VOUCHER, now - Duration::seconds(age));
        let places = Places {
            waiting: HashMap::from([(order(2, 60), UserId(2))]),
            marks: HashMap::from([
                (UserId(1), order(1, 60)), // live
                (UserId(2), order(2, 60)), // in the queue
                (UserId(3), order(3, 60)), // nowhere
                (UserId(4), order(4, 29)), // nowhere, and young
                (UserId(5), order(5, 60)), // refused
                (UserId(6), order(6, 60)), // refused, beside another that is live
            ]),
            live: HashMap::from([
                (UserId(1), order(1, 60)),
                (UserId(6), order(6, 90)),
                (UserId(8), order(8, 60)), // without a mark
            ]),
            refused: HashSet::from([order(5, 60), order(6, 60)]),
        };
        let mut faults = places.faults(VOUCHER, now);
        faults.sort();
        assert_eq!(
            faults,
            [
                Fault::Lost(VOUCHER, UserId(3), order(3, 60)),
                Fault::Unreleased(VOUCHER, UserId(5), order(5, 60)),
                Fault::Unreleased(VOUCHER, UserId(6), order(6, 60)),
                Fault::Unmarked(VOUCHER, UserId(8), order(8, 60)),
            ]
        );
        assert_eq!(places.young(now), 1);
        assert!(!places.a_unit_is_on_its_way());
    }
}
