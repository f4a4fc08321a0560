//! Runs the parts of the program until it is told to stop: web, consumers, keeper. On SIGTERM and SIGINT it takes no
//! more requests, answers those it has, finishes the batch in hand, acknowledges, and leaves.

use std::{io, net::SocketAddr, sync::Arc, thread, time::Duration};

use axum::Router;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use sqlx::PgPool;
use tokio::{
    net::TcpListener,
    runtime,
    signal::unix::SignalKind,
    sync::{oneshot, watch},
    task::{JoinError, JoinSet},
};

use crate::{
    auth::{password::Passwords, tries::SignInTries},
    backend::Services,
    buy_limit::BuyLimit,
    config::Config,
    consumer::{
        self, Consumer,
        keeper::{Keeper, KeeperHandle},
        reconcile::Reconciler,
    },
    db,
    error::Error,
    figures::{self, Figures},
    gate::Gate,
    live::Live,
    rehearsal::{command::own, rehearser::Rehearser},
    router::{self, Web},
    stores::Stores,
    web_server::{WebServer, stopped},
};

/// Which parts of the program to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Web and consumer.
    All,
    /// The web part alone.
    Web,
    /// The consumer alone.
    Consumer,
}

/// Why the program could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is in use, or not ours.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The site has not been built, or the line to the network failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A store.
    #[error(transparent)]
    Store(#[from] Error),
    /// A part of the program panicked.
    #[error("a part of the program failed: {0}")]
    Part(JoinError),
    /// The metrics.
    #[error("metrics: {0}")]
    Metrics(#[from] metrics_exporter_prometheus::BuildError),
}

/// An address that this program listens on.
///
/// # Errors
/// When it is in use.
pub async fn listen(addr: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(addr)
        .await
        .map_err(|source| ServeError::Listen { addr, source })
}

/// A change to `true` when the program is told to stop.
///
/// # Errors
/// When the system refuses signal handlers.
pub fn stop_signal() -> io::Result<watch::Receiver<bool>> {
    let (say, stop) = watch::channel(false);
    let mut terminate = tokio::signal::unix::signal(SignalKind::terminate())?;
    let mut interrupt = tokio::signal::unix::signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        // Nobody listens any more: then all has ended already.
        let _ = say.send(true);
        std::future::pending::<()>().await;
    });
    Ok(stop)
}

/// Runs `parts` until `stop` says so. The listener, for the web part, is opened by the caller, who may print it.
///
/// # Errors
/// When a part cannot start.
pub async fn run(
    config: &Config,
    stores: Stores,
    parts: Parts,
    listener: Option<TcpListener>,
    stop: watch::Receiver<bool>,
) -> Result<(), ServeError> {
    let metrics = PrometheusBuilder::new().install_recorder()?;
    let keeper = KeeperHandle::default();
    let figures = Figures::default();
    let pool = stores.pool.clone();
    let mut tasks = JoinSet::new();
    let own_keeper = Keeper::new(pool.clone(), stores.gate.clone(), keeper.clone());
    tasks.spawn(own_keeper.counting_in(&figures).run(stop.clone()));
    tasks.spawn(figures::upkeep::write(
        figures.clone(),
        pool.clone(),
        stop.clone(),
    ));
    tasks.spawn(consumer::weakness::watch(stores.gate.clone(), stop.clone()));
    tasks.spawn(upkeep(metrics.clone(), stop.clone()));
    if parts != Parts::Web {
        let storing = Storing {
            pool: db::apart(&stores.pool),
            gate: stores.gate.apart().map_err(Error::from)?,
            keeper: keeper.clone(),
            figures: figures.clone(),
            stop: stop.clone(),
        };
        let ended = storing.start()?;
        // A thread that ends without a word has panicked.
        tasks.spawn(async move {
            ended
                .await
                .expect("the consumers go on until they are told to stop")
        });
        let own_keeper = Keeper::new(stores.pool.clone(), stores.gate.clone(), keeper.clone());
        let reconciler = Reconciler::new(stores.pool.clone(), stores.gate.clone(), own_keeper);
        tasks.spawn(reconciler.run(stop.clone()));
        tasks.spawn(figures::upkeep::tidy(pool.clone(), stop.clone()));
    }
    if let Some(addr) = config.metrics_addr {
        let listener = listen(addr).await?;
        let server = WebServer::for_operators(&config.limits);
        tasks.spawn(server.serve(listener, metrics_router(metrics.clone()), stop.clone()));
    }
    if let Some(listener) = listener {
        let limits = &config.limits;
        if !limits.are_on {
            tracing::warn!("SECKILL_LIMITS=off: nobody is kept from asking too often");
        }
        let web = Web::new(config, config.metrics_addr.is_none().then_some(metrics));
        let server = WebServer::new(limits, &web.proxies);
        let connections = server.connections();
        let live = Live::new(stores.gate.clone(), limits, connections, stop.clone());
        let mut services = Services::new(
            stores.pool,
            stores.gate,
            stores.order_ids,
            stores.logins,
            Passwords::new(limits)?,
            BuyLimit::new(limits.buys_a_second()),
            SignInTries::new(limits),
            keeper,
            live.clone(),
        );
        tasks.spawn(live.run());
        services.figures = figures.clone();
        let (program, addr) = (std::env::current_exe()?, listener.local_addr()?);
        let (rehearser, running) = Rehearser::new(program, config, own(addr), pool.clone());
        tasks.spawn(running.run(stop.clone()));
        services.rehearser = Some(rehearser);
        let services = Arc::new(services);
        let router = router::router(Arc::clone(&services), web)?;
        tasks.spawn(tidy_limits(services, stop.clone()));
        tokio::select! {
            () = server.serve(listener, router, stop.clone()) => {}
            failed = first_failure(&mut tasks) => return Err(ServeError::Part(failed)),
        }
    }
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(ServeError::Part)?;
    }
    // What the last requests and batches have counted.
    if let Err(error) = figures.flush(&pool).await {
        tracing::warn!(error = %error, "the last figures are not written");
    }
    Ok(())
}

/// Resolves when a part of the program panics: it then ends as a whole, and whoever runs it starts it again.
async fn first_failure(tasks: &mut JoinSet<()>) -> JoinError {
    loop {
        match tasks.join_next().await {
            Some(Err(failed)) => return failed,
            Some(Ok(())) => {}
            None => std::future::pending().await,
        }
    }
}

/// The consumers, on a thread of their own with lines of their own to the stores: among the tasks of thousands of visitors
/// each of their steps would wait its turn, and what is accepted would be stored seconds later.
struct Storing {
    pool: PgPool,
    gate: Gate,
    keeper: KeeperHandle,
    figures: Figures,
    stop: watch::Receiver<bool>,
}

impl Storing {
    /// Starts them; what is given resolves when they have ended, with an error if one of them has panicked.
    fn start(self) -> Result<oneshot::Receiver<()>, ServeError> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let name = consumer::unique_name();
        let consumers = {
            let _context = runtime.enter();
            Consumer::of_all_shards(&self.pool, &self.gate, &name, &self.keeper)
                .map_err(Error::from)?
        };
        let (say, ended) = oneshot::channel();
        thread::Builder::new()
            .name("consumers".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    let mut tasks = JoinSet::new();
                    for consumer in consumers {
                        tasks.spawn(consumer.counting_in(&self.figures).run(self.stop.clone()));
                    }
                    tracing::info!(consumer = name, "consumer started");
                    while let Some(ended) = tasks.join_next().await {
                        if let Err(panic) = ended {
                            std::panic::resume_unwind(panic.into_panic());
                        }
                    }
                });
                // Nobody listens any more: then all has ended already.
                let _ = say.send(());
            })?;
        Ok(ended)
    }
}

fn metrics_router(metrics: PrometheusHandle) -> Router {
    let render = move || std::future::ready(metrics.render());
    Router::new().route("/metrics", axum::routing::get(render))
}

/// Keeps the metrics' memory small.
async fn upkeep(metrics: PrometheusHandle, stop: watch::Receiver<bool>) {
    every(Duration::from_secs(5), stop, || metrics.run_upkeep()).await;
}

async fn tidy_limits(services: Arc<Services>, stop: watch::Receiver<bool>) {
    every(Duration::from_secs(30), stop, || services.buy_limit.tidy()).await;
}

async fn every(period: Duration, stop: watch::Receiver<bool>, work: impl Fn()) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(period) => work(),
            () = stopped(stop.clone()) => return,
        }
    }
}
