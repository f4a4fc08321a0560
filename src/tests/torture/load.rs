//! The steady load of a round: distinct shoppers who press the button once, and again when they got no answer; some
//! also press it twice, some watch their order.

use std::{sync::Arc, time::Duration};

use app::model::{OrderId, Outcome, UserId, VoucherId};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use tokio::{
    sync::{Semaphore, watch},
    task::{JoinHandle, JoinSet},
    time::{MissedTickBehavior, interval, sleep},
};

use crate::{
    Result,
    ledger::Ledger,
    member::Member,
    sales::Sales,
    shoppers::{Answer, Shoppers},
};

/// Shoppers at once; more wait outside.
const AT_ONCE: usize = 400;

/// Times that a shopper presses the button without an answer.
const TRIES: usize = 8;

/// A load under way.
pub struct Load {
    stop: watch::Sender<bool>,
    work: JoinHandle<()>,
}

/// What the shoppers of a round share.
pub struct Round {
    pub shoppers: Arc<Shoppers>,
    pub members: Arc<Vec<Member>>,
    pub ledger: Ledger,
    pub sales: Sales,
}

impl Load {
    /// So many shoppers a second, until it is stopped.
    pub fn start(round: Arc<Round>, seed: u64, rate: u32) -> Self {
        let (stop, stopped) = watch::channel(false);
        let work = tokio::spawn(keep_coming(round, seed, rate, stopped));
        Self { stop, work }
    }

    /// Nobody comes any more; those who have no answer yet try once more.
    pub async fn stop(self) -> Result<()> {
        self.stop.send_replace(true);
        Ok(self.work.await?)
    }
}

async fn keep_coming(round: Arc<Round>, seed: u64, rate: u32, stopped: watch::Receiver<bool>) {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut ticks = interval(Duration::from_secs(1) / rate);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut visits = JoinSet::new();
    while !*stopped.borrow() {
        ticks.tick().await;
        while visits.try_join_next().is_some() {}
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            round.ledger.count("held back");
            continue;
        };
        let mut visit = Visit {
            user: round.shoppers.next(),
            voucher: round.sales.pick(&mut rng),
            rng: StdRng::seed_from_u64(rng.random()),
            round: Arc::clone(&round),
            stopped: stopped.clone(),
        };
        visits.spawn(async move {
            visit.make().await;
            drop(place);
        });
    }
    while visits.join_next().await.is_some() {}
}

/// One shopper's visit.
struct Visit {
    user: UserId,
    voucher: VoucherId,
    rng: StdRng,
    round: Arc<Round>,
    stopped: watch::Receiver<bool>,
}

impl Visit {
    async fn make(&mut self) {
        for _ in 0..TRIES {
            let last = *self.stopped.borrow();
            if let Some(order) = self.press().await {
                return self.afterwards(order).await;
            }
            if last {
                return;
            }
            self.pause(300..2000).await;
        }
    }

    /// Presses the button at one of the webs. An order, or `None` where it is worth another try.
    async fn press(&mut self) -> Option<Option<OrderId>> {
        let webs = &self.round.members[..crate::plan::WEBS];
        let web = webs.choose(&mut self.rng).expect("there are webs");
        let ledger = &self.round.ledger;
        let Some(base) = web.base() else {
            ledger.count("unanswered");
            return None;
        };
        match self
            .round
            .shoppers
            .buy(&base, self.user, self.voucher)
            .await
        {
            Answer::Value(reply) => {
                ledger.note_buy(self.user, self.voucher, &reply, &web.name);
                let order = reply.order_id.as_deref().and_then(OrderId::parse);
                (reply.outcome != Outcome::Closed).then_some(order)
            }
            Answer::Unanswered => {
                ledger.count("unanswered");
                None
            }
            Answer::Wrong(what) => {
                ledger.note_wrong(format!("{} to a buy by {}: {what}", web.name, self.user.0));
                None
            }
        }
    }

    /// Some press again, and are to be told the same; some look what became of their order.
    async fn afterwards(&mut self, order: Option<OrderId>) {
        let Some(order) = order else { return };
        if self.rng.random_bool(0.1) {
            self.pause(50..1500).await;
            self.press().await;
        }
        if self.rng.random_bool(0.2) {
            self.pause(50..1500).await;
            self.watch(order).await;
        }
    }

    async fn watch(&mut self, order: OrderId) {
        let webs = &self.round.members[..crate::plan::WEBS];
        let web = webs.choose(&mut self.rng).expect("there are webs");
        let Some(base) = web.base() else { return };
        if let Answer::Wrong(what) = self.round.shoppers.status(&base, self.user, order).await {
            let wrong = format!("{} to the status of {order}: {what}", web.name);
            self.round.ledger.note_wrong(wrong);
        }
    }

    /// Waits some ms, no longer than the load lasts.
    async fn pause(&mut self, ms: std::ops::Range<u64>) {
        let pause = Duration::from_millis(self.rng.random_range(ms));
        let mut stopped = self.stopped.clone();
        tokio::select! {
            () = sleep(pause) => {}
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
    }
}
