//! Opens the stores that all parts of the program work on, and checks that they belong together.

use std::time::Duration;

use app::model::Name;
use sqlx::PgPool;
use tokio::time::Instant;

use crate::{
    auth::login::{Lifetimes, Logins},
    clock,
    config::{Config, StoreUrl},
    db,
    error::Error,
    gate::{
        Gate,
        connection::{self, Connection},
        keys::Keys,
        order_id::OrderIds,
    },
    outage::Outage,
    shop_search,
};

/// At start a store may be a little late.
const PATIENCE: Duration = Duration::from_secs(30);

/// A Redis Cluster with fewer hash tags than this has nodes that serve nothing, or much more than others.
const CLUSTER_SHARDS: u16 = 16;

/// PostgreSQL and Redis, with what all instances share.
#[derive(Clone)]
pub struct Stores {
    /// PostgreSQL.
    pub pool: PgPool,
    /// The gate, on Redis.
    pub gate: Gate,
    /// Makes order ids with the key of this database.
    pub order_ids: OrderIds,
    /// Login sessions, on the gate's connection.
    pub logins: Logins,
}

/// Why the program cannot work on these stores.
#[derive(Debug, thiserror::Error)]
pub enum StoresError {
    /// An address is missing.
    #[error("{0} is not set; `seckill serve` without addresses starts private stores")]
    NoAddress(&'static str),
    /// The sample of the settings was copied as it stands.
    #[error("{0} has the password of the sample in it: set one of your own")]
    SamplePassword(&'static str),
    /// The database has not been migrated.
    #[error("the database is not set up: run `seckill migrate` first")]
    NotMigrated,
    /// Set up with another number of shards.
    #[error("SECKILL_SHARDS is {wanted}, but this database was set up with {stored}")]
    OtherShards {
        /// By the settings.
        wanted: u16,
        /// By the database.
        stored: u16,
    },
    /// A store fails.
    #[error(transparent)]
    Store(#[from] Error),
}

impl From<sqlx::Error> for StoresError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// A pool of connections to the database of the settings.
///
/// # Errors
/// When the address is missing, is the sample's, or cannot be read.
pub fn pool(config: &Config) -> Result<PgPool, StoresError> {
    refuse_samples(config)?;
    let url = address(&config.database_url, "DATABASE_URL")?;
    Ok(db::pool(url, config.database_pool)?)
}

/// No store is opened while the password of the sample is in use for any.
fn refuse_samples(config: &Config) -> Result<(), StoresError> {
    let urls = [
        (&config.database_url, "DATABASE_URL"),
        (&config.redis_url, "REDIS_URL"),
    ];
    for (url, setting) in urls {
        if url.as_ref().is_some_and(StoreUrl::has_sample_password) {
            return Err(StoresError::SamplePassword(setting));
        }
    }
    Ok(())
}

fn address<'a>(url: &'a Option<StoreUrl>, setting: &'static str) -> Result<&'a str, StoresError> {
    url.as_ref()
        .map(StoreUrl::expose)
        .ok_or(StoresError::NoAddress(setting))
}

impl Stores {
    /// Opens both stores. PostgreSQL must answer and be migrated; Redis may be late, the pages then say so.
    ///
    /// # Errors
    /// When an address is missing, the sample's, or wrong, or the database is not ours.
    pub async fn open(config: &Config) -> Result<Self, StoresError> {
        let pool = pool(config)?;
        let redis_url = address(&config.redis_url, "REDIS_URL")?;
        let shards = patiently(|| db::settings::shards(&pool, config.shards))
            .await
            .map_err(not_migrated)?;
        if shards != config.shards {
            return Err(StoresError::OtherShards {
                wanted: config.shards,
                stored: shards,
            });
        }
        if connection::is_cluster(redis_url) && shards < CLUSTER_SHARDS {
            tracing::warn!(
                shards,
                "few shards spread badly over a Redis Cluster: SECKILL_SHARDS of {CLUSTER_SHARDS} or more, from the \
                 first migrate on"
            );
        }
        if db::users::any_without_key(&pool)
            .await
            .map_err(not_migrated)?
        {
            return Err(StoresError::NotMigrated);
        }
        let key = db::settings::order_id_key(&pool).await?;
        let connection = Connection::open(redis_url).map_err(Error::from)?;
        let keys = Keys::new(&config.key_prefix, shards);
        let lifetimes = Lifetimes::new(config);
        let logins = Logins::new(connection.clone(), keys.clone(), lifetimes, clock::system);
        Ok(Self {
            pool,
            gate: Gate::new(connection, keys),
            order_ids: OrderIds::new(&key),
            logins,
        })
    }
}

/// Brings the database up to date, and stores what all instances must agree on.
///
/// # Errors
/// When the database fails.
pub async fn migrate(config: &Config) -> Result<(), StoresError> {
    let pool = pool(config)?;
    patiently(|| async { pool.acquire().await.map(drop) }).await?;
    db::MIGRATIONS.run(&pool).await.map_err(Error::from)?;
    let stored = db::settings::shards(&pool, config.shards).await?;
    if stored != config.shards {
        return Err(StoresError::OtherShards {
            wanted: config.shards,
            stored,
        });
    }
    db::settings::order_id_key(&pool).await?;
    fold_names(&pool).await?;
    shop_search::fold_all(&pool).await?;
    pool.close().await;
    Ok(())
}

/// Gives accounts of a time before names were folded their folded name. Of several that have become one name the oldest
/// keeps it; the others get their number added, and are told of here.
async fn fold_names(pool: &PgPool) -> Result<(), StoresError> {
    for (id, name) in db::users::without_key(pool).await? {
        match db::users::set_key(pool, id, &name, &key_of(&name)).await {
            Err(error) if db::broken_constraint(&error) == Some(db::users::NAME_UNIQUE) => {
                let renamed = format!("{name}#{id}");
                tracing::warn!(user = id.0, renamed, "another account had this name");
                db::users::set_key(pool, id, &renamed, &key_of(&renamed)).await?;
            }
            set => set?,
        }
    }
    Ok(())
}

/// The folded form; of a name that would be refused today, its small letters.
fn key_of(name: &str) -> String {
    Name::parse(name).map_or_else(|_| name.to_lowercase(), |name| name.key().to_owned())
}

/// Tries until the database answers at all, for [`PATIENCE`].
async fn patiently<T, F: Future<Output = sqlx::Result<T>>>(
    mut attempt: impl FnMut() -> F,
) -> sqlx::Result<T> {
    let started = Instant::now();
    let mut outage = Outage::of("the database");
    loop {
        match attempt().await {
            Err(error @ (sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut))
                if started.elapsed() < PATIENCE =>
            {
                outage.failed(&error);
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            result => return result,
        }
    }
}

fn not_migrated(error: sqlx::Error) -> StoresError {
    match &error {
        // 42P01 and 42703: undefined table, undefined column.
        sqlx::Error::Database(database)
            if matches!(database.code().as_deref(), Some("42P01" | "42703")) =>
        {
            StoresError::NotMigrated
        }
        _ => error.into(),
    }
}
