//! Whether a buy costs more where there are many buyers and sales: a million marks in one sale, with as many login
//! sessions, and a thousand sales beside it, against a thousand marks in the only sale. At the same moderate pace, by
//! turns; marks and sessions are written into Redis in bulk. Both in stores of their own, without a consumer.

use std::{cell::Cell, time::Duration};

use app::model::{UserId, VoucherId};
use seckill::{clock, gate::order_text, stores::Stores};
use tokio::time::sleep;

use crate::{
    Result, Run,
    cpu::Times,
    http::Load,
    own_stores::OwnStores,
    record::Record,
    shop::{self, Shopper},
    site::{self, Site},
};

/// Buys a second, of both.
const PACE: f64 = 3_000.0;

/// Connections.
const CONNECTIONS: usize = 50;

/// Marks in the sale where there are few.
const FEW: usize = 1_000;

/// Written in one packet.
const AT_ONCE: usize = 1_000;

/// How long nothing is asked, to see what the program does by itself.
const IDLE: Duration = Duration::from_secs(5);

/// Users that have bought have numbers from here on, which no account has.
const BOUGHT: i64 = 1_000_000_000;

/// Where the buys of a load go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    /// The first sale, which has the marks.
    First,
    /// All sales by turns.
    All,
}

/// Measures in rounds, by turns: there and back, so that none always comes first.
pub async fn measure(run: &Run, record: &mut Record) -> Result<()> {
    let from = record.len();
    let few = Place::open(run, "few", FEW, 1).await?;
    let many = Place::open(run, "many", run.args.buyers, run.args.sales).await?;
    let (buyers, sales) = (run.args.buyers, run.args.sales);
    let few_label = format!("{FEW} buyers, 1 sale");
    let many_label = format!("{buyers} buyers, {sales} sales, all buying of the first");
    let spread_label = format!("{buyers} buyers, {sales} sales, buying of all by turns");
    let mut loads = [
        (&few, Aim::First, "size_few", &few_label),
        (&many, Aim::First, "size_many", &many_label),
        (&many, Aim::All, "size_spread", &spread_label),
    ];
    for round in 1..=run.args.rounds {
        eprintln!("size, round {round}");
        for (place, aim, name, label) in loads {
            place.buys(run, record, aim, name, label).await?;
        }
        loads.reverse();
    }
    for (name, of, label) in [
        ("size_ratio", "size_many", "processor a buy, many ÷ few"),
        (
            "size_spread_ratio",
            "size_spread",
            "processor a buy, by turns ÷ few",
        ),
    ] {
        let ratio = record.ratio(&format!("{of}_cost"), "size_few_cost");
        record.value(name, label, "", ratio.ok_or("no costs")?);
    }
    record.print("buyers and sales", from);
    few.close().await?;
    many.close().await
}

struct Place {
    own: OwnStores,
    site: Site,
    vouchers: Vec<VoucherId>,
    shoppers: Vec<Shopper>,
    /// Of them, those who have bought.
    bought: Cell<usize>,
}

impl Place {
    async fn open(run: &Run, name: &str, marks: usize, sales: usize) -> Result<Self> {
        let own = OwnStores::open(&run.args, name).await?;
        let buys = Load::paced(CONNECTIONS, PACE, run.args.paced_seconds).requests;
        let shoppers = shop::shoppers(&own.stores, buys * run.args.rounds * 2).await?;
        let mut vouchers = Vec::new();
        for sale in 0..sales {
            let units = shoppers.len() + if sale == 0 { marks } else { 0 };
            vouchers.push(site::sale(&own.stores, units).await?);
        }
        mark(&own.stores, vouchers[0], marks).await?;
        sign_in(&own.stores, marks).await?;
        let site = Site::start(&run.args, &own.addresses, &own.stores, "web", &[]).await?;
        Ok(Self {
            own,
            site,
            vouchers,
            shoppers,
            bought: Cell::new(0),
        })
    }

    async fn buys(
        &self,
        run: &Run,
        record: &mut Record,
        aim: Aim,
        name: &str,
        label: &str,
    ) -> Result<()> {
        let load = Load::paced(CONNECTIONS, PACE, run.args.paced_seconds);
        let before = self.site.times()?;
        sleep(IDLE).await;
        let idle = self.site.times()?.each_since(&before, 1.0);
        let shoppers = &self.shoppers[self.bought.get()..][..load.requests];
        self.bought.set(self.bought.get() + load.requests);
        let vouchers = match aim {
            Aim::First => self.vouchers[..1].to_vec(),
            Aim::All => self.vouchers.clone(),
        };
        let voucher = move |number: usize| vouchers[number % vouchers.len()];
        let before = self.site.times()?;
        let answers = self.site.buy(load, shoppers, voucher, "\"queued\"").await?;
        let costs = self.site.times()?.each_since(&before, answers.count());
        record.load(name, label, &answers, costs);
        // What it does by itself, as looking after its sales, is no buy's.
        let by_itself = idle_share(&idle, &answers.elapsed, answers.count());
        record.value(
            &format!("{name}_cost"),
            "  server and Redis, a buy",
            "µs",
            costs.server + costs.redis - by_itself,
        );
        record.value(
            &format!("{name}_by_itself"),
            "  server and Redis by themselves, a second",
            "ms",
            (idle.server + idle.redis) / 1000.0 / IDLE.as_secs_f64(),
        );
        Ok(())
    }

    async fn close(self) -> Result<()> {
        self.site.stop().await?;
        self.own.remove().await
    }
}

/// What server and Redis use by themselves in this time, in µs for each of so many buys.
fn idle_share(idle: &Times, elapsed: &Duration, buys: f64) -> f64 {
    (idle.server + idle.redis) * elapsed.as_secs_f64() / IDLE.as_secs_f64() / buys
}

/// So many have bought: their marks are there, and their units gone.
async fn mark(stores: &Stores, voucher: VoucherId, marks: usize) -> Result<()> {
    let keys = stores.gate.keys();
    for part in parts(marks) {
        let mut set = redis::cmd("HSET");
        set.arg(keys.buyers(voucher));
        for user in part.clone() {
            let user = UserId(user);
            let order = stores.order_ids.make(user, voucher, clock::system());
            set.arg(user.0).arg(order_text::write(order).as_slice());
        }
        let added: usize = stores.gate.connection().query(&set).await?;
        if added != part.count() {
            return Err("a mark was there already".into());
        }
    }
    let mut take = redis::cmd("DECRBY");
    take.arg(keys.stock(voucher)).arg(marks);
    let left: i64 = stores.gate.connection().query(&take).await?;
    if left <= 0 {
        return Err(format!("{left} units are left").into());
    }
    Ok(())
}

/// So many are signed in: keys as long, and values as large, as those of login sessions.
async fn sign_in(stores: &Stores, sessions: usize) -> Result<()> {
    let keys = stores.gate.keys();
    let value = "x".repeat(150);
    for part in parts(sessions) {
        let mut pipe = redis::pipe();
        for user in part {
            pipe.cmd("SET")
                .arg(keys.session(&format!("{user:064x}")))
                .arg(&value)
                .arg("EX")
                .arg(86_400)
                .ignore();
        }
        stores.gate.connection().query_pipe::<()>(&pipe).await?;
    }
    Ok(())
}

/// The numbers of so many users who have bought, in parts that fit into a packet.
fn parts(of: usize) -> impl Iterator<Item = std::ops::Range<i64>> {
    (0..of).step_by(AT_ONCE).map(move |first| {
        let number = |place: usize| BOUGHT + i64::try_from(place).unwrap_or(i64::MAX);
        number(first)..number((first + AT_ONCE).min(of))
    })
}
