//! The visitor's own account: sign-up, sign-in, another password, the end of it. Where a password is asked for, its
//! login sessions are told apart from those of before: none survives that was begun with a password that no longer counts.

use app::{
    error::AppError,
    model::{Account, NewAccount, Password, PasswordChange, Problem, Role},
};
use tokio::time::Instant;

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
        let tries = &self.services.tries;
        tries
            .sign_up(self.client, Instant::now())
            .map_err(too_often)?;
        let NewAccount { name, password } = new;
        let hash = self.hash(password, name.as_str(), "password").await?;
        let id = match db::users::insert(&self.services.pool, &name, &hash).await {
            Err(error) if db::broken_constraint(&error) == Some(NAME_UNIQUE) => {
                return Err(AppError::field("name", Problem::Taken));
            }
            result => self.show(result)?,
        };
        tries.signed_up(name.key(), self.client);
        self.show(self.services.logins.sign_in(&self.session, id).await)?;
        Ok(Account {
            id,
            name: name.as_str().to_owned(),
            role: Role::Shopper,
            shop: None,
        })
    }

    pub(super) async fn check_password(&self, new: NewAccount) -> Result<Account, AppError> {
        let NewAccount { name, password } = new;
        let find = async {
            let found = db::users::by_name(&self.services.pool, &name).await;
            self.show(found)
        };
        let wrong = AppError::field("password", Problem::WrongCredentials);
        let found = self.try_password(name.key(), password, find).await?;
        let Credentials {
            account,
            password_hash,
        } = found.ok_or(wrong.clone())?;
        let logins = &self.services.logins;
        self.show(logins.sign_in(&self.session, account.id).await)?;
        // The password may have been changed since it was read, and all sessions ended before this one began.
        let now = self.show(db::users::credentials(&self.services.pool, account.id).await)?;
        if now.is_none_or(|now| now.password_hash != password_hash) {
            self.show(logins.sign_out(&self.session).await)?;
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
        let new = self.hash(change.new, &account.name, "new_password").await?;
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
        let find = async { self.show(db::users::credentials(&self.services.pool, user).await) };
        let whom = format!("user {user}");
        let found = self.try_password(&whom, password, find).await?;
        found.ok_or(AppError::field(field, Problem::WrongPassword))
    }

    /// Whom `find` finds, if this is their password. Counted as a try at `whom`: before the hashing, and as failed, unless
    /// it is said otherwise.
    async fn try_password(
        &self,
        whom: &str,
        password: Password,
        find: impl Future<Output = Result<Option<Credentials>, AppError>>,
    ) -> Result<Option<Credentials>, AppError> {
        let attempt = self
            .services
            .tries
            .begin(whom, self.client, Instant::now())
            .map_err(too_often)?;
        let fits = async {
            let found = find.await?;
            let hash = found.as_ref().map(|found| found.password_hash.clone());
            let fits = self
                .show(self.services.passwords.verify(password, hash).await)?
                .map_err(busy)?;
            Ok(found.filter(|_| fits))
        };
        let found = fits.await;
        match &found {
            Ok(Some(_)) => attempt.succeeded(Instant::now()),
            Ok(None) => {}
            Err(_) => attempt.not_made(Instant::now()),
        }
        found
    }

    async fn hash(
        &self,
        password: Password,
        name: &str,
        field: &'static str,
    ) -> Result<String, AppError> {
        let hash = self.services.passwords.hash(password, name).await;
        self.show(hash)?.map_err(|unfit| match unfit {
            Unfit::Common => AppError::field(field, Problem::TooCommon),
            Unfit::Busy => busy(Busy),
        })
    }
}

fn too_often(retry_after_s: u32) -> AppError {
    metrics::counter!("seckill_tries_refused_total").increment(1);
    AppError::TooManyRequests { retry_after_s }
}

fn busy(_: Busy) -> AppError {
    AppError::TooManyRequests { retry_after_s: 3 }
}
