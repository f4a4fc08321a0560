//! Judges whether the promises were kept, by what shoppers were told and by what is there in the end. Knows no store.

use std::collections::{HashMap, HashSet};

use app::model::{OrderId, Outcome, UserId, Verdicts};

/// What somebody was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Who.
    pub user: UserId,
    /// What.
    pub outcome: Outcome,
    /// The order that was named.
    pub order: Option<OrderId>,
}

/// An order as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The order.
    pub id: OrderId,
    /// Whose it is.
    pub user: UserId,
    /// Does it count, or was it refused in the end?
    pub is_live: bool,
}

/// What there is to judge by, once nothing moves any more.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Units granted.
    pub granted: u64,
    /// All that shoppers were told.
    pub told: Vec<Told>,
    /// All orders.
    pub stored: Vec<Stored>,
    /// Units of orders that are not stored: in the queue still, or dead letters.
    pub held: u64,
    /// What the gate's own sums say: units granted less those in stock and those with a mark.
    pub drift: Option<i64>,
}

impl Evidence {
    /// How often each promise was broken.
    #[must_use]
    pub fn judge(&self) -> Verdicts {
        let refused: HashSet<OrderId> = self.of(false).map(|order| order.id).collect();
        let owners: HashMap<OrderId, UserId> = self
            .stored
            .iter()
            .map(|order| (order.id, order.user))
            .collect();
        let named: HashSet<(OrderId, UserId)> = self
            .told
            .iter()
            .filter_map(|told| Some((told.order?, told.user)))
            .collect();
        // What stands: live orders, and those that somebody was told of and that were not refused.
        let mut standing: HashSet<(OrderId, UserId)> = named.clone();
        standing.retain(|(order, _)| !refused.contains(order));
        standing.extend(self.of(true).map(|order| (order.id, order.user)));
        let orders: HashSet<OrderId> = standing.iter().map(|(order, _)| *order).collect();
        let buyers: HashSet<UserId> = standing.iter().map(|(_, user)| *user).collect();
        let broken = named
            .iter()
            .filter(|(order, user)| owners.get(order) != Some(user))
            .count();
        // An answer that promises an order without naming it can be held to nothing.
        let nameless = self.told.iter().filter(|told| {
            told.order.is_none() && matches!(told.outcome, Outcome::Queued | Outcome::AlreadyBought)
        });
        Verdicts {
            oversold: count(orders.len().max(self.of(true).count())).saturating_sub(self.granted),
            undersold: self.undersold(refused.len()),
            duplicates: count(standing.len() - buyers.len()),
            drift: self.drift,
            broken: count(broken + nameless.count()),
        }
    }

    /// Units that nobody has in the end, although somebody was told that none are left. Those that came back, since an order
    /// was refused when it was to be stored, may have done so after the last who asked.
    fn undersold(&self, refused: usize) -> u64 {
        let is_sold_out = |told: &Told| told.outcome == Outcome::SoldOut;
        if !self.told.iter().any(is_sold_out) {
            return 0;
        }
        let gone = count(self.of(true).count() + refused) + self.held;
        self.granted.saturating_sub(gone)
    }

    fn of(&self, is_live: bool) -> impl Iterator<Item = &Stored> {
        self.stored
            .iter()
            .filter(move |order| order.is_live == is_live)
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn order(n: u128) -> OrderId {
        OrderId(Uuid::from_u128(n))
    }

    fn told(user: i64, outcome: Outcome, named: u128) -> Told {
        Told {
            user: UserId(user),
            outcome,
            order: (named > 0).then(|| order(named)),
        }
    }

    fn stored(user: i64, id: u128, is_live: bool) -> Stored {
        Stored {
            id: order(id),
            user: UserId(user),
            is_live,
        }
    }

    /// Two units, two buyers, of whom one pressed twice, and a third who came too late: all is well.
    fn all_is_well() -> Evidence {
        Evidence {
            granted: 2,
            told: vec![
                told(1, Outcome::Queued, 1),
                told(1, Outcome::AlreadyBought, 1),
                told(2, Outcome::Queued, 2),
                told(3, Outcome::NotStarted, 0),
                told(3, Outcome::SoldOut, 0),
            ],
            stored: vec![stored(1, 1, true), stored(2, 2, true)],
            held: 0,
            drift: Some(0),
        }
    }

    #[test]
    fn nothing_is_broken_where_all_is_well() {
        let verdicts = all_is_well().judge();
        assert!(verdicts.held(), "{verdicts:?}");
    }

    #[test]
    fn an_order_refused_in_the_end_is_no_broken_promise_and_its_unit_is_nobodys_fault() {
        let mut evidence = all_is_well();
        evidence.stored[1].is_live = false;
        let verdicts = evidence.judge();
        assert!(verdicts.held(), "{verdicts:?}");
    }

    #[test]
    fn more_live_orders_than_units_are_oversold() {
        let mut evidence = all_is_well();
        evidence.stored.push(stored(3, 3, true));
        let wrong = evidence.judge();
        assert_eq!((wrong.oversold, wrong.held()), (1, false));
    }

    #[test]
    fn more_promises_than_units_are_oversold_even_if_they_are_not_stored() {
        let mut evidence = all_is_well();
        evidence.told.push(told(3, Outcome::Queued, 3));
        let wrong = evidence.judge();
        assert_eq!((wrong.oversold, wrong.broken), (1, 1));
    }

    #[test]
    fn units_left_after_sold_out_are_undersold_unless_something_holds_them() {
        let mut evidence = all_is_well();
        evidence.granted = 5;
        assert_eq!(evidence.judge().undersold, 3);
        evidence.held = 2;
        assert_eq!(evidence.judge().undersold, 1);
        evidence.told.pop();
        assert_eq!(evidence.judge().undersold, 0, "nobody was sent away");
    }

    #[test]
    fn a_second_order_of_a_shopper_is_a_duplicate_stored_or_told() {
        let mut evidence = all_is_well();
        evidence.granted = 3;
        evidence.stored.push(stored(1, 3, true));
        assert_eq!(evidence.judge().duplicates, 1);
        let mut evidence = all_is_well();
        evidence.granted = 3;
        evidence.told.push(told(1, Outcome::Queued, 3));
        assert_eq!(evidence.judge().duplicates, 1);
    }

    #[test]
    fn a_drift_is_said_as_it_is_also_where_it_is_not_known() {
        for drift in [Some(1), Some(-2), None] {
            let verdicts = Evidence {
                drift,
                ..all_is_well()
            }
            .judge();
            assert_eq!((verdicts.drift, verdicts.held()), (drift, false));
        }
    }

    #[test]
    fn a_promise_that_is_nowhere_or_somebody_elses_is_broken() {
        let mut evidence = all_is_well();
        evidence.stored.remove(1);
        evidence.told.pop();
        assert_eq!(evidence.judge().broken, 1, "nowhere");
        let mut evidence = all_is_well();
        evidence.stored[1].user = UserId(3);
        assert_eq!(evidence.judge().broken, 1, "somebody else's");
        let mut evidence = all_is_well();
        evidence.told.push(told(1, Outcome::AlreadyBought, 9));
        assert!(evidence.judge().broken >= 1, "only a repeat was told of it");
        let mut evidence = all_is_well();
        evidence.told[0].order = None;
        assert_eq!(evidence.judge().broken, 1, "it was not named");
    }
}
