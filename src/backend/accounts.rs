//! The visitor's own account: sign-up, sign-in, another password, the end of it. Where a password is asked for, its
//! login sessions are told apart from those of before: none survives that was begun with a password that no longer counts.

use app::{
    error::AppError,
    model::{Account, Name, NewAccount, Password, PasswordChange, Problem, Role},
};

use super::RequestBackend;
use crate::{
    auth::password::{Busy, Unfit},
    db::{
        self,
        users::{Credentials, NAME_UNIQUE},
    },
};

impl RequestBackend {
    pub(super) async fn create_account(&self, new: NewAccount) -> Result<Account, AppError> {
        let hash = self.hash(new.password, &new.name, "password").await?;
        let id = match db::users::insert(&self.services.pool, &new.name, &hash).await {
            Err(error) if db::broken_constraint(&error) == Some(NAME_UNIQUE) => {
                return Err(AppError::field("name", Problem::Taken));
            }
            result => self.show(result)?,
        };
        self.show(self.services.logins.sign_in(&self.session, id).await)?;
        Ok(Account {
            id,
            name: new.name.as_str().to_owned(),
            role: Role::Shopper,
            shop: None,
        })
    }

    pub(super) async fn check_password(&self, new: NewAccount) -> Result<Account, AppError> {
        let found = self.show(db::users::by_name(&self.services.pool, &new.name).await)?;
        let (account, hash) = found
            .map(|found| (found.account, found.password_hash))
            .unzip();
        let right = self.verify(new.password, hash.clone()).await?;
        let wrong = AppError::field("password", Problem::WrongCredentials);
        let Some(account) = account.filter(|_| right) else {
            return Err(wrong);
        };
        self.show(
            self.services
                .logins
                .sign_in(&self.session, account.id)
                .await,
        )?;
        // The password may have been changed since it was read, and all sessions ended before this one began.
        let now = self.show(db::users::credentials(&self.services.pool, account.id).await)?;
        if now.map(|now| now.password_hash) != hash {
            self.show(self.services.logins.sign_out(&self.session).await)?;
            return Err(wrong);
        }
        Ok(account)
    }

    pub(super) async fn replace_password(&self, change: PasswordChange) -> Result<(), AppError> {
        let Credentials {
            account,
            password_hash,
        } = self
            .own_credentials(change.current, "current_password")
            .await?;
        let name = Name::parse(&account.name)
            .map_err(|problem| AppError::field("new_password", problem))?;
        let new = self.hash(change.new, &name, "new_password").await?;
        // Before, so that nothing is changed while sessions cannot be ended; and after, for those begun in between.
        let logins = &self.services.logins;
        self.show(logins.end_others(account.id, &self.session).await)?;
        let changed =
            db::users::change_password(&self.services.pool, account.id, &password_hash, &new).await;
        if !self.show(changed)? {
            return Err(AppError::field("current_password", Problem::WrongPassword));
        }
        self.show(logins.sign_in(&self.session, account.id).await)?;
        self.show(logins.end_others(account.id, &self.session).await)
    }

    pub(super) async fn anonymise(&self, password: Password) -> Result<(), AppError> {
        let Credentials {
            account,
            password_hash,
        } = self.own_credentials(password, "password").await?;
        let logins = &self.services.logins;
        self.show(logins.end_others(account.id, &self.session).await)?;
        let gone = db::users::anonymise(&self.services.pool, account.id, &password_hash).await;
        if !self.show(gone)? {
            let problem = match account.role {
                Role::Admin => Problem::LastAdmin,
                _ => Problem::WrongPassword,
            };
            return Err(AppError::field("password", problem));
        }
        self.show(logins.sign_out(&self.session).await)?;
        self.show(logins.end_all(account.id).await)
    }

    /// The visitor's account, if this is its password.
    async fn own_credentials(
        &self,
        password: Password,
        field: &'static str,
    ) -> Result<Credentials, AppError> {
        let user = self.shopper().await?;
        let found = self.show(db::users::credentials(&self.services.pool, user).await)?;
        let found = found.ok_or(AppError::SignInRequired)?;
        let hash = Some(found.password_hash.clone());
        if !self.verify(password, hash).await? {
            return Err(AppError::field(field, Problem::WrongPassword));
        }
        Ok(found)
    }

    async fn hash(
        &self,
        password: Password,
        name: &Name,
        field: &'static str,
    ) -> Result<String, AppError> {
        let hash = self.services.passwords.hash(password, name.as_str()).await;
        self.show(hash)?.map_err(|unfit| match unfit {
            Unfit::Common => AppError::field(field, Problem::TooCommon),
            Unfit::Busy => busy(Busy),
        })
    }

    async fn verify(&self, password: Password, hash: Option<String>) -> Result<bool, AppError> {
        self.show(self.services.passwords.verify(password, hash).await)?
            .map_err(busy)
    }
}

fn busy(_: Busy) -> AppError {
    AppError::TooManyRequests { retry_after_s: 3 }
}
