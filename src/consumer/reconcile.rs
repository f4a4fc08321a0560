//! Compares gate, queue and database, sale by sale, and shows an operator where every unit is.

use std::fmt;

use app::model::VoucherId;
use sqlx::PgPool;

use crate::{
    db,
    error::Error,
    gate::{Gate, SaleLook, backlog::Backlog},
};

/// One sale in all three places.
#[derive(Clone, Debug)]
pub struct SaleRow {
    /// The voucher on sale.
    pub voucher: VoucherId,
    /// Units granted, by PostgreSQL.
    pub granted: i64,
    /// Units sold, by PostgreSQL's counter.
    pub sold: i64,
    /// Live orders, counted.
    pub live: i64,
    /// The gate.
    pub gate: SaleLook,
}

impl SaleRow {
    /// Is all as it must be? `live` may be behind the marks while orders are queued, never ahead.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.gate.drift() == Some(0)
            && self.gate.granted == Some(self.granted)
            && self.sold == self.live
            && Some(self.live) <= self.gate.marks
    }
}

/// Where every unit is.
#[derive(Clone, Debug)]
pub struct Report {
    /// The unsettled sales.
    pub sales: Vec<SaleRow>,
    /// The queues, by shard.
    pub backlogs: Vec<Backlog>,
}

impl Report {
    /// Looks everywhere.
    ///
    /// # Errors
    /// When a store is away.
    pub async fn make(pool: &PgPool, gate: &Gate) -> Result<Self, Error> {
        let sales = db::sales::unsettled(pool).await?;
        let vouchers: Vec<VoucherId> = sales.iter().map(|sale| sale.voucher).collect();
        let live = db::orders::live_counts(pool, &vouchers).await?;
        let looks = gate.look(&vouchers).await?;
        let rows = sales
            .iter()
            .zip(live)
            .zip(looks)
            .map(|((sale, live), gate)| SaleRow {
                voucher: sale.voucher,
                granted: sale.granted,
                sold: sale.sold,
                live,
                gate,
            });
        let mut backlogs = Vec::new();
        for shard in gate.keys().shards() {
            backlogs.push(gate.backlog(shard).await?);
        }
        Ok(Self {
            sales: rows.collect(),
            backlogs,
        })
    }

    /// Is every sale as it must be?
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.sales.iter().all(SaleRow::is_healthy)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number =
            |value: Option<i64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
        writeln!(
            f,
            "{:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6}  state",
            "voucher", "granted", "stock", "marks", "live", "sold", "drift"
        )?;
        for row in &self.sales {
            writeln!(
                f,
                "{:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6}  {}{}",
                row.voucher.0,
                row.granted,
                number(row.gate.stock),
                number(row.gate.marks),
                row.live,
                row.sold,
                number(row.gate.drift()),
                row.gate.state.as_deref().unwrap_or("missing"),
                if row.is_healthy() { "" } else { "  <-- look" },
            )?;
        }
        for (shard, backlog) in self.backlogs.iter().enumerate() {
            writeln!(
                f,
                "shard {shard}: {} queued, {} of them pending, {} dead letters",
                backlog.queued, backlog.pending, backlog.dead
            )?;
        }
        Ok(())
    }
}
