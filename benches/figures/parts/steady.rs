//! The steady state: accepting and storing at once for a minute, at the full rate. How much of what was accepted is
//! stored when the minute is over, and how long each order took to be stored.

use std::time::Duration;

use app::model::VoucherId;
use time::OffsetDateTime;

use crate::{
    Result, Run, count,
    http::Load,
    record::Record,
    site::{self, Site, queued},
};

/// Connections.
const CONNECTIONS: usize = 200;

/// More buys a second than any machine accepts that this is run on: so many units are on sale.
const AT_MOST: usize = 60_000;

/// Measures once: a minute is its own many rounds.
pub async fn measure(run: &Run, record: &mut Record) -> Result<()> {
    let from = record.len();
    let seconds = run.args.steady_seconds;
    let site = Site::start(&run.args, &run.addresses, &run.stores, "serve", &[]).await?;
    // Everybody buys of one sale, then of the next, so that all are distinct buyers.
    let buyers = run.shoppers.len();
    let requests = AT_MOST * usize::try_from(seconds)?;
    let mut vouchers = Vec::new();
    for _ in 0..requests.div_ceil(buyers) {
        vouchers.push(site::sale(&run.stores, buyers).await?);
    }
    let load = Load {
        lasts: Some(Duration::from_secs(seconds)),
        ..Load::closed(CONNECTIONS, requests)
    };
    let before = site.times()?;
    let sales = vouchers.clone();
    let answers = site
        .buy(
            load,
            &run.shoppers,
            move |number| sales[number / buyers],
            "\"queued\"",
        )
        .await?;
    let ended: OffsetDateTime = sqlx::query_scalar("SELECT clock_timestamp()")
        .fetch_one(&run.stores.pool)
        .await?;
    let backlog = queued(&run.stores).await?;
    site.emptied().await?;
    let costs = site.times()?.each_since(&before, answers.count());
    let stored = stored(run, &vouchers, ended).await?;
    if stored.all != answers.count() {
        return Err(format!("{} accepted, {} stored", answers.count(), stored.all).into());
    }
    record.load("steady", "accepted, steady state", &answers, costs);
    record.value(
        "steady_ratio",
        "stored when it was over ÷ accepted",
        "",
        stored.in_time / answers.count(),
    );
    record.value(
        "steady_backlog",
        "queued at the end",
        "orders",
        count(usize::try_from(backlog)?),
    );
    record.value(
        "steady_lag_p99",
        "accepted to stored, p99",
        "ms",
        stored.lag[1],
    );
    record.times(
        "steady_lag_p99",
        "accepted to stored, p99",
        "ms",
        stored.lag,
    );
    record.print(&format!("steady state, {seconds} s"), from);
    site.stop().await
}

struct Stored {
    all: f64,
    in_time: f64,
    /// p50, p99, longest, in ms.
    lag: [f64; 3],
}

async fn stored(run: &Run, vouchers: &[VoucherId], until: OffsetDateTime) -> Result<Stored> {
    let vouchers: Vec<i32> = vouchers.iter().map(|voucher| voucher.0).collect();
    let (all, in_time, p50, p99, max): (i64, i64, f64, f64, f64) = sqlx::query_as(
        "SELECT count(*),
                count(*) FILTER (WHERE stored_at <= $2),
                percentile_cont(0.5) WITHIN GROUP (ORDER BY lag),
                percentile_cont(0.99) WITHIN GROUP (ORDER BY lag),
                max(lag)
         FROM (SELECT stored_at, extract(epoch FROM stored_at - accepted_at)::float8 * 1000 AS lag
               FROM orders
               WHERE voucher_id = ANY($1) AND status = 'confirmed') stored",
    )
    .bind(vouchers)
    .bind(until)
    .fetch_one(&run.stores.pool)
    .await?;
    Ok(Stored {
        all: count(usize::try_from(all)?),
        in_time: count(usize::try_from(in_time)?),
        lag: [p50, p99, max],
    })
}
