//! The running program and its stores, and what is asked of it.

use std::{net::SocketAddr, time::Duration};

use app::model::VoucherId;
use seckill::{gate::SaleLook, stores::Stores};
use tokio::time::{Instant, sleep};

use crate::{
    Result,
    args::Args,
    cpu::{self, Times, Watched},
    http::{Answers, Load, Request, drive},
    own_stores::Addresses,
    program::Program,
    shop::{self, Shopper},
};

/// The queue is empty within so long, or the run fails.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A program that listens.
pub struct Site {
    pub stores: Stores,
    pub addr: SocketAddr,
    pub program: Program,
    watched: Watched,
}

impl Site {
    /// Starts `serve` or `web` with these settings.
    pub async fn start(
        args: &Args,
        addresses: &Addresses,
        stores: &Stores,
        part: &str,
        settings: &[&str],
    ) -> Result<Self> {
        let (program, addr) = Program::listening(args, addresses, part, settings).await?;
        Ok(Self {
            stores: stores.clone(),
            addr,
            watched: watched(stores, program.pid).await?,
            program,
        })
    }

    /// Ends it.
    pub async fn stop(self) -> Result<()> {
        self.program.stop().await
    }

    /// Watches these Redis servers, the nodes of a cluster.
    pub fn watch_redis(&mut self, pids: Vec<u32>) {
        self.watched.redis = pids;
    }

    /// Times on the processor so far.
    pub fn times(&self) -> Result<Times> {
        self.watched.times()
    }

    /// These shoppers press the button, each when it is their turn, at the voucher of the request's number.
    pub async fn buy(
        &self,
        load: Load,
        shoppers: &[Shopper],
        voucher: impl Fn(usize) -> VoucherId + 'static,
        wanted: &'static str,
    ) -> Result<Answers> {
        let cookies = cookies(shoppers);
        let head = format!(
            "POST /api/buy HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n",
            self.addr
        );
        let write = move |number: usize, request: &mut Request| {
            let voucher = voucher(number).to_string();
            let length = ("voucher_id=".len() + voucher.len()).to_string();
            let cookie = &cookies[number % cookies.len()];
            let parts = [
                &head,
                "Content-Length: ",
                &length,
                "\r\nCookie: session=",
                cookie,
                "\r\n\r\nvoucher_id=",
                &voucher,
            ];
            for part in parts {
                request.bytes.extend_from_slice(part.as_bytes());
            }
            request.wanted.push_str(wanted);
        };
        drive(self.addr, load, write).await
    }

    /// Pages are looked at: `page` gives the path of a number, and what its page must hold. By these shoppers in turn;
    /// by guests, when there are none.
    pub async fn look(
        &self,
        load: Load,
        shoppers: &[Shopper],
        page: impl Fn(usize) -> (String, String) + 'static,
    ) -> Result<Answers> {
        let cookies = cookies(shoppers);
        let head = format!(
            " HTTP/1.1\r\nHost: {}\r\nAccept: text/html\r\nAccept-Language: zh-CN\r\n",
            self.addr
        );
        let write = move |number: usize, request: &mut Request| {
            let (path, wanted) = page(number);
            for part in ["GET ", &path, &head] {
                request.bytes.extend_from_slice(part.as_bytes());
            }
            if !cookies.is_empty() {
                let cookie = &cookies[number % cookies.len()];
                for part in ["Cookie: session=", cookie, "\r\n"] {
                    request.bytes.extend_from_slice(part.as_bytes());
                }
            }
            request.bytes.extend_from_slice(b"\r\n");
            request.wanted.push_str(&wanted);
        };
        drive(self.addr, load, write).await
    }

    /// Waits until everything accepted is stored.
    pub async fn emptied(&self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while queued(&self.stores).await? > 0 {
            if Instant::now() > deadline {
                return Err("the queue does not become empty".into());
            }
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

/// Opens a sale of so many units for a day. The keeper of a running program may meet it when it is in the database and not
/// at the gate yet, and rebuild it. It looks again under the shard's lock: once that was free after the sale was made,
/// nothing comes any more.
pub async fn sale(stores: &Stores, units: usize) -> Result<VoucherId> {
    settled(stores, shop::sale(stores, units, shop::DAY).await?).await
}

/// A sale that begins in a day.
pub async fn coming_sale(stores: &Stores) -> Result<VoucherId> {
    settled(stores, shop::coming_sale(stores).await?).await
}

async fn settled(stores: &Stores, voucher: VoucherId) -> Result<VoucherId> {
    let deadline = Instant::now() + PATIENCE;
    let keys = stores.gate.keys();
    let lock = keys.lock(keys.shard(voucher));
    loop {
        let is_locked: bool = stores
            .gate
            .connection()
            .query(redis::cmd("EXISTS").arg(&lock))
            .await?;
        let looks = stores.gate.look(&[voucher]).await?;
        if !is_locked && looks.iter().all(SaleLook::is_open) {
            return Ok(voucher);
        }
        if Instant::now() > deadline {
            return Err(format!("the sale of {voucher} does not open").into());
        }
        sleep(Duration::from_millis(5)).await;
    }
}

fn cookies(shoppers: &[Shopper]) -> Vec<String> {
    shoppers
        .iter()
        .map(|shopper| shopper.cookie.clone())
        .collect()
}

/// Orders that are accepted and not stored.
pub async fn queued(stores: &Stores) -> Result<u64> {
    let mut queued = 0;
    for shard in stores.gate.keys().shards() {
        queued += stores.gate.backlog(shard).await?.queued;
    }
    Ok(queued)
}

/// The bytes that Redis holds for a key and its value, all of it looked at.
pub async fn memory_usage(stores: &Stores, key: &str) -> Result<f64> {
    let mut usage = redis::cmd("MEMORY");
    usage.arg("USAGE").arg(key).arg("SAMPLES").arg(0);
    let bytes: Option<f64> = stores.gate.connection().query(&usage).await?;
    Ok(bytes.ok_or("no such key")?)
}

/// The processes whose time is looked at, the server's among them.
pub async fn watched(stores: &Stores, server: u32) -> Result<Watched> {
    let backend: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_one(&stores.pool)
        .await?;
    let redis: redis::InfoDict = stores
        .gate
        .connection()
        .query(redis::cmd("INFO").arg("server"))
        .await?;
    Ok(Watched {
        server,
        redis: vec![redis.get("process_id").ok_or("no process id of Redis")?],
        postmaster: cpu::parent(u32::try_from(backend)?)?,
    })
}
