//! What is tortured: two web parts and three consumers of the real program, each with lines of its own to one Redis
//! and one PostgreSQL, which are the run's own and keep what they are told.

use std::{path::PathBuf, process::Output, sync::Arc, time::Duration};

use seckill::{
    config::{Config, StoreUrl},
    stores::{self, Stores},
};
use tokio::{sync::Mutex, task::AbortHandle, time::interval};

use crate::{
    Args, Result,
    child::command,
    eventually::within,
    line::{End, Line},
    member::Member,
    plan::{CONSUMERS, WEBS},
    postgres::Postgres,
    redis_server::RedisServer,
    settings,
};

pub struct Deployment {
    /// The webs, then the consumers.
    pub members: Arc<Vec<Member>>,
    pub postgres: Mutex<Postgres>,
    pub redis: Mutex<RedisServer>,
    /// The stores as an operator reaches them, past all lines.
    pub stores: Stores,
    config: Config,
    binary: PathBuf,
    reading: AbortHandle,
}

impl Deployment {
    pub async fn start(args: &Args) -> Result<Self> {
        let postgres = Postgres::start(&args.postgres).await?;
        let redis = RedisServer::start().await;
        let config = settings::on(&postgres.url(), &redis.url())?;
        stores::migrate(&config).await?;
        let stores = Stores::open(&config).await?;
        let parts = (1..=WEBS)
            .map(|number| ("web", number))
            .chain((1..=CONSUMERS).map(|number| ("consumer", number)));
        let mut members = Vec::new();
        for (part, number) in parts {
            let to_postgres = Line::to(End::Unix(postgres.socket())).await;
            let to_redis = Line::to(End::Unix(redis.socket())).await;
            let lines = (to_postgres, to_redis);
            members.push(Member::start(&args.binary, part, number, lines));
        }
        let members = Arc::new(members);
        let reading = tokio::spawn(read_times(Arc::clone(&members))).abort_handle();
        let deployment = Self {
            members,
            postgres: Mutex::new(postgres),
            redis: Mutex::new(redis),
            stores,
            config,
            binary: args.binary.clone(),
            reading,
        };
        within(Duration::from_secs(30), "the webs are ready", async || {
            deployment.webs().iter().all(|web| web.base().is_some())
        })
        .await;
        Ok(deployment)
    }

    pub fn webs(&self) -> &[Member] {
        &self.members[..WEBS]
    }

    pub fn consumers(&self) -> &[Member] {
        &self.members[WEBS..]
    }

    /// `seckill reconcile`, as an operator calls it.
    pub async fn reconcile(&self) -> Result<Output> {
        let config = &self.config;
        let mut reconcile = command(&self.binary);
        reconcile
            .arg("reconcile")
            .env(
                "DATABASE_URL",
                config.database_url.as_ref().map_or("", StoreUrl::expose),
            )
            .env(
                "REDIS_URL",
                config.redis_url.as_ref().map_or("", StoreUrl::expose),
            );
        Ok(reconcile.output().await?)
    }

    /// How Redis writes to the disk from now on, also after a new start.
    pub async fn set_appendfsync(&self, how: &'static str) -> Result<()> {
        self.redis.lock().await.appendfsync = how;
        self.redis_says(&["CONFIG", "SET", "appendfsync", how])
            .await
    }

    /// A command to Redis whose answer does not matter.
    pub async fn redis_says(&self, words: &[&str]) -> Result<()> {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        let _: redis::Value = self.stores.gate.connection().query(&command).await?;
        Ok(())
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

async fn read_times(members: Arc<Vec<Member>>) {
    let mut ticks = interval(Duration::from_millis(500));
    loop {
        ticks.tick().await;
        for member in members.iter() {
            member.read_times();
        }
    }
}
