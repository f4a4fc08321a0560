//! What the program answered in a round.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Mutex,
};

use app::model::{BuyReply, OrderId, OrderReply, Outcome, UserId, VoucherId};
use tokio::time::Instant;

/// "You are in, order X", and when and how it was said.
#[derive(Clone, Debug)]
pub struct Told {
    pub user: UserId,
    pub voucher: VoucherId,
    pub order: OrderId,
    pub outcome: Outcome,
    pub at: Instant,
    /// The instance that said it.
    pub web: String,
}

#[derive(Default)]
pub struct Ledger {
    told: Mutex<Vec<Told>>,
    counts: Mutex<BTreeMap<&'static str, usize>>,
    wrong: Mutex<Vec<String>>,
    shown: Mutex<HashMap<OrderId, OrderReply>>,
}

impl Ledger {
    pub fn note_buy(&self, user: UserId, voucher: VoucherId, reply: &BuyReply, web: &str) {
        self.count(reply.outcome.as_str());
        let Some(order) = &reply.order_id else { return };
        match OrderId::parse(order) {
            Some(order) => self.told.lock().unwrap().push(Told {
                user,
                voucher,
                order,
                outcome: reply.outcome,
                at: Instant::now(),
                web: web.to_owned(),
            }),
            None => self.note_wrong(format!("an answer names the order {order:?}")),
        }
    }

    /// What its owner was shown last.
    pub fn note_shown(&self, order: OrderId, reply: OrderReply) {
        self.shown.lock().unwrap().insert(order, reply);
    }

    /// An answer that no fault of a store may lead to.
    pub fn note_wrong(&self, what: String) {
        self.wrong.lock().unwrap().push(what);
    }

    pub fn count(&self, what: &'static str) {
        *self.counts.lock().unwrap().entry(what).or_default() += 1;
    }

    /// How often each answer was given.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        self.counts.lock().unwrap().clone()
    }

    pub fn wrong(&self) -> Vec<String> {
        self.wrong.lock().unwrap().clone()
    }

    /// In the order in which it was said.
    pub fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }

    pub fn shown(&self) -> HashMap<OrderId, OrderReply> {
        self.shown.lock().unwrap().clone()
    }
}
