//! What becomes of a mark once its order is decided: it goes and its unit comes back, or it stands for a live order.

use app::model::{OrderId, UserId, VoucherId};
use redis::RedisResult;

use super::{Gate, order_text, unexpected};

/// What became of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The unit is back.
    Released,
    /// The mark was not this order's: there was nothing to give back.
    Kept,
    /// Not now: the sale is being rebuilt or must be. Ask again; acknowledge nothing.
    Later,
}

impl Gate {
    /// Gives the unit of a refused order back, exactly once.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn release(
        &self,
        user: UserId,
        voucher: VoucherId,
        order: OrderId,
    ) -> RedisResult<Release> {
        let mut call = self.scripts.release.on(&self.keys.of_sale(voucher));
        call.arg(user.0)
            .arg(order_text::write(order).as_slice())
            .arg(order_text::former(order));
        release_answer(&self.connection.invoke::<String>(&call).await?)
    }

    /// Lets the mark of a refused order stand for the live order that the gate did not know.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn repoint(
        &self,
        user: UserId,
        voucher: VoucherId,
        refused: OrderId,
        live: OrderId,
    ) -> RedisResult<Release> {
        let keys = [self.keys.sale(voucher), self.keys.buyers(voucher)];
        let mut call = self.scripts.repoint.on(&keys);
        call.arg(user.0)
            .arg(order_text::write(refused).as_slice())
            .arg(order_text::former(refused))
            .arg(order_text::write(live).as_slice());
        release_answer(&self.connection.invoke::<String>(&call).await?)
    }

    /// Sees to it that the buyers of orders that are stored as live have marks; false when the gate asks to come again.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn confirm(
        &self,
        voucher: VoucherId,
        orders: &[(UserId, OrderId)],
    ) -> RedisResult<bool> {
        let mut call = self.scripts.confirm.on(&self.keys.of_sale(voucher));
        for (user, order) in orders {
            call.arg(user.0).arg(order_text::write(*order).as_slice());
        }
        match self.connection.invoke::<String>(&call).await?.as_str() {
            "confirmed" => Ok(true),
            "later" => Ok(false),
            word => Err(unexpected("confirm", word)),
        }
    }
}

fn release_answer(word: &str) -> RedisResult<Release> {
    match word {
        "released" | "repointed" => Ok(Release::Released),
        "kept" => Ok(Release::Kept),
        "later" => Ok(Release::Later),
        word => Err(unexpected("release", word)),
    }
}
