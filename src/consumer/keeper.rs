//! The keeper: watches that the gate holds what it must, and heals it. Runs in every instance; the lock decides who
//! works. A sale is rebuilt when its keys are missing or malformed, or when another Redis (by `run_id`) serves its
//! shard; never because an instance merely joined. Settings that the gate missed are carried again.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
    lock::Lock,
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

    /// The queue of a shard had no group, perhaps since it was lost: promises may stand by their marks alone.
    pub fn queue_was_lost(&self, shard: Shard) {
        locked(&self.0.lost_queues).insert(shard.0);
        self.look();
    }

    /// The sales that sell nothing until they are rebuilt.
    #[must_use]
    pub fn under_repair(&self) -> Vec<VoucherId> {
        locked(&self.0.under_repair).iter().copied().collect()
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
        let broken: HashSet<VoucherId> = vouchers
            .iter()
            .zip(&looks)
            .filter(|(_, look)| look.is_broken())
            .map(|(voucher, _)| *voucher)
            .collect();
        *locked(&self.handle.0.under_repair) = broken.iter().copied().collect();
        let lost_queues = std::mem::take(&mut *locked(&self.handle.0.lost_queues));
        let mut failure = None;
        for shard in self.gate.keys().shards() {
            let queue_lost = lost_queues.contains(&shard.0);
            let of_shard = sales
                .iter()
                .filter(|sale| self.gate.keys().shard(sale.voucher) == shard)
                .cloned()
                .collect();
            let healed = self.heal(shard, of_shard, &broken, queue_lost).await;
            if queue_lost && !matches!(healed, Ok(true)) {
                locked(&self.handle.0.lost_queues).insert(shard.0);
            }
            failure = failure.or(healed.err());
        }
        for (sale, look) in sales.iter().zip(&looks) {
            let is_behind = !broken.contains(&sale.voucher) && look.version < Some(sale.version);
            if is_behind
                && self.gate.apply(&rebuild::settings(sale), false).await? == Applied::TooLow
            {
                tracing::error!(
                    voucher.id = sale.voucher.0,
                    "fewer units granted than promised; the gate keeps the old"
                );
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Rebuilds the broken sales of a shard; in a Redis that is new to us, all of them. Where the queue was lost, the
    /// others go on selling, and their promises are enqueued again. False when another instance is at work there.
    async fn heal(
        &self,
        shard: Shard,
        sales: Vec<Sale>,
        broken: &HashSet<VoucherId>,
        queue_lost: bool,
    ) -> Result<bool, Error> {
        let run_id = self.run_id().await?;
        let known = db::settings::run_id(&self.pool, shard.0).await?;
        let is_new = known.as_ref() != Some(&run_id);
        if !is_new && !queue_lost && !sales.iter().any(|sale| broken.contains(&sale.voucher)) {
            return Ok(true);
        }
        let Some(lock) = rebuild::lock(&self.gate, shard).await? else {
            return Ok(false);
        };
        let healed = self
            .heal_locked(&lock, shard, sales, &run_id, queue_lost)
            .await;
        // Also after a failure: the next who looks need not wait for the lease to end.
        let released = lock.release().await;
        healed?;
        released?;
        Ok(true)
    }

    async fn heal_locked(
        &self,
        lock: &Lock,
        shard: Shard,
        sales: Vec<Sale>,
        run_id: &String,
        queue_lost: bool,
    ) -> Result<(), Error> {
        // Another instance may have healed it while this one came to the lock. The first Redis ever is nobody's heir.
        let known = db::settings::run_id(&self.pool, shard.0).await?;
        let is_other = known.as_ref().is_some_and(|known| known != run_id);
        let vouchers: Vec<VoucherId> = sales.iter().map(|sale| sale.voucher).collect();
        let looks = self.gate.look(&vouchers).await?;
        let (wanted, sound): (Vec<_>, Vec<_>) = sales
            .into_iter()
            .zip(looks)
            .partition(|(_, look)| is_other || look.is_broken());
        let wanted: Vec<Sale> = wanted.into_iter().map(|(sale, _)| sale).collect();
        if !wanted.is_empty() {
            rebuild::rebuild(&self.pool, &self.gate, lock, shard, &wanted).await?;
        }
        if queue_lost {
            let promising = sound
                .into_iter()
                .filter(|(_, look)| look.marks > Some(0))
                .map(|(sale, _)| sale)
                .collect::<Vec<_>>();
            rebuild::enqueue_lost(&self.pool, &self.gate, shard, &promising).await?;
        }
        if known.as_ref() != Some(run_id) {
            db::settings::set_run_id(&self.pool, shard.0, run_id).await?;
        }
        Ok(())
    }

    async fn run_id(&self) -> Result<String, Error> {
        let info: redis::InfoDict = self
            .gate
            .connection()
            .query(redis::cmd("INFO").arg("server"))
            .await?;
        Ok(info.get("run_id").unwrap_or_default())
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
