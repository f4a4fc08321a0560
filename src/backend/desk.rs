//! The desk of a shop, where a clerk looks at the order that a customer shows. What is another shop's is not found.

use app::{
    error::AppError,
    model::{OrderId, OrderView, Shop},
};

use super::RequestBackend;
use crate::{auth::right::Right, db};

impl RequestBackend {
    pub(super) async fn find_desk_shop(&self) -> Result<Option<Shop>, AppError> {
        let clerk = self.require_role(Right::Staff).await?;
        match clerk.shop {
            Some(shop) => self.show(db::shops::by_id(&self.services.pool, shop).await),
            None => Ok(None),
        }
    }

    pub(super) async fn find_desk_order(&self, id: OrderId) -> Result<OrderView, AppError> {
        let clerk = self.require_role(Right::Staff).await?;
        let order = self.show(db::orders::by_id(&self.services.pool, id).await)?;
        let order = order.filter(|(owner, _)| !owner.is_rehearsal());
        let (_, order) = order.ok_or(AppError::NotFound)?;
        let voucher = self.show(self.services.catalogue.voucher(order.voucher_id).await)?;
        let is_ours =
            voucher.is_some_and(|voucher| clerk.shop.is_none_or(|shop| shop == voucher.shop_id));
        if is_ours {
            Ok(order)
        } else {
            Err(AppError::NotFound)
        }
    }
}
