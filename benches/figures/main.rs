//! Measures the program on this machine, stores and load generator included, and prints a table: `make bench`.
//! The real release binary is asked over HTTP; the raw gate is measured in the same run, so that the ratio of the two
//! tells something on any machine. Figures are printed and never asserted; what is asserted is that every answer was
//! right, and that gate, queue and database agree in the end. Runs against throwaway stores only.

mod cpu;
mod http;
mod limits;
mod machine;
mod program;
mod raw_gate;
mod settings;
mod shop;
mod table;
mod watchers;

use std::{path::PathBuf, time::Duration};

use app::model::VoucherId;
use clap::Parser;
use seckill::{
    consumer::reconcile::report::Report,
    gate::keys::Shard,
    stores::{self, Stores},
};
use tokio::time::{Instant, sleep};

use self::{
    cpu::Watched,
    http::drive,
    program::Program,
    shop::Shopper,
    table::{Table, median},
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The queue is empty within so long, or the run fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// Measures buys, consumer, refusals and pages.
#[derive(Debug, Parser)]
struct Args {
    /// PostgreSQL; an empty database
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: String,
    /// Redis; an empty one
    #[arg(long, env = "REDIS_URL", hide_env_values = true)]
    redis_url: String,
    /// The program to measure
    #[arg(long, default_value = env!("CARGO_BIN_EXE_seckill"))]
    binary: PathBuf,
    /// The built site
    #[arg(long, env = "SECKILL_SITE", default_value = "target/site")]
    site: PathBuf,
    /// Connections of every load
    #[arg(long, default_value_t = 50)]
    connections: usize,
    /// Buys by distinct users in a round
    #[arg(long, default_value_t = 200_000)]
    buys: usize,
    /// Orders of the filled queue in a round
    #[arg(long, default_value_t = 100_000)]
    queue: usize,
    /// Calls of the raw gate in a round
    #[arg(long, default_value_t = 300_000)]
    raw: usize,
    /// Refusals, and pages, in a round
    #[arg(long, default_value_t = 50_000)]
    reads: usize,
    /// Guests who watch one sale
    #[arg(long, default_value_t = 10_000)]
    watchers: usize,
    /// Only this part
    #[arg(long)]
    only: Option<Part>,
    /// Rounds; medians are shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// The parts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Raw gate, buys, refusals, pages
    Serving,
    /// What the limits cost
    Limits,
    /// A consumer on a filled queue
    Draining,
    /// Open pages that are kept up to date
    Watching,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let args = Args::parse();
    let config = settings::on(&args.database_url, &args.redis_url)?;
    stores::migrate(&config).await?;
    let stores = Stores::open(&config).await?;
    let mut table = Table::new("machine");
    for (what, value) in machine::describe(&stores).await? {
        table.row(what, value);
    }
    table.row(
        "loads",
        format!(
            "{} connections, {} rounds, {} buys a round",
            args.connections, args.rounds, args.buys
        ),
    );
    table.print();
    let shoppers = shop::shoppers(&stores, args.buys.max(args.queue)).await?;
    let runs = |part| args.only.is_none_or(|only| only == part);
    if runs(Part::Serving) {
        serving(&args, &stores, &shoppers).await?;
        sizes(&args)?;
    }
    if runs(Part::Limits) {
        limits::cost(&args, &stores, &shoppers).await?;
    }
    if runs(Part::Draining) {
        draining(&args, &stores, &shoppers).await?;
    }
    if runs(Part::Watching) {
        watchers::watching(&args, &stores, &shoppers).await?;
    }
    let report = Report::make(&stores.pool, &stores.gate).await?;
    if !report.is_healthy() {
        return Err(format!("gate, queue and database disagree:\n{report}").into());
    }
    Ok(())
}

/// The program as a whole: raw gate, buys, refusals, pages, in rounds.
async fn serving(args: &Args, stores: &Stores, shoppers: &[Shopper]) -> Result<()> {
    let (program, addr) = Program::serve(args, "off").await?;
    sleep(Duration::from_secs(2)).await;
    let idle = program.resident()?;
    let watched = watched(stores, program.pid).await?;
    let site = Site {
        args,
        stores,
        addr,
        watched,
    };
    let sold_out = shop::sale(stores, 1, shop::DAY).await?;
    site.buy(sold_out, &shoppers[..1], "\"queued\"").await?;
    let (mut pings, mut raw, mut accepted, mut persisted, mut refused, mut pages) = (
        Vec::new(),
        Vec::new(),
        Vec::new(),
        Vec::new(),
        Vec::new(),
        Vec::new(),
    );
    for round in 1..=args.rounds {
        let mut table = Table::new(&format!("round {round}"));
        pings.push(raw_gate::pings(args).await?);
        raw.push(raw_gate::buys(args, stores).await?);
        let steady = site.steady(&shoppers[..args.buys], &mut table).await?;
        accepted.push(steady.accepted);
        persisted.push(steady.persisted);
        let before = watched.times()?;
        let buyers = &shoppers[1..=args.reads.min(shoppers.len() - 1)];
        let answers = site.buy(sold_out, buyers, "\"sold_out\"").await?;
        refused.push(answers.rate());
        table.row(
            "sold-out answers",
            format!("{:.0}/s, {}", answers.rate(), answers.times()),
        );
        table.row(
            "  each costs",
            watched.times()?.each(&before, count(buyers.len())),
        );
        let before = watched.times()?;
        let answers = site.page(sold_out, args.reads).await?;
        pages.push(answers.rate());
        table.row(
            "voucher page",
            format!(
                "{:.0}/s, {}, {} bytes",
                answers.rate(),
                answers.times(),
                answers.body_bytes
            ),
        );
        table.row(
            "  each costs",
            watched.times()?.each(&before, count(args.reads)),
        );
        table.print();
    }
    let mut table = Table::new("medians");
    let ratios: Vec<f64> = accepted
        .iter()
        .zip(&raw)
        .map(|(accepted, raw)| accepted / raw)
        .collect();
    table.row("PING", format!("{:.0}/s", median(&pings)));
    table.row("raw gate", format!("{:.0}/s", median(&raw)));
    table.row("accepted", format!("{:.0}/s", median(&accepted)));
    table.row("accepted / raw gate", format!("{:.2}", median(&ratios)));
    table.row(
        "persisted meanwhile",
        format!("{:.0}/s", median(&persisted)),
    );
    table.row("sold-out answers", format!("{:.0}/s", median(&refused)));
    table.row("voucher pages", format!("{:.0}/s", median(&pages)));
    let mb = |bytes: u64| bytes.div_ceil(1 << 20);
    table.row(
        "memory",
        format!(
            "{} MiB idle, {} MiB after the loads",
            mb(idle),
            mb(program.resident()?)
        ),
    );
    table.print();
    program.stop().await
}

/// The processes whose time is looked at, the server's among them.
async fn watched(stores: &Stores, server: u32) -> Result<Watched> {
    let backend: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_one(&stores.pool)
        .await?;
    let redis: redis::InfoDict = stores
        .gate
        .connection()
        .query(redis::cmd("INFO").arg("server"))
        .await?;
    Ok(Watched {
        server,
        redis: redis.get("process_id").ok_or("no process id of Redis")?,
        postmaster: cpu::parent(u32::try_from(backend)?)?,
    })
}

/// A consumer alone on a filled queue.
async fn draining(args: &Args, stores: &Stores, shoppers: &[Shopper]) -> Result<()> {
    let mut rates = Vec::new();
    for _ in 0..args.rounds {
        let voucher = shop::sale(stores, args.queue, shop::DAY).await?;
        shop::fill_queue(stores, voucher, &shoppers[..args.queue]).await?;
        let program = Program::consumer(args)?;
        // From the first batch that is gone, so that the start of a process is not measured.
        let mut first: Option<(Instant, u64)> = None;
        loop {
            let left = queued(stores).await?;
            match first {
                None if left < args.queue as u64 => first = Some((Instant::now(), left)),
                Some((started, of)) if left == 0 => {
                    rates.push(count(usize::try_from(of)?) / started.elapsed().as_secs_f64());
                    break;
                }
                _ => sleep(Duration::from_millis(2)).await,
            }
        }
        program.stop().await?;
    }
    let mut table = Table::new("consumer from a filled queue");
    let shown: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
    table.row(
        "orders",
        format!("{:.0}/s, of {}", median(&rates), shown.join(" ")),
    );
    table.print();
    Ok(())
}

/// The browser's files.
fn sizes(args: &Args) -> Result<()> {
    let mut table = Table::new("site");
    let mut files: Vec<_> =
        std::fs::read_dir(args.site.join("pkg"))?.collect::<std::io::Result<_>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in files {
        table.row(
            &file.file_name().to_string_lossy(),
            format!("{} bytes", file.metadata()?.len()),
        );
    }
    table.print();
    Ok(())
}

struct Site<'a> {
    args: &'a Args,
    stores: &'a Stores,
    addr: std::net::SocketAddr,
    watched: Watched,
}

/// Accepting and persisting at once.
struct Steady {
    accepted: f64,
    persisted: f64,
}

impl Site<'_> {
    /// Everybody buys of a new sale, while the same process persists.
    async fn steady(&self, shoppers: &[Shopper], table: &mut Table) -> Result<Steady> {
        let voucher = shop::sale(self.stores, shoppers.len(), shop::DAY).await?;
        let before = self.watched.times()?;
        let started = Instant::now();
        let answers = self.buy(voucher, shoppers, "\"queued\"").await?;
        let backlog = queued(self.stores).await?;
        self.emptied().await?;
        let persisted = count(shoppers.len()) / started.elapsed().as_secs_f64();
        table.row(
            "accepted",
            format!("{:.0}/s, {}", answers.rate(), answers.times()),
        );
        table.row(
            "persisted meanwhile",
            format!("{persisted:.0}/s, {backlog} queued at the end"),
        );
        table.row(
            "  each costs",
            self.watched.times()?.each(&before, count(shoppers.len())),
        );
        let (orders, p50, p99, max): (i64, f64, f64, f64) = sqlx::query_as(
            "SELECT count(*),
                    percentile_cont(0.5) WITHIN GROUP (ORDER BY lag),
                    percentile_cont(0.99) WITHIN GROUP (ORDER BY lag),
                    max(lag)
             FROM (SELECT extract(epoch FROM stored_at - accepted_at)::float8 * 1000 AS lag
                   FROM orders
                   WHERE voucher_id = $1 AND status = 'confirmed') stored",
        )
        .bind(voucher.0)
        .fetch_one(&self.stores.pool)
        .await?;
        if usize::try_from(orders)? != shoppers.len() {
            return Err(format!("{} accepted, {orders} stored", shoppers.len()).into());
        }
        table.row(
            "accepted to stored",
            format!("p50 {p50:.0} p99 {p99:.0} max {max:.0} ms"),
        );
        Ok(Steady {
            accepted: answers.rate(),
            persisted,
        })
    }

    /// These shoppers press the button once each.
    async fn buy(
        &self,
        voucher: VoucherId,
        shoppers: &[Shopper],
        wanted: &'static str,
    ) -> Result<http::Answers> {
        let cookies: Vec<String> = shoppers
            .iter()
            .map(|shopper| shopper.cookie.clone())
            .collect();
        let body = format!("voucher_id={voucher}");
        let head = format!(
            "POST /api/buy HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nCookie: session=",
            self.addr,
            body.len()
        );
        drive(
            self.addr,
            self.args.connections,
            cookies.len(),
            wanted,
            move |number, request| {
                for part in [&head, &cookies[number], "\r\n\r\n", &body] {
                    request.extend_from_slice(part.as_bytes());
                }
            },
        )
        .await
    }

    /// A guest looks at a voucher again and again.
    async fn page(&self, voucher: VoucherId, times: usize) -> Result<http::Answers> {
        let request = format!(
            "GET /vouchers/{voucher} HTTP/1.1\r\nHost: {}\r\nAccept: text/html\r\nAccept-Language: zh-CN\r\n\r\n",
            self.addr
        );
        drive(
            self.addr,
            self.args.connections,
            times,
            "</html>",
            move |_, to| to.extend_from_slice(request.as_bytes()),
        )
        .await
    }

    async fn emptied(&self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while queued(self.stores).await? > 0 {
            if Instant::now() > deadline {
                return Err("the queue does not become empty".into());
            }
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

async fn queued(stores: &Stores) -> Result<u64> {
    Ok(stores.gate.backlog(Shard(0)).await?.queued)
}

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
fn count(of: usize) -> f64 {
    of as f64
}
