//! The command line: which part of the program runs on which stores.

use std::{io::IsTerminal, process::ExitCode};

use clap::Parser;
use seckill::{
    admin::{self, AdminError},
    config::{Cli, Command, Config, ReconcileArgs, RehearseArgs},
    consumer::{
        keeper::{Keeper, KeeperHandle},
        reconcile::Reconciler,
    },
    db,
    embedded::{self, StoresError as EmbeddedError},
    error::Error,
    rehearsal::{self, RehearsalError},
    seed::{self, SeedError},
    serve::{self, Parts, ServeError},
    stores::{self, Stores, StoresError},
};

/// Not the system's allocator: a request costs the server a fifth less with this one (docs/bench/NOTES.md).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Why the program ends with a failure; one line each.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Stores(#[from] StoresError),
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error(transparent)]
    Seed(#[from] SeedError),
    #[error(transparent)]
    Store(#[from] Error),
    #[error(transparent)]
    Admin(#[from] AdminError),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("DATABASE_URL and REDIS_URL belong together: set both, or neither for private stores")]
    OneAddress,
    #[error("gate, queue and database disagree")]
    Disagreement,
    #[error(transparent)]
    Rehearsal(#[from] RehearsalError),
    #[error("a promise was broken")]
    BrokenPromise,
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_env_filter(cli.command.config().log_filter())
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    let result = match cli.command {
        Command::Serve(config) => serve_all(config).await,
        Command::Web(config) => serve_part(&config, Parts::Web).await,
        Command::Consumer(config) => serve_part(&config, Parts::Consumer).await,
        Command::Migrate(config) => stores::migrate(&config).await.map_err(Failure::from),
        Command::Reconcile(args) => reconcile(&args).await,
        Command::Admin(args) => admin::run(args.command).await.map_err(Failure::from),
        Command::Seed(config) => seed_demo(&config).await,
        Command::Rehearse(args) => rehearse(&args).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("seckill: {failure}");
            match failure {
                Failure::BrokenPromise => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// `serve`: on given stores, or on private ones that are migrated and seeded here.
async fn serve_all(mut config: Config) -> Result<(), Failure> {
    match (&config.database_url, &config.redis_url) {
        (Some(_), Some(_)) => return serve_part(&config, Parts::All).await,
        (None, None) => {}
        _ => return Err(Failure::OneAddress),
    }
    // Before the stores, so that an address in use is said at once.
    let listener = serve::listen(config.addr).await?;
    let stop = serve::stop_signal()?;
    let data = config
        .data
        .clone()
        .unwrap_or_else(embedded::default_data_folder);
    println!("Starting private stores in {}", data.display());
    let mut private = embedded::Stores::start(&data).await?;
    config.database_url = Some(private.database_url().to_owned().into());
    config.redis_url = Some(private.redis_url().to_owned().into());
    let served = tokio::select! {
        served = serve_private(&config, listener, stop) => served,
        lost = private.failed() => Err(lost.into()),
    };
    private.stop().await;
    served
}

async fn serve_private(
    config: &Config,
    listener: tokio::net::TcpListener,
    stop: tokio::sync::watch::Receiver<bool>,
) -> Result<(), Failure> {
    stores::migrate(config).await?;
    let stores = Stores::open(config).await?;
    if !seed::is_seeded(&stores).await? {
        println!("Filling the empty database with demo data");
        seed::seed(&stores).await?;
    }
    if !db::users::has_admin(&stores.pool)
        .await
        .map_err(Error::from)?
    {
        let password = admin::create_first(&stores).await?;
        println!("Admin account, shown only now:  name: admin  password: {password}");
    }
    println!("Seckill is ready:  http://{}", listener.local_addr()?);
    serve::run(config, stores, Parts::All, Some(listener), stop).await?;
    Ok(())
}

/// `web`, `consumer`, and `serve` on given stores.
async fn serve_part(config: &Config, parts: Parts) -> Result<(), Failure> {
    let listener = if parts == Parts::Consumer {
        None
    } else {
        Some(serve::listen(config.addr).await?)
    };
    let stop = serve::stop_signal()?;
    let stores = Stores::open(config).await?;
    if let Some(listener) = &listener {
        println!("Seckill is ready:  http://{}", listener.local_addr()?);
    }
    serve::run(config, stores, parts, listener, stop).await?;
    Ok(())
}

async fn reconcile(args: &ReconcileArgs) -> Result<(), Failure> {
    let stores = Stores::open(&args.config).await?;
    let keeper = Keeper::new(
        stores.pool.clone(),
        stores.gate.clone(),
        KeeperHandle::default(),
    );
    let reconciler = Reconciler::new(stores.pool, stores.gate, keeper);
    // Shown on a terminal only.
    let bar = indicatif::ProgressBar::new(0);
    let seen = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let report = reconciler
        .on_demand(args.repair.then_some("command line"), seen)
        .await?;
    bar.finish_and_clear();
    print!("{report}");
    if report.is_healthy() {
        Ok(())
    } else {
        Err(Failure::Disagreement)
    }
}

async fn rehearse(args: &RehearseArgs) -> Result<(), Failure> {
    if rehearsal::command::run(args).await? {
        Ok(())
    } else {
        Err(Failure::BrokenPromise)
    }
}

async fn seed_demo(config: &Config) -> Result<(), Failure> {
    let stores = Stores::open(config).await?;
    seed::seed(&stores).await?;
    Ok(())
}
