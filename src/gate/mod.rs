//! The gate: the Lua scripts and their keys, the only place that decides who gets a unit. Typed calls of the
//! scripts live here, the stream side in `queue`. Knows neither PostgreSQL nor the web.

pub mod backlog;
mod cluster;
pub mod connection;
mod dead;
pub mod entry;
pub mod keys;
mod node_line;
pub mod order_id;
pub mod queue;
pub mod rebuild;
mod repair;
mod scripts;
pub mod weakness;

use app::model::{BuyOutcome, NewSale, OrderId, SaleState, UserId, VoucherId};
use redis::{ErrorKind, RedisError, RedisResult};
use time::OffsetDateTime;

use self::{
    connection::Connection,
    keys::{Keys, Shard},
    scripts::Scripts,
};

/// The gate of all sales.
#[derive(Clone)]
pub struct Gate {
    connection: Connection,
    keys: Keys,
    scripts: &'static Scripts,
}

/// What the gate said to a buy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuyAnswer {
    /// It decided.
    Decided(BuyOutcome),
    /// It does not know the sale: there is none, or Redis lost it.
    Missing,
    /// A key of the sale is not what it must be: nothing is sold until it is rebuilt.
    Broken,
}

/// What became of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The unit is back.
    Released,
    /// The mark was not this order's: there was nothing to give back.
    Kept,
    /// Not now: the sale is being rebuilt or must be. Ask again; acknowledge nothing.
    Later,
}

/// What became of settings carried to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The gate has them now.
    Applied,
    /// The gate had them, or newer ones.
    Ignored,
    /// The gate lost the sale, or a key of it is malformed: rebuild.
    Missing,
    /// A rebuild is at work and will carry them.
    Later,
    /// The cut is below what is promised; nothing was changed.
    TooLow,
}

/// A sale's settings, as carried from PostgreSQL to the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaleSettings {
    /// The voucher on sale.
    pub voucher: VoucherId,
    /// Counts the changes; newer ones win.
    pub version: i64,
    /// Units granted.
    pub granted: i64,
    /// First instant of the sale.
    pub begins_at: OffsetDateTime,
    /// First instant after the sale.
    pub ends_at: OffsetDateTime,
    /// What the admin decided.
    pub state: SaleState,
}

impl SaleSettings {
    /// The settings of a sale that has just been created.
    #[must_use]
    pub fn of_new(voucher: VoucherId, sale: &NewSale) -> Self {
        Self {
            voucher,
            version: 1,
            granted: sale.stock,
            begins_at: sale.begins_at,
            ends_at: sale.ends_at,
            state: SaleState::Open,
        }
    }
}

/// A sale as the gate has it; `None` for what is missing or malformed. Read in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaleLook {
    /// The gate's clock.
    pub now: OffsetDateTime,
    /// `open`, `paused`, `withdrawn` or `rebuilding`.
    pub state: Option<String>,
    /// Counts the changes of the settings.
    pub version: Option<i64>,
    /// Units granted.
    pub granted: Option<i64>,
    /// First instant of the sale, Unix ms.
    pub begins_ms: Option<i64>,
    /// First instant after the sale, Unix ms.
    pub ends_ms: Option<i64>,
    /// Units left.
    pub stock: Option<i64>,
    /// Buyers.
    pub marks: Option<i64>,
}

impl SaleLook {
    /// granted − (stock + marks); 0 when healthy, `None` when a key is missing or malformed.
    #[must_use]
    pub fn drift(&self) -> Option<i64> {
        Some(self.granted? - (self.stock? + self.marks?))
    }

    /// Does the sale need a rebuild: is a key missing or malformed, or is the stock beyond belief?
    #[must_use]
    pub fn is_broken(&self) -> bool {
        let (Some(granted), Some(_), Some(_), Some(_)) =
            (self.granted, self.version, self.begins_ms, self.ends_ms)
        else {
            return true;
        };
        match (&self.state, self.stock, self.marks) {
            (Some(state), Some(stock), Some(marks)) => {
                state == "rebuilding" || stock > granted || (stock < granted && marks == 0)
            }
            _ => true,
        }
    }
}

impl Gate {
    /// The gate behind a connection.
    #[must_use]
    pub fn new(connection: Connection, keys: Keys) -> Self {
        Self {
            connection,
            keys,
            scripts: Scripts::all(),
        }
    }

    /// The key names.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The shared connection.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// One attempt to buy, as order `order`. Asking again with the same order is always safe: where the first answer was
    /// lost, the next is `AlreadyBought` with that very order.
    ///
    /// # Errors
    /// When Redis is away or does not answer in time; the script may have run.
    pub async fn buy(
        &self,
        user: UserId,
        voucher: VoucherId,
        order: OrderId,
    ) -> RedisResult<BuyAnswer> {
        let keys = [
            self.keys.sale(voucher),
            self.keys.stock(voucher),
            self.keys.buyers(voucher),
            self.keys.orders(self.keys.shard(voucher)),
        ];
        self.run_buy(&keys, user, voucher, order).await
    }

    async fn run_buy(
        &self,
        keys: &[String; 4],
        user: UserId,
        voucher: VoucherId,
        order: OrderId,
    ) -> RedisResult<BuyAnswer> {
        let mut call = self.scripts.buy.prepare_invoke();
        for key in keys {
            call.key(key);
        }
        let mut id = uuid::Uuid::encode_buffer();
        call.arg(user.0)
            .arg(&*order.0.hyphenated().encode_lower(&mut id))
            .arg(voucher.0);
        let answer: Vec<String> = self.connection.invoke(&call).await?;
        let (word, mark) = (
            answer.first().map(String::as_str).unwrap_or_default(),
            answer.get(1),
        );
        let mark = || {
            mark.and_then(|mark| OrderId::parse(mark))
                .ok_or_else(|| unexpected("buyers", word))
        };
        Ok(BuyAnswer::Decided(match word {
            "queued" => BuyOutcome::Queued(order),
            "already_bought" => BuyOutcome::AlreadyBought(mark()?),
            "sold_out" => BuyOutcome::SoldOut,
            "not_started" => BuyOutcome::NotStarted,
            "ended" => BuyOutcome::Ended,
            "closed" => BuyOutcome::Closed,
            "missing" => return Ok(BuyAnswer::Missing),
            "broken" => return Ok(BuyAnswer::Broken),
            word => return Err(unexpected("buy", word)),
        }))
    }

    /// Gives the unit of a refused order back, exactly once.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn release(
        &self,
        user: UserId,
        voucher: VoucherId,
        order: OrderId,
    ) -> RedisResult<Release> {
        let mut call = self.scripts.release.prepare_invoke();
        call.key(self.keys.sale(voucher))
            .key(self.keys.stock(voucher))
            .key(self.keys.buyers(voucher));
        call.arg(user.0).arg(order.to_string());
        release_answer(&self.connection.invoke::<String>(&call).await?)
    }

    /// Lets the mark of a refused order stand for the live order that the gate did not know.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn repoint(
        &self,
        user: UserId,
        voucher: VoucherId,
        refused: OrderId,
        live: OrderId,
    ) -> RedisResult<Release> {
        let mut call = self.scripts.repoint.prepare_invoke();
        call.key(self.keys.sale(voucher))
            .key(self.keys.buyers(voucher));
        call.arg(user.0)
            .arg(refused.to_string())
            .arg(live.to_string());
        release_answer(&self.connection.invoke::<String>(&call).await?)
    }

    /// Sees to it that the buyers of orders that are stored as live have marks; false when the gate asks to come again.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn confirm(
        &self,
        voucher: VoucherId,
        orders: &[(UserId, OrderId)],
    ) -> RedisResult<bool> {
        let mut call = self.scripts.confirm.prepare_invoke();
        call.key(self.keys.sale(voucher))
            .key(self.keys.stock(voucher))
            .key(self.keys.buyers(voucher));
        for (user, order) in orders {
            call.arg(user.0).arg(order.to_string());
        }
        match self.connection.invoke::<String>(&call).await?.as_str() {
            "confirmed" => Ok(true),
            "later" => Ok(false),
            word => Err(unexpected("confirm", word)),
        }
    }

    /// Carries settings to the gate. `new` only from the call that has just created the sale.
    ///
    /// # Errors
    /// When Redis is away; asking again is safe.
    pub async fn apply(&self, sale: &SaleSettings, new: bool) -> RedisResult<Applied> {
        let voucher = sale.voucher;
        let mut call = self.scripts.apply.prepare_invoke();
        call.key(self.keys.sale(voucher))
            .key(self.keys.stock(voucher))
            .key(self.keys.buyers(voucher));
        call.arg(sale.version)
            .arg(sale.granted)
            .arg(unix_ms(sale.begins_at))
            .arg(unix_ms(sale.ends_at));
        call.arg(sale.state.as_str()).arg(u8::from(new));
        match self.connection.invoke::<String>(&call).await?.as_str() {
            "applied" => Ok(Applied::Applied),
            "ignored" => Ok(Applied::Ignored),
            "missing" | "broken" => Ok(Applied::Missing),
            "later" => Ok(Applied::Later),
            "too_low" => Ok(Applied::TooLow),
            word => Err(unexpected("apply", word)),
        }
    }

    /// The `run_id` of the Redis that serves a shard: another after every start, fail-over and move of its slot.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn run_id(&self, shard: Shard) -> RedisResult<String> {
        let mut call = self.scripts.run_id.prepare_invoke();
        call.key(self.keys.orders(shard));
        self.connection.invoke(&call).await
    }

    /// Reads sales as the gate has them, each in one step, all on one way.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn look(&self, vouchers: &[VoucherId]) -> RedisResult<Vec<SaleLook>> {
        let calls = vouchers.iter().map(|voucher| {
            let mut call = self.scripts.look.prepare_invoke();
            call.key(self.keys.sale(*voucher))
                .key(self.keys.stock(*voucher))
                .key(self.keys.buyers(*voucher));
            call
        });
        let replies: Vec<Vec<String>> = self.connection.invoke_all(calls.collect()).await?;
        replies.iter().map(|reply| parse_look(reply)).collect()
    }

    /// The marks of one user in some sales, in their order.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn marks(
        &self,
        user: UserId,
        vouchers: &[VoucherId],
    ) -> RedisResult<Vec<Option<OrderId>>> {
        if vouchers.is_empty() {
            return Ok(Vec::new());
        }
        let mut pipe = redis::pipe();
        pipe.ignore_errors();
        for voucher in vouchers {
            pipe.hget(self.keys.buyers(*voucher), user.0);
        }
        let marks: Vec<RedisResult<Option<String>>> = self.connection.query_pipe(&pipe).await?;
        Ok(marks
            .into_iter()
            .map(|mark| mark.ok().flatten().as_deref().and_then(OrderId::parse))
            .collect())
    }

    /// Sells and takes back one unit of a sale of the probe's own, by the very script of a buy, and looks at the
    /// type of the queue. True when the gate of this shard can sell.
    ///
    /// # Errors
    /// When Redis is away or refuses a write.
    pub async fn probe(&self, shard: Shard, order: OrderId) -> RedisResult<bool> {
        let nonce = rand::random();
        let key = |what| self.keys.probe(shard, what, nonce);
        let keys = [key("sale"), key("stock"), key("buyers"), key("orders")];
        let mut pipe = redis::pipe();
        pipe.hset_multiple(
            &keys[0],
            &[
                ("state", "open"),
                ("begins", "0"),
                ("ends", "9999999999999"),
                ("granted", "1"),
            ],
        );
        pipe.ignore()
            .expire(&keys[0], 60)
            .ignore()
            .set_ex(&keys[1], 1, 60)
            .ignore();
        pipe.key_type(self.keys.orders(shard));
        let (queue,): (redis::ValueType,) = self.connection.query_pipe(&pipe).await?;
        let answer = self.run_buy(&keys, UserId(0), VoucherId(0), order).await;
        self.connection
            .query(redis::cmd("UNLINK").arg(&keys))
            .await
            .map(|_: i64| ())?;
        let queue_is_sane = matches!(queue, redis::ValueType::Stream | redis::ValueType::None);
        Ok(queue_is_sane && answer? == BuyAnswer::Decided(BuyOutcome::Queued(order)))
    }
}

/// Unix milliseconds, as the gate counts time.
#[must_use]
pub fn unix_ms(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

fn release_answer(word: &str) -> RedisResult<Release> {
    match word {
        "released" | "repointed" => Ok(Release::Released),
        "kept" => Ok(Release::Kept),
        "later" => Ok(Release::Later),
        word => Err(unexpected("release", word)),
    }
}

fn parse_look(reply: &[String]) -> RedisResult<SaleLook> {
    let [now, state, version, granted, begins, ends, stock, marks] = reply else {
        return Err(unexpected("look", &format!("{} parts", reply.len())));
    };
    let number = |text: &String| text.parse::<i64>().ok();
    let now = number(now).ok_or_else(|| unexpected("look", now))?;
    Ok(SaleLook {
        now: instant(now),
        state: Some(state.clone()).filter(|state| !state.is_empty()),
        version: number(version),
        granted: number(granted),
        begins_ms: number(begins),
        ends_ms: number(ends),
        stock: number(stock),
        marks: number(marks),
    })
}

/// The instant of Unix milliseconds.
#[must_use]
pub fn instant(ms: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

fn unexpected(script: &'static str, word: &str) -> RedisError {
    RedisError::from((ErrorKind::UnexpectedReturnType, script, word.to_owned()))
}
