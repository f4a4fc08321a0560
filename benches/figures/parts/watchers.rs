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

use crate::{
    Result, Run, count,
    http::Load,
    parts::buys::megabytes,
    record::Record,
    site::{self, PATIENCE, Site},
};

/// How long nothing happens.
const IDLE: Duration = Duration::from_secs(20);

/// Streams that are opened at a time.
const AT_ONCE: usize = 200;

/// Measures with as many watchers as the arguments say.
pub async fn measure(run: &Run, record: &mut Record) -> Result<()> {
    let (from, watched_by) = (record.len(), run.args.watchers);
    let places = (watched_by * 3 / 2).to_string();
    let settings = ["--connections", &places];
    let site = Site::start(&run.args, &run.addresses, &run.stores, "serve", &settings).await?;
    let voucher = site::sale(&run.stores, run.args.rounds).await?;
    let alone = questions(&run.stores).await?;
    let before = site.program.resident()?;

    let (tell, mut told) = unbounded_channel();
    let mut watchers = JoinSet::new();
    let began = Instant::now();
    while watchers.len() < watched_by {
        let more = AT_ONCE.min(watched_by - watchers.len());
        for _ in 0..more {
            let path = format!("/live/vouchers/{voucher}");
            watchers.spawn(watch(site.addr, path, tell.clone()));
        }
        hear(&mut told, more).await?;
    }
    let opened_in = began.elapsed().as_secs_f64();
    record.value("watchers_opened", "opened in", "s", opened_in);
    let grown = site.program.resident()?.saturating_sub(before);
    record.value(
        "watchers_memory",
        "memory of the program",
        "MB",
        megabytes(site.program.resident()?),
    );
    record.value(
        "watchers_memory_each",
        "more than before, each",
        "kB",
        count(usize::try_from(grown)?) / count(watched_by) / 1000.0,
    );
    let times = site.times()?;
    let idle = questions(&run.stores).await?;
    let busy = site.times()?.server - times.server;
    record.value(
        "watchers_questions",
        "questions to the database, idle",
        "/s",
        idle,
    );
    record.value(
        "questions_alone",
        "the same with nobody watching",
        "/s",
        alone,
    );
    record.value(
        "watchers_processor",
        "processor, idle",
        "% of a core",
        busy / IDLE.as_secs_f64() * 100.0,
    );
    for shopper in &run.shoppers[..run.args.rounds] {
        let times = site.times()?;
        let sold = Instant::now();
        let buyer = std::slice::from_ref(shopper);
        site.buy(Load::closed(1, 1), buyer, move |_| voucher, "\"queued\"")
            .await?;
        let mut heard = hear(&mut told, watched_by).await?;
        heard.sort_unstable();
        let after = |part: usize| {
            let at = heard.get((heard.len() * part / 100).min(heard.len() - 1));
            at.map_or(0.0, |at| (*at - sold).as_secs_f64() * 1000.0)
        };
        let label = "all told of a unit, after";
        record.value("watchers_told", label, "ms", after(100));
        record.times(
            "watchers_told",
            label,
            "ms",
            [after(50), after(99), after(100)],
        );
        let costs = site.times()?.each_since(&times, count(watched_by));
        record.cost("watchers_told", label, "ms", costs);
    }
    record.print(&format!("{watched_by} guests watch one sale"), from);
    drop(watchers);
    site.emptied().await?;
    site.stop().await
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
