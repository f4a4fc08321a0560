//! Vouchers and their sales.

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{Cents, LastChange, PictureId, SalePhase, ShopId, VoucherId};

/// The largest number of units of one sale.
pub(super) const MAX_STOCK: i64 = 10_000_000;

/// What an admin decided about a sale; its window is judged by the gate's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SaleState {
    /// Sells within its window.
    Open,
    /// Sells nothing until it is resumed.
    Paused,
    /// Sells nothing any more.
    Withdrawn,
}

impl SaleState {
    /// The word, as in the table and in the gate.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Reads the word of a table's row.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Open, Self::Paused, Self::Withdrawn]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}

/// A voucher with the settings of its sale, as PostgreSQL has them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Voucher {
    /// Its id.
    pub id: VoucherId,
    /// The shop that offers it.
    pub shop_id: ShopId,
    /// The shop's name.
    pub shop_name: String,
    /// The shop's category.
    pub shop_category: String,
    /// The shop's small picture, if it has one.
    pub shop_tile: Option<PictureId>,
    /// What is sold.
    pub title: String,
    /// A line more; may be empty.
    pub subtitle: String,
    /// Rules of use; may be empty, may have several lines.
    pub rules: String,
    /// What a shopper pays.
    pub price: Cents,
    /// What it is worth in the shop.
    pub face_value: Cents,
    /// Units granted.
    pub granted: i64,
    /// The units wanted by a cut that the gate has not decided yet.
    pub cut_to: Option<i64>,
    /// Units sold, as stored; lags behind the gate.
    pub sold: i64,
    /// First instant of the sale.
    pub begins_at: OffsetDateTime,
    /// First instant after the sale.
    pub ends_at: OffsetDateTime,
    /// The zone in which its times are shown, an IANA name.
    pub zone: String,
    /// What the admin decided.
    pub state: SaleState,
    /// Counts the changes of voucher and sale, so that a form filled in before one of them does not undo it.
    pub version: i64,
}

impl Voucher {
    /// Has the sale begun?
    #[must_use]
    pub fn has_begun(&self, now: OffsetDateTime) -> bool {
        self.begins_at <= now
    }

    /// Is the sale over for good: past its end, or withdrawn?
    #[must_use]
    pub fn is_over(&self, now: OffsetDateTime) -> bool {
        self.ends_at <= now || self.state == SaleState::Withdrawn
    }

    /// How this one differs from what it was, for the audit log: `granted 100 -> 110; title "a" -> "b"`.
    #[must_use]
    pub fn differences(&self, was: &Self) -> String {
        let instant = |at: OffsetDateTime| at.format(&Rfc3339).unwrap_or_default();
        let units = |units: Option<i64>| units.map_or_else(|| "none".to_owned(), |n| n.to_string());
        let fields = [
            (
                "title",
                format!("{:?}", was.title),
                format!("{:?}", self.title),
            ),
            (
                "subtitle",
                format!("{:?}", was.subtitle),
                format!("{:?}", self.subtitle),
            ),
            (
                "rules",
                format!("{:?}", was.rules),
                format!("{:?}", self.rules),
            ),
            ("price", was.price.to_string(), self.price.to_string()),
            (
                "face_value",
                was.face_value.to_string(),
                self.face_value.to_string(),
            ),
            ("granted", was.granted.to_string(), self.granted.to_string()),
            ("cut_to", units(was.cut_to), units(self.cut_to)),
            ("begins_at", instant(was.begins_at), instant(self.begins_at)),
            ("ends_at", instant(was.ends_at), instant(self.ends_at)),
            ("zone", was.zone.clone(), self.zone.clone()),
            (
                "state",
                was.state.as_str().to_owned(),
                self.state.as_str().to_owned(),
            ),
        ];
        let changed = fields.into_iter().filter(|(_, was, is)| was != is);
        let changed = changed.map(|(name, was, is)| format!("{name} {was} -> {is}"));
        changed.collect::<Vec<_>>().join("; ")
    }
}

/// A voucher as a shopper sees it now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VoucherView {
    /// The voucher and its sale.
    pub voucher: Voucher,
    /// Where the sale stands, by the gate's clock.
    pub phase: SalePhase,
    /// Units left at the gate; `None` while unknown.
    pub left: Option<i64>,
    /// The gate's clock when this was read.
    pub now: OffsetDateTime,
    /// The visitor's own order of it.
    pub own_order: Option<super::OrderId>,
}

/// A sale as the form that edits it is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaleToEdit {
    /// The voucher and its sale.
    pub voucher: Voucher,
    /// The gate's clock when this was read.
    pub now: OffsetDateTime,
    /// Units that nobody has been promised, at the gate; `None` while unknown.
    pub left: Option<i64>,
    /// Who changed it last, as far as it was noted.
    pub last_change: Option<LastChange>,
}
