//! The kill test: `make torture`. Under a steady load of distinct shoppers, processes and stores are killed, stopped,
//! cut off and emptied at random; after each round the program must have healed by itself and kept its promises. What
//! is tortured is the real release binary, on a PostgreSQL and a Redis of the run's own. A seed gives a round again:
//! the run's seed is that of its first round, and each further round has the next.

#![expect(clippy::unwrap_used, reason = "a run that cannot go on has failed")]

mod deployment;
mod faults;
mod healing;
mod ledger;
mod load;
mod member;
mod plan;
mod postgres;
mod promises;
mod report;
mod round;
mod sales;
mod shoppers;
mod stored;

// What the tests and the measurements have.
#[path = "../harness/child.rs"]
mod child;
#[path = "../../../benches/figures/cpu.rs"]
#[expect(dead_code, reason = "more than is needed here")]
mod cpu;
#[path = "../harness/eventually.rs"]
mod eventually;
#[path = "../harness/folder.rs"]
#[expect(dead_code, reason = "more than is needed here")]
mod folder;
#[path = "../harness/line.rs"]
#[expect(dead_code, reason = "more than is needed here")]
mod line;
#[path = "../../../benches/figures/machine.rs"]
mod machine;
#[path = "../harness/redis_server.rs"]
#[expect(dead_code, reason = "more than is needed here")]
mod redis_server;
#[path = "../../../benches/figures/settings.rs"]
mod settings;
#[path = "../../../benches/figures/shop.rs"]
#[expect(dead_code, reason = "more than is needed here")]
mod shop;
#[path = "../../../benches/figures/table.rs"]
mod table;

use std::{collections::VecDeque, path::PathBuf, process::ExitCode, sync::Arc};

use clap::Parser;
use eventually::eventually;
use tokio::time::Instant;

use self::{
    deployment::Deployment,
    load::Round,
    plan::{Kind, Plan},
    report::Report,
    shoppers::Shoppers,
    table::Table,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The sales of so many rounds are still the gate's; those of older ones are settled.
const KEPT: usize = 10;

/// Kills, stops, cuts off and empties what the program is made of, and checks its promises.
#[derive(Debug, Parser)]
struct Args {
    /// Rounds
    #[arg(long, default_value_t = 20)]
    rounds: u64,
    /// Seed of the first round; by default a random one
    #[arg(long)]
    seed: Option<u64>,
    /// Shoppers a second
    #[arg(long, default_value_t = 250, value_parser = clap::value_parser!(u32).range(1..=2000))]
    rate: u32,
    /// Accounts that they are taken from
    #[arg(long, default_value_t = 30_000)]
    accounts: usize,
    /// Only faults of these kinds
    #[arg(long)]
    only: Vec<Kind>,
    /// Print the rounds' plans alone
    #[arg(long)]
    plans: bool,
    /// The program
    #[arg(long, default_value = "target/release/seckill")]
    binary: PathBuf,
    /// Folder of PostgreSQL's programs
    #[arg(long, default_value = "/usr/lib/postgresql/15/bin")]
    postgres: PathBuf,
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let args = Args::parse();
    if args.plans {
        plans(&args).for_each(|plan| println!("{plan}"));
        return Ok(ExitCode::SUCCESS);
    }
    let stop = seckill::serve::stop_signal()?;
    let mut stopped = stop.clone();
    tokio::select! {
        report = run(&args) => {
            let is_good = report?.is_good();
            Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        // Leaving ends everything that was started.
        _ = stopped.wait_for(|stop| *stop) => Ok(ExitCode::FAILURE),
    }
}

async fn run(args: &Args) -> Result<Report> {
    let deployment = Deployment::start(args).await?;
    let shoppers = Shoppers::create(&deployment.stores, args.accounts).await?;
    let mut table = Table::new("machine");
    for (what, value) in machine::describe(&deployment.stores).await? {
        table.row(what, value);
    }
    table.print();
    println!();
    let mut report = Report::default();
    let mut earlier: VecDeque<Arc<Round>> = VecDeque::new();
    let started = Instant::now();
    for (number, plan) in plans(args).enumerate() {
        let (course, round) = round::make(&deployment, &shoppers, plan, args.rate).await?;
        println!("round {}  {course}", number + 1);
        report.add(&course);
        earlier.push_back(round);
        // What is broken is told once.
        let kept = if course.broken.is_empty() { KEPT } else { 0 };
        while earlier.len() > kept
            && let Some(old) = earlier.pop_front()
        {
            old.sales.settle(&deployment.stores).await?;
        }
    }
    report.print(started.elapsed());
    Ok(report)
}

/// The plans of all rounds: each has the seed after the last one's.
fn plans(args: &Args) -> impl Iterator<Item = Plan> {
    let first = args
        .seed
        .unwrap_or_else(|| rand::random_range(0..1_000_000_000));
    let of = move |number| Plan::of(first.wrapping_add(number), &args.only);
    (0..args.rounds).map(of)
}
