//! Password hashes: argon2id, off the async threads, a few at a time, so that a burst of sign-ins neither freezes
//! the shop nor eats its memory (case O28). An unknown name costs the same as a wrong password.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use app::model::Password;
use argon2::password_hash::phc::PasswordHash;
use tokio::sync::Semaphore;

use super::{common_passwords::is_common, hasher::Hasher};
use crate::error::Error;

/// Hashes and verifies passwords.
#[derive(Clone)]
pub struct Passwords {
    turns: Arc<Semaphore>,
    /// A sign-in waits so long for its turn, then is told to try again.
    patience: Duration,
    /// Those that are not at work; there are never more of them than turns.
    hashers: Arc<Mutex<Vec<Hasher>>>,
    nobody: Arc<str>,
}

/// Too many passwords are being hashed; try again.
#[derive(Debug, thiserror::Error)]
#[error("too many passwords are being hashed")]
pub struct Busy;

/// Why a password was not hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Everybody tries it first.
    #[error("the password is too common")]
    Common,
    /// Too many are being hashed; try again.
    #[error("too many passwords are being hashed")]
    Busy,
}

impl Passwords {
    /// Hashes at most `at_once` passwords at a time; who waits longer than `patience` is told to try again.
    ///
    /// # Errors
    /// When the system gives no chance bytes.
    pub fn new(at_once: usize, patience: Duration) -> Result<Self, Error> {
        let nobody = hash("nobody has this password")?;
        Ok(Self {
            turns: Arc::new(Semaphore::new(at_once)),
            patience,
            hashers: Arc::default(),
            nobody: nobody.into(),
        })
    }

    /// The hash of a new password of somebody, in PHC form.
    ///
    /// # Errors
    /// `Ok(Err(Unfit))` when everybody would try it first, or its turn does not come in time; `Err` when hashing fails.
    pub async fn hash(
        &self,
        password: Password,
        name: &str,
    ) -> Result<Result<String, Unfit>, Error> {
        let name = name.to_owned();
        let hashed = self
            .in_turn(move |hasher| match is_common(password.expose(), &name) {
                true => Ok(Err(Unfit::Common)),
                false => hasher.hash(password.expose()).map(Ok).map_err(failed),
            })
            .await?;
        Ok(hashed.unwrap_or(Err(Unfit::Busy)))
    }

    /// Is this the password of `stored`? With `None`, for a name that nobody has, the answer takes as long and is no.
    ///
    /// # Errors
    /// `Ok(Err(Busy))` when its turn does not come in time; `Err` when hashing fails.
    pub async fn verify(
        &self,
        password: Password,
        stored: Option<String>,
    ) -> Result<Result<bool, Busy>, Error> {
        let nobody = Arc::clone(&self.nobody);
        self.in_turn(move |hasher| {
            // A stored text that is no whole hash is an account that cannot sign in: that too takes as long.
            let known = stored
                .as_deref()
                .and_then(|stored| PasswordHash::new(stored).ok())
                .filter(|stored| stored.salt.is_some() && stored.hash.is_some());
            let nobody = PasswordHash::new(&nobody).map_err(failed)?;
            let fits = hasher
                .verify(password.expose(), known.as_ref().unwrap_or(&nobody))
                .map_err(failed)?;
            Ok(fits && known.is_some())
        })
        .await
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Hasher) -> Result<T, Error> + Send + 'static,
    ) -> Result<Result<T, Busy>, Error> {
        let turn =
            tokio::time::timeout(self.patience, Arc::clone(&self.turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else {
            return Ok(Err(Busy));
        };
        let hashers = Arc::clone(&self.hashers);
        let task = tokio::task::spawn_blocking(move || {
            let idle = || hashers.lock().unwrap_or_else(PoisonError::into_inner);
            let mut hasher = idle().pop().unwrap_or_default();
            let result = work(&mut hasher);
            idle().push(hasher);
            drop(turn);
            result
        });
        task.await
            .map_err(|error| Error::Password(error.to_string()))?
            .map(Ok)
    }
}

/// The hash of a password, here and now: for the command line.
///
/// # Errors
/// When hashing fails.
pub fn hash(password: &str) -> Result<String, Error> {
    Hasher::default().hash(password).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Password(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_its_own_and_nobodys_is_none() {
        let passwords = Passwords::new(2, Duration::from_secs(3)).unwrap();
        let password = |text| Password::parse(text).unwrap();
        let stored = passwords
            .hash(password("correct horse"), "amy")
            .await
            .unwrap()
            .unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(
            passwords
                .verify(password("correct horse"), Some(stored.clone()))
                .await
                .unwrap()
                .unwrap()
        );
        assert!(
            !passwords
                .verify(password("wrong horse"), Some(stored))
                .await
                .unwrap()
                .unwrap()
        );
        assert!(
            !passwords
                .verify(password("correct horse"), Some("!".to_owned()))
                .await
                .unwrap()
                .unwrap()
        );
        assert!(
            !passwords
                .verify(password("nobody has this password"), None)
                .await
                .unwrap()
                .unwrap()
        );
    }
}
