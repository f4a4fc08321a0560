//! The application under test: the whole of it, on a database and under a key prefix of the test's own.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use app::model::{Name, Role, UserId, VoucherId};
use clap::Parser;
use futures::future::join_all;
use reqwest::{Url, cookie::Jar, header::HeaderMap, redirect};
use seckill::{
    auth::{current_user, session_store::RedisSessions},
    config::{Cli, Command, Config},
    consumer::{Consumer, keeper::Keeper, unique_name},
    db,
    gate::{connection::Connection, queue, queue::Queue},
    stores::Stores,
};
use sqlx::{ConnectOptions, PgPool};
use tokio::{sync::watch, task::JoinSet};
use tower_sessions::{Expiry, Session};

use super::{
    Instance, Line, Person, RedisServer, Sale, eventually, folder::Folder, ledger::Ledger,
    line::End,
};

/// What a test wants of its application.
pub struct Setup {
    database: PgPool,
    config: Config,
    redis: Option<RedisServer>,
    lines: bool,
}

pub struct App {
    /// The test's own way to PostgreSQL, past all faults.
    pub database: PgPool,
    /// The stores as an operator sees them, past all faults.
    pub operator: Stores,
    /// The settings, past all faults.
    pub direct: Config,
    /// The settings of the application: through the lines, where the test asked for them.
    pub config: Config,
    /// The first instance of the web part.
    pub first: Instance,
    /// The Redis of the test's own.
    pub redis_server: Option<RedisServer>,
    pub(super) ledger: Ledger,
    database_line: Option<Line>,
    redis_line: Option<Line>,
    http: reqwest::Client,
    site: Folder,
    draining: tokio::sync::Mutex<Vec<Consumer>>,
    running: Mutex<Option<Running>>,
    is_checked: bool,
}

/// Consumers and keeper in the background.
struct Running {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Setup {
    /// A Redis that the test may flush, stop and kill.
    pub async fn with_own_redis(mut self) -> Self {
        let redis = RedisServer::start().await;
        self.config.redis_url = Some(redis.url());
        self.redis = Some(redis);
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
        self.config.limits = "on".to_owned();
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

impl App {
    pub async fn start(database: PgPool) -> Self {
        Self::on(database).start().await
    }

    pub fn on(database: PgPool) -> Setup {
        let Command::Serve(mut config) = Cli::parse_from(["seckill", "serve"]).command else {
            unreachable!()
        };
        assert!(
            config.redis_url.is_some(),
            "REDIS_URL is not set: `scripts/stores run cargo nextest run`"
        );
        config.database_url = Some(database.connect_options().to_url_lossy().into());
        config.database_pool = 8;
        config.key_prefix = format!("test:{:016x}", rand::random::<u64>());
        config.limits = "off".to_owned();
        // Shown where a test fails.
        let filter = tracing_subscriber::EnvFilter::new(&config.log);
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_test_writer()
            .try_init();
        Setup {
            database,
            config,
            redis: None,
            lines: false,
        }
    }

    pub fn site(&self) -> &Path {
        self.site.path()
    }

    pub fn database_line(&self) -> &Line {
        self.database_line
            .as_ref()
            .expect("the test asked for lines")
    }

    pub fn redis_line(&self) -> &Line {
        self.redis_line.as_ref().expect("the test asked for lines")
    }

    /// One more instance on the same stores.
    pub async fn another_instance(&self) -> Instance {
        Instance::start(&self.config, self.site.path()).await
    }

    // People.

    pub fn guest(&self) -> Person {
        Person {
            http: self.http.clone(),
            base: self.first.base.clone(),
            jar: Arc::default(),
            user: None,
            ledger: self.ledger.clone(),
            headers: HeaderMap::new(),
        }
    }

    /// A shopper who is signed in; of the same name, the same in another browser.
    pub async fn shopper(&self, name: &str) -> Person {
        self.account_of(name, Role::Shopper).await
    }

    pub async fn admin(&self) -> Person {
        self.account_of("admin", Role::Admin).await
    }

    /// Somebody of a role, who is signed in.
    pub async fn account_of(&self, name: &str, role: Role) -> Person {
        self.person(self.account(name, role).await).await
    }

    /// Shoppers who are signed in.
    pub async fn crowd(&self, heads: usize) -> Vec<Person> {
        let insert = "INSERT INTO users (name, password_hash)
             SELECT 'crowd-' || n, '!' FROM generate_series(1, $1::bigint) n RETURNING id";
        let ids: Vec<i64> = sqlx::query_scalar(insert)
            .bind(heads as i64)
            .fetch_all(&self.database)
            .await
            .unwrap();
        join_all(ids.into_iter().map(|id| self.person(UserId(id)))).await
    }

    /// Somebody with a fresh login session, made as a sign-in makes it, without the hashing.
    pub async fn person(&self, user: UserId) -> Person {
        let gate = &self.operator.gate;
        let store = RedisSessions::new(gate.connection().clone(), gate.keys().clone());
        let expiry = Expiry::OnInactivity(time::Duration::days(1));
        let session = Session::new(None, Arc::new(store), Some(expiry));
        current_user::sign_in(&session, user).await.unwrap();
        let jar = Jar::default();
        jar.add_cookie_str(
            &format!("session={}; Path=/", session.id().unwrap()),
            &self.first.base,
        );
        Person {
            jar: Arc::new(jar),
            user: Some(user),
            ..self.guest()
        }
    }

    async fn account(&self, name: &str, role: Role) -> UserId {
        let name = Name::parse(name).unwrap();
        if let Some(known) = db::users::by_name(&self.operator.pool, &name)
            .await
            .unwrap()
        {
            return known.account.id;
        }
        db::users::insert(&self.operator.pool, &name, "!", role)
            .await
            .unwrap()
    }

    /// A sale, created by an admin.
    pub async fn sale(&self, sale: Sale) -> VoucherId {
        self.admin().await.create_sale(sale).await
    }

    // What works in the background.

    /// One look of the keeper, as every instance has it every second.
    pub async fn keeper_look(&self) {
        let Stores { pool, gate, .. } = self.operator.clone();
        Keeper::new(pool, gate, self.first.keeper.clone())
            .look()
            .await
            .unwrap();
    }

    /// Consumers and keeper at work by themselves, behind the lines, until the end of the test.
    pub fn start_consumer(&self) {
        let (stop, stopped) = watch::channel(false);
        let Stores {
            pool,
            gate,
            redis_url,
            ..
        } = self.first.stores.clone();
        let keeper = self.first.keeper.clone();
        let mut tasks = JoinSet::new();
        let name = unique_name();
        for shard in gate.keys().shards() {
            let consumer = Consumer::new(
                pool.clone(),
                &gate,
                &redis_url,
                shard,
                &name,
                keeper.clone(),
            )
            .unwrap();
            tasks.spawn(consumer.run(stopped.clone()));
        }
        tasks.spawn(Keeper::new(pool, gate, keeper).run(stopped));
        *self.running.lock().unwrap() = Some(Running { stop, tasks });
    }

    pub(super) fn is_consuming(&self) -> bool {
        self.running.lock().unwrap().is_some()
    }

    /// Works the queue off until it is empty, entries that others left included.
    pub async fn drain(&self) {
        let mut consumers = self.draining.lock().await;
        let Stores {
            pool,
            gate,
            redis_url,
            ..
        } = &self.operator;
        if consumers.is_empty() {
            let name = unique_name();
            for shard in gate.keys().shards() {
                let keeper = self.first.keeper.clone();
                consumers.push(
                    Consumer::new(pool.clone(), gate, redis_url, shard, &name, keeper).unwrap(),
                );
            }
        }
        for (shard, consumer) in gate.keys().shards().zip(consumers.iter_mut()) {
            let reads = Connection::for_blocking_reads(redis_url, queue::BLOCK).unwrap();
            let queue = Queue::new(
                gate.connection().clone(),
                reads,
                gate.keys().clone(),
                shard,
                "drain",
            );
            eventually("the queue runs empty", async || {
                let queued = async || {
                    queue::backlog(gate.connection(), gate.keys(), shard)
                        .await
                        .unwrap()
                        .queued
                        > 0
                };
                if queued().await {
                    queue.ensure_group().await.unwrap();
                    // A connection that broke in the test fails once.
                    let recovered = consumer.recover_now(Duration::ZERO).await;
                    let stepped = if queued().await {
                        consumer.step().await
                    } else {
                        Ok(0)
                    };
                    if let Err(error) = recovered.and(stepped) {
                        eprintln!("draining: {error}");
                    }
                }
                !queued().await
            })
            .await;
        }
    }

    pub(super) async fn end(mut self) {
        self.is_checked = true;
        let running = self.running.lock().unwrap().take();
        if let Some(mut running) = running {
            let _ = running.stop.send(true);
            running.tasks.shutdown().await;
        }
        // So that the database can be dropped.
        self.first.stores.pool.close().await;
        self.operator.pool.close().await;
    }
}

impl Drop for App {
    fn drop(&mut self) {
        assert!(
            self.is_checked || std::thread::panicking(),
            "a test ends with app.check_promises().await"
        );
    }
}

/// Puts a line in front of a store and its address in the place of the store's.
async fn line_to(url: &mut Option<String>, own_redis: Option<&RedisServer>) -> Line {
    let mut address: Url = url.as_ref().unwrap().parse().unwrap();
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
    *url = Some(address.into());
    line
}
