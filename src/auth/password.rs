//! Password hashes: argon2id, off the async threads, a few at a time, so that a burst of sign-ins neither freezes
//! the shop nor eats its memory (case O28). An unknown name costs the same as a wrong password.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use app::model::Password;
use argon2::password_hash::phc::PasswordHash;
use tokio::sync::Semaphore;

use super::{common_passwords::is_common, hasher::Hasher};
use crate::{client_address::TrustedProxies, config::Limits, error::Error, places::AddressPlaces};

/// Hashes and verifies passwords.
#[derive(Clone)]
pub struct Passwords {
    turns: Arc<Semaphore>,
    /// A sign-in waits so long for its turn, then is told to try again.
    patience: Duration,
    /// So that one address, with passwords right or wrong, does not take all turns.
    line: AddressPlaces,
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
    /// Hashes passwords within these limits: so many at a time; who waits too long, or too many of one address, are told to
    /// try again.
    ///
    /// # Errors
    /// When the system gives no chance bytes.
    pub fn new(limits: &Limits) -> Result<Self, Error> {
        let nobody = hash("nobody has this password")?;
        let share = limits.are_on.then_some(limits.hashing_per_address);
        Ok(Self {
            turns: Arc::new(Semaphore::new(limits.hashing.into())),
            patience: limits.hashing_wait(),
            line: AddressPlaces::new(u32::MAX, share, TrustedProxies::default()),
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
        address: IpAddr,
    ) -> Result<Result<String, Unfit>, Error> {
        let name = name.to_owned();
        let hashed = self
            .in_turn(address, move |hasher| {
                match is_common(password.expose(), &name) {
                    true => Ok(Err(Unfit::Common)),
                    false => hasher.hash(password.expose()).map(Ok).map_err(failed),
                }
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
        address: IpAddr,
    ) -> Result<Result<bool, Busy>, Error> {
        let nobody = Arc::clone(&self.nobody);
        self.in_turn(address, move |hasher| {
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
        address: IpAddr,
        work: impl FnOnce(&mut Hasher) -> Result<T, Error> + Send + 'static,
    ) -> Result<Result<T, Busy>, Error> {
        let Ok(_place) = self.line.take(address) else {
            return Ok(Err(Busy));
        };
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
    async fn one_address_does_not_take_all_turns() {
        let mut limits = Limits::standing();
        limits.hashing_per_address = 2;
        let passwords = Passwords::new(&limits).unwrap();
        let (many, other) = (IpAddr::from([9, 9, 9, 9]), IpAddr::from([9, 9, 9, 8]));
        let verify =
            |address| passwords.verify(Password::parse("correct horse").unwrap(), None, address);
        let calls = [many, many, many, other].map(verify);
        let busy = futures::future::join_all(calls).await;
        let busy: Vec<bool> = busy
            .into_iter()
            .map(|call| call.unwrap().is_err())
            .collect();
        assert_eq!(busy, [false, false, true, false]);
    }

    #[tokio::test]
    async fn a_password_is_its_own_and_nobodys_is_none() {
        let passwords = Passwords::new(&Limits::standing()).unwrap();
        let here = IpAddr::from([127, 0, 0, 1]);
        let password = |text| Password::parse(text).unwrap();
        let stored = passwords
            .hash(password("correct horse"), "amy", here)
            .await
            .unwrap()
            .unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(
            passwords
                .verify(password("correct horse"), Some(stored.clone()), here)
                .await
                .unwrap()
                .unwrap()
        );
        assert!(
            !passwords
                .verify(password("wrong horse"), Some(stored), here)
                .await
                .unwrap()
                .unwrap()
        );
        assert!(
            !passwords
                .verify(password("correct horse"), Some("!".to_owned()), here)
                .await
                .unwrap()
                .unwrap()
        );
        assert!(
            !passwords
                .verify(password("nobody has this password"), None, here)
                .await
                .unwrap()
                .unwrap()
        );
    }
}
