//! The flash-sale button, and what became of it.

use std::{collections::HashSet, sync::Arc};

use app::{
    backend::Backend,
    error::AppError,
    model::{
        BuyOutcome, OrderId, OrderView, Reason, SaleState, Status, UserId, Voucher, VoucherId,
    },
};
use redis::RedisResult;

use super::RequestBackend;
use crate::{
    db::{self, orders::NewOrder},
    gate::{BuyAnswer, order_id},
};

impl RequestBackend {
    /// One session read and one gate script. SQL only when the gate does not know the sale. A rehearsal's sale is there for
    /// its own shoppers alone, and they for it alone.
    pub(super) async fn press(&self, voucher: VoucherId) -> Result<BuyOutcome, AppError> {
        let user = self.shopper().await?;
        if user.is_rehearsal() != voucher.is_rehearsal() {
            return Err(AppError::NotFound);
        }
        self.services
            .buy_limit
            .check(user)
            .map_err(|retry_after_s| AppError::TooManyRequests { retry_after_s })?;
        let order = self.services.order_ids.make(user, voucher, self.now());
        let outcome = match self.show(self.ask_gate(user, voucher, order).await)? {
            BuyAnswer::Decided(outcome) => outcome,
            BuyAnswer::Missing => self.not_at_the_gate(voucher).await?,
            BuyAnswer::Broken => {
                self.services.keeper.look();
                BuyOutcome::Closed
            }
        };
        match outcome {
            BuyOutcome::Queued(_) => self.services.live.sold(voucher),
            BuyOutcome::SoldOut => self.services.catalogue.notice_sold_out(voucher).await,
            _ => {}
        }
        self.services.figures.answered(voucher, outcome, self.now());
        metrics::counter!("seckill_buys_total", "outcome" => app::model::BuyReply::from(outcome).outcome.as_str())
            .increment(1);
        Ok(outcome)
    }

    /// Asks once more, as the same order, when the line broke: perhaps the script ran, and then this tells. Only then is
    /// this order, found standing, news: two clicks within one millisecond are one order, and the second is a repeat.
    async fn ask_gate(
        &self,
        user: UserId,
        voucher: VoucherId,
        order: OrderId,
    ) -> RedisResult<BuyAnswer> {
        match self.services.gate.buy(user, voucher, order).await {
            Err(error) if error.is_io_error() && !error.is_timeout() => {
                match self.services.gate.buy(user, voucher, order).await? {
                    BuyAnswer::Decided(BuyOutcome::AlreadyBought(stands)) if stands == order => {
                        Ok(BuyAnswer::Decided(BuyOutcome::Queued(order)))
                    }
                    answer => Ok(answer),
                }
            }
            answer => answer,
        }
    }

    /// The gate does not know the sale: there is none, it is settled long ago, or Redis lost it.
    async fn not_at_the_gate(&self, id: VoucherId) -> Result<BuyOutcome, AppError> {
        let voucher = self
            .show(self.services.catalogue.voucher(id).await)?
            .ok_or(AppError::NotFound)?;
        if voucher.state == SaleState::Open && voucher.ends_at <= self.now() {
            return Ok(BuyOutcome::Ended);
        }
        self.services.keeper.look();
        Ok(BuyOutcome::Closed)
    }

    /// PostgreSQL, on a miss the mark, on a miss PostgreSQL again: the consumer may have stored it in between.
    pub(super) async fn show_order(&self, id: OrderId) -> Result<OrderView, AppError> {
        let user = self.shopper().await?;
        if !self.services.order_ids.is_genuine(id, user) {
            return Err(AppError::NotFound);
        }
        let voucher = order_id::voucher_of(id);
        let stored = self.stored_order(user, id).await;
        if let Ok(Some(order)) = stored {
            return Ok(order);
        }
        let mark = self
            .show(self.services.gate.marks(user, &[voucher]).await)?
            .into_iter()
            .next()
            .flatten();
        if mark == Some(id) {
            // Without the database the order is shown without its title, and nothing more is asked of it.
            let voucher = match stored {
                Ok(_) => self.titled(voucher).await,
                Err(_) => None,
            };
            return Ok(queued_order(id, voucher.as_deref()));
        }
        stored?;
        if let Some(order) = self.stored_order(user, id).await? {
            return Ok(order);
        }
        self.unknown_order(user, id).await
    }

    pub(super) async fn list_orders(&self) -> Result<Vec<OrderView>, AppError> {
        let user = self.shopper().await?;
        let unsettled = self.show(self.services.catalogue.unsettled().await)?;
        let marks = self.show(self.services.gate.marks(user, &unsettled).await)?;
        // Stored orders after the marks: one that is stored in between is in both, and counts once.
        let mut orders = self.show(db::orders::of_user(&self.services.pool, user).await)?;
        let stored: HashSet<OrderId> = orders.iter().map(|order| order.id).collect();
        for id in marks
            .into_iter()
            .flatten()
            .filter(|id| !stored.contains(id))
        {
            orders.push(self.queued_order(id).await);
        }
        orders.sort_by_key(|order| std::cmp::Reverse((order.accepted_at, order.id)));
        Ok(orders)
    }

    async fn stored_order(&self, user: UserId, id: OrderId) -> Result<Option<OrderView>, AppError> {
        let found = self.show(db::orders::by_id(&self.services.pool, id).await)?;
        Ok(match found {
            Some((owner, order)) if owner == user => Some(order),
            // The id is genuinely this user's, and another's too: it clashed, and was refused.
            Some(_) => Some(OrderView {
                status: Status::Refused,
                reason: Some(Reason::IdClash),
                ..self.queued_order(id).await
            }),
            None => None,
        })
    }

    /// A genuine id that neither store knows. While the sale is under repair nobody can tell yet; else Redis forgot
    /// it, and that is stored before it is shown: its owner may buy again.
    async fn unknown_order(&self, user: UserId, id: OrderId) -> Result<OrderView, AppError> {
        let voucher = order_id::voucher_of(id);
        let look = self
            .show(self.services.gate.look(&[voucher]).await)?
            .into_iter()
            .next();
        let is_broken = look.is_none_or(|look| look.is_broken());
        if is_broken && !self.show(db::sales::has_left_gate(&self.services.pool, voucher).await)? {
            self.services.keeper.look();
            return Ok(self.queued_order(id).await);
        }
        let order = NewOrder {
            id,
            user,
            voucher,
            accepted_at: order_id::made_at(id),
        };
        let is_lost =
            self.show(db::orders::insert_refused(&self.services.pool, &order, Reason::Lost).await)?;
        if is_lost && let Some(promises) = self.count_lost() {
            tracing::error!(order.id = %id, promises, "promises were lost with Redis, this one the last; stored as refused");
        }
        self.stored_order(user, id).await?.ok_or(AppError::NotFound)
    }

    /// Counts a lost promise; gives how many there were, where that is to be said.
    fn count_lost(&self) -> Option<u64> {
        metrics::counter!("seckill_lost_total").increment(1);
        self.services.losses.add()
    }

    /// What is known of a voucher; nothing, where the database does not answer.
    async fn titled(&self, voucher: VoucherId) -> Option<Arc<Voucher>> {
        self.services
            .catalogue
            .voucher(voucher)
            .await
            .ok()
            .flatten()
    }

    async fn queued_order(&self, id: OrderId) -> OrderView {
        let voucher = self.titled(order_id::voucher_of(id)).await;
        queued_order(id, voucher.as_deref())
    }
}

fn queued_order(id: OrderId, voucher: Option<&Voucher>) -> OrderView {
    OrderView {
        id,
        voucher_id: order_id::voucher_of(id),
        voucher_title: voucher.map(|voucher| voucher.title.clone()),
        shop_name: voucher.map(|voucher| voucher.shop_name.clone()),
        price: voucher.map(|voucher| voucher.price),
        zone: voucher.map(|voucher| voucher.zone.clone()),
        status: Status::Queued,
        reason: None,
        live_order: None,
        accepted_at: order_id::made_at(id),
        stored_at: None,
    }
}
