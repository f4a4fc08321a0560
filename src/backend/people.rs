//! Who has which role. Admins only.

use app::{
    error::AppError,
    model::{Account, Fields, Problem, RoleGrant},
};

use super::RequestBackend;
use crate::db::{self, users::RoleChange};

impl RequestBackend {
    pub(super) async fn list_staff(&self) -> Result<Vec<Account>, AppError> {
        self.require_admin().await?;
        self.show(db::users::staff(&self.services.pool).await)
    }

    /// Rights are asked of the database each time, so the new role holds at once; the sessions are ended so that nobody
    /// goes on under an id from before.
    pub(super) async fn grant_role(&self, grant: RoleGrant) -> Result<Account, AppError> {
        let admin = self.require_admin().await?;
        let nobody = AppError::field("name", Problem::NoSuchAccount);
        let found = self.show(db::users::by_name(&self.services.pool, &grant.name).await)?;
        let mut fields = Fields::default();
        let found = fields.take("name", found.ok_or(Problem::NoSuchAccount));
        let shop = fields.take("shop_id", grant.shop);
        let (Some(found), Some(shop)) = (found, shop) else {
            return Err(fields.into());
        };
        let found = found.account;
        let pool = self.services.pool.clone();
        let (role, actor) = (grant.role, admin.actor());
        let change = async move { db::users::set_role(&pool, found.id, role, shop, &actor).await };
        match self.show(
            self.services
                .logins
                .end_after(found.id, change, RoleChange::is_made)
                .await,
        )? {
            RoleChange::Done(account) => Ok(account),
            RoleChange::NoSuchAccount => Err(nobody),
            RoleChange::LastAdmin => Err(AppError::field("role", Problem::LastAdmin)),
            RoleChange::NoSuchShop => Err(AppError::field("shop_id", Problem::Unknown)),
        }
    }
}
