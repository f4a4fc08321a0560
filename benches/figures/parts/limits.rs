//! What the limits cost: the same buys by distinct users, at an instance with limits and at one without, by turns.

use seckill::buy_limit::BuyLimit;
use tokio::time::Instant;

use crate::{
    Result, Run, count,
    http::Load,
    record::Record,
    shop::Shopper,
    site::{self, Site},
};

/// Connections.
const CONNECTIONS: usize = 50;

/// Measures both, in as many rounds as the others.
pub async fn measure(run: &Run, record: &mut Record) -> Result<()> {
    let from = record.len();
    let mut sites = Vec::new();
    for (name, label, limits) in [
        ("limits_off", "accepted with limits off", "off"),
        ("limits_on", "accepted with limits on", "on"),
    ] {
        let settings = ["--limits", limits];
        let site = Site::start(&run.args, &run.addresses, &run.stores, "serve", &settings).await?;
        sites.push((name, label, site));
    }
    for _ in 0..run.args.rounds {
        for (name, label, site) in &sites {
            let buyers = &run.shoppers[..run.args.buys];
            let voucher = site::sale(&run.stores, buyers.len()).await?;
            let load = Load::closed(CONNECTIONS, buyers.len());
            let before = site.times()?;
            let answers = site
                .buy(load, buyers, move |_| voucher, "\"queued\"")
                .await?;
            site.emptied().await?;
            let costs = site.times()?.each_since(&before, answers.count());
            record.load(name, label, &answers, costs);
        }
    }
    record.value(
        "limit_check",
        "one check of a user",
        "ns",
        nanos(&run.shoppers),
    );
    record.print("limits", from);
    for (_, _, site) in sites {
        site.stop().await?;
    }
    Ok(())
}

/// A check of the limit for each of these, one after another; the first of a user is the dearest, and the only one.
fn nanos(shoppers: &[Shopper]) -> f64 {
    let limit = BuyLimit::new(Some(5));
    let started = Instant::now();
    let allowed = shoppers
        .iter()
        .filter(|shopper| limit.check(shopper.id).is_ok());
    let allowed = count(allowed.count());
    started.elapsed().as_secs_f64() * 1e9 / allowed
}
