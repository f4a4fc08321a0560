//! The button: the raw gate and what the program accepts beside it, refusals, and times at half of the rate; then the
//! same two with a Redis that waits for the disk at every call.

use std::time::Duration;

use app::model::VoucherId;
use seckill::stores::Stores;
use tokio::time::{Instant, sleep};

use crate::{
    Result, Run, count,
    http::Load,
    raw_gate::RedisLoad,
    record::Record,
    shop::Shopper,
    site::{self, Site, memory_usage, queued},
};

/// Connections of the raw gate, and of the smaller load.
const FEW: usize = 50;

/// Connections of the larger load.
const MANY: usize = 200;

/// Measures in rounds: everything once, then all of it again.
pub async fn measure(run: &Run, record: &mut Record) -> Result<()> {
    let from = record.len();
    let site = Site::start(&run.args, &run.addresses, &run.stores, "serve", &[]).await?;
    sleep(Duration::from_secs(2)).await;
    record.value(
        "memory_idle",
        "memory, idle",
        "MB",
        megabytes(site.program.resident()?),
    );
    for round in 1..=run.args.rounds {
        eprintln!("buys, round {round}");
        raw(run, &site, record, "raw_gate", "raw gate").await?;
        accepted(run, &site, record).await?;
        refused(run, &site, record).await?;
        paced(run, &site, record).await?;
    }
    set_appendfsync(&run.stores, "always").await?;
    for round in 1..=run.args.rounds {
        eprintln!("buys with appendfsync always, round {round}");
        let label = "raw gate, appendfsync always";
        raw(run, &site, record, "raw_gate_always", label).await?;
        buyers(
            run,
            &site,
            record,
            MANY,
            "accepted_200_always",
            "accepted, 200 connections, always",
        )
        .await?;
    }
    set_appendfsync(&run.stores, "everysec").await?;
    record.value(
        "memory_loaded",
        "memory, after the loads",
        "MB",
        megabytes(site.program.resident()?),
    );
    record.print("buys", from);
    site.stop().await
}

/// Redis's own load generator.
async fn raw(run: &Run, site: &Site, record: &mut Record, name: &str, label: &str) -> Result<()> {
    let load = RedisLoad {
        redis_url: &run.addresses.redis_url,
        connections: FEW,
        calls: run.args.raw,
    };
    if name == "raw_gate" {
        record.value("ping", "PING", "/s", load.pings().await?);
    }
    let before = site.times()?;
    record.value(name, label, "/s", load.buys().await?);
    let costs = site.times()?.each_since(&before, count(load.calls));
    record.cost(name, label, "/s", costs);
    Ok(())
}

async fn accepted(run: &Run, site: &Site, record: &mut Record) -> Result<()> {
    buyers(
        run,
        site,
        record,
        FEW,
        "accepted_50",
        "accepted, 50 connections",
    )
    .await?;
    let before = used_memory(&run.stores).await?;
    let voucher = buyers(
        run,
        site,
        record,
        MANY,
        "accepted_200",
        "accepted, 200 connections",
    )
    .await?;
    let orders = count(run.args.buys);
    let grown = used_memory(&run.stores).await? - before;
    record.value(
        "redis_bytes_grown",
        "memory of Redis an order, grown",
        "bytes",
        grown / orders,
    );
    let marks = run.stores.gate.keys().buyers(voucher);
    let marks = memory_usage(&run.stores, &marks).await?;
    record.value(
        "redis_bytes_marks",
        "memory of Redis an order, its mark",
        "bytes",
        marks / orders,
    );
    repeats(run, site, record, voucher).await
}

/// Everybody buys of a new sale, while the same process stores; what each costs, storing included.
async fn buyers(
    run: &Run,
    site: &Site,
    record: &mut Record,
    connections: usize,
    name: &str,
    label: &str,
) -> Result<VoucherId> {
    let shoppers = &run.shoppers[..run.args.buys];
    let voucher = site::sale(&run.stores, shoppers.len()).await?;
    let before = site.times()?;
    let started = Instant::now();
    let load = Load::closed(connections, shoppers.len());
    let answers = site
        .buy(load, shoppers, move |_| voucher, "\"queued\"")
        .await?;
    let backlog = queued(&run.stores).await?;
    site.emptied().await?;
    let stored_in = started.elapsed().as_secs_f64();
    let costs = site.times()?.each_since(&before, count(shoppers.len()));
    record.load(name, label, &answers, costs);
    record.value(
        &format!("{name}_stored"),
        "  stored meanwhile",
        "/s",
        count(shoppers.len()) / stored_in,
    );
    record.value(
        &format!("{name}_backlog"),
        "  queued at the end",
        "orders",
        count(usize::try_from(backlog)?),
    );
    all_stored(&run.stores, voucher, shoppers).await?;
    Ok(voucher)
}

async fn all_stored(stores: &Stores, voucher: VoucherId, shoppers: &[Shopper]) -> Result<()> {
    let stored: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM orders WHERE voucher_id = $1 AND status = 'confirmed'",
    )
    .bind(voucher.0)
    .fetch_one(&stores.pool)
    .await?;
    if usize::try_from(stored)? != shoppers.len() {
        return Err(format!("{} accepted, {stored} stored", shoppers.len()).into());
    }
    Ok(())
}

async fn repeats(run: &Run, site: &Site, record: &mut Record, voucher: VoucherId) -> Result<()> {
    let again = &run.shoppers[..run.args.reads.min(run.args.buys)];
    refusals(
        site,
        record,
        voucher,
        again,
        "\"already_bought\"",
        ("repeats", "repeats"),
    )
    .await
}

async fn refused(run: &Run, site: &Site, record: &mut Record) -> Result<()> {
    let sold_out = site::sale(&run.stores, 1).await?;
    let first = &run.shoppers[..1];
    site.buy(Load::closed(1, 1), first, move |_| sold_out, "\"queued\"")
        .await?;
    let too_late = &run.shoppers[1..=run.args.reads.min(run.shoppers.len() - 1)];
    refusals(
        site,
        record,
        sold_out,
        too_late,
        "\"sold_out\"",
        ("sold_out", "sold-out answers"),
    )
    .await?;
    let coming = site::coming_sale(&run.stores).await?;
    refusals(
        site,
        record,
        coming,
        too_late,
        "\"not_started\"",
        ("not_started", "not-started answers"),
    )
    .await
}

/// A load that sells nothing.
async fn refusals(
    site: &Site,
    record: &mut Record,
    voucher: VoucherId,
    shoppers: &[Shopper],
    wanted: &'static str,
    (name, label): (&str, &str),
) -> Result<()> {
    let before = site.times()?;
    let load = Load::closed(MANY, shoppers.len());
    let answers = site.buy(load, shoppers, move |_| voucher, wanted).await?;
    let costs = site.times()?.each_since(&before, answers.count());
    record.load(name, label, &answers, costs);
    Ok(())
}

/// Times at half of the rate that was just reached.
async fn paced(run: &Run, site: &Site, record: &mut Record) -> Result<()> {
    let rate = record.last("accepted_200").ok_or("nothing was accepted")? / 2.0;
    let mut load = Load::paced(MANY, rate, run.args.paced_seconds);
    load.requests = load.requests.min(run.shoppers.len());
    let shoppers = &run.shoppers[..load.requests];
    let voucher = site::sale(&run.stores, shoppers.len()).await?;
    let before = site.times()?;
    let answers = site
        .buy(load, shoppers, move |_| voucher, "\"queued\"")
        .await?;
    site.emptied().await?;
    let costs = site.times()?.each_since(&before, answers.count());
    record.load(
        "accepted_paced",
        "accepted at half of that rate, from when it was due",
        &answers,
        costs,
    );
    all_stored(&run.stores, voucher, shoppers).await
}

/// When Redis's file goes to the disk.
async fn set_appendfsync(stores: &Stores, when: &str) -> Result<()> {
    let mut set = redis::cmd("CONFIG");
    set.arg("SET").arg("appendfsync").arg(when);
    Ok(stores.gate.connection().query(&set).await?)
}

async fn used_memory(stores: &Stores) -> Result<f64> {
    let mut info = redis::cmd("INFO");
    info.arg("memory");
    let info: redis::InfoDict = stores.gate.connection().query(&info).await?;
    Ok(info.get("used_memory").ok_or("no used_memory")?)
}

/// Bytes in MB.
pub fn megabytes(bytes: u64) -> f64 {
    count(usize::try_from(bytes).unwrap_or(usize::MAX)) / 1e6
}
