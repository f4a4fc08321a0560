//! What admins do. Each asks for the role itself, whatever the router asked before.

use app::{
    error::AppError,
    model::{NewSale, NewShop, Problem, ShopId, VoucherId},
};

use super::RequestBackend;
use crate::{db, gate::SaleSettings};

impl RequestBackend {
    pub(super) async fn add_shop(&self, shop: NewShop) -> Result<ShopId, AppError> {
        let admin = self.require_admin().await?;
        self.show(db::shops::insert(&self.services.pool, &shop, &admin.actor()).await)
    }

    /// PostgreSQL first; where the gate cannot be told now, the keeper tells it.
    pub(super) async fn add_sale(&self, sale: NewSale) -> Result<VoucherId, AppError> {
        let admin = self.require_admin().await?;
        let voucher = match db::vouchers::insert(&self.services.pool, &sale, &admin.actor()).await {
            Err(error) if db::broken_constraint(&error) == Some(db::vouchers::SHOP_EXISTS) => {
                return Err(AppError::field("shop_id", Problem::Unknown));
            }
            result => self.show(result)?,
        };
        let settings = SaleSettings::of_new(voucher, &sale);
        if self
            .show(self.services.gate.apply(&settings, true).await)
            .is_err()
        {
            self.services.keeper.look();
        }
        self.services.catalogue.forget(voucher).await;
        Ok(voucher)
    }
}
