//! The command line's part of looking after those who run the place: the first admin, a lost password, roles. Each is in
//! the audit log, and ends the login sessions of whom it is about.

use std::io::IsTerminal;

use app::{
    error::AppError,
    model::{Account, Name, Password, Problem, RoleGrant},
};

use crate::{
    auth::{common_passwords::is_common, password},
    config::{AdminCommand, Config, Named},
    db::{self, users::RoleChange},
    error::Error,
    stores::{Stores, StoresError},
};

/// Who did it, in the audit log.
const ACTOR: &str = "command line";

/// The name of the admin that a program with private stores makes for itself.
const FIRST: &str = "admin";

/// Why nothing, or not all, was done; one line each.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// The stores.
    #[error(transparent)]
    Stores(#[from] StoresError),
    /// A store fails.
    #[error(transparent)]
    Store(#[from] Error),
    /// The terminal, or standard input.
    #[error("no password could be read: {0}")]
    Input(#[from] std::io::Error),
    /// What was typed.
    #[error("{0} is not accepted: {1:?}")]
    Refused(&'static str, Problem),
    /// Nobody has this name.
    #[error("there is no account of this name")]
    NoSuchAccount,
    /// The last one.
    #[error("this is the last admin: give somebody else the role first")]
    LastAdmin,
}

impl From<sqlx::Error> for AdminError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Does what the command line asks for.
///
/// # Errors
/// When the stores fail, or what was typed is not accepted.
pub async fn run(command: AdminCommand) -> Result<(), AdminError> {
    match command {
        AdminCommand::Create(Named { name, config }) => create(&config, &name).await,
        AdminCommand::Grant { role, shop, named } => {
            set_role(&named.config, &named.name, &role, &shop).await
        }
        AdminCommand::Withdraw(Named { name, config }) => {
            set_role(&config, &name, "shopper", "").await
        }
        AdminCommand::List(config) => list(&config).await,
    }
}

/// Makes the first admin, and gives the password.
///
/// # Errors
/// When the database fails.
pub async fn create_first(stores: &Stores) -> Result<String, AdminError> {
    let password = generated_password();
    create_with(stores, FIRST, &password).await?;
    Ok(password)
}

async fn create(config: &Config, name: &str) -> Result<(), AdminError> {
    let stores = Stores::open(config).await?;
    let typed = read_password()?;
    let is_generated = typed.is_empty();
    let password = if is_generated {
        generated_password()
    } else {
        typed
    };
    create_with(&stores, name, &password).await?;
    if is_generated {
        println!("password: {password}");
    }
    Ok(())
}

async fn create_with(stores: &Stores, name: &str, password: &str) -> Result<(), AdminError> {
    let name = parse_name(name)?;
    let refused = |problem| AdminError::Refused("the password", problem);
    let password = Password::parse(password).map_err(refused)?;
    if is_common(password.expose(), name.as_str()) {
        return Err(refused(Problem::TooCommon));
    }
    let hash = password::hash(password.expose())?;
    let (pool, known) = (
        stores.pool.clone(),
        db::users::by_name(&stores.pool, &name).await?,
    );
    let upsert = async move { db::users::upsert_admin(&pool, &name, &hash, ACTOR).await };
    match known {
        Some(known) => drop(
            stores
                .logins
                .end_after(known.account.id, upsert, |_| true)
                .await?,
        ),
        None => drop(upsert.await?),
    }
    Ok(())
}

async fn set_role(config: &Config, name: &str, role: &str, shop: &str) -> Result<(), AdminError> {
    let stores = Stores::open(config).await?;
    let RoleGrant { name, role, shop } = RoleGrant::parse(name, role, shop).map_err(refused)?;
    let shop = shop.map_err(|problem| refused(AppError::field("shop_id", problem)))?;
    let found = db::users::by_name(&stores.pool, &name).await?;
    let id = found.ok_or(AdminError::NoSuchAccount)?.account.id;
    let pool = stores.pool.clone();
    let change = async move { db::users::set_role(&pool, id, role, shop, ACTOR).await };
    match stores
        .logins
        .end_after(id, change, RoleChange::is_made)
        .await?
    {
        RoleChange::Done(account) => {
            println!("{}", line(&account));
            Ok(())
        }
        RoleChange::NoSuchAccount => Err(AdminError::NoSuchAccount),
        RoleChange::LastAdmin => Err(AdminError::LastAdmin),
        RoleChange::NoSuchShop => Err(AdminError::Refused("the shop", Problem::Unknown)),
    }
}

async fn list(config: &Config) -> Result<(), AdminError> {
    let stores = Stores::open(config).await?;
    for account in db::users::staff(&stores.pool).await? {
        println!("{}", line(&account));
    }
    Ok(())
}

/// An account as `list` shows it: `clerk  of shop 3  amy`.
fn line(account: &Account) -> String {
    let shop = account
        .shop
        .map_or_else(String::new, |shop| format!("of shop {shop}"));
    format!("{:<8} {shop:<12} {}", account.role.as_str(), account.name)
}

fn parse_name(name: &str) -> Result<Name, AdminError> {
    Name::parse(name).map_err(|problem| AdminError::Refused("the name", problem))
}

/// The first field that was not accepted, in words.
fn refused(error: AppError) -> AdminError {
    let first = match error {
        AppError::Invalid(problems) => problems.into_iter().next(),
        _ => None,
    };
    match first {
        Some(("shop_id", problem)) => AdminError::Refused("the shop", problem),
        Some(("role", problem)) => AdminError::Refused("the role", problem),
        Some((_, problem)) => AdminError::Refused("the name", problem),
        None => AdminError::Refused("what was typed", Problem::Unknown),
    }
}

/// A line of standard input: without echo from a terminal.
fn read_password() -> Result<String, AdminError> {
    if std::io::stdin().is_terminal() {
        return Ok(rpassword::prompt_password(
            "Password (empty: one is generated): ",
        )?);
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// 20 letters that are not mistaken for one another: 98 bits.
fn generated_password() -> String {
    const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
    let letter = |_| char::from(LETTERS[rand::random_range(0..LETTERS.len())]);
    (0..20).map(letter).collect()
}
