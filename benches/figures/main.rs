//! Measures the program on this machine, stores and load generator included, and prints tables: `make bench`.
//! The real release binary is asked over HTTP; the raw gate is measured in the same run, so that the ratio of the two
//! tells something on any machine. What is asserted is that every answer was right, and that gate, queue and database
//! agree in the end; figures are printed beside their goals, and never asserted, but for the ratios of `--guard`.
//! Runs against throwaway stores only. Each part of the measurement is a file of `parts/`.

mod args;
mod chart;
mod cpu;
mod goals;
mod http;
mod machine;
mod own_stores;
mod parts;
mod program;
mod raw_gate;
mod reckoning;
mod record;
mod redis_servers;
mod settings;
mod shop;
mod site;
mod table;

use clap::Parser;
use seckill::{consumer::reconcile::report::Report, stores::Stores};

use self::{
    args::{Args, Part},
    own_stores::Addresses,
    record::Record,
    shop::Shopper,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What every part works with.
struct Run {
    args: Args,
    addresses: Addresses,
    stores: Stores,
    shoppers: Vec<Shopper>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let args = Args::parse();
    let addresses = Addresses::of_run(&args);
    let stores = addresses.open().await?;
    if args.guard {
        return parts::guard::compare(args, addresses, stores).await;
    }
    let mut record = Record::default();
    describe(&args, &stores, &mut record).await?;
    record.print_about();
    let run = Run {
        shoppers: shop::shoppers(&stores, args.buys.max(args.queue)).await?,
        args,
        addresses,
        stores,
    };
    measure(&run, &mut record).await?;
    let report = Report::make(&run.stores.pool, &run.stores.gate).await?;
    if !report.is_healthy() {
        return Err(format!("gate, queue and database disagree:\n{report}").into());
    }
    let goals = goals::compare(&record, &run.args);
    goals::print(&goals);
    if let Some(json) = &run.args.json {
        record.write(json, goals::json(&goals))?;
        if let Some(chart) = &run.args.chart {
            chart::draw(json, chart)?;
        }
    }
    Ok(())
}

/// The machine and the settings: without them a figure says nothing.
async fn describe(args: &Args, stores: &Stores, record: &mut Record) -> Result<()> {
    for (what, value) in machine::describe(stores).await? {
        record.about(what, value);
    }
    if !args.about.is_empty() {
        record.about("run", &args.about);
    }
    record.about(
        "loads",
        format!(
            "{} rounds; {} buys, {} refusals and pages, {} raw calls a round",
            args.rounds, args.buys, args.reads, args.raw
        ),
    );
    Ok(())
}

async fn measure(run: &Run, record: &mut Record) -> Result<()> {
    let runs = |part| run.args.runs(part);
    if runs(Part::Buys) {
        parts::buys::measure(run, record).await?;
    }
    if runs(Part::Steady) {
        parts::steady::measure(run, record).await?;
    }
    if runs(Part::Consumer) {
        parts::consumer::measure(run, record).await?;
    }
    if runs(Part::Pages) {
        parts::pages::measure(run, record).await?;
    }
    if runs(Part::SignIn) {
        parts::sign_in::measure(run, record).await?;
    }
    if runs(Part::Limits) {
        parts::limits::measure(run, record).await?;
    }
    if runs(Part::Watchers) {
        parts::watchers::measure(run, record).await?;
    }
    if runs(Part::Size) {
        parts::size::measure(run, record).await?;
    }
    if runs(Part::Scaling) {
        parts::scaling::measure(run, record).await?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
fn count(of: usize) -> f64 {
    of as f64
}
