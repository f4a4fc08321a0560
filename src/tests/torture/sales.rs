//! The sales of a round: a small one that sells out, two large ones, one that ends while the round goes on.

use app::model::VoucherId;
use rand::{RngExt, rngs::StdRng};
use seckill::stores::Stores;
use time::Duration;

use crate::{Result, shop};

/// Units of the small sale: gone within a second or two.
const FEW: usize = 60;

/// Units of the others: more than a round can sell.
const MANY: usize = 100_000;

/// A sale stays open for far longer than a round.
const LONG: Duration = Duration::hours(1);

pub struct Sales {
    small: VoucherId,
    large: [VoucherId; 2],
    ending: VoucherId,
}

impl Sales {
    pub async fn open(stores: &Stores) -> Result<Self> {
        Ok(Self {
            small: shop::sale(stores, FEW, LONG).await?,
            large: [
                shop::sale(stores, MANY, LONG).await?,
                shop::sale(stores, MANY, LONG).await?,
            ],
            ending: shop::sale(stores, MANY, Duration::seconds(4)).await?,
        })
    }

    /// What the next shopper wants.
    pub fn pick(&self, rng: &mut StdRng) -> VoucherId {
        match rng.random_range(0..100) {
            0..15 => self.small,
            15..55 => self.large[0],
            55..80 => self.large[1],
            _ => self.ending,
        }
    }

    /// Those that are open to the end.
    pub fn open_ones(&self) -> [VoucherId; 3] {
        [self.small, self.large[0], self.large[1]]
    }

    pub fn all(&self) -> [VoucherId; 4] {
        [self.small, self.large[0], self.large[1], self.ending]
    }

    /// As if they had ended long ago: the gate need not hold them any more.
    pub async fn settle(&self, stores: &Stores) -> Result<()> {
        let vouchers = self.all().map(|voucher| voucher.0);
        sqlx::query(
            "UPDATE sales
             SET begins_at = now() - interval '9 days', ends_at = now() - interval '8 days'
             WHERE voucher_id = ANY($1)",
        )
        .bind(vouchers.as_slice())
        .execute(&stores.pool)
        .await?;
        Ok(())
    }
}
