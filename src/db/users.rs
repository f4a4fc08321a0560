//! `users`: accounts. What changes one notes it in the audit log, in the same statement.

use std::collections::HashMap;

use app::model::{Account, Name, Role, ShopId, UserId};
use sqlx::PgPool;

/// The constraint that a second account of one name breaks.
pub const NAME_UNIQUE: &str = "users_name_unique";

/// The constraint that a clerk of no shop breaks.
const SHOP_EXISTS: &str = "users_shop_exists";

/// What stands in the place of a password hash where nobody can sign in.
pub const NO_PASSWORD: &str = "!";

/// An account with the hash of its password.
pub struct Credentials {
    /// The account.
    pub account: Account,
    /// An argon2 hash in PHC form.
    pub password_hash: String,
}

/// What became of a change of role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleChange {
    /// It is as it was wanted.
    Done(Account),
    /// There is no such account any more.
    NoSuchAccount,
    /// Nobody would be left to run the place.
    LastAdmin,
    /// There is no such shop.
    NoSuchShop,
}

impl RoleChange {
    /// Whether the role was given.
    #[must_use]
    pub fn is_made(&self) -> bool {
        matches!(self, Self::Done(_))
    }
}

/// What became of an account that its owner wants to be nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anonymised {
    /// It is.
    Done,
    /// Nobody would be left to run the place.
    LastAdmin,
    /// Its password is another one by now.
    OtherPassword,
}

/// Stores an account; breaks [`NAME_UNIQUE`] when the name is taken.
///
/// # Errors
/// When the database fails or refuses.
pub async fn insert(pool: &PgPool, name: &Name, password_hash: &str) -> sqlx::Result<UserId> {
    sqlx::query_scalar!(
        "INSERT INTO users (name, name_key, password_hash) VALUES ($1, $2, $3) RETURNING id",
        name.as_str(),
        name.key(),
        password_hash
    )
    .fetch_one(pool)
    .await
    .map(UserId)
}

/// Makes an account an admin with this password, creating it where it is missing.
///
/// # Errors
/// When the database fails.
pub async fn upsert_admin(
    pool: &PgPool,
    name: &Name,
    password_hash: &str,
    actor: &str,
) -> sqlx::Result<UserId> {
    sqlx::query_scalar!(
        r#"WITH account AS (
             INSERT INTO users (name, name_key, password_hash, role)
             VALUES ($1, $2, $3, 'admin')
             ON CONFLICT (name_key)
             DO UPDATE SET password_hash = EXCLUDED.password_hash, role = 'admin', shop_id = NULL
             RETURNING id
         ), audit AS (
             INSERT INTO audit_log (actor, action, subject) SELECT $4, 'create_admin', 'user ' || id FROM account
         )
         SELECT id AS "id!" FROM account"#,
        name.as_str(),
        name.key(),
        password_hash,
        actor
    )
    .fetch_one(pool)
    .await
    .map(UserId)
}

/// The account of a name.
///
/// # Errors
/// When the database fails.
pub async fn by_name(pool: &PgPool, name: &Name) -> sqlx::Result<Option<Credentials>> {
    let row = sqlx::query_as!(
        CredentialsRow,
        "SELECT id, name, role, shop_id, password_hash FROM users WHERE name_key = $1",
        name.key()
    )
    .fetch_optional(pool)
    .await?;
    row.map(CredentialsRow::read).transpose()
}

/// The accounts of these ids, but for those that were deleted.
///
/// # Errors
/// When the database fails.
pub async fn by_ids(pool: &PgPool, ids: &[UserId]) -> sqlx::Result<HashMap<UserId, Account>> {
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let rows = sqlx::query!(
        "SELECT id, name, role, shop_id FROM users WHERE id = ANY($1) AND deleted_at IS NULL",
        &ids
    )
    .fetch_all(pool)
    .await?;
    let accounts = rows.into_iter().map(|row| {
        let account = account(row.id, row.name, &row.role, row.shop_id)?;
        Ok((account.id, account))
    });
    accounts.collect()
}

/// The account of an id with the hash of its password; `None` for one that was deleted.
///
/// # Errors
/// When the database fails.
pub async fn credentials(pool: &PgPool, id: UserId) -> sqlx::Result<Option<Credentials>> {
    let row = sqlx::query_as!(
        CredentialsRow,
        "SELECT id, name, role, shop_id, password_hash FROM users WHERE id = $1 AND deleted_at IS NULL",
        id.0
    )
    .fetch_optional(pool)
    .await?;
    row.map(CredentialsRow::read).transpose()
}

/// Those who have a role beyond a shopper's, by role and name.
///
/// # Errors
/// When the database fails.
pub async fn staff(pool: &PgPool) -> sqlx::Result<Vec<Account>> {
    let rows = sqlx::query!(
        "SELECT id, name, role, shop_id FROM users WHERE role <> 'shopper' ORDER BY role, name, id LIMIT 1000"
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| account(row.id, row.name, &row.role, row.shop_id))
        .collect()
}

/// Gives an account a role, a clerk with a shop; never leaves nobody to run the place. Two who withdraw each other at once
/// wait for one another: the rows of all admins are locked first, in order of id (and all of them, since they are counted).
///
/// # Errors
/// When the database fails.
pub async fn set_role(
    pool: &PgPool,
    id: UserId,
    role: Role,
    shop: Option<ShopId>,
    actor: &str,
) -> sqlx::Result<RoleChange> {
    let row = sqlx::query!(
        r#"WITH admins AS (
             SELECT id FROM users WHERE role = 'admin' ORDER BY id FOR NO KEY UPDATE
         ), before AS (
             SELECT id, name, role, shop_id FROM users WHERE id = $1 AND deleted_at IS NULL
         ), changed AS (
             UPDATE users
             SET role = $2, shop_id = $3
             FROM before
             WHERE users.id = before.id
               AND users.deleted_at IS NULL
               AND ($2 = 'admin' OR users.role <> 'admin' OR (SELECT count(*) FROM admins WHERE admins.id <> $1) > 0)
             RETURNING users.id, before.role || COALESCE(' of shop ' || before.shop_id, '') AS old
         ), audit AS (
             INSERT INTO audit_log (actor, action, subject, detail)
             SELECT $4, 'set_role', 'user ' || id, old || ' → ' || $2 || COALESCE(' of shop ' || $3::integer, '')
             FROM changed
         )
         SELECT before.name AS "name!", before.role = 'admin' AS "was_admin!", changed.id IS NOT NULL AS "done!"
         FROM before
         LEFT JOIN changed USING (id)"#,
        id.0,
        role.as_str(),
        shop.map(|shop| shop.0),
        actor
    )
    .fetch_optional(pool)
    .await;
    let row = match row {
        Err(error) if super::broken_constraint(&error) == Some(SHOP_EXISTS) => {
            return Ok(RoleChange::NoSuchShop);
        }
        row => row?,
    };
    Ok(match row {
        Some(row) if row.done => RoleChange::Done(Account {
            id,
            name: row.name,
            role,
            shop,
        }),
        Some(row) if row.was_admin => RoleChange::LastAdmin,
        // Deleted meanwhile, perhaps.
        _ => RoleChange::NoSuchAccount,
    })
}

/// Puts a new password in the place of `old`; false when another one stands there by now.
///
/// # Errors
/// When the database fails.
pub async fn change_password(
    pool: &PgPool,
    id: UserId,
    old: &str,
    new: &str,
) -> sqlx::Result<bool> {
    let changed = sqlx::query!(
        "WITH changed AS (
             UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2 RETURNING id
         )
         INSERT INTO audit_log (actor, action, subject)
         SELECT 'user ' || id, 'change_password', 'user ' || id FROM changed",
        id.0,
        old,
        new
    )
    .execute(pool)
    .await?;
    Ok(changed.rows_affected() == 1)
}

/// Makes an account nobody's, if this is still its password: its name is free again, nobody can sign in, its orders stay.
///
/// # Errors
/// When the database fails.
pub async fn anonymise(pool: &PgPool, id: UserId, password_hash: &str) -> sqlx::Result<Anonymised> {
    let row = sqlx::query!(
        r#"WITH admins AS (
             SELECT id FROM users WHERE role = 'admin' ORDER BY id FOR NO KEY UPDATE
         ), before AS (
             SELECT id, role FROM users WHERE id = $1 AND password_hash = $2
         ), changed AS (
             UPDATE users
             SET name = '', name_key = NULL, password_hash = '!', role = 'shopper', shop_id = NULL, deleted_at = now()
             WHERE id = $1
               AND password_hash = $2
               AND (role <> 'admin' OR (SELECT count(*) FROM admins WHERE admins.id <> $1) > 0)
             RETURNING id
         ), audit AS (
             INSERT INTO audit_log (actor, action, subject)
             SELECT 'user ' || id, 'delete_account', 'user ' || id FROM changed
         )
         SELECT before.role = 'admin' AS "was_admin!", changed.id IS NOT NULL AS "done!"
         FROM before
         LEFT JOIN changed USING (id)"#,
        id.0,
        password_hash
    )
    .fetch_optional(pool)
    .await?;
    Ok(match row {
        Some(row) if row.done => Anonymised::Done,
        Some(row) if row.was_admin => Anonymised::LastAdmin,
        _ => Anonymised::OtherPassword,
    })
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

/// Accounts of a time before names had a folded form, oldest first.
///
/// # Errors
/// When the database fails.
pub async fn without_key(pool: &PgPool) -> sqlx::Result<Vec<(UserId, String)>> {
    let rows = sqlx::query!(
        "SELECT id, name FROM users WHERE name_key IS NULL AND deleted_at IS NULL ORDER BY id"
    )
    .fetch_all(pool)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (UserId(row.id), row.name))
        .collect())
}

/// Is there such an account?
///
/// # Errors
/// When the database fails.
pub async fn any_without_key(pool: &PgPool) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM users WHERE name_key IS NULL AND deleted_at IS NULL) AS "found!""#
    )
    .fetch_one(pool)
    .await
}

/// Sets a name and its folded form; breaks [`NAME_UNIQUE`] when another has it.
///
/// # Errors
/// When the database fails or refuses.
pub async fn set_key(pool: &PgPool, id: UserId, name: &str, key: &str) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE users SET name = $2, name_key = $3 WHERE id = $1",
        id.0,
        name,
        key
    )
    .execute(pool)
    .await?;
    Ok(())
}

struct CredentialsRow {
    id: i64,
    name: String,
    role: String,
    shop_id: Option<i32>,
    password_hash: String,
}

impl CredentialsRow {
    fn read(self) -> sqlx::Result<Credentials> {
        Ok(Credentials {
            account: account(self.id, self.name, &self.role, self.shop_id)?,
            password_hash: self.password_hash,
        })
    }
}

fn account(id: i64, name: String, role: &str, shop: Option<i32>) -> sqlx::Result<Account> {
    let role = Role::parse(role).ok_or_else(|| sqlx::Error::Decode("unknown role".into()))?;
    Ok(Account {
        id: UserId(id),
        name,
        role,
        shop: shop.map(ShopId),
    })
}
