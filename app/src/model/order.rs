//! A buy's outcome and an order's status, in the words of the contract.

use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::{OrderId, SaleState, VoucherId};

/// What the gate said to a buy. A refusal is a value, never an error.
#[cfg(feature = "ssr")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuyOutcome {
    /// You are in: the order waits to be stored.
    Queued(OrderId),
    /// This shopper has an order of this voucher already; it is this one.
    AlreadyBought(OrderId),
    /// No unit is left.
    SoldOut,
    /// Before `begins_at`.
    NotStarted,
    /// At or after `ends_at`.
    Ended,
    /// Paused, withdrawn, or under repair: for now nothing is sold.
    Closed,
}

/// The word of an outcome on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "BuyOutcome explains each")]
pub enum Outcome {
    Queued,
    AlreadyBought,
    SoldOut,
    NotStarted,
    Ended,
    Closed,
}

impl Outcome {
    /// The word, as in JSON, addresses and text keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::AlreadyBought => "already_bought",
            Self::SoldOut => "sold_out",
            Self::NotStarted => "not_started",
            Self::Ended => "ended",
            Self::Closed => "closed",
        }
    }
}

/// `POST /api/buy` answers this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuyReply {
    /// What happened.
    pub outcome: Outcome,
    /// The shopper's order, for `queued` and `already_bought`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_id: Option<String>,
}

#[cfg(feature = "ssr")]
impl From<BuyOutcome> for BuyReply {
    fn from(outcome: BuyOutcome) -> Self {
        let (outcome, order) = match outcome {
            BuyOutcome::Queued(order) => (Outcome::Queued, Some(order)),
            BuyOutcome::AlreadyBought(order) => (Outcome::AlreadyBought, Some(order)),
            BuyOutcome::SoldOut => (Outcome::SoldOut, None),
            BuyOutcome::NotStarted => (Outcome::NotStarted, None),
            BuyOutcome::Ended => (Outcome::Ended, None),
            BuyOutcome::Closed => (Outcome::Closed, None),
        };
        Self {
            outcome,
            order_id: order.map(|id| id.to_string()),
        }
    }
}

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Promised by the gate, not yet stored.
    Queued,
    /// Stored: bought.
    Confirmed,
    /// Stored as refused; the unit was given back.
    Refused,
}

impl Status {
    /// The word, as in JSON, tables and text keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Confirmed => "confirmed",
            Self::Refused => "refused",
        }
    }

    /// Reads the word of a table's row, or of an address.
    #[cfg(feature = "ssr")]
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Queued, Self::Confirmed, Self::Refused]
            .into_iter()
            .find(|status| status.as_str() == word)
    }
}

/// Why a promised order was refused in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Another live order of this shopper and voucher exists.
    AlreadyBought,
    /// PostgreSQL had no unit left.
    SoldOut,
    /// An operator discarded the dead letter.
    Discarded,
    /// Redis forgot the promise before it was stored.
    Lost,
    /// The id was in use by another order.
    IdClash,
}

impl Reason {
    /// The word, as in JSON, tables and text keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AlreadyBought => "already_bought",
            Self::SoldOut => "sold_out",
            Self::Discarded => "discarded",
            Self::Lost => "lost",
            Self::IdClash => "id_clash",
        }
    }

    /// Reads the word of a table's row.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [
            Self::AlreadyBought,
            Self::SoldOut,
            Self::Discarded,
            Self::Lost,
            Self::IdClash,
        ]
        .into_iter()
        .find(|reason| reason.as_str() == word)
    }
}

/// `GET /api/order_status` answers this; `GET /api/my_orders` a list of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderReply {
    /// 36 letters.
    pub order_id: String,
    /// The voucher bought.
    pub voucher_id: i32,
    /// Where it stands.
    pub status: Status,
    /// Why, when refused.
    pub reason: Option<Reason>,
    /// For `already_bought`: the order that stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_order_id: Option<String>,
}

/// An order as the pages show it.
#[cfg(feature = "ssr")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderView {
    /// The id, whose first part is the time of the promise.
    pub id: OrderId,
    /// The voucher bought.
    pub voucher_id: VoucherId,
    /// The voucher's title; `None` when the database is away.
    pub voucher_title: Option<String>,
    /// The shop's name; `None` when the database is away.
    pub shop_name: Option<String>,
    /// What was to be paid; `None` when the database is away.
    pub price: Option<super::Cents>,
    /// The zone in which the voucher's times are shown, an IANA name; `None` when the database is away.
    pub zone: Option<String>,
    /// Where it stands.
    pub status: Status,
    /// Why, when refused.
    pub reason: Option<Reason>,
    /// For `already_bought`: the order that stands.
    pub live_order: Option<OrderId>,
    /// When the gate promised it.
    pub accepted_at: time::OffsetDateTime,
    /// When it was stored; `None` while queued.
    pub stored_at: Option<time::OffsetDateTime>,
}

#[cfg(feature = "ssr")]
impl From<OrderView> for OrderReply {
    fn from(order: OrderView) -> Self {
        Self {
            order_id: order.id.to_string(),
            voucher_id: order.voucher_id.0,
            status: order.status,
            reason: order.reason,
            live_order_id: order.live_order.map(|id| id.to_string()),
        }
    }
}

/// Where a sale stands for a shopper who has not bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SalePhase {
    /// Before `begins_at`.
    NotStarted,
    /// Units are sold now.
    Running,
    /// In its window, but no unit is left.
    SoldOut,
    /// At or after `ends_at`.
    Ended,
    /// On hold, by an admin.
    Paused,
    /// Called off for good.
    Withdrawn,
    /// Open, and cannot sell now: it is under repair, or the gate is away.
    Closed,
}

impl SalePhase {
    /// Where a sale stands at an instant; all in Unix milliseconds. `left` are the units of a gate that is sound: `None` while
    /// it is not.
    #[cfg(feature = "ssr")]
    #[must_use]
    pub fn at(
        now_ms: i64,
        state: SaleState,
        begins_ms: i64,
        ends_ms: i64,
        left: Option<i64>,
    ) -> Self {
        match (state, left) {
            (SaleState::Withdrawn, _) => Self::Withdrawn,
            _ if now_ms >= ends_ms => Self::Ended,
            (SaleState::Paused, _) => Self::Paused,
            _ if now_ms < begins_ms => Self::NotStarted,
            (SaleState::Open, None) => Self::Closed,
            (SaleState::Open, Some(0)) => Self::SoldOut,
            (SaleState::Open, Some(_)) => Self::Running,
        }
    }

    /// Does nothing follow it?
    #[must_use]
    pub fn is_last(self) -> bool {
        matches!(self, Self::Ended | Self::Withdrawn)
    }

    /// The word, as in JSON and text keys.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::Running => "running",
            Self::SoldOut => "sold_out",
            Self::Ended => "ended",
            Self::Paused => "paused",
            Self::Withdrawn => "withdrawn",
            Self::Closed => "closed",
        }
    }
}

/// `GET /api/sale_status` answers this: what the countdown and the units-left island need. All instants are
/// Unix milliseconds by the gate's clock, so that the visitor's clock does not matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaleReply {
    /// The voucher on sale.
    pub voucher_id: i32,
    /// Where the sale stands.
    pub phase: SalePhase,
    /// Units left at the gate; `None` while unknown.
    pub left: Option<i64>,
    /// Units granted.
    pub granted: i64,
    /// The server's clock.
    pub now_ms: i64,
    /// First instant of the sale.
    pub begins_ms: i64,
    /// First instant after the sale.
    pub ends_ms: i64,
    /// The visitor's own order of the voucher, where that is told: once, when a page begins to listen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_id: Option<String>,
}
