//! The application under test: the whole of it, on a database and under a key prefix of the test's own.

use std::{path::Path, sync::Mutex, time::Duration};

use seckill::{
    config::Config,
    consumer::{Consumer, keeper::Keeper, unique_name},
    gate::{keys::Shard, queue, queue::Queue},
    stores::Stores,
};
use sqlx::PgPool;
use tokio::{sync::watch, task::JoinSet};

use super::{
    Instance, Line, RedisServer, eventually, folder::Folder, ledger::Ledger, setup::Setup,
};

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
    pub(super) database_line: Option<Line>,
    pub(super) redis_line: Option<Line>,
    pub(super) http: reqwest::Client,
    pub(super) site: Folder,
    pub(super) draining: tokio::sync::Mutex<Vec<Consumer>>,
    pub(super) running: Mutex<Option<Running>>,
    pub(super) is_checked: bool,
}

/// Consumers and keeper in the background.
pub(super) struct Running {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl App {
    pub async fn start(database: PgPool) -> Self {
        Self::on(database).start().await
    }

    /// An application that wants more than the ordinary.
    pub fn on(database: PgPool) -> Setup {
        Setup::on(database)
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

    // What works in the background.

    /// One look of the keeper, as every instance has it every second.
    pub async fn keeper_look(&self) {
        let Stores { pool, gate, .. } = self.operator.clone();
        Keeper::new(pool, gate, self.first.keeper.clone())
            .counting_in(&self.first.figures)
            .look()
            .await
            .unwrap();
    }

    /// Consumers and keeper at work by themselves, behind the lines, until the end of the test.
    pub fn start_consumer(&self) {
        let (stop, stopped) = watch::channel(false);
        let Stores { pool, gate, .. } = self.first.stores.clone();
        let keeper = self.first.keeper.clone();
        let mut tasks = JoinSet::new();
        let name = unique_name();
        for consumer in Consumer::of_all_shards(&pool, &gate, &name, &keeper).unwrap() {
            tasks.spawn(
                consumer
                    .counting_in(&self.first.figures)
                    .run(stopped.clone()),
            );
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
        self.hire(&mut consumers);
        let gate = &self.operator.gate;
        for (shard, consumer) in gate.keys().shards().zip(consumers.iter_mut()) {
            let queue = self.queue_of(shard);
            eventually("the queue runs empty", async || {
                let queued = async || gate.backlog(shard).await.unwrap().queued > 0;
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

    /// One round over what is in the queue now: what must wait stays there.
    pub async fn drain_what_can_be(&self) {
        let mut consumers = self.draining.lock().await;
        self.hire(&mut consumers);
        for (shard, consumer) in self.operator.gate.keys().shards().zip(consumers.iter_mut()) {
            self.queue_of(shard).ensure_group().await.unwrap();
            let backlog = self.operator.gate.backlog(shard).await.unwrap();
            // A connection that broke in the test fails once.
            let _ = consumer.recover_now(Duration::ZERO).await;
            if backlog.queued > backlog.pending {
                let _ = consumer.step().await;
            }
        }
    }

    /// The consumers that drain, one a shard.
    fn hire(&self, consumers: &mut Vec<Consumer>) {
        if !consumers.is_empty() {
            return;
        }
        let Stores { pool, gate, .. } = &self.operator;
        let name = unique_name();
        consumers.extend(gate.keys().shards().map(|shard| {
            let keeper = self.first.keeper.clone();
            Consumer::new(pool.clone(), gate, shard, &name, keeper)
                .unwrap()
                .counting_in(&self.first.figures)
        }));
    }

    /// The queue of a shard, past all faults.
    fn queue_of(&self, shard: Shard) -> Queue {
        let gate = &self.operator.gate;
        let reads = gate.connection().for_blocking_reads(queue::BLOCK).unwrap();
        let calls = gate.connection().clone();
        Queue::new(calls, reads, gate.keys().clone(), shard, "drain")
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
