//! Every "you are in, order X" that the application said in a test, to be held against it at the end.

use std::sync::{Arc, Mutex};

use app::model::{BuyReply, OrderId, UserId, VoucherId};

/// What somebody was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Told {
    pub voucher: VoucherId,
    pub user: UserId,
    pub order: OrderId,
}

#[derive(Clone, Default)]
pub struct Ledger(Arc<Mutex<Vec<Told>>>);

impl Ledger {
    pub fn note(&self, user: UserId, voucher: VoucherId, reply: &BuyReply) {
        if let Some(order) = &reply.order_id {
            let order = OrderId::parse(order).expect("an answer names an order by its id");
            self.0.lock().unwrap().push(Told {
                voucher,
                user,
                order,
            });
        }
    }

    /// Everything told, each once.
    pub fn told(&self) -> Vec<Told> {
        let mut told = self.0.lock().unwrap().clone();
        told.sort_unstable();
        told.dedup();
        told
    }
}
