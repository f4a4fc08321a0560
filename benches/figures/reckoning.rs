//! What the measured times on the processor come to: how many cores and nodes so many accepted buys a second need, and
//! what they cost on machines that anybody can rent. docs/scaling.md says what is assumed, and why.

use crate::{cpu::Times, record::grouped, table::Table};

/// No more than this part of a core is planned to be in use: beyond it times grow, and one node's failure is the others'.
const FULL: f64 = 0.6;

/// Accepted buys a second.
const RATES: [f64; 3] = [20_000.0, 100_000.0, 1_000_000.0];

/// What is paid for a core of the program and of PostgreSQL, and for a node of Redis, an hour. Public list prices on
/// demand, without taxes, traffic and disks, as known in 2025: they are assumptions, to be looked up again.
struct Prices {
    whose: &'static str,
    currency: &'static str,
    program_core: f64,
    postgres_core: f64,
    redis_node: f64,
}

const PRICES: [Prices; 2] = [
    Prices {
        // c7g.2xlarge: 8 cores for 0.2900; m7g.2xlarge: 8 for 0.3264; r7g.large: 2 cores, 16 GiB for 0.1071.
        whose: "AWS EC2, us-east-1",
        currency: "$",
        program_core: 0.2900 / 8.0,
        postgres_core: 0.3264 / 8.0,
        redis_node: 0.1071,
    },
    Prices {
        // CCX33: 8 dedicated threads for 0.0777; CCX13: 2 threads, 8 GB for 0.0200.
        whose: "Hetzner Cloud, Germany",
        currency: "€",
        program_core: 0.0777 / 8.0,
        postgres_core: 0.0777 / 8.0,
        redis_node: 0.0200,
    },
];

/// Prints the reckoning for what a buy has cost on these stores, storing included.
pub fn print(stores: &str, costs: &Times) {
    let mut table = Table::new(&format!("reckoned from what a buy costs on {stores}"));
    table.row("a buy", costs.to_string());
    let limit = 1e6 / costs.redis;
    table.row(
        "one Redis core",
        format!(
            "{} buys a second when it does nothing else, {} as planned",
            grouped(limit),
            grouped(limit * FULL)
        ),
    );
    for rate in RATES {
        let cores = |micros: f64| (rate * micros / 1e6 / FULL).ceil();
        let (program, redis, postgres) = (
            cores(costs.server),
            cores(costs.redis),
            cores(costs.postgres),
        );
        table.row(
            &format!("{} a second", grouped(rate)),
            format!("{program} cores of the program, {redis} Redis nodes, {postgres} cores of PostgreSQL"),
        );
        for prices in &PRICES {
            let hour = program * prices.program_core
                + redis * prices.redis_node
                + postgres * prices.postgres_core;
            let million = hour / (rate * 3600.0 / 1e6);
            let Prices {
                whose, currency, ..
            } = prices;
            table.row(
                &format!("  {whose}"),
                format!("{currency}{hour:.2} an hour, {currency}{million:.4} a million buys"),
            );
        }
    }
    table.print();
}
