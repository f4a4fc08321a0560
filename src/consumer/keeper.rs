//! The keeper: watches that the gate holds what it must, and heals it. Runs in every instance; the lock decides who
//! works. A sale is rebuilt when its keys are missing or malformed, or when another Redis (by `run_id`) serves its
//! shard; never because an instance merely joined. Settings that the gate missed are carried again.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use app::model::VoucherId;
use sqlx::PgPool;
use tokio::sync::{Notify, watch};

use super::rebuild;
use crate::{
    db::{self, sales::Sale},
    error::Error,
    gate::{Applied, Gate, keys::Shard},
    outage::Outage,
};

/// How often the keeper looks when nobody calls it.
const EVERY: Duration = Duration::from_secs(1);

/// A way to call the keeper, and to ask which sales are under repair.
#[derive(Clone, Debug, Default)]
pub struct KeeperHandle(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    called: Notify,
    lost_queues: Mutex<BTreeSet<u16>>,
    under_repair: Mutex<BTreeSet<VoucherId>>,
}

impl KeeperHandle {
    /// The gate refused for want of sound keys: look now.
    pub fn look(&self) {
        self.0.called.notify_one();
    }

    /// The queue of a shard was lost: promises may stand by their marks alone.
    pub fn queue_was_lost(&self, shard: Shard) {
        self.0.lost_queues.lock().unwrap_or_else(PoisonError::into_inner).insert(shard.0);
        self.look();
    }

    /// The sales that sell nothing until they are rebuilt.
    #[must_use]
    pub fn under_repair(&self) -> Vec<VoucherId> {
        self.0.under_repair.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }
}

/// Watches and heals.
pub struct Keeper {
    pool: PgPool,
    gate: Gate,
    handle: KeeperHandle,
}

impl Keeper {
    /// The keeper of all shards.
    #[must_use]
    pub fn new(pool: PgPool, gate: Gate, handle: KeeperHandle) -> Self {
        Self { pool, gate, handle }
    }

    /// Looks every second, and whenever it is called, until `stop` says so.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let mut outage = Outage::of("the keeper");
        while !*stop.borrow() {
            match self.look().await {
                Ok(()) => outage.worked(),
                Err(error) => outage.failed(&error),
            }
            tokio::select! {
                () = self.handle.0.called.notified() => {
                    // Many refused buys call at once; one look a moment later serves them all.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                () = tokio::time::sleep(EVERY) => {}
                _ = stop.changed() => {}
            }
        }
    }

    /// One look at all shards, healing what it finds.
    ///
    /// # Errors
    /// When a store is away; the next look goes on.
    pub async fn look(&self) -> Result<(), Error> {
        let sales = db::sales::unsettled(&self.pool).await?;
        let vouchers: Vec<VoucherId> = sales.iter().map(|sale| sale.voucher).collect();
        let looks = self.gate.look(&vouchers).await?;
        let broken: HashSet<VoucherId> =
            vouchers.iter().zip(&looks).filter(|(_, look)| look.is_broken()).map(|(voucher, _)| *voucher).collect();
        *self.handle.0.under_repair.lock().unwrap_or_else(PoisonError::into_inner) = broken.iter().copied().collect();
        let lost_queues = std::mem::take(&mut *self.handle.0.lost_queues.lock().unwrap_or_else(PoisonError::into_inner));
        for shard in self.gate.keys().shards() {
            let of_shard = |sale: &&Sale| self.gate.keys().shard(sale.voucher) == shard;
            let all: Vec<Sale> = sales.iter().filter(of_shard).cloned().collect();
            let wanted: Vec<Sale> = all.iter().filter(|sale| broken.contains(&sale.voucher)).cloned().collect();
            if self.heal(shard, all, wanted, lost_queues.contains(&shard.0)).await.is_err_and(|error| {
                tracing::warn!(error = %error, shard = shard.0, "shard not healed yet");
                true
            }) && lost_queues.contains(&shard.0)
            {
                self.handle.0.lost_queues.lock().unwrap_or_else(PoisonError::into_inner).insert(shard.0);
            }
        }
        for (sale, look) in sales.iter().zip(&looks) {
            if !broken.contains(&sale.voucher)
                && look.version < Some(sale.version)
                && self.gate.apply(&rebuild::settings(sale), false).await? == Applied::TooLow
            {
                tracing::error!(voucher.id = sale.voucher.0, "fewer units granted than promised; the gate keeps the old");
            }
        }
        Ok(())
    }

    /// Rebuilds the broken sales of a shard, or all of them in a Redis that is new to us or lost its queue.
    async fn heal(&self, shard: Shard, all: Vec<Sale>, broken: Vec<Sale>, queue_lost: bool) -> Result<(), Error> {
        let run_id = self.run_id().await?;
        let known = db::settings::run_id(&self.pool, shard.0).await?;
        // The first Redis ever seen: nothing was promised before.
        let is_other = known.as_ref().is_some_and(|known| *known != run_id);
        if known.is_some() && !is_other && !queue_lost && broken.is_empty() {
            return Ok(());
        }
        let Some(lock) = rebuild::lock(&self.gate, shard).await? else { return Ok(()) };
        // Another instance may have healed it while we waited for our turn.
        let known = db::settings::run_id(&self.pool, shard.0).await?;
        let is_other = known.as_ref().is_some_and(|known| *known != run_id);
        let wanted = if is_other || queue_lost { all } else { self.still_broken(broken).await? };
        if !wanted.is_empty() {
            rebuild::rebuild(&self.pool, &self.gate, &lock, shard, &wanted).await?;
        }
        if known.as_ref() != Some(&run_id) {
            db::settings::set_run_id(&self.pool, shard.0, &run_id).await?;
        }
        lock.release().await?;
        Ok(())
    }

    async fn still_broken(&self, sales: Vec<Sale>) -> Result<Vec<Sale>, Error> {
        let vouchers: Vec<VoucherId> = sales.iter().map(|sale| sale.voucher).collect();
        let looks = self.gate.look(&vouchers).await?;
        Ok(sales.into_iter().zip(looks).filter(|(_, look)| look.is_broken()).map(|(sale, _)| sale).collect())
    }

    async fn run_id(&self) -> Result<String, Error> {
        let info: redis::InfoDict = self.gate.connection().query(redis::cmd("INFO").arg("server")).await?;
        Ok(info.get("run_id").unwrap_or_default())
    }
}
