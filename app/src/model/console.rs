//! What an admin sees of sales: the list of all, one of them with the place of each unit, and its orders.

use std::fmt;

use time::OffsetDateTime;

use super::{OrderId, Reason, Series, Status, UserId, VoucherId, VoucherView, Words};

/// A sale as an admin sees it in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct AdminSale {
    /// As a shopper sees it.
    pub view: VoucherView,
    /// Orders accepted a second, over the last ten to twenty seconds.
    pub rate: f64,
    /// Accepted and not yet stored; `None` while the gate cannot tell.
    pub backlog: Option<i64>,
    /// granted − (left + marks); 0 when healthy, `None` while the gate cannot tell.
    pub drift: Option<i64>,
}

/// Which sales are wanted, and from where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SalesSearch {
    /// Only those whose title, or whose shop's name, has these words.
    pub words: Words,
    /// Only those that stand so.
    pub standing: Option<Standing>,
    /// Those after this one.
    pub after: Option<SalesCursor>,
}

impl SalesSearch {
    /// Reads what an address says; what makes no sense is not asked for.
    #[must_use]
    pub fn read(words: &str, standing: &str, after: &str) -> Self {
        let words = words.chars().filter(|letter| !letter.is_control());
        let words: String = words.take(60).collect();
        Self {
            words: Words::read(&words),
            standing: Standing::parse(standing),
            after: SalesCursor::parse(after),
        }
    }
}

/// How a sale stands, for choosing among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It sells now.
    Running,
    /// It will.
    Coming,
    /// Its time has passed.
    Over,
    /// It is paused, and its time has not passed.
    Paused,
    /// It was withdrawn.
    Withdrawn,
}

impl Standing {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 5] = [
        Self::Running,
        Self::Coming,
        Self::Over,
        Self::Paused,
        Self::Withdrawn,
    ];

    /// The word, as in addresses and in SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Coming => "coming",
            Self::Over => "over",
            Self::Paused => "paused",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Reads the word; `None` for any other.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == word)
    }
}

/// A page of the list of sales.
#[derive(Clone, Debug, PartialEq)]
pub struct SalesPage {
    /// Running sales first, then coming ones, then those that are over.
    pub sales: Vec<AdminSale>,
    /// Where the next page begins, if there is one.
    pub next: Option<SalesCursor>,
}

/// A place in the list of sales. As text `1.1764500000000000.7`: group, rank within it, voucher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SalesCursor {
    /// 0 for running sales, 1 for coming ones, 2 for those that are over.
    pub group: i32,
    /// By when they begin or end, in microseconds.
    pub rank: i64,
    /// The sale itself.
    pub voucher: VoucherId,
}

impl SalesCursor {
    /// Reads what an address says; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let cursor = Self {
            group: parts.next()?.parse().ok()?,
            rank: parts.next()?.parse().ok()?,
            voucher: VoucherId::parse(parts.next()?).ok()?,
        };
        (0..=2).contains(&cursor.group).then_some(cursor)
    }
}

impl fmt::Display for SalesCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.group, self.rank, self.voucher)
    }
}

/// A sale on its own page.
#[derive(Clone, Debug, PartialEq)]
pub struct SaleDetail {
    /// As in the list.
    pub sale: AdminSale,
    /// Where its units are.
    pub units: Units,
    /// What happened over time.
    pub series: Series,
}

/// Where each unit of a sale is. granted = left + promised + drift; promised = queued + moving + confirmed + dead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// Granted.
    pub granted: i64,
    /// In the gate, to be sold; `None` where the gate has no such sale, or cannot tell.
    pub left: Option<i64>,
    /// Promised, and waiting in the queue.
    pub queued: Option<i64>,
    /// Promised, and in none of the other places at this moment: between two of them, as a rule.
    pub moving: Option<i64>,
    /// Stored as bought.
    pub confirmed: i64,
    /// Held by dead letters.
    pub dead: Option<i64>,
    /// granted − (left + promised); 0 when healthy.
    pub drift: Option<i64>,
    /// Orders refused after they were accepted; their units were given back.
    pub refused: i64,
    /// Did the figures change while they were read? Then they do not quite belong together.
    pub is_moving: bool,
    /// Has the sale left the gate, seven days after its end?
    pub has_left_gate: bool,
}

/// Which orders of a sale are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrdersSearch {
    /// Only of this status; `queued` ones are not stored, so that there are none of them.
    pub status: Option<Status>,
    /// Those after this one.
    pub after: Option<OrderId>,
}

/// A stored order in an admin's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminOrder {
    /// The order.
    pub id: OrderId,
    /// Whose it is.
    pub user: UserId,
    /// Their name; empty for an account that was deleted.
    pub user_name: String,
    /// What became of it.
    pub status: Status,
    /// Why it was refused.
    pub reason: Option<Reason>,
    /// When the gate accepted it.
    pub accepted_at: OffsetDateTime,
    /// When it was stored.
    pub stored_at: OffsetDateTime,
}

/// A page of a sale's orders, in the order in which they were accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrdersPage {
    /// The sale's title.
    pub title: String,
    /// The zone in which its times are shown.
    pub zone: String,
    /// The orders.
    pub orders: Vec<AdminOrder>,
    /// Do more follow?
    pub is_more: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_list_is_read_as_it_was_written() {
        let cursor = SalesCursor {
            group: 2,
            rank: -1_764_500_000_000_000,
            voucher: VoucherId(7),
        };
        assert_eq!(SalesCursor::parse(&cursor.to_string()), Some(cursor));
        for text in [
            "", "1", "1.2", "3.1.7", "-1.1.7", "0.x.7", "0.1.0", "0.1.7.8",
        ] {
            assert_eq!(SalesCursor::parse(text), None, "{text}");
        }
    }
}
