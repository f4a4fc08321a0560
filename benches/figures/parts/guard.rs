//! Whether something has become much dearer: ratios of this run beside those of docs/bench/guards.json. What is compared
//! is mostly time on the processor, each part's beside that of Redis for a call of the raw gate: on a machine that others
//! use too, rates say who else was there. Rounds are short and by turns. Of costs the least counts, since others can only
//! add to them; of rates the median of the rounds' ratios. Nothing here is an absolute time.

use std::collections::BTreeMap;

use app::model::VoucherId;
use seckill::{consumer::reconcile::report::Report, stores::Stores};

use crate::{
    Result,
    args::Args,
    count,
    cpu::Times,
    http::{Answers, Load},
    own_stores::Addresses,
    parts::consumer,
    raw_gate::RedisLoad,
    shop::{self, Shopper},
    site::{self, Site},
    table::{Table, median},
};

/// Where the ratios of the last time are.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/bench/guards.json");

/// A third less done for the same is a regression: a rate below two thirds, a cost above three halves.
const KEPT: f64 = 2.0 / 3.0;

const ROUNDS: usize = 5;
const CONNECTIONS: usize = 50;
const RAW_CALLS: usize = 40_000;
const BUYS: usize = 5_000;
const PAGES: usize = 15_000;
const QUEUE: usize = 10_000;

/// What a ratio is of.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Time on the processor: less is better.
    Cost,
    /// Calls a second: more is better.
    Rate,
}

struct Guard {
    name: &'static str,
    kind: Kind,
    ratio: f64,
}

/// Measures, prints the ratios beside the last ones, and fails when one has become much worse. With `--json` they are
/// written into that file instead.
pub async fn compare(args: Args, addresses: Addresses, stores: Stores) -> Result<()> {
    let guards = rounds(&args, &addresses, &stores).await?.guards();
    let report = Report::make(&stores.pool, &stores.gate).await?;
    if !report.is_healthy() {
        return Err(format!("gate, queue and database disagree:\n{report}").into());
    }
    let last: BTreeMap<String, f64> = serde_json::from_str(&std::fs::read_to_string(FILE)?)?;
    let mut table = Table::new("ratios, beside the last ones");
    let mut worse = Vec::new();
    for Guard { name, kind, ratio } in &guards {
        let Some(last) = last.get(*name) else {
            worse.push(format!("{name}: nothing to compare with"));
            continue;
        };
        let done = match kind {
            Kind::Cost => last / ratio,
            Kind::Rate => ratio / last,
        };
        // Of what is no number this is false.
        let is_good = done >= KEPT;
        if !is_good {
            worse.push((*name).to_owned());
        }
        let verdict = if is_good { "good" } else { "WORSE" };
        let percent = done * 100.0;
        table.row(
            name,
            format!("{verdict}: {ratio:.2}, last {last:.2}; {percent:.0} % done for the same"),
        );
    }
    table.print();
    if let Some(file) = &args.json {
        let ratios: BTreeMap<_, _> = guards
            .iter()
            .map(|guard| (guard.name, guard.ratio))
            .collect();
        std::fs::write(
            file,
            format!("{}\n", serde_json::to_string_pretty(&ratios)?),
        )?;
        return Ok(());
    }
    if !worse.is_empty() {
        return Err(format!(
            "a third less is done for the same: {}. Where that is meant: scripts/guard --keep",
            worse.join("; ")
        )
        .into());
    }
    Ok(())
}

async fn rounds(args: &Args, addresses: &Addresses, stores: &Stores) -> Result<All> {
    let shoppers = shop::shoppers(stores, QUEUE.max(BUYS)).await?;
    let site = Site::start(args, addresses, stores, "serve", &[]).await?;
    let sold_out = site::sale(stores, 1).await?;
    site.buy(
        Load::closed(1, 1),
        &shoppers[..1],
        move |_| sold_out,
        "\"queued\"",
    )
    .await?;
    let mut all = All::default();
    // The first warms up.
    serving_round(
        &mut All::default(),
        addresses,
        &site,
        sold_out,
        &shoppers[1..],
    )
    .await?;
    for _ in 0..ROUNDS {
        serving_round(&mut all, addresses, &site, sold_out, &shoppers[1..]).await?;
    }
    site.stop().await?;
    for _ in 0..ROUNDS {
        let raw_rate = raw_gate(addresses).buys().await?;
        let drained = consumer::drain(args, addresses, stores, &shoppers[..QUEUE]).await?;
        all.consumer_by_raw.push(drained.rate / raw_rate);
        let costs = drained.costs;
        all.drained
            .push(costs.server + costs.redis + costs.postgres);
    }
    Ok(all)
}

async fn serving_round(
    all: &mut All,
    addresses: &Addresses,
    site: &Site,
    sold_out: VoucherId,
    shoppers: &[Shopper],
) -> Result<()> {
    let before = site.times()?;
    let raw_rate = raw_gate(addresses).buys().await?;
    let raw = site.times()?.each_since(&before, count(RAW_CALLS));
    all.raw.push(raw.redis);

    let buyers = &shoppers[..BUYS.min(shoppers.len())];
    let voucher = site::sale(&site.stores, buyers.len()).await?;
    let before = site.times()?;
    let load = Load::closed(CONNECTIONS, buyers.len());
    let accepted = site
        .buy(load, buyers, move |_| voucher, "\"queued\"")
        .await?;
    site.emptied().await?;
    let buy = site.times()?.each_since(&before, accepted.count());
    all.buy_server.push(buy.server);
    all.buy_redis.push(buy.redis);
    all.buy_postgres.push(buy.postgres);
    all.accepted_by_raw.push(accepted.rate() / raw_rate);

    let refused = site.buy(load, buyers, move |_| sold_out, "\"sold_out\"");
    let (refused, refusal) = costing(site, refused).await?;
    all.refusal.push(refusal.server + refusal.redis);
    all.refused_by_accepted
        .push(refused.rate() / accepted.rate());

    let page = move |_| (format!("/vouchers/{voucher}"), "</html>".to_owned());
    let load = Load::closed(CONNECTIONS, PAGES);
    let (_, page) = costing(site, site.look(load, &[], page)).await?;
    all.page.push(page.server);
    Ok(())
}

fn raw_gate(addresses: &Addresses) -> RedisLoad<'_> {
    RedisLoad {
        redis_url: &addresses.redis_url,
        connections: CONNECTIONS,
        calls: RAW_CALLS,
    }
}

async fn costing(
    site: &Site,
    asking: impl Future<Output = Result<Answers>>,
) -> Result<(Answers, Times)> {
    let before = site.times()?;
    let answers = asking.await?;
    let costs = site.times()?.each_since(&before, answers.count());
    Ok((answers, costs))
}

/// What the rounds have found: costs in µs, and ratios of rates.
#[derive(Default)]
struct All {
    raw: Vec<f64>,
    buy_server: Vec<f64>,
    buy_redis: Vec<f64>,
    buy_postgres: Vec<f64>,
    refusal: Vec<f64>,
    page: Vec<f64>,
    drained: Vec<f64>,
    accepted_by_raw: Vec<f64>,
    refused_by_accepted: Vec<f64>,
    consumer_by_raw: Vec<f64>,
}

impl All {
    fn guards(&self) -> [Guard; 9] {
        let cost = |name, costs: &[f64]| Guard {
            name,
            kind: Kind::Cost,
            ratio: rounded(least(costs) / least(&self.raw)),
        };
        let rate = |name, ratios: &[f64]| Guard {
            name,
            kind: Kind::Rate,
            ratio: rounded(median(ratios)),
        };
        [
            cost("a buy: server ÷ raw gate", &self.buy_server),
            cost("a buy: Redis ÷ raw gate", &self.buy_redis),
            cost("a buy: PostgreSQL ÷ raw gate", &self.buy_postgres),
            cost(
                "a sold-out answer: server and Redis ÷ raw gate",
                &self.refusal,
            ),
            cost("a voucher page: server ÷ raw gate", &self.page),
            cost("an order from a full queue: all ÷ raw gate", &self.drained),
            rate("rate: accepted ÷ raw gate", &self.accepted_by_raw),
            rate(
                "rate: sold-out answers ÷ accepted",
                &self.refused_by_accepted,
            ),
            rate("rate: consumer ÷ raw gate", &self.consumer_by_raw),
        ]
    }
}

/// The least; no number of none.
fn least(costs: &[f64]) -> f64 {
    costs.iter().copied().fold(f64::NAN, f64::min)
}

/// To a thousandth: more says nothing.
fn rounded(ratio: f64) -> f64 {
    (ratio * 1000.0).round() / 1000.0
}
