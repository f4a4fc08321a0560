//! `users`: accounts.

use app::model::{Account, Name, Role, UserId};
use sqlx::PgPool;

/// The constraint that a second account of one name breaks.
pub const NAME_UNIQUE: &str = "users_name_unique";

/// An account with the hash of its password.
pub struct Credentials {
    /// The account.
    pub account: Account,
    /// An argon2 hash in PHC form.
    pub password_hash: String,
}

/// Stores an account; breaks [`NAME_UNIQUE`] when the name is taken.
///
/// # Errors
/// When the database fails or refuses.
pub async fn insert(
    pool: &PgPool,
    name: &Name,
    password_hash: &str,
    role: Role,
) -> sqlx::Result<UserId> {
    sqlx::query_scalar!(
        "INSERT INTO users (name, password_hash, role) VALUES ($1, $2, $3) RETURNING id",
        name.as_str(),
        password_hash,
        role.as_str()
    )
    .fetch_one(pool)
    .await
    .map(UserId)
}

/// Makes an account an admin with this password, creating it where it is missing.
///
/// # Errors
/// When the database fails.
pub async fn upsert_admin(pool: &PgPool, name: &Name, password_hash: &str) -> sqlx::Result<UserId> {
    sqlx::query_scalar!(
        "INSERT INTO users (name, password_hash, role)
         VALUES ($1, $2, 'admin')
         ON CONFLICT (lower(name)) DO UPDATE SET password_hash = EXCLUDED.password_hash, role = 'admin'
         RETURNING id",
        name.as_str(),
        password_hash
    )
    .fetch_one(pool)
    .await
    .map(UserId)
}

/// The account of a name, whatever its case.
///
/// # Errors
/// When the database fails.
pub async fn by_name(pool: &PgPool, name: &Name) -> sqlx::Result<Option<Credentials>> {
    let row = sqlx::query!(
        "SELECT id, name, role, password_hash FROM users WHERE lower(name) = lower($1)",
        name.as_str()
    )
    .fetch_optional(pool)
    .await?;
    row.map(|row| {
        Ok(Credentials {
            account: account(row.id, row.name, &row.role)?,
            password_hash: row.password_hash,
        })
    })
    .transpose()
}

/// The account of an id.
///
/// # Errors
/// When the database fails.
pub async fn by_id(pool: &PgPool, id: UserId) -> sqlx::Result<Option<Account>> {
    let row = sqlx::query!("SELECT id, name, role FROM users WHERE id = $1", id.0)
        .fetch_optional(pool)
        .await?;
    row.map(|row| account(row.id, row.name, &row.role))
        .transpose()
}

/// Is there any admin?
///
/// # Errors
/// When the database fails.
pub async fn has_admin(pool: &PgPool) -> sqlx::Result<bool> {
    sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM users WHERE role = 'admin') AS "found!""#)
        .fetch_one(pool)
        .await
}

fn account(id: i64, name: String, role: &str) -> sqlx::Result<Account> {
    let role = Role::parse(role).ok_or_else(|| sqlx::Error::Decode("unknown role".into()))?;
    Ok(Account {
        id: UserId(id),
        name,
        role,
    })
}
