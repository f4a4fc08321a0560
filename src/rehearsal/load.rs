//! Lets shoppers arrive when they are due, whatever the program does: an open loop. What is late is late by its own fault or
//! the program's, and counted from when it was due in either case.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use app::model::VoucherId;
use hyper::StatusCode;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{
    arrivals::{Arrival, Schedule, What},
    client::{Answer, Instance},
    stage::Shopper,
};

/// What came of one arrival; times since the first might be due.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// What was due, when, and whose.
    pub arrival: Arrival,
    /// When it was sent: a connection was there.
    pub sent: Duration,
    /// When it was over.
    pub done: Duration,
    /// What came of it.
    pub came: Came,
}

/// What came of something that was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// The answer to a press.
    Answer(Answer),
    /// Whether a page was shown.
    Page(bool),
    /// Nobody waited for an answer.
    HungUp,
}

/// Counts what is over, for who watches.
#[derive(Clone, Debug, Default)]
pub struct Done(Arc<AtomicU64>);

impl Done {
    /// How much is over.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Where shoppers arrive.
pub struct Load {
    /// Each arrival is at the next of these.
    pub instances: Vec<Arc<Instance>>,
    /// What they want.
    pub voucher: VoucherId,
    /// Who arrives.
    pub shoppers: Arc<Vec<Shopper>>,
    /// Counts.
    pub done: Done,
}

impl Load {
    /// Lets all arrive, from `begin` on, and waits until each has got an answer or given up. Ends early when `stop` says so.
    pub async fn run(
        &self,
        schedule: &Schedule,
        begin: Instant,
        mut stop: watch::Receiver<bool>,
    ) -> Vec<Seen> {
        let (tell, mut told) = mpsc::unbounded_channel();
        let mut under_way = JoinSet::new();
        for (arrival, instance) in schedule.arrivals.iter().zip(self.instances.iter().cycle()) {
            let due = begin + arrival.due;
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => break,
                () = sleep_until(due) => {}
            }
            let visit = Visit {
                arrival: *arrival,
                begin,
                voucher: self.voucher,
                instance: Arc::clone(instance),
                shoppers: Arc::clone(&self.shoppers),
            };
            let (tell, done) = (tell.clone(), self.done.clone());
            under_way.spawn(async move {
                let seen = visit.make().await;
                done.0.fetch_add(1, Ordering::Relaxed);
                // Nobody listens any more when it was stopped.
                let _ = tell.send(seen);
            });
            while under_way.try_join_next().is_some() {}
        }
        drop(tell);
        let all = async { while under_way.join_next().await.is_some() {} };
        tokio::select! {
            () = all => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
        under_way.abort_all();
        let mut seen = Vec::new();
        while let Some(one) = told.recv().await {
            seen.push(one);
        }
        seen
    }
}

/// One arrival.
struct Visit {
    arrival: Arrival,
    begin: Instant,
    voucher: VoucherId,
    instance: Arc<Instance>,
    shoppers: Arc<Vec<Shopper>>,
}

impl Visit {
    async fn make(self) -> Seen {
        let cookie = self.shoppers.get(self.arrival.shopper);
        let cookie = cookie.map_or("", |shopper| shopper.cookie.as_str());
        let (sent, came) = match self.arrival.what {
            What::Look => match self.instance.look(self.voucher, cookie).await {
                Ok(asked) => (asked.sent, Came::Page(asked.answer == StatusCode::OK)),
                Err(_) => (Instant::now(), Came::Page(false)),
            },
            What::Press => {
                let asked = self.instance.press(self.voucher, cookie).await;
                (asked.sent, Came::Answer(asked.answer))
            }
            What::PressAndHangUp => {
                let sent = self.instance.press_and_hang_up(self.voucher, cookie).await;
                let came = match sent {
                    Ok(()) => Came::HungUp,
                    Err(_) => Came::Answer(Answer::Other(app::model::Cause::NoAnswer)),
                };
                (Instant::now(), came)
            }
        };
        Seen {
            arrival: self.arrival,
            sent: sent.saturating_duration_since(self.begin),
            done: Instant::now().saturating_duration_since(self.begin),
            came,
        }
    }
}
