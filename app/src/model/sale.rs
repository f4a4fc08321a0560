//! Vouchers and their sales.

use time::OffsetDateTime;

use super::{
    Cents, Fields, Line, Paragraph, PictureId, Problem, SalePhase, ShopId, VoucherId, Zone,
    parse_instant,
};
use crate::error::AppError;

/// The largest number of units of one sale.
const MAX_STOCK: i64 = 10_000_000;

/// What an admin decided about a sale; its window is judged by the gate's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

/// A voucher as a shopper sees it now.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// The raw fields of the form that creates a sale.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the contract names the fields")]
pub struct SaleForm {
    pub shop_id: String,
    pub title: String,
    pub subtitle: String,
    pub rules: String,
    pub price: String,
    pub face_value: String,
    pub stock: String,
    pub begins_at: String,
    pub ends_at: String,
    pub zone: String,
}

/// A sale to create.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "Voucher explains the fields")]
pub struct NewSale {
    pub shop_id: ShopId,
    pub title: Line,
    pub subtitle: Line,
    pub rules: Paragraph,
    pub price: Cents,
    pub face_value: Cents,
    pub stock: i64,
    pub begins_at: OffsetDateTime,
    pub ends_at: OffsetDateTime,
    pub zone: Zone,
}

impl SaleForm {
    /// The fields as typed, by name, to be shown again.
    #[must_use]
    pub fn typed(&self) -> [(&'static str, &str); 10] {
        [
            ("shop_id", &self.shop_id),
            ("title", &self.title),
            ("subtitle", &self.subtitle),
            ("rules", &self.rules),
            ("price", &self.price),
            ("face_value", &self.face_value),
            ("stock", &self.stock),
            ("begins_at", &self.begins_at),
            ("ends_at", &self.ends_at),
            ("zone", &self.zone),
        ]
    }

    /// Reads the form. With offsets in the times, `zone` only says how they are shown (UTC when left out);
    /// a local time needs it.
    ///
    /// # Errors
    /// `AppError::Invalid` with every field's problem.
    pub fn parse(&self, now: OffsetDateTime) -> Result<NewSale, AppError> {
        let mut fields = Fields::default();
        let zone = if self.zone.trim().is_empty() {
            None
        } else {
            fields.take("zone", Zone::parse(&self.zone))
        };
        let begins_at = fields.take("begins_at", parse_instant(&self.begins_at, zone.as_ref()));
        let ends_at = fields.take("ends_at", parse_instant(&self.ends_at, zone.as_ref()));
        if let (Some(begins_at), Some(ends_at)) = (begins_at, ends_at) {
            if ends_at <= begins_at {
                fields.note("ends_at", Problem::EndsBeforeBegins);
            } else if ends_at <= now {
                fields.note("ends_at", Problem::Past);
            }
        }
        let price = fields.take("price", Cents::parse(&self.price));
        let face_value = fields.take("face_value", Cents::parse(&self.face_value));
        if price > face_value && face_value.is_some() {
            fields.note("face_value", Problem::BelowPrice);
        }
        let shop_id = fields.take("shop_id", ShopId::parse(&self.shop_id));
        let title = fields.take("title", Line::parse(&self.title, 1, 60));
        let subtitle = fields.take("subtitle", Line::parse(&self.subtitle, 0, 100));
        let rules = fields.take("rules", Paragraph::parse(&self.rules, 1000));
        let stock = fields.take("stock", parse_stock(&self.stock));
        let problems = fields.into_problems();
        if let (
            true,
            Some(shop_id),
            Some(title),
            Some(subtitle),
            Some(rules),
            Some(price),
            Some(face_value),
        ) = (
            problems.is_empty(),
            shop_id,
            title,
            subtitle,
            rules,
            price,
            face_value,
        ) && let (Some(stock), Some(begins_at), Some(ends_at)) = (stock, begins_at, ends_at)
        {
            let zone = zone.unwrap_or_default();
            return Ok(NewSale {
                shop_id,
                title,
                subtitle,
                rules,
                price,
                face_value,
                stock,
                begins_at,
                ends_at,
                zone,
            });
        }
        Err(AppError::Invalid(problems))
    }
}

fn parse_stock(text: &str) -> Result<i64, Problem> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if text.is_empty() {
        return Err(Problem::Missing);
    }
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Problem::NotANumber);
    }
    match text.parse::<i64>() {
        Ok(n) if n < 1 => Err(Problem::TooSmall(1)),
        Ok(n) if n <= MAX_STOCK => Ok(n),
        Err(_) if text.starts_with('-') => Err(Problem::TooSmall(1)),
        _ => Err(Problem::TooLarge(MAX_STOCK)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stock_is_a_whole_number_from_one_to_ten_million() {
        assert_eq!(parse_stock(" 5 "), Ok(5));
        assert_eq!(parse_stock("10000000"), Ok(10_000_000));
        for text in ["-1", "0", "-99999999999999999999"] {
            assert_eq!(parse_stock(text), Err(Problem::TooSmall(1)), "{text}");
        }
        for text in ["10000001", "2147483648", "9223372036854775808"] {
            assert_eq!(
                parse_stock(text),
                Err(Problem::TooLarge(MAX_STOCK)),
                "{text}"
            );
        }
        for text in ["1.5", "1e3", "１２", "five", "-", "5\0"] {
            assert_eq!(parse_stock(text), Err(Problem::NotANumber), "{text}");
        }
        assert_eq!(parse_stock(""), Err(Problem::Missing));
    }
}
