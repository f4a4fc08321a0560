//! Stores a batch of promises and deals with what became of each. PostgreSQL judges (`db::orders::persist`); units
//! of refused orders go back to the gate before their entry is acknowledged.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use app::model::{OrderId, Reason, UserId, VoucherId};
use futures::future::join_all;
use redis::RedisResult;
use sqlx::PgPool;

use crate::{
    clock,
    db::{
        self,
        orders::{Judgement, NewOrder, Verdict},
    },
    error::Error,
    figures::Figures,
    gate::{
        Gate, Release,
        entry::{Entry, Promise},
        order_id,
        queue::Queue,
    },
    outage::Tally,
};

/// Own errors of an entry after which it is parked.
const TRIES: u32 = 3;

/// Stores batches.
pub struct Persister {
    pool: PgPool,
    gate: Gate,
    queue: Queue,
    parked: Tally,
    /// Own errors met so far, by entry. Time-outs, deadlocks and a database that is away never count.
    tries: HashMap<String, u32>,
    /// Live orders that the gate did not know of.
    unknown: Tally,
    /// Where stored orders are counted.
    pub(super) figures: Figures,
}

/// What became of a batch.
#[derive(Debug, Default)]
pub struct Done {
    /// Entries whose orders are stored, refused units given back: to be acknowledged.
    pub acknowledged: Vec<String>,
    /// Entries moved to the dead letters (acknowledged there).
    pub parked: Vec<String>,
    /// The orders of those that are acknowledged.
    pub decided: Vec<OrderId>,
    /// Sales to which units may have come back.
    pub refilled: BTreeSet<VoucherId>,
    /// Entries to try again, each after a pause.
    pub again: Vec<(String, Duration)>,
    /// The failure of a store that the batch met.
    pub failure: Option<Error>,
}

/// Whether the gate knows of the stored orders of each sale.
type Confirmed = HashMap<VoucherId, RedisResult<bool>>;

/// An order of the batch with all entries that carry it.
struct Job {
    promise: Promise,
    entries: Vec<String>,
}

impl Persister {
    /// Stores into `pool`, releases at `gate`, parks in `queue`.
    #[must_use]
    pub fn new(pool: PgPool, gate: Gate, queue: Queue) -> Self {
        Self {
            pool,
            gate,
            queue,
            tries: HashMap::new(),
            unknown: Tally::default(),
            parked: Tally::default(),
            figures: Figures::default(),
        }
    }

    /// Stores a batch.
    pub async fn persist(&mut self, entries: Vec<Entry>) -> Done {
        let mut done = Done::default();
        let jobs = self.sort_out(entries, &mut done).await;
        let started = std::time::Instant::now();
        match self.store(&jobs).await {
            Ok(verdicts) => self.conclude(&jobs, &verdicts, &mut done).await,
            Err(error) if db::is_datas_fault(&error) && jobs.len() > 1 => {
                self.one_by_one(jobs, &mut done).await
            }
            Err(error) if db::is_datas_fault(&error) => {
                self.own_error(&jobs, &error.to_string(), &mut done).await
            }
            Err(error) => {
                done.again.extend(
                    jobs.into_iter()
                        .flat_map(|job| job.entries)
                        .map(|id| (id, Duration::ZERO)),
                );
                done.failure = Some(error.into());
            }
        }
        metrics::histogram!("seckill_persist_seconds").record(started.elapsed().as_secs_f64());
        done
    }

    /// Parks what cannot be read; joins entries of the same order; leaves a second, differing entry with the same
    /// order id for the next round, when the first is stored and the two can be compared.
    async fn sort_out(&mut self, entries: Vec<Entry>, done: &mut Done) -> Vec<Job> {
        let mut jobs: Vec<Job> = Vec::with_capacity(entries.len());
        let mut places: HashMap<OrderId, usize> = HashMap::with_capacity(entries.len());
        for entry in entries {
            let Some(promise) = entry.promise else {
                self.park(entry.id, "unreadable", 1, done).await;
                continue;
            };
            match places.get(&promise.order) {
                Some(place) if jobs[*place].promise == promise => {
                    jobs[*place].entries.push(entry.id)
                }
                Some(_) => done.again.push((entry.id, Duration::ZERO)),
                None => {
                    places.insert(promise.order, jobs.len());
                    jobs.push(Job {
                        promise,
                        entries: vec![entry.id],
                    });
                }
            }
        }
        jobs
    }

    async fn one_by_one(&mut self, jobs: Vec<Job>, done: &mut Done) {
        for job in jobs {
            let job = [job];
            match self.store(&job).await {
                Ok(verdicts) => self.conclude(&job, &verdicts, done).await,
                Err(error) if db::is_datas_fault(&error) => {
                    self.own_error(&job, &error.to_string(), done).await
                }
                Err(error) => {
                    let [job] = job;
                    done.again
                        .extend(job.entries.into_iter().map(|id| (id, Duration::ZERO)));
                    done.failure = Some(error.into());
                }
            }
        }
    }

    /// Stores, and counts what was stored now.
    async fn store(&self, jobs: &[Job]) -> sqlx::Result<Vec<Verdict>> {
        let judgements = store(&self.pool, jobs).await?;
        let new = jobs.iter().zip(&judgements);
        let new = new.filter(|(_, judgement)| judgement.is_new);
        let new = new.map(|(job, judgement)| {
            let Promise { order, voucher, .. } = job.promise;
            let is_confirmed = judgement.verdict == Verdict::Confirmed;
            (voucher, order_id::made_at(order), is_confirmed)
        });
        self.figures.stored(new, clock::system());
        Ok(judgements
            .iter()
            .map(|judgement| judgement.verdict)
            .collect())
    }

    async fn conclude(&mut self, jobs: &[Job], verdicts: &[Verdict], done: &mut Done) {
        let confirmed = self.confirm(jobs, verdicts).await;
        let settled = join_all(
            jobs.iter()
                .zip(verdicts)
                .map(|(job, verdict)| self.settle(job, *verdict, &confirmed)),
        )
        .await;
        for ((job, verdict), settled) in jobs.iter().zip(verdicts).zip(settled) {
            match (verdict, settled) {
                (Verdict::UnknownVoucher, _) => {
                    self.own_error(std::slice::from_ref(job), "unknown voucher", done)
                        .await
                }
                (Verdict::UnknownUser, _) => {
                    self.own_error(std::slice::from_ref(job), "unknown user", done)
                        .await
                }
                (_, Ok(true)) => {
                    count(*verdict);
                    self.forget(&job.entries);
                    done.decided.push(job.promise.order);
                    if *verdict != Verdict::Confirmed {
                        done.refilled.insert(job.promise.voucher);
                    }
                    done.acknowledged.extend_from_slice(&job.entries);
                }
                (_, Ok(false)) => done.again.extend(
                    job.entries
                        .iter()
                        .map(|id| (id.clone(), Duration::from_millis(250))),
                ),
                (_, Err(error)) => {
                    done.again
                        .extend(job.entries.iter().map(|id| (id.clone(), Duration::ZERO)));
                    done.failure = Some(error.into());
                }
            }
        }
    }

    /// Sees to the marks of stored orders, sale by sale: what it came to.
    async fn confirm(&self, jobs: &[Job], verdicts: &[Verdict]) -> Confirmed {
        let mut orders: HashMap<VoucherId, Vec<(UserId, OrderId)>> = HashMap::new();
        for (job, verdict) in jobs.iter().zip(verdicts) {
            if *verdict == Verdict::Confirmed {
                let Promise {
                    order,
                    user,
                    voucher,
                } = job.promise;
                orders.entry(voucher).or_default().push((user, order));
            }
        }
        let calls = orders
            .into_iter()
            .map(async |(voucher, orders)| (voucher, self.gate.confirm(voucher, &orders).await));
        join_all(calls).await.into_iter().collect()
    }

    /// Gives a refused order's unit back, or lets its mark stand for the live order. True when the entry is done
    /// with; false when the gate asks to come again.
    async fn settle(
        &self,
        job: &Job,
        verdict: Verdict,
        confirmed: &Confirmed,
    ) -> RedisResult<bool> {
        let Promise {
            order,
            user,
            voucher,
        } = job.promise;
        let release = match verdict {
            Verdict::Confirmed => return confirmed.get(&voucher).cloned().unwrap_or(Ok(true)),
            Verdict::UnknownVoucher | Verdict::UnknownUser => return Ok(true),
            Verdict::Refused(Reason::AlreadyBought, Some(live)) => {
                if let Some(orders) = self.unknown.add() {
                    tracing::warn!(order.id = %order, live.id = %live, orders, "the gate did not know of live orders");
                }
                self.gate.repoint(user, voucher, order, live).await?
            }
            Verdict::Refused(..) => self.gate.release(user, voucher, order).await?,
            Verdict::Clash => {
                tracing::error!(order.id = %order, "the id is stored for another user or voucher; refused");
                self.gate.release(user, voucher, order).await?
            }
        };
        Ok(release != Release::Later)
    }

    /// Counts an entry's own error; parks it after [`TRIES`].
    async fn own_error(&mut self, jobs: &[Job], reason: &str, done: &mut Done) {
        for id in jobs.iter().flat_map(|job| &job.entries) {
            let tries = self.tries.get(id).copied().unwrap_or_default() + 1;
            if tries >= TRIES {
                self.park(id.clone(), reason, tries, done).await;
            } else {
                self.tries.insert(id.clone(), tries);
                done.again
                    .push((id.clone(), Duration::from_millis(500) * tries));
            }
        }
    }

    async fn park(&mut self, id: String, reason: &str, tries: u32, done: &mut Done) {
        match self.queue.park(&id, reason, tries).await {
            Ok(is_parked) => {
                if is_parked {
                    metrics::counter!("seckill_dead_letters_total").increment(1);
                    if let Some(entries) = self.parked.add() {
                        tracing::error!(entry.id = %id, reason, tries, entries, "entries parked as dead letters");
                    }
                }
                self.tries.remove(&id);
                done.parked.push(id);
            }
            Err(error) => {
                done.again.push((id, Duration::from_millis(250)));
                done.failure = Some(error.into());
            }
        }
    }

    fn forget(&mut self, entries: &[String]) {
        if !self.tries.is_empty() {
            for id in entries {
                self.tries.remove(id);
            }
        }
    }
}

/// Stores what is promised.
async fn store(pool: &PgPool, jobs: &[Job]) -> sqlx::Result<Vec<Judgement>> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let batch: Vec<NewOrder> = jobs
        .iter()
        .map(|job| NewOrder {
            id: job.promise.order,
            user: job.promise.user,
            voucher: job.promise.voucher,
            accepted_at: order_id::made_at(job.promise.order),
        })
        .collect();
    db::orders::persist(pool, &batch).await
}

fn count(verdict: Verdict) {
    let word = match verdict {
        Verdict::Confirmed => "confirmed",
        Verdict::Refused(reason, _) => reason.as_str(),
        Verdict::Clash => Reason::IdClash.as_str(),
        Verdict::UnknownVoucher | Verdict::UnknownUser => return,
    };
    metrics::counter!("seckill_persisted_total", "status" => word).increment(1);
}
