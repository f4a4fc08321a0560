//! The command line: which part of the program runs on which stores.

use std::{io::IsTerminal, process::ExitCode};

use app::model::{Name, Password, Problem};
use clap::Parser;
use seckill::{
    auth::password,
    config::{AdminArgs, AdminCommand, Cli, Command, Config, ReconcileArgs},
    consumer::{
        keeper::{Keeper, KeeperHandle},
        reconcile::Reconciler,
    },
    db,
    embedded::{self, StoresError as EmbeddedError},
    error::Error,
    seed::{self, SeedError},
    serve::{self, Parts, ServeError},
    stores::{self, Stores, StoresError},
};

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
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0} is not accepted: {1:?}")]
    Input(&'static str, Problem),
    #[error("DATABASE_URL and REDIS_URL belong together: set both, or neither for private stores")]
    OneAddress,
    #[error("gate, queue and database disagree")]
    Disagreement,
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
        Command::Admin(AdminArgs {
            command: AdminCommand::Create { name, config },
        }) => create_admin(&config, &name).await,
        Command::Seed(config) => seed_demo(&config).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("seckill: {failure}");
            ExitCode::FAILURE
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
        let password = generated_password();
        set_admin(&stores.pool, "admin", &password).await?;
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

async fn create_admin(config: &Config, name: &str) -> Result<(), Failure> {
    let pool = stores::pool(config)?;
    let typed = read_password()?;
    let is_generated = typed.is_empty();
    let password = if is_generated {
        generated_password()
    } else {
        typed
    };
    set_admin(&pool, name, &password).await?;
    if is_generated {
        println!("password: {password}");
    }
    Ok(())
}

async fn set_admin(pool: &sqlx::PgPool, name: &str, password: &str) -> Result<(), Failure> {
    let name = Name::parse(name).map_err(|problem| Failure::Input("the name", problem))?;
    let password =
        Password::parse(password).map_err(|problem| Failure::Input("the password", problem))?;
    let hash = password::hash(password.expose())?;
    db::users::upsert_admin(pool, &name, &hash)
        .await
        .map_err(Error::from)?;
    db::audit_log::insert(pool, "command line", "create_admin", name.as_str(), "")
        .await
        .map_err(Error::from)?;
    Ok(())
}

/// A line of standard input: without echo from a terminal.
fn read_password() -> Result<String, Failure> {
    if std::io::stdin().is_terminal() {
        return Ok(rpassword::prompt_password(
            "Password (empty: one is generated): ",
        )?);
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// 20 letters that are not mistaken for one another: 98 bits.
fn generated_password() -> String {
    const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
    let letter = |_| char::from(LETTERS[rand::random_range(0..LETTERS.len())]);
    (0..20).map(letter).collect()
}

async fn seed_demo(config: &Config) -> Result<(), Failure> {
    let stores = Stores::open(config).await?;
    seed::seed(&stores).await?;
    Ok(())
}
