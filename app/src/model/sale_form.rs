//! The forms that create and edit a sale.

use time::OffsetDateTime;

use super::{
    Cents, Fields, Line, Paragraph, Problem, ShopId, TypedTime, Voucher, Zone, parse_instant,
    sale::MAX_STOCK, text::plain_number,
};
use crate::error::AppError;

/// Letters of a title, at most.
pub const TITLE: usize = 60;

/// Letters of a subtitle, at most.
pub const SUBTITLE: usize = 100;

/// Letters of the rules of use, at most: no text of a form may be longer.
pub const RULES: usize = 1000;

/// The raw fields that both forms have: what is offered, and when.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the contract names the fields")]
pub struct OfferForm {
    pub title: String,
    pub subtitle: String,
    pub rules: String,
    pub price: String,
    pub face_value: String,
    pub begins_at: String,
    pub begins_at_offset: String,
    pub ends_at: String,
    pub ends_at_offset: String,
    pub zone: String,
}

/// The raw fields of the form that creates a sale.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the contract names the fields")]
pub struct SaleForm {
    pub shop_id: String,
    pub stock: String,
    pub offer: OfferForm,
}

/// The raw fields of the form that edits a sale.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the contract names the fields")]
pub struct SaleEditForm {
    pub version: String,
    pub offer: OfferForm,
}

/// What is offered, and when.
#[derive(Clone, Debug)]
struct Offer {
    title: Line,
    subtitle: Line,
    rules: Paragraph,
    price: Cents,
    face_value: Cents,
    begins_at: OffsetDateTime,
    ends_at: OffsetDateTime,
    zone: Zone,
}

/// When it sells, as far as it can be read.
struct Window {
    zone: Option<Zone>,
    begins_at: Option<OffsetDateTime>,
    ends_at: Option<OffsetDateTime>,
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

/// A sale's texts, price and window as they are to be, made from a form that showed them at a version.
#[derive(Clone, Debug)]
pub struct SaleEdit {
    version: i64,
    offer: Offer,
}

impl SaleForm {
    /// The fields as typed, by name, to be shown again.
    #[must_use]
    pub fn typed(&self) -> Vec<(&'static str, &str)> {
        let mut typed = vec![("shop_id", &*self.shop_id), ("stock", &*self.stock)];
        typed.extend(self.offer.typed());
        typed
    }

    /// Reads the form. With offsets in the times, `zone` only says how they are shown (UTC when left out);
    /// a local time needs it.
    ///
    /// # Errors
    /// `AppError::Invalid` with every field's problem.
    pub fn parse(&self, now: OffsetDateTime) -> Result<NewSale, AppError> {
        let mut fields = Fields::default();
        let window = self.offer.window(&mut fields);
        if window.ends_at.is_some_and(|ends_at| ends_at <= now) {
            fields.note("ends_at", Problem::Past);
        }
        let offer = self.offer.parse(window, &mut fields);
        let shop_id = fields.take("shop_id", ShopId::parse(&self.shop_id));
        let stock = fields.take("stock", parse_units(&self.stock));
        let problems = fields.into_problems();
        match (problems.is_empty(), offer, shop_id, stock) {
            (true, Some(offer), Some(shop_id), Some(stock)) => Ok(NewSale {
                shop_id,
                title: offer.title,
                subtitle: offer.subtitle,
                rules: offer.rules,
                price: offer.price,
                face_value: offer.face_value,
                stock,
                begins_at: offer.begins_at,
                ends_at: offer.ends_at,
                zone: offer.zone,
            }),
            _ => Err(AppError::Invalid(problems)),
        }
    }
}

impl SaleEditForm {
    /// The fields as typed, by name, to be shown again.
    #[must_use]
    pub fn typed(&self) -> Vec<(&'static str, &str)> {
        let mut typed = vec![("version", &*self.version)];
        typed.extend(self.offer.typed());
        typed
    }

    /// Reads the form.
    ///
    /// # Errors
    /// `AppError::Invalid` with every field's problem.
    pub fn parse(&self) -> Result<SaleEdit, AppError> {
        let mut fields = Fields::default();
        let window = self.offer.window(&mut fields);
        let offer = self.offer.parse(window, &mut fields);
        let version = fields.take("version", parse_version(&self.version));
        match (offer, version) {
            (Some(offer), Some(version)) => Ok(SaleEdit { version, offer }),
            _ => Err(fields.into()),
        }
    }
}

impl SaleEdit {
    /// The voucher as the edit makes it; the very same where nothing was changed. What is past stays as it was: of a sale
    /// that has begun its begin and what it costs, so that everybody pays the same; of one that is over its end.
    ///
    /// # Errors
    /// `AppError::Invalid`: the form is old, or names what cannot be changed any more.
    pub fn of(self, sale: &Voucher, now: OffsetDateTime) -> Result<Voucher, AppError> {
        if self.version != sale.version {
            return Err(AppError::field("version", Problem::OldForm));
        }
        let Offer {
            price, face_value, ..
        } = self.offer;
        let begins_at = unless_same(sale.begins_at, self.offer.begins_at);
        let ends_at = unless_same(sale.ends_at, self.offer.ends_at);
        let mut fields = Fields::default();
        if sale.has_begun(now) {
            let fixed = [
                ("price", price == sale.price),
                ("face_value", face_value == sale.face_value),
                ("begins_at", begins_at == sale.begins_at),
            ];
            for (field, _) in fixed.into_iter().filter(|(_, is_same)| !is_same) {
                fields.note(field, Problem::Fixed);
            }
        }
        if ends_at != sale.ends_at {
            if sale.is_over(now) {
                fields.note("ends_at", Problem::Fixed);
            } else if ends_at <= now {
                fields.note("ends_at", Problem::Past);
            }
        }
        if !fields.is_empty() {
            return Err(fields.into());
        }
        Ok(Voucher {
            title: self.offer.title.as_str().to_owned(),
            subtitle: self.offer.subtitle.as_str().to_owned(),
            rules: self.offer.rules.as_str().to_owned(),
            price,
            face_value,
            begins_at,
            ends_at,
            zone: self.offer.zone.name().to_owned(),
            ..sale.clone()
        })
    }
}

impl OfferForm {
    fn typed(&self) -> [(&'static str, &str); 10] {
        [
            ("title", &self.title),
            ("subtitle", &self.subtitle),
            ("rules", &self.rules),
            ("price", &self.price),
            ("face_value", &self.face_value),
            ("begins_at", &self.begins_at),
            ("begins_at_offset", &self.begins_at_offset),
            ("ends_at", &self.ends_at),
            ("ends_at_offset", &self.ends_at_offset),
            ("zone", &self.zone),
        ]
    }

    /// Reads when it sells: the zone, the begin and the end, as far as each can be read.
    fn window(&self, fields: &mut Fields) -> Window {
        let is_named = !self.zone.trim().is_empty();
        let zone = if is_named {
            fields.take("zone", Zone::parse(&self.zone))
        } else {
            Some(Zone::default())
        };
        let named = zone.as_ref().filter(|_| is_named);
        let is_unknown = zone.is_none();
        let mut read = |field, text, offset| {
            let typed = TypedTime { text, offset };
            match parse_instant(typed, named) {
                // What the clocks of an unknown zone show cannot be judged: only what is no time anywhere is wrong.
                Err(Problem::NotATime) if is_unknown && is_local_time(text) => None,
                result => fields.take(field, result),
            }
        };
        let begins_at = read("begins_at", &self.begins_at, &self.begins_at_offset);
        let ends_at = read("ends_at", &self.ends_at, &self.ends_at_offset);
        let window = begins_at.zip(ends_at);
        if window.is_some_and(|(begins_at, ends_at)| ends_at <= begins_at) {
            fields.note("ends_at", Problem::EndsBeforeBegins);
        }
        Window {
            zone,
            begins_at,
            ends_at,
        }
    }

    /// Reads all fields; `None` where one of them has a problem.
    fn parse(&self, window: Window, fields: &mut Fields) -> Option<Offer> {
        let price = fields.take("price", Cents::parse(&self.price));
        let face_value = fields.take("face_value", Cents::parse(&self.face_value));
        if price > face_value && face_value.is_some() {
            fields.note("face_value", Problem::BelowPrice);
        }
        let title = fields.take("title", Line::parse(&self.title, 1, TITLE));
        let subtitle = fields.take("subtitle", Line::parse(&self.subtitle, 0, SUBTITLE));
        let rules = fields.take("rules", Paragraph::parse(&self.rules, RULES));
        if !fields.is_empty() {
            return None;
        }
        Some(Offer {
            title: title?,
            subtitle: subtitle?,
            rules: rules?,
            price: price?,
            face_value: face_value?,
            begins_at: window.begins_at?,
            ends_at: window.ends_at?,
            zone: window.zone?,
        })
    }
}

/// Is this a time that some clock shows?
fn is_local_time(text: &str) -> bool {
    let typed = TypedTime { text, offset: "" };
    parse_instant(typed, Some(&Zone::default())).is_ok()
}

/// The instant that there was, where a form that knows milliseconds says the same.
fn unless_same(was: OffsetDateTime, typed: OffsetDateTime) -> OffsetDateTime {
    let millis = |at: OffsetDateTime| at.unix_timestamp_nanos().div_euclid(1_000_000);
    if millis(was) == millis(typed) {
        was
    } else {
        typed
    }
}

/// Reads the version that a form was made from.
///
/// # Errors
/// `Missing`, `NotANumber`.
pub(super) fn parse_version(text: &str) -> Result<i64, Problem> {
    match text.trim() {
        "" => Err(Problem::Missing),
        text if text.bytes().all(|b| b.is_ascii_digit()) => {
            text.parse().map_err(|_| Problem::NotANumber)
        }
        _ => Err(Problem::NotANumber),
    }
}

/// Reads a number of units: 1 to 10,000,000, also as people write it.
///
/// # Errors
/// `Missing`, `NotANumber`, `TooSmall`, `TooLarge`.
pub(super) fn parse_units(text: &str) -> Result<i64, Problem> {
    let text = plain_number(text);
    let digits = text.strip_prefix('-').unwrap_or(&text);
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
    fn times_in_an_unknown_zone_are_not_judged() {
        let problems = |begins_at: &str, ends_at: &str, zone: &str| {
            let form = SaleForm {
                shop_id: "1".to_owned(),
                stock: "1".to_owned(),
                offer: OfferForm {
                    title: "券".to_owned(),
                    price: "1".to_owned(),
                    face_value: "2".to_owned(),
                    begins_at: begins_at.to_owned(),
                    ends_at: ends_at.to_owned(),
                    zone: zone.to_owned(),
                    ..OfferForm::default()
                },
            };
            match form.parse(OffsetDateTime::UNIX_EPOCH) {
                Err(AppError::Invalid(problems)) => problems.into_iter().collect(),
                _ => Vec::new(),
            }
        };
        let zone = ("zone", Problem::UnknownZone);
        let (begin, end) = ("2030-01-02T10:00", "2030-01-02T09:00");
        for unknown in ["Mars/Base", "UTC+8"] {
            assert_eq!(problems(begin, end, unknown), [zone], "{unknown}");
            assert_eq!(
                problems("soon", "", unknown),
                [
                    ("begins_at", Problem::NotATime),
                    ("ends_at", Problem::Missing),
                    zone
                ]
            );
            assert_eq!(
                problems("9999-01-02T10:00", "2030-01-02T09:00Z", unknown),
                [("begins_at", Problem::NotATime), zone]
            );
        }
        let backwards = [("ends_at", Problem::EndsBeforeBegins)];
        assert_eq!(problems(begin, end, "Asia/Shanghai"), backwards);
        // Without a name a local time means nothing.
        assert_eq!(problems(begin, end, "").len(), 2);
    }

    #[test]
    fn stock_is_a_whole_number_from_one_to_ten_million() {
        assert_eq!(parse_units(" 5 "), Ok(5));
        assert_eq!(parse_units("10000000"), Ok(10_000_000));
        assert_eq!(parse_units("10,000,000"), Ok(10_000_000));
        assert_eq!(parse_units("１０，０００"), Ok(10_000));
        for text in ["-1", "0", "-99999999999999999999"] {
            assert_eq!(parse_units(text), Err(Problem::TooSmall(1)), "{text}");
        }
        for text in ["10000001", "2147483648", "9223372036854775808"] {
            assert_eq!(
                parse_units(text),
                Err(Problem::TooLarge(MAX_STOCK)),
                "{text}"
            );
        }
        for text in ["1.5", "1e3", "1,5", "10,00", "٣", "five", "-", "5\0"] {
            assert_eq!(parse_units(text), Err(Problem::NotANumber), "{text}");
        }
        assert_eq!(parse_units(""), Err(Problem::Missing));
    }
}
