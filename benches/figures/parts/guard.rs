//! Whether something has become much dearer: ratios of this run beside those of docs/bench/guards.json. What is compared
//! is mostly time on the processor, each part's beside that of Redis for a call of the raw gate in the same rounds: on a
//! machine that others use too, rates say who else was there. Rounds are short and by turns, and the best of them counts,
//! since others can only make it worse. Nothing here is an absolute time.

use std::{collections::BTreeMap, path::Path};

use app::model::VoucherId;
use seckill::{consumer::reconcile::report::Report, stores::Stores};
use serde::{Deserialize, Serialize};

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
    site::Site,
    table::Table,
};

/// Where the ratios of the last time are.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/bench/guards.json");

/// A third less done for the same is a regression: a rate below two thirds, a cost above three halves.
const KEPT: f64 = 2.0 / 3.0;

const ROUNDS: usize = 5;
const CONNECTIONS: usize = 50;
const RAW_CALLS: usize = 40_000;
const BUYS: usize = 5_000;
const PAGES: usize = 1_500;
const QUEUE: usize = 10_000;

/// What a ratio is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// Time on the processor: less is better.
    Cost,
    /// Calls a second: more is better.
    Rate,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Guard {
    kind: Kind,
    ratio: f64,
}

type Guards = BTreeMap<String, Guard>;

/// Measures, prints the ratios beside the last ones, and fails when one has become much worse. With `--json` the file is
/// written instead.
pub async fn compare(args: Args, addresses: Addresses, stores: Stores) -> Result<()> {
    let best = rounds(&args, &addresses, &stores).await?;
    let report = Report::make(&stores.pool, &stores.gate).await?;
    if !report.is_healthy() {
        return Err(format!("gate, queue and database disagree:\n{report}").into());
    }
    let found = best.ratios();
    if let Some(file) = &args.json {
        std::fs::write(file, format!("{}\n", serde_json::to_string_pretty(&found)?))?;
    }
    let known: Guards = serde_json::from_str(&std::fs::read_to_string(Path::new(FILE))?)?;
    let mut table = Table::new("ratios, beside the last ones");
    let mut worse = Vec::new();
    for (name, guard) in &known {
        let now = found
            .get(name)
            .ok_or_else(|| format!("{name}: not measured"))?;
        let done = match guard.kind {
            Kind::Cost => guard.ratio / now.ratio,
            Kind::Rate => now.ratio / guard.ratio,
        };
        let verdict = if done < KEPT { "WORSE" } else { "good" };
        if done < KEPT {
            worse.push(name.as_str());
        }
        table.row(
            name,
            format!(
                "{verdict}: {:.2}, last {:.2}; {:.0} % done for the same",
                now.ratio,
                guard.ratio,
                done * 100.0
            ),
        );
    }
    table.print();
    if !worse.is_empty() {
        return Err(format!(
            "a third less is done for the same: {}. If that is meant, scripts/guard --keep",
            worse.join("; ")
        )
        .into());
    }
    Ok(())
}

async fn rounds(args: &Args, addresses: &Addresses, stores: &Stores) -> Result<Best> {
    let shoppers = shop::shoppers(stores, QUEUE.max(BUYS)).await?;
    let site = Site::start(args, addresses, stores, "serve", &[]).await?;
    let sold_out = shop::sale(stores, 1, shop::DAY).await?;
    site.buy(
        Load::closed(1, 1),
        &shoppers[..1],
        move |_| sold_out,
        "\"queued\"",
    )
    .await?;
    let mut best = Best::default();
    for round in 0..=ROUNDS {
        let one = serving_round(addresses, &site, sold_out, &shoppers[1..]).await?;
        // The first warms up.
        if round > 0 {
            best.join(&one);
        }
    }
    site.stop().await?;
    for _ in 0..ROUNDS {
        let drained = consumer::drain(args, addresses, stores, &shoppers[..QUEUE]).await?;
        best.drained_rate = best.drained_rate.max(drained.rate);
        less(
            &mut best.drained,
            drained.costs.server + drained.costs.redis + drained.costs.postgres,
        );
    }
    Ok(best)
}

async fn serving_round(
    addresses: &Addresses,
    site: &Site,
    sold_out: VoucherId,
    shoppers: &[Shopper],
) -> Result<Best> {
    let raw = RedisLoad {
        redis_url: &addresses.redis_url,
        connections: CONNECTIONS,
        calls: RAW_CALLS,
    };
    let before = site.times()?;
    let raw_rate = raw.buys().await?;
    let raw = site.times()?.each_since(&before, count(RAW_CALLS));

    let buyers = &shoppers[..BUYS.min(shoppers.len())];
    let voucher = shop::sale(&site.stores, buyers.len(), shop::DAY).await?;
    let before = site.times()?;
    let load = Load::closed(CONNECTIONS, buyers.len());
    let accepted = site
        .buy(load, buyers, move |_| voucher, "\"queued\"")
        .await?;
    site.emptied().await?;
    let buy = site.times()?.each_since(&before, accepted.count());

    let (refused, refusal) = costing(
        site,
        site.buy(load, buyers, move |_| sold_out, "\"sold_out\""),
    )
    .await?;
    let page = move |_| (format!("/vouchers/{voucher}"), "</html>".to_owned());
    let load = Load::closed(CONNECTIONS, PAGES);
    let (_, page) = costing(site, site.look(load, &[], page)).await?;
    Ok(Best {
        raw: Some(raw.redis),
        buy_server: Some(buy.server),
        buy_redis: Some(buy.redis),
        buy_postgres: Some(buy.postgres),
        refusal: Some(refusal.server + refusal.redis),
        page: Some(page.server),
        drained: None,
        raw_rate,
        refused_by_accepted: refused.rate() / accepted.rate(),
        drained_rate: 0.0,
    })
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

/// The best of all rounds: costs in µs, rates a second.
#[derive(Default)]
struct Best {
    raw: Option<f64>,
    buy_server: Option<f64>,
    buy_redis: Option<f64>,
    buy_postgres: Option<f64>,
    refusal: Option<f64>,
    page: Option<f64>,
    drained: Option<f64>,
    raw_rate: f64,
    refused_by_accepted: f64,
    drained_rate: f64,
}

impl Best {
    fn join(&mut self, one: &Self) {
        let costs = [
            (&mut self.raw, one.raw),
            (&mut self.buy_server, one.buy_server),
            (&mut self.buy_redis, one.buy_redis),
            (&mut self.buy_postgres, one.buy_postgres),
            (&mut self.refusal, one.refusal),
            (&mut self.page, one.page),
        ];
        for (best, one) in costs {
            if let Some(one) = one {
                less(best, one);
            }
        }
        self.raw_rate = self.raw_rate.max(one.raw_rate);
        self.refused_by_accepted = self.refused_by_accepted.max(one.refused_by_accepted);
    }

    fn ratios(&self) -> Guards {
        let raw = self.raw.unwrap_or(f64::NAN);
        let cost = |cost: Option<f64>| Guard {
            kind: Kind::Cost,
            ratio: rounded(cost.unwrap_or(f64::NAN) / raw),
        };
        let rate = |ratio: f64| Guard {
            kind: Kind::Rate,
            ratio: rounded(ratio),
        };
        [
            ("server, a buy ÷ Redis, a raw call", cost(self.buy_server)),
            ("Redis, a buy ÷ Redis, a raw call", cost(self.buy_redis)),
            (
                "PostgreSQL, a buy ÷ Redis, a raw call",
                cost(self.buy_postgres),
            ),
            (
                "server and Redis, a sold-out answer ÷ Redis, a raw call",
                cost(self.refusal),
            ),
            (
                "server, a voucher page ÷ Redis, a raw call",
                cost(self.page),
            ),
            (
                "all, an order from a full queue ÷ Redis, a raw call",
                cost(self.drained),
            ),
            (
                "sold-out answers ÷ accepted",
                rate(self.refused_by_accepted),
            ),
            (
                "consumer from a full queue ÷ raw gate",
                rate(self.drained_rate / self.raw_rate),
            ),
        ]
        .map(|(name, guard)| (name.to_owned(), guard))
        .into()
    }
}

fn less(best: &mut Option<f64>, one: f64) {
    *best = Some(best.map_or(one, |best| best.min(one)));
}

/// To a thousandth: more says nothing.
fn rounded(ratio: f64) -> f64 {
    (ratio * 1000.0).round() / 1000.0
}
