//! What docs/scaling.md reckons with: the raw gate on one, two and three Redis processes; the program on shards and on
//! the nodes of a Redis Cluster; several instances; what an order costs the database by the size of its batch. Where
//! everything runs on two cores rates do not grow with the processes: what grows, or not, is the time on the processor
//! for each call.

use futures::future::try_join_all;
use seckill::{
    clock,
    db::orders::{self, NewOrder, Verdict},
};
use tokio::time::Instant;

use crate::{
    Result, Run, count,
    cpu::{self, Times},
    http::Load,
    own_stores::OwnStores,
    raw_gate::RedisLoad,
    reckoning,
    record::Record,
    redis_servers::RedisServers,
    shop,
    site::{self, Site, watched},
};

/// Connections of the raw gate, to each Redis.
const RAW_CONNECTIONS: usize = 50;

/// Connections of the program's load.
const CONNECTIONS: usize = 200;

/// Hash tags where there are several nodes.
const SHARDS: u16 = 16;

/// Orders in a batch.
const BATCHES: [usize; 8] = [1, 10, 25, 50, 100, 250, 500, 1_000];

/// Measures each in rounds.
pub async fn measure(run: &Run, record: &mut Record) -> Result<()> {
    let from = record.len();
    for processes in 1..=3 {
        for _ in 0..run.args.rounds {
            raw(run, record, processes).await?;
        }
    }
    record.print("raw gate by Redis processes", from);
    let from = record.len();
    for (nodes, shards, in_cluster) in [
        (1, 1, false),
        (1, 3, false),
        (1, SHARDS, false),
        (1, SHARDS, true),
        (2, SHARDS, true),
        (3, SHARDS, true),
    ] {
        sharded(run, record, nodes, shards, in_cluster).await?;
    }
    record.print("buys by shards and nodes", from);
    let from = record.len();
    for instances in 1..=3 {
        several(run, record, instances).await?;
    }
    record.print("buys by instances", from);
    let from = record.len();
    batches(run, record).await?;
    record.print("storing by orders in a batch", from);
    for (name, of) in [
        ("redis_1_shards_1", "one Redis"),
        ("cluster_3_shards_16", "a cluster of three"),
    ] {
        let costs = record.costs(name).ok_or("no costs")?;
        reckoning::print(of, &costs);
    }
    Ok(())
}

/// As many load generators as Redis processes, at once.
async fn raw(run: &Run, record: &mut Record, processes: usize) -> Result<()> {
    let servers = RedisServers::start(processes).await?;
    let urls = servers.urls();
    let redis = || -> Result<f64> { servers.pids().into_iter().map(cpu::seconds).sum() };
    let calls = run.args.raw / processes;
    let (before, load_before) = (redis()?, cpu::seconds(std::process::id())?);
    let started = Instant::now();
    let loads = urls.iter().map(|redis_url| {
        let load = RedisLoad {
            redis_url,
            connections: RAW_CONNECTIONS,
            calls,
        };
        load.buys()
    });
    let rates = try_join_all(loads).await?;
    let all = count(calls * processes);
    let name = format!("raw_gate_{processes}");
    let label = format!("raw gate, {processes} Redis");
    eprintln!("  in {:.1} s", started.elapsed().as_secs_f64());
    record.value(&name, &label, "/s", rates.iter().sum());
    let costs = Times {
        redis: (redis()? - before) * 1e6 / all,
        load: (cpu::seconds(std::process::id())? - load_before) * 1e6 / all,
        ..Times::default()
    };
    record.cost(&name, &label, "/s", costs);
    Ok(())
}

/// The program with one sale on each shard, on these nodes.
async fn sharded(
    run: &Run,
    record: &mut Record,
    nodes: usize,
    shards: u16,
    in_cluster: bool,
) -> Result<()> {
    let redis = match in_cluster {
        true => RedisServers::start_cluster(nodes).await?,
        false => RedisServers::start(nodes).await?,
    };
    let kind = if in_cluster { "cluster" } else { "redis" };
    let name = format!("{kind}_{nodes}_shards_{shards}");
    let own = OwnStores::open_on(&run.args, &name, redis, shards).await?;
    let shoppers = shop::shoppers(&own.stores, run.args.buys).await?;
    let mut site = Site::start(&run.args, &own.addresses, &own.stores, "serve", &[]).await?;
    site.watch_redis(own.redis.pids());
    let label = match in_cluster {
        true => format!("buys, {shards} shards on a cluster of {nodes}"),
        false => format!("buys, {shards} shards on one Redis"),
    };
    let sales = usize::from(shards);
    for _ in 0..run.args.rounds {
        let mut vouchers = Vec::new();
        for _ in 0..sales {
            let units = shoppers.len().div_ceil(sales);
            vouchers.push(site::sale(&own.stores, units).await?);
        }
        let before = site.times()?;
        let load = Load::closed(CONNECTIONS, shoppers.len());
        let answers = site
            .buy(
                load,
                &shoppers,
                move |number| vouchers[number % vouchers.len()],
                "\"queued\"",
            )
            .await?;
        site.emptied().await?;
        let costs = site.times()?.each_since(&before, answers.count());
        record.load(&name, &label, &answers, costs);
    }
    site.stop().await?;
    own.remove().await
}

/// Instances of the program side by side, each with its share of the same load.
async fn several(run: &Run, record: &mut Record, instances: usize) -> Result<()> {
    let mut sites = Vec::new();
    for _ in 0..instances {
        let site = Site::start(&run.args, &run.addresses, &run.stores, "serve", &[]).await?;
        sites.push(site);
    }
    let (name, label) = (
        format!("instances_{instances}"),
        format!("buys, {instances} instances"),
    );
    let shoppers = &run.shoppers[..run.args.buys];
    let share = shoppers.len() / instances;
    for _ in 0..run.args.rounds {
        let voucher = site::sale(&run.stores, shoppers.len()).await?;
        let before = times(&sites)?;
        let started = Instant::now();
        let load = Load::closed(CONNECTIONS / instances, share);
        let loads = sites.iter().zip(shoppers.chunks_exact(share));
        let loads =
            loads.map(|(site, buyers)| site.buy(load, buyers, move |_| voucher, "\"queued\""));
        let answers = try_join_all(loads).await?;
        let elapsed = started.elapsed().as_secs_f64();
        for site in &sites {
            site.emptied().await?;
        }
        let all: f64 = answers.iter().map(|answers| answers.count()).sum();
        record.value(&name, &label, "/s", all / elapsed);
        let costs = times(&sites)?.each_since(&before, all);
        record.cost(&name, &label, "/s", costs);
    }
    for site in sites {
        site.stop().await?;
    }
    Ok(())
}

/// The times of all instances; of the stores and the load generator, which they share, once.
fn times(sites: &[Site]) -> Result<Times> {
    let mut all = sites[0].times()?;
    all.server = sites
        .iter()
        .map(|site| cpu::seconds(site.program.pid))
        .sum::<Result<f64>>()?;
    Ok(all)
}

/// The statement of the consumer alone, on one connection.
async fn batches(run: &Run, record: &mut Record) -> Result<()> {
    let own = OwnStores::open(&run.args, "batches").await?;
    let users = shop::accounts(&own.stores, 20_000).await?;
    let watched = watched(&own.stores, std::process::id()).await?;
    for _ in 0..run.args.rounds {
        for size in BATCHES {
            // Some hundred batches, and no more orders than users.
            let orders = (size * 400).min(users.len());
            let voucher = site::sale(&own.stores, orders).await?;
            let orders: Vec<NewOrder> = users[..orders]
                .iter()
                .map(|user| NewOrder {
                    id: own.stores.order_ids.make(*user, voucher, clock::system()),
                    user: *user,
                    voucher,
                    accepted_at: clock::system(),
                })
                .collect();
            let (before, started) = (watched.times()?, Instant::now());
            for batch in orders.chunks(size) {
                let judged = orders::persist(&own.stores.pool, batch).await?;
                if judged.iter().any(|one| one.verdict != Verdict::Confirmed) {
                    return Err("an order was not confirmed".into());
                }
            }
            let (name, label) = (
                format!("batch_{size}"),
                format!("stored, batches of {size}"),
            );
            let rate = count(orders.len()) / started.elapsed().as_secs_f64();
            record.value(&name, &label, "/s", rate);
            let mut costs = watched.times()?.each_since(&before, count(orders.len()));
            // This process is the load generator here, and nothing is served.
            costs.server = 0.0;
            record.cost(&name, &label, "/s", costs);
        }
    }
    own.remove().await
}
