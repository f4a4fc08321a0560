//! What the limits cost: the same buys by distinct users, at an instance with limits and at one without, by turns.

use seckill::{buy_limit::BuyLimit, stores::Stores};
use tokio::time::Instant;

use super::{
    Args, Result, Site, count,
    program::Program,
    shop::{self, Shopper},
    table::{Table, median},
    watched,
};

/// Measures both, in as many rounds as the others.
pub async fn cost(args: &Args, stores: &Stores, shoppers: &[Shopper]) -> Result<()> {
    let mut programs = Vec::new();
    for limits in ["off", "on"] {
        programs.push((limits, Program::serve(args, limits).await?, Vec::new()));
    }
    for _ in 0..args.rounds {
        for (_, (program, addr), rates) in &mut programs {
            let site = Site {
                args,
                stores,
                addr: *addr,
                watched: watched(stores, program.pid).await?,
            };
            let buyers = &shoppers[..args.buys];
            let voucher = shop::sale(stores, buyers.len(), shop::DAY).await?;
            rates.push(site.buy(voucher, buyers, "\"queued\"").await?.rate());
            site.emptied().await?;
        }
    }
    let mut table = Table::new("limits");
    for (limits, (program, _), rates) in programs {
        let shown: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
        table.row(
            &format!("buys with limits {limits}"),
            format!("{:.0}/s, of {}", median(&rates), shown.join(" ")),
        );
        program.stop().await?;
    }
    table.row("one check of a user", format!("{:.0} ns", nanos(shoppers)));
    table.print();
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
