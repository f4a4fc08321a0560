//! Sign-up and sign-in.

use app::{
    error::AppError,
    model::{Account, NewAccount, Problem, Role},
};
use tokio::time::Instant;

use super::RequestBackend;
use crate::{
    auth::{current_user, password::Busy},
    db,
};

impl RequestBackend {
    pub(super) async fn create_account(&self, new: NewAccount) -> Result<Account, AppError> {
        let tries = &self.services.tries;
        tries
            .sign_up(self.client, Instant::now())
            .map_err(too_often)?;
        let hash = self
            .show(self.services.passwords.hash(new.password).await)?
            .map_err(busy)?;
        let id = match db::users::insert(&self.services.pool, &new.name, &hash, Role::Shopper).await
        {
            Err(error) if db::broken_constraint(&error) == Some(db::users::NAME_UNIQUE) => {
                return Err(AppError::field("name", Problem::Taken));
            }
            result => self.show(result)?,
        };
        tries.signed_up(new.name.as_str(), self.client);
        self.show(current_user::sign_in(&self.session, id).await)?;
        Ok(Account {
            id,
            name: new.name.as_str().to_owned(),
            role: Role::Shopper,
        })
    }

    pub(super) async fn check_password(&self, new: NewAccount) -> Result<Account, AppError> {
        let tries = &self.services.tries;
        // Before the hashing; failed, unless it is said otherwise.
        let attempt = tries
            .begin(new.name.as_str(), self.client, Instant::now())
            .map_err(too_often)?;
        match self.owner_of(new).await {
            Ok(Some(account)) => {
                attempt.succeeded(Instant::now());
                self.show(current_user::sign_in(&self.session, account.id).await)?;
                Ok(account)
            }
            Ok(None) => Err(AppError::field("password", Problem::WrongCredentials)),
            Err(error) => {
                attempt.not_made(Instant::now());
                Err(error)
            }
        }
    }

    /// The account of this name, if this is its password.
    async fn owner_of(&self, new: NewAccount) -> Result<Option<Account>, AppError> {
        let found = self.show(db::users::by_name(&self.services.pool, &new.name).await)?;
        let (account, hash) = found
            .map(|found| (found.account, found.password_hash))
            .unzip();
        let right = self
            .show(self.services.passwords.verify(new.password, hash).await)?
            .map_err(busy)?;
        Ok(account.filter(|_| right))
    }
}

fn too_often(retry_after_s: u32) -> AppError {
    metrics::counter!("seckill_tries_refused_total").increment(1);
    AppError::TooManyRequests { retry_after_s }
}

fn busy(_: Busy) -> AppError {
    AppError::TooManyRequests { retry_after_s: 3 }
}
