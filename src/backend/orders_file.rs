//! The orders of a sale as CSV for spreadsheets: UTF-8 with a mark that says so, no cell that a spreadsheet would take for
//! a formula. Read by key, so many rows a statement: whoever reads slowly holds no connection and no snapshot. It is read
//! on only for who is signed in as an admin still.

use std::borrow::Cow;

use app::{
    backend::Backend,
    error::AppError,
    model::{AdminOrder, OrderId, OrdersSearch, Reason, UserId, Voucher, VoucherId, Zone},
};
use csv::{QuoteStyle, Terminator, WriterBuilder};
use futures::{Stream, stream};
use time::{OffsetDateTime, macros::format_description};

use super::RequestBackend;
use crate::{db, places::Place};

/// Orders of one statement, and of one piece of the file: about a megabyte.
const ROWS: i64 = 5000;

/// Files that an instance reads at a time, and of them for one admin: one more costs a database connection each moment.
pub(super) const FILES: u32 = 8;
const FILES_OF_ONE: u32 = 3;

/// Whoever finds no place for a file comes again after so long.
const COME_AGAIN_S: u32 = 30;

/// Without it spreadsheets read UTF-8 as something else.
const BYTE_ORDER_MARK: &str = "\u{feff}";

const COLUMNS: [&str; 11] = [
    "order_id",
    "status",
    "reason",
    "user_id",
    "user",
    "voucher_id",
    "voucher",
    "shop",
    "price",
    "accepted_at",
    "stored_at",
];

/// A file of orders that is being read.
pub struct OrdersFile {
    backend: RequestBackend,
    admin: UserId,
    _place: Place<UserId>,
    voucher: Voucher,
    zone: Zone,
    begun_at: OffsetDateTime,
    /// What is ready to be sent.
    ready: Vec<u8>,
    /// Where to read on; `None` after the last order.
    after: Option<Option<OrderId>>,
}

impl RequestBackend {
    /// The file of a sale's orders, with its first rows read. Admins only.
    ///
    /// # Errors
    /// `NotFound` when there is no such sale, `TooManyRequests` for who has too many at a time, `Unavailable` when all have,
    /// or while the database is away.
    pub async fn orders_file(&self, id: VoucherId) -> Result<OrdersFile, AppError> {
        let admin = self.require_admin().await?.id;
        let voucher = self.voucher_of(id).await?;
        let place = self.services.files.take(admin, Some(FILES_OF_ONE));
        let mut file = OrdersFile {
            backend: self.afresh(),
            admin,
            _place: place.map_err(|full| full.refusal(COME_AGAIN_S))?,
            zone: Zone::parse(&voucher.zone).unwrap_or_default(),
            voucher,
            begun_at: self.now(),
            ready: BYTE_ORDER_MARK.as_bytes().to_vec(),
            after: Some(None),
        };
        file.read().await?;
        Ok(file)
    }

    /// Is the visitor the admin still who began? While Redis is away nobody can be signed out either.
    async fn is_still(&self, admin: UserId) -> Result<(), AppError> {
        let is_current = self.services.logins.is_current(&self.session, admin);
        if let Ok(false) = is_current.await {
            return Err(AppError::SignInRequired);
        }
        self.afresh().require_admin().await.map(drop)
    }
}

impl OrdersFile {
    /// The name to keep it under: of the voucher, and of the day.
    #[must_use]
    pub fn name(&self) -> String {
        let day = self
            .begun_at
            .format(format_description!("[year]-[month]-[day]"));
        format!("orders-{}-{}.csv", self.voucher.id, day.unwrap_or_default())
    }

    /// The file, piece by piece; each is read when it is asked for. An error, which is logged, is the last piece.
    pub fn chunks(self) -> impl Stream<Item = Result<Vec<u8>, AppError>> + Send {
        stream::try_unfold(self, |mut file| async move {
            if file.ready.is_empty() && file.after.is_some() {
                file.backend.is_still(file.admin).await?;
                file.read().await?;
            }
            let ready = std::mem::take(&mut file.ready);
            Ok((!ready.is_empty()).then_some((ready, file)))
        })
    }

    /// Reads the next rows.
    async fn read(&mut self) -> Result<(), AppError> {
        let Some(after) = self.after else {
            return Ok(());
        };
        let search = OrdersSearch {
            status: None,
            after,
        };
        let pool = &self.backend.services.pool;
        let orders = db::sale_orders::next(pool, self.voucher.id, search, ROWS);
        let orders = self.backend.show(db::in_time(orders).await)?;
        let is_last = orders.len() < usize::try_from(ROWS).unwrap_or(usize::MAX);
        let heads = after.is_none().then_some(COLUMNS);
        let written = self.write(heads, &orders);
        let written = written.map_err(|error| sqlx::Error::Encode(error.into()));
        self.backend.show(written)?;
        self.after = orders
            .last()
            .map(|order| Some(order.id))
            .filter(|_| !is_last);
        Ok(())
    }

    fn write(&mut self, heads: Option<[&str; 11]>, orders: &[AdminOrder]) -> csv::Result<()> {
        let OrdersFile {
            voucher,
            zone,
            ready,
            ..
        } = self;
        // All cells are quoted: where a spreadsheet parts cells by something else, no text becomes two of them.
        let mut csv = WriterBuilder::new()
            .quote_style(QuoteStyle::Always)
            .terminator(Terminator::CRLF)
            .from_writer(&mut *ready);
        if let Some(heads) = heads {
            csv.write_record(heads)?;
        }
        let (id, price) = (voucher.id.to_string(), voucher.price.to_string());
        let (title, shop) = (safe(&voucher.title), safe(&voucher.shop_name));
        for order in orders {
            let record: [&str; 11] = [
                &order.id.to_string(),
                order.status.as_str(),
                order.reason.map_or("", Reason::as_str),
                &order.user.to_string(),
                &safe(&order.user_name),
                &id,
                &title,
                &shop,
                &price,
                &zone.format(order.accepted_at, INSTANT),
                &zone.format(order.stored_at, INSTANT),
            ];
            csv.write_record(record)?;
        }
        csv.flush()?;
        Ok(())
    }
}

/// RFC 3339 in the sale's zone, to the millisecond.
const INSTANT: &str = "%Y-%m-%dT%H:%M:%S%.3f%:z";

/// A text that no spreadsheet takes for a formula: what could begin one, in its wide form too, gets an apostrophe in front
/// (OWASP, "CSV Injection").
fn safe(text: &str) -> Cow<'_, str> {
    const BEGINNINGS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if text.starts_with(BEGINNINGS) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_begin_a_formula_does_not_begin_a_cell() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"] {
            assert_eq!(safe(text), format!("'{text}"));
        }
        for text in ["", "阿杰", "a=b", "'=1", " -", "1-2"] {
            assert_eq!(safe(text), text);
        }
    }
}
