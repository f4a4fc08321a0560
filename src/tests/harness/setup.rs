//! What a test wants of its application, before it starts.

use std::sync::Mutex;

use clap::Parser;
use reqwest::{Url, redirect};
use seckill::{
    config::{Cli, Command, Config, StoreUrl},
    stores::Stores,
};
use sqlx::{ConnectOptions, PgPool};

use super::{
    App, Instance, Line, RedisCluster, RedisServer, folder::Folder, ledger::Ledger, line::End,
};

/// What a test wants of its application.
pub struct Setup {
    database: PgPool,
    config: Config,
    redis: Option<RedisServer>,
    lines: bool,
}

impl Setup {
    pub fn on(database: PgPool) -> Self {
        let Command::Serve(mut config) = Cli::parse_from(["seckill", "serve"]).command else {
            unreachable!()
        };
        assert!(
            config.redis_url.is_some(),
            "REDIS_URL is not set: `scripts/stores run cargo nextest run`"
        );
        config.database_url = Some(String::from(database.connect_options().to_url_lossy()).into());
        config.database_pool = 8;
        config.key_prefix = format!("test:{:016x}", rand::random::<u64>());
        config.limits.are_on = false;
        // Shown where a test fails.
        let _ = tracing_subscriber::fmt()
            .with_env_filter(config.log_filter())
            .with_test_writer()
            .try_init();
        Self {
            database,
            config,
            redis: None,
            lines: false,
        }
    }

    /// A Redis that the test may flush, stop and kill.
    pub async fn with_own_redis(mut self) -> Self {
        let redis = RedisServer::start().await;
        self.config.redis_url = Some(redis.url().into());
        self.redis = Some(redis);
        self
    }

    /// A Redis Cluster in the place of the one Redis.
    pub fn on_cluster(mut self, cluster: &RedisCluster) -> Self {
        self.config.redis_url = Some(cluster.url().into());
        self
    }

    /// Lines to both stores that the test can cut.
    pub fn with_lines(mut self) -> Self {
        self.lines = true;
        self
    }

    pub fn with_shards(mut self, shards: u16) -> Self {
        self.config.shards = shards;
        self
    }

    /// With the limit that keeps people from pressing the button too often.
    pub fn with_limits(mut self) -> Self {
        self.config.limits.are_on = true;
        self
    }

    /// With other settings.
    pub fn with(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    pub async fn start(self) -> App {
        let direct = self.config;
        let mut config = direct.clone();
        let (mut database_line, mut redis_line) = (None, None);
        if self.lines {
            database_line = Some(line_to(&mut config.database_url, None).await);
            redis_line = Some(line_to(&mut config.redis_url, self.redis.as_ref()).await);
        }
        let site = Folder::of_a_site();
        let http = reqwest::Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build()
            .unwrap();
        App {
            database: self.database,
            operator: Stores::open(&direct).await.unwrap(),
            direct,
            first: Instance::start(&config, site.path()).await,
            config,
            redis_server: self.redis,
            ledger: Ledger::default(),
            database_line,
            redis_line,
            http,
            site,
            draining: tokio::sync::Mutex::default(),
            running: Mutex::default(),
            is_checked: false,
        }
    }
}

/// Puts a line in front of a store and its address in the place of the store's.
async fn line_to(url: &mut Option<StoreUrl>, own_redis: Option<&RedisServer>) -> Line {
    let mut address: Url = url.as_ref().unwrap().expose().parse().unwrap();
    let line = match own_redis {
        Some(redis) => {
            address = "redis://127.0.0.1/".parse().unwrap();
            Line::to(End::Unix(redis.socket())).await
        }
        None => {
            let port = address
                .port()
                .expect("the address of a store names its port");
            Line::to(End::Tcp(format!("{}:{port}", address.host_str().unwrap()))).await
        }
    };
    address.set_host(Some("127.0.0.1")).unwrap();
    address.set_port(Some(line.addr.port())).unwrap();
    *url = Some(String::from(address).into());
    line
}
