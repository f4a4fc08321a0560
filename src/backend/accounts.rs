//! The visitor's own account: sign-up, sign-in, another password, the end of it. Where a password is asked for, its
//! login sessions are told apart from those of before: none survives that was begun with a password that no longer counts.

use std::time::Duration;

use app::{
    error::AppError,
    model::{Account, NewAccount, Password, PasswordChange, Problem, Role},
};
use tokio::time::Instant;

use super::RequestBackend;
use crate::{
    auth::{
        password::{Busy, Unfit},
        tries::Whom,
    },
    db::{
        self,
        users::{Anonymised, Credentials, NAME_UNIQUE},
    },
};

/// A password is looked at within so long: less than a request may take.
const TRY_LIMIT: Duration = Duration::from_secs(4);

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
        let found = self.try_password(Whom::Name(name.key()), password, find);
        let Credentials {
            account,
            password_hash,
        } = found
            .await?
            .ok_or(AppError::field("password", Problem::WrongCredentials))?;
        self.begin_session(&account, &password_hash).await?;
        Ok(account)
    }

    pub(super) async fn replace_password(&self, change: PasswordChange) -> Result<(), AppError> {
        let PasswordChange { current, new } = change;
        let Credentials {
            account,
            password_hash: old,
        } = self.own_credentials(current, "current_password").await?;
        let new = self.hash(new, &account.name, "new_password").await?;
        let (pool, stored) = (self.services.pool.clone(), new.clone());
        let change =
            async move { db::users::change_password(&pool, account.id, &old, &stored).await };
        if !self.show(
            self.services
                .logins
                .end_after(account.id, change, |changed| *changed)
                .await,
        )? {
            return Err(AppError::field("current_password", Problem::WrongPassword));
        }
        self.begin_session(&account, &new).await
    }

    pub(super) async fn anonymise(&self, password: Password) -> Result<(), AppError> {
        let Credentials {
            account,
            password_hash,
        } = self.own_credentials(password, "password").await?;
        let (pool, id) = (self.services.pool.clone(), account.id);
        let change = async move { db::users::anonymise(&pool, id, &password_hash).await };
        match self.show(
            self.services
                .logins
                .end_after(id, change, |gone| *gone == Anonymised::Done)
                .await,
        )? {
            Anonymised::Done => {}
            Anonymised::LastAdmin => {
                return Err(AppError::field("password", Problem::LastAdmin));
            }
            Anonymised::OtherPassword => {
                return Err(AppError::field("password", Problem::WrongPassword));
            }
        }
        // Ended already: this is for the cookie.
        self.show(self.services.logins.sign_out(&self.session).await)
    }

    /// Begins a session for somebody who has just shown this password, and looks again: since the password was read it may
    /// have been changed, or the role, and all sessions ended before this one began.
    async fn begin_session(&self, account: &Account, password_hash: &str) -> Result<(), AppError> {
        let logins = &self.services.logins;
        self.show(logins.sign_in(&self.session, account.id).await)?;
        let now = self.show(db::users::credentials(&self.services.pool, account.id).await);
        match now {
            Ok(Some(now)) if now.password_hash == password_hash && now.account == *account => {
                Ok(())
            }
            overtaken => {
                self.show(logins.sign_out(&self.session).await)?;
                overtaken?;
                Err(AppError::field("password", Problem::WrongCredentials))
            }
        }
    }

    /// The visitor's account, if this is its password.
    async fn own_credentials(
        &self,
        password: Password,
        field: &'static str,
    ) -> Result<Credentials, AppError> {
        let user = self.shopper().await?;
        let find = async { self.show(db::users::credentials(&self.services.pool, user).await) };
        let found = self.try_password(Whom::Own(user), password, find).await?;
        found.ok_or(AppError::field(field, Problem::WrongPassword))
    }

    /// Whom `find` finds, if this is their password. Counted as a try at `whom`: before the hashing, and as failed, unless
    /// it is said otherwise.
    async fn try_password(
        &self,
        whom: Whom<'_>,
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
                .show(
                    self.services
                        .passwords
                        .verify(password, hash, self.client)
                        .await,
                )?
                .map_err(busy)?;
            Ok(found.filter(|_| fits))
        };
        // Given up before the whole request is: what was not looked at does not count.
        let found = tokio::time::timeout(TRY_LIMIT, fits)
            .await
            .unwrap_or(Err(AppError::UNAVAILABLE));
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
        let hash = self
            .services
            .passwords
            .hash(password, name, self.client)
            .await;
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
    AppError::TooManyRequests { retry_after_s: 1 }
}
