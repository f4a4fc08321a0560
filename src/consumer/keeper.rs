//! The keeper: watches that the gate holds what it must, and heals it. Runs in every instance; the lock decides who
//! works. A sale is rebuilt when its keys are missing or malformed, or when another Redis (by `run_id`) serves its
//! shard; never because an instance merely joined. Settings that the gate missed are carried again, and cuts finished.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use app::model::VoucherId;
use futures::{StreamExt, stream};
use sqlx::PgPool;
use tokio::sync::{Notify, watch};

use super::rebuild;
use crate::{
    carry, clock,
    db::{self, sales::Sale},
    error::Error,
    figures::Figures,
    gate::{Applied, Gate, keys::Shard},
    lock::Lock,
    outage::{Outage, Tally},
};

/// How often the keeper looks when nobody calls it.
const EVERY: Duration = Duration::from_secs(1);

/// Shards that are looked at in one go: a node that does not answer costs the others little time, and the database few
/// connections.
const AT_ONCE: usize = 4;

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

/// What became of a shard at a look.
enum Healed {
    /// So many of its sales were rebuilt; none, where nothing was wrong.
    Sales(usize),
    /// Another instance is at work there.
    ByAnother,
}

/// Watches and heals.
pub struct Keeper {
    pool: PgPool,
    gate: Gate,
    handle: KeeperHandle,
    too_low: Tally,
    figures: Figures,
}

impl Keeper {
    /// The keeper of all shards.
    #[must_use]
    pub fn new(pool: PgPool, gate: Gate, handle: KeeperHandle) -> Self {
        Self {
            pool,
            gate,
            handle,
            too_low: Tally::default(),
            figures: Figures::default(),
        }
    }

    /// Notes in these figures how much it has seen waiting.
    #[must_use]
    pub fn counting_in(mut self, figures: &Figures) -> Self {
        self.figures = figures.clone();
        self
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

    /// One look at all shards, healing what it finds. They may lie on different nodes: one that is away holds up
    /// no other.
    ///
    /// # Errors
    /// When a store is away, at least for one shard; the next look goes on.
    pub async fn look(&self) -> Result<(), Error> {
        let sales = db::in_time(db::sales::unsettled(&self.pool)).await?;
        let lost_queues = std::mem::take(&mut *locked(&self.handle.0.lost_queues));
        let looks = self.gate.keys().shards().map(|shard| {
            let queue_lost = lost_queues.contains(&shard.0);
            let of_shard: Vec<Sale> = sales
                .iter()
                .filter(|sale| self.gate.keys().shard(sale.voucher) == shard)
                .cloned()
                .collect();
            async move {
                let healed = self.look_at(shard, &of_shard, queue_lost).await;
                if queue_lost && !matches!(healed, Ok(Healed::Sales(_))) {
                    locked(&self.handle.0.lost_queues).insert(shard.0);
                }
                healed
            }
        });
        let healed: Vec<_> = stream::iter(looks)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let rebuilt = |healed: &Result<Healed, Error>| match healed {
            Ok(Healed::Sales(rebuilt)) => *rebuilt,
            _ => 0,
        };
        let sales: usize = healed.iter().map(rebuilt).sum();
        if sales > 0 {
            tracing::warn!(sales, "sales rebuilt; the audit log has each");
        }
        healed.into_iter().try_for_each(|healed| healed.map(drop))
    }

    async fn look_at(
        &self,
        shard: Shard,
        sales: &[Sale],
        queue_lost: bool,
    ) -> Result<Healed, Error> {
        let vouchers: Vec<VoucherId> = sales.iter().map(|sale| sale.voucher).collect();
        let looks = self.gate.look(&vouchers).await?;
        let (broken, sound): (Vec<_>, Vec<_>) = sales
            .iter()
            .zip(&looks)
            .partition(|(_, look)| look.is_broken());
        {
            let mut under_repair = locked(&self.handle.0.under_repair);
            under_repair.retain(|voucher| self.gate.keys().shard(*voucher) != shard);
            under_repair.extend(broken.iter().map(|(sale, _)| sale.voucher));
        }
        let healed = self.heal(shard, !broken.is_empty(), queue_lost).await?;
        for (sale, look) in sound {
            // Every promise has a mark, and every stored one is sold.
            let waiting = look.marks.unwrap_or_default() - sale.sold;
            self.figures.waiting(sale.voucher, waiting, clock::system());
            if self.settle(sale, look.version).await? == Applied::TooLow
                && let Some(times) = self.too_low.add()
            {
                tracing::error!(
                    voucher.id = sale.voucher.0,
                    times,
                    "fewer units granted than promised; the gate keeps the old"
                );
            }
        }
        Ok(healed)
    }

    /// Carries to the gate what it holds an older version of, or a newer one than there is.
    async fn settle(&self, sale: &Sale, held: Option<i64>) -> Result<Applied, Error> {
        match held {
            Some(held) if held > sale.version => {
                carry::overtake(&self.pool, &self.gate, sale.voucher, held).await
            }
            Some(held) if held == sale.version && sale.cut_to.is_none() => {
                Ok(Applied::Known(sale.granted))
            }
            _ => carry::carry(&self.pool, &self.gate, sale, "program").await,
        }
    }

    /// Rebuilds the broken sales of a shard; in a Redis that is new to us, all of them. Where the queue was lost, the
    /// others go on selling, and their promises are enqueued again.
    async fn heal(&self, shard: Shard, is_broken: bool, queue_lost: bool) -> Result<Healed, Error> {
        let run_id = self.gate.run_id(shard).await?;
        let known = db::in_time(db::settings::run_id(&self.pool, shard.0)).await?;
        let is_new = known.as_ref() != Some(&run_id);
        if !is_new && !queue_lost && !is_broken {
            return Ok(Healed::Sales(0));
        }
        let Some(lock) = rebuild::lock(&self.gate, shard).await? else {
            return Ok(Healed::ByAnother);
        };
        let healed = self.heal_locked(&lock, shard, &run_id, queue_lost).await;
        // Also after a failure: the next who looks need not wait for the lease to end.
        let released = lock.release().await;
        let rebuilt = healed?;
        released?;
        Ok(Healed::Sales(rebuilt))
    }

    async fn heal_locked(
        &self,
        lock: &Lock,
        shard: Shard,
        run_id: &String,
        queue_lost: bool,
    ) -> Result<usize, Error> {
        // Another instance may have healed it while this one came to the lock. The first Redis ever is nobody's heir.
        let known = db::in_time(db::settings::run_id(&self.pool, shard.0)).await?;
        let is_other = known.as_ref().is_some_and(|known| known != run_id);
        // Read again under the lock: a sale that has left the gate meanwhile has no keys, and is to have none.
        let mut sales = db::in_time(db::sales::unsettled(&self.pool)).await?;
        sales.retain(|sale| self.gate.keys().shard(sale.voucher) == shard);
        let vouchers: Vec<VoucherId> = sales.iter().map(|sale| sale.voucher).collect();
        let looks = self.gate.look(&vouchers).await?;
        let (wanted, sound): (Vec<_>, Vec<_>) = sales
            .into_iter()
            .zip(looks)
            .partition(|(_, look)| is_other || look.is_broken());
        let wanted: Vec<Sale> = wanted.into_iter().map(|(sale, _)| sale).collect();
        let rebuilt = wanted.len();
        if rebuilt > 0 {
            rebuild::rebuild(&self.pool, &self.gate, lock, shard, wanted).await?;
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
            db::in_time(db::settings::set_run_id(&self.pool, shard.0, run_id)).await?;
        }
        Ok(rebuilt)
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
