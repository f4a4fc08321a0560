//! A sale as a test wants it.

use std::time::Duration;

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

#[derive(Clone, Debug)]
pub struct Sale {
    pub stock: i64,
    pub begins_at: OffsetDateTime,
    pub ends_at: OffsetDateTime,
}

impl Sale {
    /// So many units, on sale since a minute and for an hour.
    pub fn of(stock: i64) -> Self {
        let now = seckill::clock::system();
        let (minute, hour) = (time::Duration::minutes(1), time::Duration::hours(1));
        Self {
            stock,
            begins_at: now - minute,
            ends_at: now + hour,
        }
    }

    pub fn beginning_in(mut self, wait: Duration) -> Self {
        self.begins_at = seckill::clock::system() + wait;
        self
    }

    pub fn ending_in(mut self, wait: Duration) -> Self {
        self.ends_at = seckill::clock::system() + wait;
        self
    }

    /// The fields of `create_sale`.
    pub fn fields(&self, shop: i64) -> Vec<(&'static str, String)> {
        vec![
            ("shop_id", shop.to_string()),
            ("title", "满一百减五十".to_owned()),
            ("subtitle", "周末可用".to_owned()),
            ("rules", "每人一张".to_owned()),
            ("price", "19.99".to_owned()),
            ("face_value", "50.00".to_owned()),
            ("stock", self.stock.to_string()),
            ("begins_at", self.begins_at.format(&Rfc3339).unwrap()),
            ("ends_at", self.ends_at.format(&Rfc3339).unwrap()),
            ("zone", "Asia/Shanghai".to_owned()),
        ]
    }
}
