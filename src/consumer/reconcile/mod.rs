//! Compares gate, queue and database, and repairs what two looks have proven. Runs every half minute beside the
//! consumers, and as `seckill reconcile`.

pub mod fault;
mod look;
mod repair;
pub mod report;

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use app::model::VoucherId;
use sqlx::PgPool;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use self::{fault::Fault, report::Report};
use super::{keeper::Keeper, rebuild};
use crate::{
    db::{self, sales::Sale},
    error::Error,
    gate::{Gate, SaleLook},
    outage::{Outage, Tally},
};

/// How often the sums are compared.
const EVERY: Duration = Duration::from_secs(30);

/// How soon after a look that has found something: what two looks have found is repaired.
const AGAIN: Duration = Duration::from_secs(5);

/// A sale whose figures change all the time is matched by id this often all the same.
const BUSY: Duration = Duration::from_secs(600);

/// And one whose figures do not change this often: a hand in the database shows in no sum.
const QUIET: Duration = Duration::from_secs(3600);

/// Between the two looks of a reconciliation on demand.
const BETWEEN: Duration = Duration::from_secs(2);

/// A repair may bring the next fault to light; so often one is followed by another on demand.
const ROUNDS: usize = 3;

/// What is compared of a sale without reading every mark: stock, marks, units sold.
type Figures = (Option<i64>, Option<i64>, i64);

/// What was seen of a sale before.
#[derive(Clone, Copy, Debug)]
struct Seen {
    figures: Figures,
    /// When it was last matched by id, and with which figures.
    matched: Option<(Instant, Figures)>,
}

/// Compares and repairs.
pub struct Reconciler {
    pool: PgPool,
    gate: Gate,
    keeper: Keeper,
    seen: HashMap<VoucherId, Seen>,
    /// The faults of the last look.
    suspects: BTreeSet<Fault>,
    /// Did it find something new? Then the next look is soon.
    is_hurried: bool,
    repairs: Tally,
}

impl Reconciler {
    /// The reconciler of all shards; `keeper` rebuilds where it finds a sale broken.
    #[must_use]
    pub fn new(pool: PgPool, gate: Gate, keeper: Keeper) -> Self {
        Self {
            pool,
            gate,
            keeper,
            seen: HashMap::new(),
            suspects: BTreeSet::new(),
            is_hurried: false,
            repairs: Tally::default(),
        }
    }

    /// Compares every half minute until `stop` says so, sooner where something was found, and repairs what is proven.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut outage = Outage::of("the reconciler");
        while !*stop.borrow() {
            match self.turn().await {
                Ok(()) => outage.worked(),
                Err(error) => outage.failed(&error),
            }
            let pause = if self.is_hurried { AGAIN } else { EVERY };
            tokio::select! {
                () = sleep(pause) => {}
                _ = stop.changed() => {}
            }
        }
    }

    /// One comparison: of all sales by their sums, of some by id. What the last turn found too is repaired.
    ///
    /// # Errors
    /// When a store is away, at least for one shard; the next turn goes on.
    pub async fn turn(&mut self) -> Result<(), Error> {
        let sales = db::in_time(db::sales::unsettled(&self.pool)).await?;
        let sales = self.worth_matching(sales).await?;
        let report = Report::of(&self.pool, &self.gate, &sales, || {}).await;
        self.matched(&sales, &report);
        let proven: BTreeSet<Fault> = report
            .faults
            .intersection(&self.suspects)
            .cloned()
            .collect();
        self.is_hurried = report.faults.len() > proven.len();
        metrics::gauge!("seckill_faults").set(count(report.faults.len()));
        let repaired = self.repair("program", &proven).await;
        let gone = self.let_go(&sales, &report).await;
        self.suspects = report.faults;
        repaired.and(gone)?;
        report
            .failures
            .into_iter()
            .next()
            .map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Looks twice at everything; with `repair`, repairs what both have found, until nothing is left of it. Gives the
    /// last look, with the faults that are proven. `seen` is called with the number of sales done and of all.
    ///
    /// # Errors
    /// When a store is away.
    pub async fn on_demand(
        &self,
        repair: Option<&str>,
        mut seen: impl FnMut(usize, usize),
    ) -> Result<Report, Error> {
        let mut report = self.look_twice(&mut seen).await?;
        if let Some(actor) = repair {
            for _ in 0..ROUNDS {
                if report.is_healthy() {
                    break;
                }
                self.repair(actor, &report.faults).await?;
                report = self.look_twice(&mut seen).await?;
            }
        }
        Ok(report)
    }

    async fn look_twice(&self, seen: &mut impl FnMut(usize, usize)) -> Result<Report, Error> {
        let first = self.look(seen).await?;
        if first.is_healthy() {
            return Ok(first);
        }
        sleep(BETWEEN).await;
        let mut second = self.look(seen).await?;
        second.faults.retain(|fault| first.faults.contains(fault));
        Ok(second)
    }

    async fn look(&self, seen: &mut impl FnMut(usize, usize)) -> Result<Report, Error> {
        let sales = db::in_time(db::sales::unsettled(&self.pool)).await?;
        let mut done = 0;
        let report = Report::of(&self.pool, &self.gate, &sales, || {
            done += 1;
            seen(done, sales.len());
        });
        Ok(report.await)
    }

    async fn repair(&self, actor: &str, proven: &BTreeSet<Fault>) -> Result<(), Error> {
        if proven.is_empty() {
            return Ok(());
        }
        if let (Some(times), Some(first)) = (self.repairs.add(), proven.first()) {
            tracing::warn!(faults = proven.len(), first = %first, times, "gate, queue and database disagree; repairing");
        }
        let needs_the_keeper = |fault: &Fault| matches!(fault, Fault::Broken(_) | Fault::Behind(_));
        if proven.iter().any(needs_the_keeper) {
            self.keeper.look().await?;
        }
        repair::repair(&self.pool, &self.gate, actor, proven).await
    }

    /// Removes the keys of sales that are over for 7 days, and of which every promise is stored.
    async fn let_go(&self, sales: &[Sale], report: &Report) -> Result<(), Error> {
        let mut gone = 0;
        for sale in sales.iter().filter(|sale| sale.is_settled) {
            let voucher = sale.voucher;
            let row = report.sales.iter().find(|row| row.voucher == voucher);
            let is_stored = row.is_some_and(|row| row.queued == 0 && row.dead == 0);
            if !is_stored || report.faults.iter().any(|fault| fault.is_of(voucher)) {
                continue;
            }
            // Under the lock, so that no keeper takes the keys for lost meanwhile.
            let shard = self.gate.keys().shard(voucher);
            let Some(lock) = rebuild::lock(&self.gate, shard).await? else {
                continue;
            };
            let forgotten = self.forget(voucher).await;
            lock.release().await?;
            forgotten?;
            gone += 1;
        }
        if gone > 0 {
            tracing::info!(sales = gone, "sales settled; their keys are removed");
        }
        Ok(())
    }

    /// The keys first: noted first, keys that could not be removed would stay for ever.
    async fn forget(&self, voucher: VoucherId) -> Result<(), Error> {
        self.gate.forget(voucher).await?;
        Ok(db::in_time(db::sales::set_left_gate(&self.pool, voucher)).await?)
    }

    /// Notes what has been matched by id. A sale with a mark too young to be judged is matched again.
    fn matched(&mut self, sales: &[Sale], report: &Report) {
        for row in &report.sales {
            let sale = sales.iter().find(|sale| sale.voucher == row.voucher);
            if let (Some(sale), 0) = (sale, row.young)
                && let Some(seen) = self.seen.get_mut(&row.voucher)
            {
                seen.matched = Some((Instant::now(), figures(sale, &row.gate)));
            }
        }
    }

    /// Sales of which a sum does not fit, that were suspected before, that have come to rest since they were last matched
    /// by id, that were not matched for long, or that may leave.
    async fn worth_matching(&mut self, sales: Vec<Sale>) -> Result<Vec<Sale>, Error> {
        let vouchers: Vec<VoucherId> = sales.iter().map(|sale| sale.voucher).collect();
        let looks = self.gate.look(&vouchers).await?;
        self.seen
            .retain(|voucher, _| vouchers.binary_search(voucher).is_ok());
        let mut wanted = Vec::new();
        for (sale, look) in sales.into_iter().zip(looks) {
            if self.is_worth_matching(&sale, &look) {
                wanted.push(sale);
            }
        }
        Ok(wanted)
    }

    fn is_worth_matching(&mut self, sale: &Sale, look: &SaleLook) -> bool {
        let figures = figures(sale, look);
        let before = self.seen.get(&sale.voucher).copied();
        let matched = before.and_then(|seen| seen.matched);
        self.seen.insert(sale.voucher, Seen { figures, matched });
        let is_suspect =
            look.drift() != Some(0) || self.suspects.iter().any(|fault| fault.is_of(sale.voucher));
        let is_at_rest = before.is_some_and(|before| before.figures == figures);
        let is_due = match matched {
            None => is_at_rest || sale.is_settled,
            Some((at, then)) if then != figures => {
                is_at_rest || sale.is_settled || at.elapsed() > BUSY
            }
            Some((at, _)) => at.elapsed() > if sale.is_settled { BUSY } else { QUIET },
        };
        is_suspect || is_due
    }
}

fn figures(sale: &Sale, look: &SaleLook) -> Figures {
    (look.stock, look.marks, sale.sold)
}

/// A count as a gauge takes it.
fn count(n: usize) -> f64 {
    u32::try_from(n).unwrap_or(u32::MAX).into()
}
