//! The consumer: stores what the gate promised. Takes over what dead consumers left, gives refused units back, parks
//! what cannot be stored. Acknowledges only after commit; being told the same twice is harmless. Knows neither the
//! web nor the pages.

mod in_hand;
pub mod keeper;
pub mod persist;
pub mod rebuild;
pub mod reconcile;
pub mod weakness;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use app::model::{OrderId, VoucherId};
use redis::RedisResult;
use tokio::{sync::watch, task::JoinSet, time::Instant};

use self::{
    in_hand::InHand,
    keeper::KeeperHandle,
    persist::{Done, Persister},
};
use crate::{
    figures::Figures,
    gate::{
        Gate,
        entry::Entry,
        keys::Shard,
        news::{Channel, News},
        queue::{self, Queue},
    },
    outage::SharedOutage,
};

/// Entries a batch. What an order costs PostgreSQL falls up to some 500; beyond, the wait for its disk is shared by more.
const BATCH: usize = 1000;

/// An entry idle for longer belongs to a consumer that is gone. Longer than a statement may take (10 s).
pub const IDLE_LIMIT: Duration = Duration::from_secs(15);

/// How often entries of dead consumers are looked for.
const RECOVER_EVERY: Duration = Duration::from_secs(5);

/// A consumer's name idle for longer, with nothing pending, is deleted.
const NAME_LIMIT: Duration = Duration::from_secs(600);

/// After a batch that was not full the next may gather for so long: what an order costs PostgreSQL falls by half from
/// batches of 25 to batches of 500. Not longer: while a batch is dealt with, those who press the button wait for the
/// processor (docs/bench/NOTES.md).
const GATHER: Duration = Duration::from_millis(5);

/// How often a working consumer renews the entries in its hands.
const RENEW_EVERY: Duration = Duration::from_secs(4);

/// The consumer of one shard.
pub struct Consumer {
    queue: Queue,
    persister: Persister,
    keeper: KeeperHandle,
    news: Channel,
    in_hand: Arc<InHand>,
    /// Read while the batch before was being stored.
    ahead: Vec<Entry>,
    /// Stored while there was more to do; the queue is told during the next batch.
    stored: Option<Done>,
    /// It was told to stop: what is in hand is finished, and no more is taken.
    is_leaving: bool,
    recovered_at: Option<Instant>,
    /// The answer to a read did not come: entries may have been given to this consumer that it does not know of.
    read_failed: bool,
    outage: Arc<SharedOutage>,
}

/// A consumer's name: unique per instance, and telling where it runs.
#[must_use]
pub fn unique_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!(
        "{}-{}-{:08x}",
        host.trim(),
        std::process::id(),
        rand::random::<u32>()
    )
}

impl Consumer {
    /// The consumers of all shards, called `name`. What fails for many is said once.
    ///
    /// # Errors
    /// When the address of Redis cannot be read.
    pub fn of_all_shards(
        pool: &sqlx::PgPool,
        gate: &Gate,
        name: &str,
        keeper: &KeeperHandle,
    ) -> RedisResult<Vec<Self>> {
        let outage = Arc::new(SharedOutage::of("the consumer"));
        let consumers = gate.keys().shards().map(|shard| {
            let consumer = Self::new(pool.clone(), gate, shard, name, keeper.clone())?;
            Ok(Self {
                outage: Arc::clone(&outage),
                ..consumer
            })
        });
        consumers.collect()
    }

    /// The consumer of `shard`, called `name`.
    ///
    /// # Errors
    /// When the address of Redis cannot be read.
    pub fn new(
        pool: sqlx::PgPool,
        gate: &Gate,
        shard: Shard,
        name: &str,
        keeper: KeeperHandle,
    ) -> RedisResult<Self> {
        let reads = gate.connection().for_blocking_reads(queue::BLOCK)?;
        let queue = Queue::new(
            gate.connection().clone(),
            reads,
            gate.keys().clone(),
            shard,
            name,
        );
        Ok(Self {
            news: gate.news().clone(),
            persister: Persister::new(pool, gate.clone(), queue.clone()),
            queue,
            keeper,
            in_hand: Arc::default(),
            ahead: Vec::new(),
            stored: None,
            is_leaving: false,
            recovered_at: None,
            read_failed: false,
            outage: Arc::new(SharedOutage::of("the consumer")),
        })
    }

    /// Counts what it stores in these figures.
    #[must_use]
    pub fn counting_in(mut self, figures: &Figures) -> Self {
        self.persister.figures = figures.clone();
        self
    }

    /// Works until `stop` says so: then the batch in hand is finished and acknowledged, and the name deleted.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        // In a set, so that it ends with this task, whatever ends it: entries renewed for nobody are never taken over.
        let mut renewing = JoinSet::new();
        renewing.spawn(renew(self.queue.clone(), Arc::clone(&self.in_hand)));
        let mut pause = Duration::ZERO;
        self.make_group().await;
        while !*stop.borrow() {
            match self.step().await {
                Ok(stored) => {
                    self.outage.worked(self.queue.shard().0);
                    pause = if (1..BATCH).contains(&stored) {
                        GATHER
                    } else {
                        Duration::ZERO
                    };
                }
                Err(error) => {
                    self.outage.failed(self.queue.shard().0, &error);
                    self.mend(&error).await;
                    pause = (pause * 2).clamp(Duration::from_millis(250), Duration::from_secs(4));
                }
            }
            if !pause.is_zero() {
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    _ = stop.changed() => {}
                }
            }
        }
        self.is_leaving = true;
        let last = if self.ahead.is_empty() {
            Ok(0)
        } else {
            self.step().await
        };
        let told = self.tell_what_is_stored().await;
        if let Err(error) = last.and(told) {
            self.outage.failed(self.queue.shard().0, &error);
        }
        renewing.abort_all();
        if let Err(error) = self.queue.retire(NAME_LIMIT, true).await {
            tracing::warn!(error = %error, "the consumer's name is left behind; it is deleted later");
        }
    }

    /// One round: what is due again, what others left, what is new. Gives the number of entries acknowledged.
    ///
    /// # Errors
    /// When a store is away; nothing is lost, the entries stay in hand.
    pub async fn step(&mut self) -> Result<usize, crate::error::Error> {
        let mut entries = self.in_hand.due(BATCH);
        if self
            .recovered_at
            .is_none_or(|at| at.elapsed() >= RECOVER_EVERY)
        {
            entries.extend(self.recover(IDLE_LIMIT).await?);
            self.recovered_at = Some(Instant::now());
        }
        if self.read_failed {
            let own = self.queue.read_own(BATCH).await?;
            entries.extend(
                own.into_iter()
                    .filter(|entry| !self.in_hand.holds(&entry.id)),
            );
            self.read_failed = false;
        }
        if entries.is_empty() {
            entries = std::mem::take(&mut self.ahead);
        }
        if entries.is_empty() {
            let read = self.queue.read(BATCH).await;
            self.read_failed = read.is_err();
            entries = read?;
        }
        self.work(entries).await
    }

    /// Takes over and works off everything that was idle for longer than `idle`.
    ///
    /// # Errors
    /// When a store is away.
    pub async fn recover_now(&mut self, idle: Duration) -> Result<usize, crate::error::Error> {
        let entries = self.recover(idle).await?;
        self.work(entries).await
    }

    async fn recover(&mut self, idle: Duration) -> RedisResult<Vec<Entry>> {
        let mut found = Vec::new();
        let mut from = "0-0".to_owned();
        loop {
            let (next, entries) = self.queue.recover(idle, &from, BATCH).await?;
            found.extend(
                entries
                    .into_iter()
                    .filter(|entry| !self.in_hand.holds(&entry.id)),
            );
            if next == "0-0" || found.len() >= BATCH {
                break;
            }
            from = next;
        }
        if !found.is_empty() {
            tracing::info!(
                entries = found.len(),
                "took over entries that another consumer left"
            );
        }
        self.queue.retire(NAME_LIMIT, false).await?;
        Ok(found)
    }

    async fn work(&mut self, entries: Vec<Entry>) -> Result<usize, crate::error::Error> {
        if entries.is_empty() {
            return Ok(0);
        }
        self.in_hand.take(&entries);
        // Behind a full batch there are more, as a rule.
        let more = entries.len() >= BATCH && self.ahead.is_empty() && !self.is_leaving;
        let before = self.stored.take();
        let (mut done, ahead, told) = tokio::join!(
            self.persister.persist(entries),
            read_ahead(&self.queue, more),
            settle(&self.queue, &self.news, &self.in_hand, before)
        );
        match ahead {
            Ok(ahead) => {
                self.in_hand.take(&ahead);
                self.ahead = ahead;
            }
            Err(_) => self.read_failed = true,
        }
        self.in_hand.forget(&done.parked);
        self.in_hand.again(std::mem::take(&mut done.again));
        let (stored, failure) = (done.acknowledged.len(), done.failure.take());
        self.stored = Some(done);
        if self.ahead.is_empty() || failure.is_some() {
            self.tell_what_is_stored().await?;
        }
        told?;
        failure.map_or(Ok(stored), Err)
    }

    async fn tell_what_is_stored(&mut self) -> Result<(), crate::error::Error> {
        let stored = self.stored.take();
        settle(&self.queue, &self.news, &self.in_hand, stored).await?;
        Ok(())
    }

    async fn mend(&mut self, error: &crate::error::Error) {
        if let crate::error::Error::Redis(error) = error
            && error.code() == Some("NOGROUP")
        {
            self.make_group().await;
        }
    }

    /// Makes stream and group where they are missing, and lets the keeper look after promises that went with them. A
    /// failure shows in the next read.
    async fn make_group(&mut self) {
        if self.queue.ensure_group().await.is_ok_and(|created| created) {
            let shard = self.queue.shard();
            tracing::debug!(shard = shard.0, "no consumer group in the stream; created");
            self.keeper.queue_was_lost(shard);
        }
    }
}

/// Reads what is there, if there is `more`.
async fn read_ahead(queue: &Queue, more: bool) -> RedisResult<Vec<Entry>> {
    if more {
        queue.read_now(BATCH).await
    } else {
        Ok(Vec::new())
    }
}

/// Acknowledges what is stored, and tells all instances what became of the orders: their owners may be looking.
async fn settle(
    queue: &Queue,
    news: &Channel,
    in_hand: &InHand,
    stored: Option<Done>,
) -> RedisResult<()> {
    let Some(done) = stored else { return Ok(()) };
    let (acknowledged, ()) = tokio::join!(
        queue.acknowledge(&done.acknowledged),
        tell(news, done.decided, done.refilled)
    );
    if acknowledged.is_ok() {
        in_hand.forget(&done.acknowledged);
    } else {
        // Stored but not acknowledged: asked again later, found stored, acknowledged then.
        in_hand.again(done.acknowledged.into_iter().map(|id| (id, Duration::ZERO)));
    }
    acknowledged
}

async fn tell(news: &Channel, decided: Vec<OrderId>, refilled: BTreeSet<VoucherId>) {
    if !decided.is_empty() {
        news.tell(&News::Orders(decided)).await;
    }
    if !refilled.is_empty() {
        news.tell(&News::Sales(refilled.into_iter().collect()))
            .await;
    }
}

async fn renew(queue: Queue, in_hand: Arc<InHand>) {
    loop {
        tokio::time::sleep(RENEW_EVERY).await;
        // A failure shows in the consumer's own calls.
        let _ = queue.renew(&in_hand.ids()).await;
    }
}
