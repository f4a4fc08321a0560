//! News: what has just changed, told to all instances by one channel in Redis, so that open pages need not ask. Hints
//! and no more: nobody may rely on hearing them, and whoever watches something looks for themselves now and then.

use std::time::Duration;

use app::model::{OrderId, UserId, VoucherId};
use futures::StreamExt;
use redis::{ErrorKind, RedisError, RedisResult, cmd};
use tokio::time::{interval, timeout};

use super::{connection::Connection, keys::Keys};

/// Each listener tells a beat this often, and hears it: a line that is open and brings nothing has gone deaf.
const BEAT: Duration = Duration::from_secs(5);

/// A line that brings nothing for so long, not even the own beat, is made anew.
const DEAF_AFTER: Duration = Duration::from_secs(12);

/// What has just changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Units or settings of these sales.
    Sales(Vec<VoucherId>),
    /// These orders are stored, as confirmed or refused.
    Orders(Vec<OrderId>),
    /// Login sessions of this user have ended, one or all.
    SignedOut(UserId),
    /// Nothing: somebody tries the line.
    Beat,
}

impl News {
    /// One line: a word, and ids.
    fn encode(&self) -> String {
        match self {
            Self::Sales(sales) => line("sales", sales.iter().map(|sale| sale.0.to_string())),
            Self::Orders(orders) => {
                let ids = orders.iter().map(|order| order.0.simple().to_string());
                line("orders", ids)
            }
            Self::SignedOut(user) => line("signed_out", [user.0.to_string()]),
            Self::Beat => line("beat", []),
        }
    }

    /// Reads a line; `None` for one that is no news to this version of the program.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        Some(match words.next()? {
            "sales" => {
                let ids = words.map(|id| id.parse().map(VoucherId));
                Self::Sales(ids.collect::<Result<_, _>>().ok()?)
            }
            "orders" => {
                let ids = words.map(|id| uuid::Uuid::try_parse(id).map(OrderId));
                Self::Orders(ids.collect::<Result<_, _>>().ok()?)
            }
            "signed_out" => Self::SignedOut(UserId(words.next()?.parse().ok()?)),
            "beat" => Self::Beat,
            _ => return None,
        })
    }
}

fn line(word: &str, ids: impl IntoIterator<Item = String>) -> String {
    let mut line = word.to_owned();
    for id in ids {
        line.push(' ');
        line.push_str(&id);
    }
    line
}

/// The channel.
#[derive(Clone)]
pub struct Channel {
    connection: Connection,
    name: String,
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Channel")
    }
}

impl Channel {
    /// The channel behind a connection.
    #[must_use]
    pub fn new(connection: Connection, keys: &Keys) -> Self {
        Self {
            connection,
            name: keys.news(),
        }
    }

    /// Tells whoever listens. A failure is counted and no more: what is told is true without it.
    pub async fn tell(&self, news: &News) {
        if let Err(error) = self.publish(news).await {
            metrics::counter!("seckill_news_lost_total").increment(1);
            tracing::debug!(error = %error, "news could not be told");
        }
    }

    async fn publish(&self, news: &News) -> RedisResult<i64> {
        let mut publish = cmd("PUBLISH");
        publish.arg(&self.name).arg(news.encode());
        self.connection.query(&publish).await
    }

    /// Listens until the line breaks or goes deaf. `heard` is given a beat first: from then on nothing is missed.
    ///
    /// # Errors
    /// Always, in the end.
    pub async fn listen(&self, mut heard: impl FnMut(News)) -> RedisResult<()> {
        let mut subscription = self.connection.subscribe(&self.name).await?;
        heard(News::Beat);
        let mut messages = subscription.on_message();
        let mut beat = interval(BEAT);
        let mut message = Box::pin(timeout(DEAF_AFTER, messages.next()));
        loop {
            let brought = tokio::select! {
                brought = &mut message => brought,
                _ = beat.tick() => {
                    self.publish(&News::Beat).await?;
                    continue;
                }
            };
            let said = match brought {
                Ok(Some(said)) => said.get_payload::<String>()?,
                Ok(None) => return Err(broken("the line for news broke")),
                Err(_) => return Err(broken("the line for news has gone deaf")),
            };
            if let Some(news) = News::parse(&said) {
                heard(news);
            }
            drop(message);
            message = Box::pin(timeout(DEAF_AFTER, messages.next()));
        }
    }
}

fn broken(how: &'static str) -> RedisError {
    RedisError::from((ErrorKind::Io, how))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_read_as_they_were_told_and_others_are_none() {
        let orders = [uuid::Uuid::from_u128(7), uuid::Uuid::from_u128(u128::MAX)].map(OrderId);
        for news in [
            News::Sales(vec![VoucherId(1), VoucherId(i32::MAX)]),
            News::Orders(orders.into()),
            News::SignedOut(UserId(i64::MAX)),
            News::Beat,
        ] {
            assert_eq!(News::parse(&news.encode()), Some(news));
        }
        for line in ["", "weather 7", "sales x", "orders 7", "signed_out"] {
            assert_eq!(News::parse(line), None, "{line}");
        }
    }
}
