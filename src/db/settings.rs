//! `settings`: what all instances must agree on.

use sqlx::PgPool;

const ORDER_ID_KEY: &str = "order_id_key";
const SHARDS: &str = "shards";

/// The key of order ids, 32 bytes; made by the first who asks.
///
/// # Errors
/// When the database fails.
pub async fn order_id_key(pool: &PgPool) -> sqlx::Result<Vec<u8>> {
    let fresh: [u8; 32] = rand::random();
    first_value(pool, ORDER_ID_KEY, &fresh).await
}

/// The number of shards that this database was set up with; `wanted` if it is the first.
///
/// # Errors
/// When the database fails.
pub async fn shards(pool: &PgPool, wanted: u16) -> sqlx::Result<u16> {
    let stored = first_value(pool, SHARDS, wanted.to_string().as_bytes()).await?;
    let stored = std::str::from_utf8(&stored)
        .ok()
        .and_then(|text| text.parse().ok());
    stored.ok_or_else(|| sqlx::Error::Decode("settings.shards is no number".into()))
}

/// The `run_id` of the Redis last seen serving a shard.
///
/// # Errors
/// When the database fails.
pub async fn run_id(pool: &PgPool, shard: u16) -> sqlx::Result<Option<String>> {
    let value = sqlx::query_scalar!(
        "SELECT value FROM settings WHERE name = $1",
        run_id_name(shard)
    )
    .fetch_optional(pool)
    .await?;
    Ok(value.map(|value| String::from_utf8_lossy(&value).into_owned()))
}

/// Remembers the `run_id` of the Redis that serves a shard.
///
/// # Errors
/// When the database fails.
pub async fn set_run_id(pool: &PgPool, shard: u16, run_id: &str) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO settings (name, value)
         VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value",
        run_id_name(shard),
        run_id.as_bytes()
    )
    .execute(pool)
    .await?;
    Ok(())
}

fn run_id_name(shard: u16) -> String {
    format!("run_id.{shard}")
}

async fn first_value(pool: &PgPool, name: &str, value: &[u8]) -> sqlx::Result<Vec<u8>> {
    sqlx::query!(
        "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        name,
        value
    )
    .execute(pool)
    .await?;
    sqlx::query_scalar!("SELECT value FROM settings WHERE name = $1", name)
        .fetch_one(pool)
        .await
}
