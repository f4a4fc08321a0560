//! What it costs to keep open pages up to date: so many guests watch one sale. Memory of the idle, questions to the
//! database while nothing happens, and how soon all are told of a unit that was sold.

use std::{net::SocketAddr, time::Duration};

use seckill::stores::Stores;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use super::{
    Args, PATIENCE, Result, Site, count,
    program::Program,
    shop::{self, Shopper},
    table::Table,
    watched,
};

/// How long nothing happens.
const IDLE: Duration = Duration::from_secs(20);

/// Streams that are opened at a time.
const AT_ONCE: usize = 200;

/// Measures with as many watchers as the arguments say.
pub async fn watching(args: &Args, stores: &Stores, shoppers: &[Shopper]) -> Result<()> {
    let places = (args.watchers * 3 / 2).to_string();
    let (program, addr) = Program::serve_with(args, &["--connections", &places]).await?;
    let watched = watched(stores, program.pid).await?;
    let site = Site {
        args,
        stores,
        addr,
        watched,
    };
    let voucher = shop::sale(stores, args.rounds, shop::DAY).await?;
    let mut table = Table::new(&format!("{} guests watch one sale", args.watchers));
    let alone = questions(stores).await?;
    let before = program.resident()?;

    let (tell, mut told) = unbounded_channel();
    let mut watchers = JoinSet::new();
    let began = Instant::now();
    while watchers.len() < args.watchers {
        let more = AT_ONCE.min(args.watchers - watchers.len());
        for _ in 0..more {
            let path = format!("/live/vouchers/{voucher}");
            watchers.spawn(watch(addr, path, tell.clone()));
        }
        hear(&mut told, more).await?;
    }
    table.row(
        "opened in",
        format!("{:.1} s", began.elapsed().as_secs_f64()),
    );
    let grown = program.resident()?.saturating_sub(before);
    table.row(
        "memory",
        format!(
            "{} MiB more than {}, {:.1} kB each",
            grown >> 20,
            before >> 20,
            count(usize::try_from(grown)?) / count(args.watchers) / 1000.0
        ),
    );
    let times = watched.times()?;
    let idle = questions(stores).await?;
    let busy = watched.times()?.server - times.server;
    table.row(
        "questions to the database",
        format!("{idle:.1} a second while nothing happens, {alone:.1} with nobody watching"),
    );
    table.row(
        "processor meanwhile",
        format!("{:.1} % of a core", busy / IDLE.as_secs_f64() * 100.0),
    );

    for shopper in &shoppers[..args.rounds] {
        let times = watched.times()?;
        let sold = Instant::now();
        let buyer = std::slice::from_ref(shopper);
        site.buy(voucher, buyer, "\"queued\"").await?;
        let mut heard = hear(&mut told, args.watchers).await?;
        heard.sort_unstable();
        let after = |part: usize| {
            let at = heard.get((heard.len() * part / 100).min(heard.len() - 1));
            at.map_or(0.0, |at| (*at - sold).as_secs_f64() * 1000.0)
        };
        table.row(
            "all told of a unit",
            format!(
                "p50 {:.0} p99 {:.0} max {:.0} ms",
                after(50),
                after(99),
                after(100)
            ),
        );
        table.row(
            "  each costs",
            watched.times()?.each(&times, count(args.watchers)),
        );
    }
    table.print();
    drop(watchers);
    program.stop().await
}

/// When each of so many events was heard.
async fn hear(told: &mut UnboundedReceiver<Instant>, events: usize) -> Result<Vec<Instant>> {
    let mut heard = Vec::with_capacity(events);
    let hearing = async {
        while heard.len() < events {
            let Some(at) = told.recv().await else { break };
            heard.push(at);
        }
    };
    timeout(PATIENCE, hearing)
        .await
        .map_err(|_| format!("not all of {events} watchers were told"))?;
    Ok(heard)
}

/// Opens a stream, and tells when each event came; a sign of life is none.
async fn watch(addr: SocketAddr, path: String, tell: UnboundedSender<Instant>) {
    let listening = async {
        let mut line = TcpStream::connect(addr).await?;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {addr}\r\nAccept: text/event-stream\r\n\r\n");
        line.write_all(request.as_bytes()).await?;
        let mut part = [0; 1024];
        loop {
            let read = line.read(&mut part).await?;
            if read == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let events = String::from_utf8_lossy(&part[..read]);
            for _ in events.matches("data: {") {
                // Nobody listens any more at the end.
                let _ = tell.send(Instant::now());
            }
        }
    };
    let ended: std::io::Result<()> = listening.await;
    if let Err(error) = ended {
        eprintln!("a watcher's stream ended: {error}");
    }
}

/// Statements that the database runs a second while nothing is asked, beside those of this question.
async fn questions(stores: &Stores) -> Result<f64> {
    let before = transactions(stores).await?;
    sleep(IDLE).await;
    let after = transactions(stores).await?;
    Ok(count(usize::try_from(after - before)?) / IDLE.as_secs_f64())
}

async fn transactions(stores: &Stores) -> Result<i64> {
    Ok(sqlx::query_scalar(
        "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()",
    )
    .fetch_one(&stores.pool)
    .await?)
}
