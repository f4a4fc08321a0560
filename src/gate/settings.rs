//! A sale's settings, as PostgreSQL has them and the gate holds them.

use app::model::{NewSale, SaleState, VoucherId};
use redis::RedisResult;
use time::OffsetDateTime;

use super::{Gate, news::News, unexpected, unix_ms};

/// A sale's settings, as carried from PostgreSQL to the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaleSettings {
    /// The voucher on sale.
    pub voucher: VoucherId,
    /// Counts the changes; newer ones win.
    pub version: i64,
    /// Units granted.
    pub granted: i64,
    /// The units wanted by a cut that the gate has not decided yet.
    pub cut_to: Option<i64>,
    /// First instant of the sale.
    pub begins_at: OffsetDateTime,
    /// First instant after the sale.
    pub ends_at: OffsetDateTime,
    /// What the admin decided.
    pub state: SaleState,
}

impl SaleSettings {
    /// The settings of a sale that has just been created.
    #[must_use]
    pub fn of_new(voucher: VoucherId, sale: &NewSale) -> Self {
        Self {
            voucher,
            version: 1,
            granted: sale.stock,
            cut_to: None,
            begins_at: sale.begins_at,
            ends_at: sale.ends_at,
            state: SaleState::Open,
        }
    }
}

/// What became of settings carried to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The gate has them now, with so many units granted: of a cut, what came of it.
    Applied(i64),
    /// The gate had this very version, with so many units granted.
    Known(i64),
    /// The gate has a newer version; nothing was changed.
    Newer,
    /// The gate lost the sale, or a key of it is malformed: rebuild.
    Missing,
    /// A rebuild is at work and will carry them.
    Later,
    /// Fewer units granted than promised, and no cut; nothing was changed.
    TooLow,
}

impl Gate {
    /// Carries settings to the gate, and tells all instances. `new` only from the call that has just created the sale.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn apply(&self, sale: &SaleSettings, new: bool) -> RedisResult<Applied> {
        let voucher = sale.voucher;
        let mut call = self.scripts.apply.on(&self.keys.of_sale(voucher));
        call.arg(sale.version)
            .arg(sale.granted)
            .arg(unix_ms(sale.begins_at))
            .arg(unix_ms(sale.ends_at));
        call.arg(sale.state.as_str()).arg(u8::from(new));
        call.arg(cut_to(sale));
        let answer: Vec<String> = self.connection.invoke(&call).await?;
        let word = answer.first().map(String::as_str).unwrap_or_default();
        let granted = answer.get(1).and_then(|units| units.parse().ok());
        match (word, granted) {
            ("applied", Some(granted)) => {
                self.news.tell(&News::Sales(vec![voucher])).await;
                Ok(Applied::Applied(granted))
            }
            ("known", Some(granted)) => Ok(Applied::Known(granted)),
            ("newer", _) => Ok(Applied::Newer),
            ("missing" | "broken", _) => Ok(Applied::Missing),
            ("later", _) => Ok(Applied::Later),
            ("too_low", _) => Ok(Applied::TooLow),
            (word, _) => Err(unexpected("apply", word)),
        }
    }
}

/// The units wanted by a cut, as scripts take them.
pub(super) fn cut_to(sale: &SaleSettings) -> String {
    sale.cut_to
        .map(|units| units.to_string())
        .unwrap_or_default()
}
