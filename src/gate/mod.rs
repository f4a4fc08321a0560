//! The gate: the Lua scripts and their keys, the only place that decides who gets a unit. Typed calls of the
//! scripts live here, the stream side in `queue`. Knows neither PostgreSQL nor the web.

pub mod backlog;
mod cluster;
pub mod connection;
mod dead;
pub mod entry;
mod erase;
pub mod keys;
mod look;
pub mod news;
mod node_line;
pub mod order_id;
pub mod order_text;
mod probe;
pub mod queue;
pub mod rebuild;
mod release;
mod repair;
pub mod script;
mod scripts;
mod settings;
mod unix_ms;
pub mod waiting;
mod walk;
pub mod weakness;

use app::model::{BuyOutcome, OrderId, UserId, VoucherId};
use redis::{ErrorKind, RedisError, RedisResult};

use self::{connection::Connection, keys::Keys, news::Channel, scripts::Scripts};
pub use self::{
    look::SaleLook,
    release::Release,
    settings::{Applied, SaleSettings},
    unix_ms::{instant, unix_ms},
};

/// The gate of all sales.
#[derive(Clone)]
pub struct Gate {
    connection: Connection,
    keys: Keys,
    scripts: &'static Scripts,
    news: Channel,
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

impl Gate {
    /// The gate behind a connection.
    #[must_use]
    pub fn new(connection: Connection, keys: Keys) -> Self {
        Self {
            news: Channel::new(connection.clone(), &keys),
            connection,
            keys,
            scripts: Scripts::all(),
        }
    }

    /// The same gate on a connection of its own.
    ///
    /// # Errors
    /// When the address of Redis cannot be read.
    pub fn apart(&self) -> RedisResult<Self> {
        Ok(Self::new(self.connection.apart()?, self.keys.clone()))
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

    /// Where all instances tell each other what has changed.
    #[must_use]
    pub fn news(&self) -> &Channel {
        &self.news
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
        let [sale, stock, buyers] = self.keys.of_sale(voucher);
        let orders = self.keys.orders(self.keys.shard(voucher));
        let keys = [sale, stock, buyers, orders];
        self.run_buy(&keys, user, voucher, order).await
    }

    async fn run_buy(
        &self,
        keys: &[String; 4],
        user: UserId,
        voucher: VoucherId,
        order: OrderId,
    ) -> RedisResult<BuyAnswer> {
        let mut call = self.scripts.buy.on(keys);
        call.arg(user.0)
            .arg(order_text::write(order).as_slice())
            .arg(voucher.0);
        let answer: Vec<String> = self.connection.invoke(&call).await?;
        let (word, mark) = (
            answer.first().map(String::as_str).unwrap_or_default(),
            answer.get(1),
        );
        let mark = || {
            mark.and_then(|mark| order_text::read(mark.as_bytes()))
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
}

fn unexpected(script: &'static str, word: &str) -> RedisError {
    RedisError::from((ErrorKind::UnexpectedReturnType, script, word.to_owned()))
}
