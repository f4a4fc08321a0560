//! Accounts: who somebody is and what they may do.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::{Fields, Name, Problem, ShopId, UserId};
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

    /// The page where somebody of this role begins, unless they were going somewhere.
    #[must_use]
    pub fn home(self) -> &'static str {
        match self {
            Self::Shopper => "/",
            Self::Clerk => "/desk",
            Self::Admin => "/admin",
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
    /// The shop that a clerk works for.
    pub shop: Option<ShopId>,
}

impl Account {
    /// How the audit log calls it: by a number that is nobody else's, whatever becomes of the name.
    #[must_use]
    pub fn actor(&self) -> String {
        format!("user {}", self.id)
    }
}

/// A password of 8 to 128 letters, never shown. Composed (NFC), since keyboards write accents in two ways.
#[derive(Clone, PartialEq, Eq)]
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
            _ => Ok(Self(text.nfc().collect())),
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

impl NewAccount {
    /// Reads both fields of somebody who has an account. What no account can have is wrong, and no more is said of it: which
    /// names and passwords are taken is asked where an account is made.
    ///
    /// # Errors
    /// `AppError::Invalid`: `Missing` of a field, or `WrongCredentials`.
    pub fn parse_known(name: &str, password: &str) -> Result<Self, AppError> {
        Self::parse(name, password).map_err(|error| match error {
            AppError::Invalid(mut problems) => {
                problems.retain(|_, problem| *problem == Problem::Missing);
                if problems.is_empty() {
                    problems.insert("password", Problem::WrongCredentials);
                }
                AppError::Invalid(problems)
            }
            error => error,
        })
    }
}

/// A change of the own password.
#[derive(Clone, Debug)]
pub struct PasswordChange {
    /// The one that counts until now.
    pub current: Password,
    /// The one that counts from now on.
    pub new: Password,
}

impl PasswordChange {
    /// Reads both fields.
    ///
    /// # Errors
    /// `AppError::Invalid` with every field's problem.
    pub fn parse(current: &str, new: &str) -> Result<Self, AppError> {
        let mut fields = Fields::default();
        let current = fields.take("current_password", Password::parse(current));
        let new = fields.take("new_password", Password::parse(new));
        match (current, new) {
            (Some(current), Some(new)) => Ok(Self { current, new }),
            _ => Err(fields.into()),
        }
    }
}

/// A role to be given to somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleGrant {
    /// Whose.
    pub name: Name,
    /// The role; a shopper's takes any other away.
    pub role: Role,
    /// A clerk's shop, or what is wrong with it: that is said once it is known whether the name is somebody's.
    pub shop: Result<Option<ShopId>, Problem>,
}

impl RoleGrant {
    /// Reads the fields. A shop belongs to a clerk, and to nobody else. A name that can be read is to be looked up, even
    /// where the shop is wrong.
    ///
    /// # Errors
    /// `AppError::Invalid` with every field's problem.
    pub fn parse(name: &str, role: &str, shop: &str) -> Result<Self, AppError> {
        let mut fields = Fields::default();
        let name = fields.take("name", Name::parse(name));
        let role = fields.take(
            "role",
            Role::parse(role).ok_or(match role {
                "" => Problem::Missing,
                _ => Problem::Unknown,
            }),
        );
        let shop = match role {
            Some(Role::Clerk) => ShopId::parse(shop).map(Some),
            _ => Ok(None),
        };
        match (name, role) {
            (Some(name), Some(role)) => Ok(Self { name, role, shop }),
            _ => {
                fields.take("shop_id", shop);
                Err(fields.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_measured_in_letters_and_composed() {
        let length = |text: &str| Password::parse(text).err();
        assert_eq!(length(""), Some(Problem::Missing));
        assert_eq!(length("1234567"), Some(Problem::TooShort(8)));
        assert_eq!(length("密码密码密码密码"), None);
        assert_eq!(length(&"x".repeat(128)), None);
        assert_eq!(length(&"x".repeat(129)), Some(Problem::TooLong(128)));
        assert_eq!(length("1234567\0"), Some(Problem::BadLetter));
        assert_eq!(
            Password::parse("cafe\u{301} au lait"),
            Password::parse("café au lait")
        );
        assert_eq!(
            format!("{:?}", Password::parse("secret secret")),
            "Ok(Password(…))"
        );
    }

    #[test]
    fn who_signs_in_is_told_no_rule_of_signing_up() {
        let wrong = |name, password| NewAccount::parse_known(name, password).err();
        let credentials = Some(AppError::field("password", Problem::WrongCredentials));
        assert_eq!(wrong("amy", "correct horse"), None);
        for (name, password) in [("amy", "short"), ("a", "correct horse"), ("a", "short")] {
            assert_eq!(wrong(name, password), credentials);
        }
        let missing = |field| Some(AppError::field(field, Problem::Missing));
        assert_eq!(wrong("amy", ""), missing("password"));
        assert_eq!(wrong(" ", "short"), missing("name"));
    }

    #[test]
    fn a_clerk_needs_a_shop_and_nobody_else_has_one() {
        let grant = |role, shop| RoleGrant::parse("amy", role, shop);
        assert_eq!(grant("clerk", "3").unwrap().shop, Ok(Some(ShopId(3))));
        assert_eq!(grant("clerk", "").unwrap().shop, Err(Problem::Missing));
        assert_eq!(grant("admin", "3").unwrap().shop, Ok(None));
        assert_eq!(grant("shopper", "x").unwrap().shop, Ok(None));
        let nameless = RoleGrant::parse("", "clerk", "").map_err(|error| match error {
            AppError::Invalid(problems) => problems.into_keys().collect(),
            _ => Vec::new(),
        });
        assert_eq!(nameless, Err(vec!["name", "shop_id"]));
        assert_eq!(
            grant("root", ""),
            Err(AppError::field("role", Problem::Unknown))
        );
    }
}
