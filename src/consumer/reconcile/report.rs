//! Shows an operator where every unit is.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use app::model::VoucherId;

use super::fault::Fault;
use crate::{
    error::Error,
    gate::{SaleLook, backlog::Backlog, keys::Shard},
};

/// Faults that are printed; of more, the number.
const SHOWN: usize = 20;

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
    /// Promises in the queue.
    pub queued: usize,
    /// Promises among the dead letters.
    pub dead: usize,
    /// Marks that are in no other place, and too young to be judged.
    pub young: usize,
    /// The gate.
    pub gate: SaleLook,
}

/// Where every unit is, and what does not fit.
#[derive(Debug, Default)]
pub struct Report {
    /// The sales.
    pub sales: Vec<SaleRow>,
    /// The queues, by shard.
    pub backlogs: BTreeMap<Shard, Backlog>,
    /// What is not as it must be.
    pub faults: BTreeSet<Fault>,
    /// Shards that could not be looked at, and why.
    pub failures: Vec<(Shard, Error)>,
}

impl Report {
    /// Is everything as it must be?
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.faults.is_empty() && self.failures.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number =
            |value: Option<i64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
        writeln!(
            f,
            "{:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7} {:>5} {:>6}  state",
            "voucher", "granted", "stock", "marks", "live", "sold", "queued", "dead", "drift"
        )?;
        for row in &self.sales {
            writeln!(
                f,
                "{:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7} {:>5} {:>6}  {}",
                row.voucher.0,
                row.granted,
                number(row.gate.stock),
                number(row.gate.marks),
                row.live,
                row.sold,
                row.queued,
                row.dead,
                number(row.gate.drift()),
                row.gate.state.as_deref().unwrap_or("missing"),
            )?;
        }
        for (shard, backlog) in &self.backlogs {
            writeln!(
                f,
                "shard {}: {} queued, {} of them pending, {} dead letters",
                shard.0, backlog.queued, backlog.pending, backlog.dead
            )?;
        }
        for (shard, error) in &self.failures {
            writeln!(f, "shard {}: cannot be looked at: {error}", shard.0)?;
        }
        for fault in self.faults.iter().take(SHOWN) {
            writeln!(f, "{fault}")?;
        }
        if self.faults.len() > SHOWN {
            writeln!(f, "… and {} more", self.faults.len() - SHOWN)?;
        }
        Ok(())
    }
}
