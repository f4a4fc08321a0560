//! Reads all three places, sale by sale, and finds what does not fit.

use std::collections::{BTreeSet, HashMap, HashSet};

use app::model::{OrderId, VoucherId};
use sqlx::PgPool;
use time::OffsetDateTime;

use super::{
    fault::{Fault, Places},
    report::{Report, SaleRow},
};
use crate::{
    db::{self, sales::Sale},
    error::Error,
    gate::{Gate, SaleLook, entry::Promise, keys::Shard},
};

/// The entries of a shard, by voucher.
#[derive(Default)]
struct Waiting {
    queued: HashMap<VoucherId, HashSet<OrderId>>,
    dead: HashMap<VoucherId, HashSet<OrderId>>,
}

impl Report {
    /// Looks at some sales and at all queues. `seen` is called after each sale, for a progress bar.
    ///
    /// # Errors
    /// When a store is away.
    pub async fn of(
        pool: &PgPool,
        gate: &Gate,
        sales: &[Sale],
        mut seen: impl FnMut(),
    ) -> Result<Self, Error> {
        let mut report = Self::default();
        for shard in gate.keys().shards() {
            report.backlogs.push(gate.backlog(shard).await?);
            let orphans = gate.orphans(shard).await?.into_iter();
            report
                .faults
                .extend(orphans.map(|entry| Fault::Orphan(shard, entry)));
            let of_shard: Vec<&Sale> = sales
                .iter()
                .filter(|sale| gate.keys().shard(sale.voucher) == shard)
                .collect();
            if of_shard.is_empty() {
                continue;
            }
            let read_at = crate::clock::system();
            let waiting = Waiting::of(gate, shard).await?;
            for sale in of_shard {
                let (row, faults) = look_at(pool, gate, sale, &waiting, read_at).await?;
                report.sales.push(row);
                report.faults.extend(faults);
                seen();
            }
        }
        report.sales.sort_by_key(|row| row.voucher);
        Ok(report)
    }

    /// Looks at all sales whose keys belong into the gate.
    ///
    /// # Errors
    /// When a store is away.
    pub async fn make(pool: &PgPool, gate: &Gate) -> Result<Self, Error> {
        let sales = db::sales::unsettled(pool).await?;
        Self::of(pool, gate, &sales, || {}).await
    }
}

impl Waiting {
    /// The queue before the dead letters: an entry goes from the one to the other.
    async fn of(gate: &Gate, shard: Shard) -> Result<Self, Error> {
        Ok(Self {
            queued: by_voucher(gate.queued_promises(shard).await?),
            dead: by_voucher(gate.dead_promises(shard).await?),
        })
    }
}

fn by_voucher(promises: Vec<Promise>) -> HashMap<VoucherId, HashSet<OrderId>> {
    let mut found: HashMap<VoucherId, HashSet<OrderId>> = HashMap::new();
    for promise in promises {
        found
            .entry(promise.voucher)
            .or_default()
            .insert(promise.order);
    }
    found
}

async fn look_at(
    pool: &PgPool,
    gate: &Gate,
    sale: &Sale,
    waiting: &Waiting,
    read_at: OffsetDateTime,
) -> Result<(SaleRow, BTreeSet<Fault>), Error> {
    let voucher = sale.voucher;
    let none = HashSet::new();
    let queued = waiting.queued.get(&voucher).unwrap_or(&none);
    let dead = waiting.dead.get(&voucher).unwrap_or(&none);
    let look = gate.look(&[voucher]).await?.remove(0);
    let mut faults = BTreeSet::new();
    if look.is_broken() {
        faults.insert(Fault::Broken(voucher));
    } else {
        let marks = gate.all_marks(voucher).await?;
        let places = Places {
            waiting: queued.union(dead).copied().collect(),
            live: db::orders::live_of_voucher(pool, voucher).await?,
            refused: HashSet::new(),
            marks,
        };
        let places = with_refused(pool, places).await?;
        faults.extend(places.faults(voucher, read_at));
        faults.extend(sums(sale, &look));
    }
    let (sold, live) = db::sales::sold_and_live(pool, voucher).await?;
    if sold != live {
        faults.insert(Fault::Sold {
            voucher,
            sold,
            live,
        });
    }
    let row = SaleRow {
        voucher,
        granted: sale.granted,
        sold,
        live,
        queued: queued.len(),
        dead: dead.len(),
        gate: look,
    };
    Ok((row, faults))
}

/// What became of the marked orders that are not live: asked by id, and last of all.
async fn with_refused(pool: &PgPool, mut places: Places) -> Result<Places, Error> {
    let open: Vec<OrderId> = places
        .marks
        .iter()
        .filter(|(user, order)| places.live.get(user) != Some(order))
        .map(|(_, order)| *order)
        .collect();
    for order in db::orders::stored(pool, &open).await? {
        if order.is_live {
            places.live.insert(order.user, order.id);
        } else {
            places.refused.insert(order.id);
        }
    }
    Ok(places)
}

fn sums(sale: &Sale, look: &SaleLook) -> Vec<Fault> {
    let mut faults = Vec::new();
    if look.version < Some(sale.version) {
        faults.push(Fault::Behind(sale.voucher));
    }
    match look.drift() {
        Some(0) | None => {}
        Some(drift) => faults.push(Fault::Drift(sale.voucher, drift)),
    }
    faults
}
