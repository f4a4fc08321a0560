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
            begins_at: sale.begins_at,
            ends_at: sale.ends_at,
            state: SaleState::Open,
        }
    }
}

/// What became of settings carried to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The gate has them now.
    Applied,
    /// The gate had them, or newer ones.
    Ignored,
    /// The gate lost the sale, or a key of it is malformed: rebuild.
    Missing,
    /// A rebuild is at work and will carry them.
    Later,
    /// The cut is below what is promised; nothing was changed.
    TooLow,
}

impl Gate {
    /// Carries settings to the gate, and tells all instances. `new` only from the call that has just created the sale.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn apply(&self, sale: &SaleSettings, new: bool) -> RedisResult<Applied> {
        let voucher = sale.voucher;
        let mut call = self.scripts.apply.prepare_invoke();
        call.key(self.keys.sale(voucher))
            .key(self.keys.stock(voucher))
            .key(self.keys.buyers(voucher));
        call.arg(sale.version)
            .arg(sale.granted)
            .arg(unix_ms(sale.begins_at))
            .arg(unix_ms(sale.ends_at));
        call.arg(sale.state.as_str()).arg(u8::from(new));
        match self.connection.invoke::<String>(&call).await?.as_str() {
            "applied" => {
                self.news.tell(&News::Sales(vec![voucher])).await;
                Ok(Applied::Applied)
            }
            "ignored" => Ok(Applied::Ignored),
            "missing" | "broken" => Ok(Applied::Missing),
            "later" => Ok(Applied::Later),
            "too_low" => Ok(Applied::TooLow),
            word => Err(unexpected("apply", word)),
        }
    }
}
