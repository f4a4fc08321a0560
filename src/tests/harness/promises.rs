//! What must hold at the end of every test, whatever was done in it (rules R1 to R5 of the field cases).

use std::collections::{HashMap, HashSet};

use app::model::{OrderId, Reason, UserId, VoucherId};
use futures::{StreamExt, stream};
use seckill::consumer::reconcile::report::Report;

use super::{App, eventually, ledger::Told};

impl App {
    /// Lets the queue run empty, then holds the application to its promises. Every test ends with this.
    pub async fn check_promises(self) {
        self.keeps_its_promises().await;
        self.end().await;
    }

    /// The same, where the test goes on.
    pub async fn keeps_its_promises(&self) {
        if self.is_consuming() {
            eventually("the queue is worked off", async || {
                self.backlog().await.queued == 0
            })
            .await;
        } else {
            self.drain().await;
        }
        let backlog = self.backlog().await;
        assert_eq!(
            (backlog.queued, backlog.pending),
            (0, 0),
            "nothing is left in the queue, nothing is pending"
        );
        self.nothing_is_lost().await;
        self.nothing_is_oversold().await;
    }

    /// Promise 1, and no drift: every sale has as many units as were granted, each in one place.
    async fn nothing_is_oversold(&self) {
        let report = Report::make(&self.operator.pool, &self.operator.gate)
            .await
            .unwrap();
        for sale in &report.sales {
            let live = self.live(sale.voucher).await;
            let granted = usize::try_from(sale.granted).unwrap();
            assert!(live.len() <= granted, "oversold: {sale:?}");
            let buyers: HashSet<UserId> = live.iter().map(|order| order.user).collect();
            assert_eq!(
                buyers.len(),
                live.len(),
                "somebody has two live orders: {sale:?}"
            );
            assert_eq!(
                usize::try_from(sale.sold).unwrap(),
                live.len(),
                "sold counts the live orders: {sale:?}"
            );
            assert_eq!(sale.gate.drift(), Some(0), "drift: {sale:?}");
            let live: HashMap<UserId, OrderId> =
                live.iter().map(|order| (order.user, order.order)).collect();
            let marks = self.operator.gate.all_marks(sale.voucher).await.unwrap();
            assert_eq!(marks, live, "at rest every mark is a live order: {sale:?}");
        }
        assert!(report.is_healthy(), "{report}");
    }

    /// Promise 2: every order that somebody was told of is stored as what its owner is shown.
    async fn nothing_is_lost(&self) {
        let told = self.ledger.told();
        let shown = |told: Told| async move {
            let owner = self.person(told.user).await;
            let order = owner.status(&told.order.to_string()).await;
            assert_eq!(VoucherId(order.voucher_id), told.voucher);
            (told, order)
        };
        let shown: Vec<_> = stream::iter(told)
            .map(shown)
            .buffer_unordered(16)
            .collect()
            .await;
        for (told, order) in shown {
            match self.order(told.order).await {
                Some(stored) if (stored.user, stored.voucher) == (told.user, told.voucher) => {
                    assert_eq!(
                        stored.status,
                        order.status.as_str(),
                        "shown as it is stored: {told:?}"
                    );
                    assert_eq!(stored.reason.as_deref(), order.reason.map(Reason::as_str));
                }
                // The id is another's: a clash, which its owner is told of.
                Some(_) => assert_eq!(order.reason, Some(Reason::IdClash), "{told:?}"),
                None => panic!("lost: {told:?}, shown as {order:?}"),
            }
        }
    }
}
