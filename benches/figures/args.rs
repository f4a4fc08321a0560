//! What a run is told.

use std::path::PathBuf;

use clap::Parser;

/// Measures the program.
#[derive(Debug, Parser)]
pub struct Args {
    /// PostgreSQL; an empty database
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: String,
    /// Redis; an empty one
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    pub redis_url: String,
    /// The program to measure
    #[arg(long, default_value = env!("CARGO_BIN_EXE_seckill"))]
    pub binary: PathBuf,
    /// The built site
    #[arg(long, env = "SECKILL_SITE", default_value = "target/site")]
    pub site: PathBuf,
    /// Buys by distinct users in a round
    #[arg(long, default_value_t = 200_000)]
    pub buys: usize,
    /// Orders of the filled queue in a round
    #[arg(long, default_value_t = 200_000)]
    pub queue: usize,
    /// Calls of the raw gate in a round
    #[arg(long, default_value_t = 300_000)]
    pub raw: usize,
    /// Refusals, and pages, in a round
    #[arg(long, default_value_t = 50_000)]
    pub reads: usize,
    /// Seconds of a paced load
    #[arg(long, default_value_t = 10)]
    pub paced_seconds: usize,
    /// Seconds of the steady state
    #[arg(long, default_value_t = 60)]
    pub steady_seconds: u64,
    /// Vouchers whose pages are asked in turn: more than the program remembers
    #[arg(long, default_value_t = 12_000)]
    pub pages: usize,
    /// Shops, each with a voucher on sale, whose list is asked
    #[arg(long, default_value_t = 300)]
    pub shops: usize,
    /// Guests who watch one sale
    #[arg(long, default_value_t = 10_000)]
    pub watchers: usize,
    /// Buyers of the large sale
    #[arg(long, default_value_t = 1_000_000)]
    pub buyers: usize,
    /// Sales beside it
    #[arg(long, default_value_t = 1_000)]
    pub sales: usize,
    /// Only these parts
    #[arg(long)]
    pub only: Vec<Part>,
    /// Rounds; medians are shown
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
    /// What run this is: said in the files
    #[arg(long, default_value = "")]
    pub about: String,
    /// Write all figures to this file, as JSON
    #[arg(long)]
    pub json: Option<PathBuf>,
    /// Draw a chart of that file into this one, as SVG
    #[arg(long, requires = "json")]
    pub chart: Option<PathBuf>,
    /// Compare ratios with those of docs/bench/guards.json, and measure nothing else
    #[arg(long)]
    pub guard: bool,
    /// Given by cargo
    #[arg(long, hide = true)]
    pub bench: bool,
}

/// The parts of a run, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Raw gate, accepted buys, refusals; also with `appendfsync always`
    Buys,
    /// Accepting and storing at once, for a minute
    Steady,
    /// A consumer on a filled queue
    Consumer,
    /// Voucher page and list of shops
    Pages,
    /// Sign-ins
    SignIn,
    /// What the limits cost
    Limits,
    /// Open pages that are kept up to date
    Watchers,
    /// A buy where there are many buyers and sales
    Size,
    /// Several Redis processes, batches of the database: only when asked for
    Scaling,
}

impl Args {
    /// Is this part to be run?
    pub fn runs(&self, part: Part) -> bool {
        if self.only.is_empty() {
            part != Part::Scaling
        } else {
            self.only.contains(&part)
        }
    }
}
