//! A consumer alone on a full queue.

use std::time::Duration;

use seckill::{gate::keys::Shard, stores::Stores};
use tokio::time::{Instant, sleep};

use crate::{
    Result, Run,
    args::Args,
    count,
    cpu::Times,
    own_stores::Addresses,
    program::Program,
    record::Record,
    shop::{self, Shopper},
    site::{self, memory_usage, queued, watched},
};

/// Measures in rounds.
pub async fn measure(run: &Run, record: &mut Record) -> Result<()> {
    let from = record.len();
    for round in 1..=run.args.rounds {
        eprintln!("consumer, round {round}");
        let shoppers = &run.shoppers[..run.args.queue];
        let drained = drain(&run.args, &run.addresses, &run.stores, shoppers).await?;
        let label = "consumer from a full queue";
        record.value("drained", label, "/s", drained.rate);
        record.cost("drained", label, "/s", drained.costs);
        let label = "memory of Redis, an order in the queue";
        record.value("redis_bytes_queued", label, "bytes", drained.queued_bytes);
    }
    record.print("consumer from a full queue", from);
    Ok(())
}

/// How a queue was emptied.
pub struct Drained {
    /// Orders a second.
    pub rate: f64,
    /// Redis' memory for each order in the queue, its mark apart.
    pub queued_bytes: f64,
    /// Of each order; the consumer's under `server`.
    pub costs: Times,
}

/// Fills the queue with an order of each shopper, and lets a consumer empty it. From the first batch that is gone, so that
/// the start of a process is not measured.
pub async fn drain(
    args: &Args,
    addresses: &Addresses,
    stores: &Stores,
    shoppers: &[Shopper],
) -> Result<Drained> {
    let voucher = site::sale(stores, shoppers.len()).await?;
    shop::fill_queue(stores, voucher, shoppers).await?;
    let queue = stores.gate.keys().orders(Shard(0));
    let queue = memory_usage(stores, &queue).await?;
    let program = Program::consumer(args, addresses)?;
    let watched = watched(stores, program.pid).await?;
    let left = loop {
        let left = queued(stores).await?;
        if left < shoppers.len() as u64 {
            break left;
        }
        sleep(Duration::from_millis(2)).await;
    };
    let (started, before) = (Instant::now(), watched.times()?);
    while queued(stores).await? > 0 {
        sleep(Duration::from_millis(5)).await;
    }
    let orders = count(usize::try_from(left)?);
    let drained = Drained {
        queued_bytes: queue / count(shoppers.len()),
        rate: orders / started.elapsed().as_secs_f64(),
        costs: watched.times()?.each_since(&before, orders),
    };
    program.stop().await?;
    Ok(drained)
}
