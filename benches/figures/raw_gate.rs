//! The raw gate: Redis's own load generator on the very script of a buy, with keys and arguments as in production.
//! Nothing that goes through a program of ours can be faster, so it is what the way in is measured by.

use seckill::gate::{
    Gate,
    connection::Connection,
    keys::{Keys, Shard},
};
use tokio::process::Command;

use crate::{Result, shop};

/// Keys of its own, so that no consumer reads its queue.
const PREFIX: &str = "raw-gate";

/// Orders as they are written in production (`gate/order_text.rs`); the generator puts twelve digits into the gap.
const ORDER: &str = "AZ8AAAAAg__rand_int__A";

/// Numbers that users are drawn from: the generator reads it as a C `int`, and takes 0 for more.
const SPREAD: &str = "2000000000";

/// Redis's own load generator.
#[derive(Clone, Copy, Debug)]
pub struct RedisLoad<'a> {
    pub redis_url: &'a str,
    pub connections: usize,
    pub calls: usize,
}

impl RedisLoad<'_> {
    /// PINGs a second.
    pub async fn pings(self) -> Result<f64> {
        self.rate(&["PING".to_owned()]).await
    }

    /// Buys a second, by users of their own.
    pub async fn buys(self) -> Result<f64> {
        let keys = Keys::new(PREFIX, 1);
        let gate = Gate::new(Connection::open(self.redis_url)?, keys.clone());
        let sale = shop::settings(i32::MAX.into(), 1_000_000_000, shop::DAY)?;
        gate.apply(&sale, true).await?;
        let script = include_str!("../../src/gate/buy.lua");
        let sha: String = gate
            .connection()
            .query(redis::cmd("SCRIPT").arg("LOAD").arg(script))
            .await?;
        let names = [
            keys.sale(sale.voucher),
            keys.stock(sale.voucher),
            keys.buyers(sale.voucher),
            keys.orders(Shard(0)),
        ];
        let mut command = vec!["EVALSHA".to_owned(), sha, names.len().to_string()];
        command.extend(names.clone());
        command.extend([
            "__rand_int__".to_owned(),
            ORDER.to_owned(),
            sale.voucher.to_string(),
        ]);
        let rate = self.rate(&command).await;
        // Repeats and refusals cost less than buys: nearly all must have been buys.
        let buyers = gate
            .look(&[sale.voucher])
            .await?
            .pop()
            .and_then(|look| look.marks);
        let wanted = i64::try_from(self.calls * 9 / 10)?;
        if buyers < Some(wanted) {
            return Err(format!("of {} raw buys only {buyers:?} were accepted", self.calls).into());
        }
        gate.connection()
            .query::<()>(redis::cmd("UNLINK").arg(&names))
            .await?;
        rate
    }

    async fn rate(self, command: &[String]) -> Result<f64> {
        let output = Command::new("redis-benchmark")
            .args([
                "-u",
                self.redis_url,
                "-c",
                &self.connections.to_string(),
                "-n",
                &self.calls.to_string(),
            ])
            .args(["-r", SPREAD, "--csv"])
            .args(command)
            .output()
            .await?;
        let said = String::from_utf8_lossy(&output.stdout);
        // "test","rps",…
        let rate = said
            .lines()
            .last()
            .and_then(|line| line.split("\",\"").nth(1))
            .and_then(|rate| rate.parse().ok());
        rate.ok_or_else(|| {
            format!(
                "redis-benchmark: {said} {}",
                String::from_utf8_lossy(&output.stderr)
            )
            .into()
        })
    }
}
