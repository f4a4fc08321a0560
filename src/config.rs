//! Settings: the only reader of environment variables and flags. Every setting is both; `.env.example` lists them
//! (a test compares).

mod limits;
mod store_url;

use std::{net::SocketAddr, path::PathBuf};

use app::model::RehearsalPlan;
use clap::{Args, Parser, Subcommand};
use ipnet::IpNet;
use tracing_subscriber::EnvFilter;

pub use self::{limits::Limits, store_url::StoreUrl};
use crate::client_address::network_of;

/// Flash sales of limited vouchers: never oversell, never lose an accepted order, answer fast.
#[derive(Debug, Parser)]
#[command(name = "seckill", version, about)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program does.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the web part and the consumer; without addresses of stores, private ones are started too
    Serve(Config),
    /// Serve the web part alone
    Web(Config),
    /// Run the consumer alone
    Consumer(Config),
    /// Bring the database up to date
    Migrate(Config),
    /// Compare gate, queue and database; exits with 1 while they disagree
    Reconcile(ReconcileArgs),
    /// Look after those who run the place: create admins, give and take away roles
    Admin(AdminArgs),
    /// Fill an empty database with demo data
    Seed(Config),
    /// Let made-up shoppers buy a copy of a sale at the running instances, and judge whether every promise was kept; exits
    /// with 2 where one was not. Nothing of it is left but its report
    Rehearse(RehearseArgs),
}

/// `seckill rehearse`
#[derive(Debug, Args)]
pub struct RehearseArgs {
    /// Made-up shoppers, each signed in
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=i64::from(RehearsalPlan::SHOPPERS)))]
    pub shoppers: u32,
    /// Units on sale
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=i64::from(RehearsalPlan::UNITS)))]
    pub units: u32,
    /// How they arrive: most at once when the sale opens, more and more, or as many every second
    #[arg(long, default_value = "spike", value_parser = ["spike", "ramp", "steady"])]
    pub shape: String,
    /// For how long they arrive
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=i64::from(RehearsalPlan::SECONDS)))]
    pub seconds: u32,
    /// The voucher whose sale is copied; a made-up one without
    #[arg(long)]
    pub voucher: Option<i32>,
    /// The same number gives the same arrivals; drawn and said without
    #[arg(long)]
    pub seed: Option<u32>,
    /// An instance to rehearse at, as `http://host:port`; several times for several; by default the one at SECKILL_ADDR
    #[arg(long)]
    pub to: Vec<String>,
    /// Where the report goes as JSON
    #[arg(long)]
    pub json: Option<PathBuf>,
    /// Where the report goes as a page with charts
    #[arg(long)]
    pub html: Option<PathBuf>,
    /// Although people use these stores
    #[arg(long)]
    pub on_production: bool,
    /// Only remove what a rehearsal has left that was killed
    #[arg(long)]
    pub clean: bool,
    /// The number of a rehearsal that was asked for in the console
    #[arg(long, hide = true)]
    pub id: Option<i32>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "Config is documented")]
    pub config: Config,
}

/// `seckill reconcile`
#[derive(Debug, Args)]
pub struct ReconcileArgs {
    /// Repair what two looks have found; every change is in the audit log
    #[arg(long)]
    pub repair: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "Config is documented")]
    pub config: Config,
}

/// `seckill admin`
#[derive(Debug, Args)]
pub struct AdminArgs {
    /// What to do with the account.
    #[command(subcommand)]
    pub command: AdminCommand,
}

/// What to do with the account of somebody who runs the place.
#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// Create an admin, or make an account one; asks for a password, or reads it from standard input when that is no
    /// terminal; nothing typed: one is generated and printed
    Create(Named),
    /// Give an account a role: `admin`, or `clerk` with a shop
    Grant {
        /// The role
        #[arg(long, value_parser = ["clerk", "admin"])]
        role: String,
        /// The shop that a clerk works for, by its number
        #[arg(long, default_value = "")]
        shop: String,
        #[command(flatten)]
        #[expect(missing_docs, reason = "Named is documented")]
        named: Named,
    },
    /// Take an account's role away: it is a shopper's then
    Withdraw(Named),
    /// List those who have a role
    List(Config),
}

/// Somebody, by name.
#[derive(Debug, Args)]
pub struct Named {
    /// The name to sign in with
    pub name: String,
    #[command(flatten)]
    #[expect(missing_docs, reason = "Config is documented")]
    pub config: Config,
}

impl AdminCommand {
    /// The settings of the command.
    #[must_use]
    pub fn config(&self) -> &Config {
        match self {
            Self::Create(named) | Self::Withdraw(named) | Self::Grant { named, .. } => {
                &named.config
            }
            Self::List(config) => config,
        }
    }
}

/// The settings.
#[derive(Clone, Debug, Args)]
pub struct Config {
    /// PostgreSQL, as `postgres://user:password@host/database`; without it, `serve` starts a private one
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<StoreUrl>,
    /// Redis, as `redis://host:port`; a Redis Cluster, as several of its nodes: `redis://host:port,host:port`; without
    /// it, `serve` starts a private one
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    pub redis_url: Option<StoreUrl>,
    /// Address of the web part
    #[arg(long, env = "SECKILL_ADDR", default_value = "127.0.0.1:3000")]
    pub addr: SocketAddr,
    /// Address of `/metrics`, where it is to have its own; otherwise the web part answers it on loopback
    #[arg(long, env = "SECKILL_METRICS_ADDR")]
    pub metrics_addr: Option<SocketAddr>,
    /// Folder of the private stores; default: a folder of the account that runs the program
    #[arg(long, env = "SECKILL_DATA")]
    pub data: Option<PathBuf>,
    /// Folder of the built site
    #[arg(long, env = "SECKILL_SITE", default_value = "target/site")]
    pub site: PathBuf,
    /// Hash tags that sales are spread over, at least 16 on a Redis Cluster; fixed by the first `migrate`
    #[arg(long, env = "SECKILL_SHARDS", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub shards: u16,
    /// What every Redis key begins with
    #[arg(long, env = "SECKILL_KEY_PREFIX", default_value = "seckill")]
    pub key_prefix: String,
    /// Connections to PostgreSQL at most, of web and consumers each
    #[arg(long, env = "SECKILL_DATABASE_POOL", default_value_t = 16, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub database_pool: u32,
    /// The program is reached over HTTPS: browsers send the cookie over nothing else
    #[arg(long, env = "SECKILL_HTTPS", default_value_t = false, action = clap::ArgAction::Set)]
    pub https: bool,
    /// Days after which a login session ends that was not used for a change
    #[arg(long, env = "SECKILL_SESSION_IDLE_DAYS", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..=3650))]
    pub session_idle_days: u16,
    /// Days after the sign-in when a login session ends in any case
    #[arg(long, env = "SECKILL_SESSION_DAYS", default_value_t = 90, value_parser = clap::value_parser!(u16).range(1..=3650))]
    pub session_days: u16,
    /// Proxies whose `X-Forwarded-For` is believed: addresses and networks (`10.0.0.0/8`), separated by commas
    #[arg(long, env = "SECKILL_TRUSTED_PROXIES", value_delimiter = ',', value_parser = network_of)]
    pub trusted_proxies: Vec<IpNet>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "Limits is documented")]
    pub limits: Limits,
    /// What is logged, as in tracing's `EnvFilter`
    #[arg(
        long,
        env = "SECKILL_LOG",
        default_value = "info,tower_sessions=error,tower_sessions_core=off,sqlx=error"
    )]
    pub log: String,
}

impl Config {
    /// What is logged. The Redis client tells of every attempt; an outage is said once, and not by it. The PostgreSQL
    /// client tells what it does not know in an address, which may be a password.
    #[must_use]
    pub fn log_filter(&self) -> EnvFilter {
        EnvFilter::new(format!("redis=off,sqlx_postgres::options=off,{}", self.log))
    }
}

impl Command {
    /// The settings of the command.
    #[must_use]
    pub fn config(&self) -> &Config {
        match self {
            Self::Serve(config) | Self::Web(config) | Self::Consumer(config) => config,
            Self::Migrate(config) | Self::Seed(config) => config,
            Self::Reconcile(args) => &args.config,
            Self::Rehearse(args) => &args.config,
            Self::Admin(args) => args.command.config(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_sample_lists_every_setting_and_no_other() {
        let serve = Cli::command().find_subcommand("serve").unwrap().clone();
        let mut settings: Vec<String> = serve
            .get_arguments()
            .filter_map(|arg| Some(arg.get_env()?.to_str()?.to_owned()))
            .collect();
        let mut sample: Vec<String> = include_str!("../.env.example")
            .lines()
            .filter_map(|line| line.trim_start_matches("# ").split_once('='))
            .map(|(name, _)| name.to_owned())
            .collect();
        settings.sort();
        sample.sort();
        assert_eq!(settings, sample);
    }
}
