//! Reads all three places, sale by sale, and finds what does not fit.

use std::collections::{BTreeSet, HashMap, HashSet};

use app::model::{OrderId, UserId, VoucherId};
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
    queued: HashMap<VoucherId, HashMap<OrderId, UserId>>,
    dead: HashMap<VoucherId, HashMap<OrderId, UserId>>,
}

impl Report {
    /// Looks at some sales and at all queues, shard by shard: one that cannot be looked at hides no other. `seen` is
    /// called after each sale, for a progress bar.
    pub async fn of(pool: &PgPool, gate: &Gate, sales: &[Sale], mut seen: impl FnMut()) -> Self {
        let mut report = Self::default();
        for shard in gate.keys().shards() {
            let of_shard: Vec<&Sale> = sales
                .iter()
                .filter(|sale| gate.keys().shard(sale.voucher) == shard)
                .collect();
            if let Err(error) = report.add(pool, gate, shard, &of_shard, &mut seen).await {
                report.failures.push((shard, error));
            }
        }
        report.sales.sort_by_key(|row| row.voucher);
        report
    }

    async fn add(
        &mut self,
        pool: &PgPool,
        gate: &Gate,
        shard: Shard,
        sales: &[&Sale],
        seen: &mut impl FnMut(),
    ) -> Result<(), Error> {
        self.backlogs.insert(shard, gate.backlog(shard).await?);
        let orphans = gate.orphans(shard).await?.into_iter();
        self.faults
            .extend(orphans.map(|entry| Fault::Orphan(shard, entry)));
        if sales.is_empty() {
            return Ok(());
        }
        let read_at = crate::clock::system();
        let waiting = Waiting::of(gate, shard).await?;
        for sale in sales {
            let (row, faults) = look_at(pool, gate, sale, &waiting, read_at).await?;
            self.sales.push(row);
            self.faults.extend(faults);
            seen();
        }
        Ok(())
    }

    /// Looks at all sales whose keys belong into the gate.
    ///
    /// # Errors
    /// When the database is away.
    pub async fn make(pool: &PgPool, gate: &Gate) -> Result<Self, Error> {
        let sales = db::in_time(db::sales::unsettled(pool)).await?;
        Ok(Self::of(pool, gate, &sales, || {}).await)
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

fn by_voucher(promises: Vec<Promise>) -> HashMap<VoucherId, HashMap<OrderId, UserId>> {
    let mut found: HashMap<VoucherId, HashMap<OrderId, UserId>> = HashMap::new();
    for promise in promises {
        found
            .entry(promise.voucher)
            .or_default()
            .insert(promise.order, promise.user);
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
    let none = HashMap::new();
    let queued = waiting.queued.get(&voucher).unwrap_or(&none);
    let dead = waiting.dead.get(&voucher).unwrap_or(&none);
    let look = gate.look(&[voucher]).await?.remove(0);
    let mut faults = BTreeSet::new();
    let mut young = 0;
    if look.is_broken() {
        faults.insert(Fault::Broken(voucher));
    } else {
        let marks = gate.all_marks(voucher).await?;
        let places = Places {
            waiting: queued
                .iter()
                .chain(dead)
                .map(|(order, user)| (*order, *user))
                .collect(),
            live: db::in_time(db::orders::live_of_voucher(pool, voucher)).await?,
            refused: HashSet::new(),
            marks,
        };
        let places = with_refused(pool, places).await?;
        faults.extend(places.faults(voucher, read_at));
        faults.extend(sums(sale, &look, &places));
        young = places.young(read_at);
    }
    let (sold, live) = db::in_time(db::sales::sold_and_live(pool, voucher)).await?;
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
        young,
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
    for order in db::in_time(db::orders::stored(pool, &open)).await? {
        if order.is_live {
            places.live.insert(order.user, order.id);
        } else {
            places.refused.insert(order.id);
        }
    }
    Ok(places)
}

fn sums(sale: &Sale, look: &SaleLook, places: &Places) -> Vec<Fault> {
    let mut faults = Vec::new();
    if look.version < Some(sale.version) {
        faults.push(Fault::Behind(sale.voucher));
    }
    match look.drift() {
        Some(0) | None => {}
        Some(1..) if places.a_unit_is_on_its_way() => {}
        Some(drift) => faults.push(Fault::Drift(sale.voucher, drift)),
    }
    faults
}
