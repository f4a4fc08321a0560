//! Accounts: who somebody is and what they may do.

use serde::{Deserialize, Serialize};

use super::{Fields, Line, Problem, UserId};
use crate::error::AppError;

/// What an account may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Buys.
    Shopper,
    /// Redeems for one shop.
    Clerk,
    /// Runs everything.
    Admin,
}

impl Role {
    /// The word, as in JSON and tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shopper => "shopper",
            Self::Clerk => "clerk",
            Self::Admin => "admin",
        }
    }

    /// Reads the word of a table's row.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Shopper, Self::Clerk, Self::Admin]
            .into_iter()
            .find(|role| role.as_str() == word)
    }
}

/// A signed-in account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: UserId,
    /// The name it signed up with.
    pub name: String,
    /// What it may do.
    pub role: Role,
}

/// A name to sign in with: one line of 2 to 32 letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(Line);

impl Name {
    /// Reads a name.
    ///
    /// # Errors
    /// As [`Line::parse`].
    pub fn parse(text: &str) -> Result<Self, Problem> {
        Line::parse(text, 2, 32).map(Self)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// A password of 8 to 128 letters, kept as typed and never shown.
#[derive(Clone)]
pub struct Password(String);

impl Password {
    /// Reads a password. Its length is checked first, so that a long one costs no hashing (case O28).
    ///
    /// # Errors
    /// `Missing`, `TooShort`, `TooLong`, and `BadLetter` for NUL.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        match text.chars().take(129).count() {
            0 => Err(Problem::Missing),
            1..8 => Err(Problem::TooShort(8)),
            129.. => Err(Problem::TooLong(128)),
            _ if text.contains('\0') => Err(Problem::BadLetter),
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// The letters, for the hash.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password(…)")
    }
}

/// What sign-up and sign-in ask for.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// The name.
    pub name: Name,
    /// The password.
    pub password: Password,
}

impl NewAccount {
    /// Reads both fields.
    ///
    /// # Errors
    /// `AppError::Invalid` with every field's problem.
    pub fn parse(name: &str, password: &str) -> Result<Self, AppError> {
        let mut fields = Fields::default();
        let name = fields.take("name", Name::parse(name));
        let password = fields.take("password", Password::parse(password));
        match (name, password) {
            (Some(name), Some(password)) => Ok(Self { name, password }),
            _ => Err(fields.into()),
        }
    }
}
