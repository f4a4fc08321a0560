//! What the gate holds of a sale, and of a buyer.

use app::model::{OrderId, SalePhase, SaleReply, SaleState, UserId, VoucherId};
use redis::RedisResult;
use time::OffsetDateTime;

use super::{Gate, instant, order_text, unexpected, unix_ms};

/// A sale as the gate has it; `None` for what is missing or malformed. Read in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaleLook {
    /// The gate's clock.
    pub now: OffsetDateTime,
    /// `open`, `paused`, `withdrawn` or `rebuilding`.
    pub state: Option<String>,
    /// Counts the changes of the settings.
    pub version: Option<i64>,
    /// Units granted.
    pub granted: Option<i64>,
    /// First instant of the sale, Unix ms.
    pub begins_ms: Option<i64>,
    /// First instant after the sale, Unix ms.
    pub ends_ms: Option<i64>,
    /// Units left.
    pub stock: Option<i64>,
    /// Buyers.
    pub marks: Option<i64>,
}

impl SaleLook {
    /// granted − (stock + marks); 0 when healthy, `None` when a key is missing or malformed.
    #[must_use]
    pub fn drift(&self) -> Option<i64> {
        Some(self.granted? - (self.stock? + self.marks?))
    }

    /// Can it sell in its window: is it sound, and open?
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.is_broken() && self.state.as_deref() == Some("open")
    }

    /// What those are told who watch the sale; `None` unless it is sound.
    #[must_use]
    pub fn reply(&self, voucher: VoucherId) -> Option<SaleReply> {
        if self.is_broken() {
            return None;
        }
        let (now_ms, begins_ms, ends_ms) = (unix_ms(self.now), self.begins_ms?, self.ends_ms?);
        let state = SaleState::parse(self.state.as_deref()?)?;
        Some(SaleReply {
            voucher_id: voucher.0,
            phase: SalePhase::at(now_ms, state, begins_ms, ends_ms, self.stock),
            left: self.stock,
            granted: self.granted?,
            now_ms,
            begins_ms,
            ends_ms,
            order_id: None,
        })
    }

    /// Does the sale need a rebuild: is a key missing or malformed, or is the stock beyond belief?
    #[must_use]
    pub fn is_broken(&self) -> bool {
        let (Some(granted), Some(_), Some(_), Some(_)) =
            (self.granted, self.version, self.begins_ms, self.ends_ms)
        else {
            return true;
        };
        match (&self.state, self.stock, self.marks) {
            (Some(state), Some(stock), Some(marks)) => {
                state == "rebuilding" || stock > granted || (stock < granted && marks == 0)
            }
            _ => true,
        }
    }
}

impl Gate {
    /// Reads sales as the gate has them, each in one step, all on one way.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn look(&self, vouchers: &[VoucherId]) -> RedisResult<Vec<SaleLook>> {
        let calls = vouchers
            .iter()
            .map(|voucher| self.scripts.look.on(&self.keys.of_sale(*voucher)));
        let replies: Vec<Vec<String>> = self.connection.invoke_all(calls.collect()).await?;
        replies.iter().map(|reply| parse_look(reply)).collect()
    }

    /// The marks of one user in some sales, in their order.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn marks(
        &self,
        user: UserId,
        vouchers: &[VoucherId],
    ) -> RedisResult<Vec<Option<OrderId>>> {
        if vouchers.is_empty() {
            return Ok(Vec::new());
        }
        let mut pipe = redis::pipe();
        pipe.ignore_errors();
        for voucher in vouchers {
            pipe.hget(self.keys.buyers(*voucher), user.0);
        }
        let marks: Vec<RedisResult<Option<Vec<u8>>>> = self.connection.query_pipe(&pipe).await?;
        marks
            .into_iter()
            .map(|mark| match mark {
                Ok(mark) => Ok(mark.as_deref().and_then(order_text::read)),
                // A key of another kind in the place of the marks: the sale is broken, and says so when it is looked at.
                Err(error) if error.code() == Some("WRONGTYPE") => Ok(None),
                Err(error) => Err(error),
            })
            .collect()
    }
}

fn parse_look(reply: &[String]) -> RedisResult<SaleLook> {
    let [now, state, version, granted, begins, ends, stock, marks] = reply else {
        return Err(unexpected("look", &format!("{} parts", reply.len())));
    };
    let number = |text: &String| text.parse::<i64>().ok();
    let now = number(now).ok_or_else(|| unexpected("look", now))?;
    Ok(SaleLook {
        now: instant(now),
        state: Some(state.clone()).filter(|state| !state.is_empty()),
        version: number(version),
        granted: number(granted),
        begins_ms: number(begins),
        ends_ms: number(ends),
        stock: number(stock),
        marks: number(marks),
    })
}
