//! Stores that the program under test works on: the run's, or a database and a Redis of a part's own, so that thousands
//! of sales or a million buyers are in no other part's way.

use seckill::stores::{self, Stores};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::{Result, args::Args, redis_servers::RedisServers, settings};

/// Where stores are.
#[derive(Clone, Debug)]
pub struct Addresses {
    pub database_url: String,
    pub redis_url: String,
    pub shards: u16,
}

impl Addresses {
    /// Those of the run.
    pub fn of_run(args: &Args) -> Self {
        Self {
            database_url: args.database_url.clone(),
            redis_url: args.redis_url.clone(),
            shards: 1,
        }
    }

    /// Sets the stores up and opens them.
    pub async fn open(&self) -> Result<Stores> {
        let mut config = settings::on(&self.database_url, &self.redis_url)?;
        config.shards = self.shards;
        stores::migrate(&config).await?;
        Ok(Stores::open(&config).await?)
    }
}

/// A database beside the run's, and Redis servers.
pub struct OwnStores {
    pub stores: Stores,
    pub addresses: Addresses,
    pub redis: RedisServers,
    run: String,
    name: String,
}

impl OwnStores {
    /// Opens them on one Redis.
    pub async fn open(args: &Args, name: &str) -> Result<Self> {
        Self::open_on(args, name, RedisServers::start(1).await?, 1).await
    }

    /// Opens them on these servers: one, or the nodes of a cluster.
    pub async fn open_on(
        args: &Args,
        name: &str,
        redis: RedisServers,
        shards: u16,
    ) -> Result<Self> {
        let name = format!("bench_{name}");
        let (server, _) = args
            .database_url
            .rsplit_once('/')
            .ok_or("the database's address has no name in it")?;
        execute(&args.database_url, &format!("CREATE DATABASE {name}")).await?;
        let addresses = Addresses {
            database_url: format!("{server}/{name}"),
            redis_url: redis.urls().join(","),
            shards,
        };
        Ok(Self {
            stores: addresses.open().await?,
            addresses,
            redis,
            run: args.database_url.clone(),
            name,
        })
    }

    /// Removes the database; the servers end with it.
    pub async fn remove(self) -> Result<()> {
        self.stores.pool.close().await;
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        execute(&self.run, &drop).await
    }
}

async fn execute(database_url: &str, statement: &str) -> Result<()> {
    let mut connection = PgConnection::connect(database_url).await?;
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
        .execute(&mut connection)
        .await?;
    Ok(connection.close().await?)
}
