//! Who has which role. Admins only.

use app::{
    error::AppError,
    model::{Account, Problem, RoleGrant},
};

use super::RequestBackend;
use crate::db::{
    self,
    users::{RoleChange, SHOP_EXISTS},
};

impl RequestBackend {
    pub(super) async fn list_staff(&self) -> Result<Vec<Account>, AppError> {
        self.require_admin().await?;
        self.show(db::users::staff(&self.services.pool).await)
    }

    /// Rights are asked of the database each time, so the new role holds at once; the sessions are ended so that nobody
    /// goes on under an id from before.
    pub(super) async fn grant_role(&self, grant: RoleGrant) -> Result<Account, AppError> {
        let admin = self.require_admin().await?;
        let RoleGrant { name, role, shop } = grant;
        let pool = &self.services.pool;
        let change = match db::users::set_role(pool, &name, role, shop, &admin.name).await {
            Err(error) if db::broken_constraint(&error) == Some(SHOP_EXISTS) => {
                return Err(AppError::field("shop_id", Problem::Unknown));
            }
            change => self.show(change)?,
        };
        let account = match change {
            RoleChange::Done(account) => account,
            RoleChange::NoSuchAccount => return Err(AppError::field("name", Problem::Unknown)),
            RoleChange::LastAdmin => return Err(AppError::field("role", Problem::LastAdmin)),
        };
        self.show(self.services.logins.end_all(account.id).await)?;
        Ok(account)
    }
}
