//! Turns errors with sources into errors that a browser may see, and logs them: a fault of ours every time, with
//! the request's id; a store that is away once.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use app::error::AppError;

use crate::{error::Error, outage::Outage};

/// A store that pages and calls ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// PostgreSQL.
    Database,
    /// Redis.
    Redis,
}

/// An error of a question to the stores.
pub trait Question: Into<Error> {
    /// The one store that was asked, and answered, where there is no error. `None` where memory may have answered, or
    /// several were asked.
    const ANSWERED_BY: Option<Store>;
}

impl Question for sqlx::Error {
    const ANSWERED_BY: Option<Store> = Some(Store::Database);
}

impl Question for Arc<sqlx::Error> {
    const ANSWERED_BY: Option<Store> = None;
}

impl Question for redis::RedisError {
    const ANSWERED_BY: Option<Store> = Some(Store::Redis);
}

impl Question for tower_sessions::session::Error {
    const ANSWERED_BY: Option<Store> = None;
}

impl Question for Error {
    const ANSWERED_BY: Option<Store> = None;
}

/// What may be seen of an error.
#[derive(Debug)]
pub struct Reveal {
    database: Behind,
    redis: Behind,
}

/// A store as pages and calls find it.
#[derive(Debug)]
struct Behind {
    is_away: AtomicBool,
    outage: Mutex<Outage>,
}

impl Default for Reveal {
    fn default() -> Self {
        Self {
            database: Behind::of("PostgreSQL behind the pages"),
            redis: Behind::of("Redis behind the pages"),
        }
    }
}

impl Behind {
    fn of(what: &'static str) -> Self {
        Self {
            is_away: AtomicBool::new(false),
            outage: Mutex::new(Outage::of(what)),
        }
    }

    fn failed(&self, error: &Error) {
        let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_away.store(true, Ordering::Relaxed);
        outage.failed(error);
    }

    fn worked(&self) {
        // Nearly always nothing is amiss, and nobody waits for anybody.
        if self.is_away.load(Ordering::Relaxed) {
            let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
            self.is_away.store(false, Ordering::Relaxed);
            outage.worked();
        }
    }
}

impl Reveal {
    /// A store has answered.
    pub fn answered(&self, by: Store) {
        self.behind(by).worked();
    }

    /// Logs an error and gives what may be seen of it.
    pub fn reveal(&self, error: &Error, request_id: &str) -> AppError {
        if let Some(store) = away(error) {
            self.behind(store).failed(error);
            metrics::counter!("seckill_unavailable_total").increment(1);
            AppError::UNAVAILABLE
        } else {
            tracing::error!(error = %error, request.id = request_id, "a request failed");
            AppError::Internal
        }
    }

    fn behind(&self, store: Store) -> &Behind {
        match store {
            Store::Database => &self.database,
            Store::Redis => &self.redis,
        }
    }
}

/// The store that is away, where the error will go by itself. Redis: everything, since its scripts answer in values.
/// PostgreSQL: connection and resource failures, shutdown, time-outs (SQLSTATE classes 08, 53, 57, and 25P03).
fn away(error: &Error) -> Option<Store> {
    let (store, is_away) = match error {
        Error::Redis(_) | Error::LockLost => (Store::Redis, true),
        Error::Session(error) => {
            let is_away = matches!(error, tower_sessions::session::Error::Store(_));
            (Store::Redis, is_away)
        }
        Error::Sql(error) => (Store::Database, is_database_away(error)),
        Error::SharedSql(error) => (Store::Database, is_database_away(error)),
        Error::Migrate(_) | Error::Password(_) | Error::Task(_) => return None,
    };
    is_away.then_some(store)
}

fn is_database_away(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        // Somebody in between accepted the connection and hung up, or it broke in the middle of an answer.
        sqlx::Error::Protocol(_) | sqlx::Error::Tls(_) => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            ["08", "53", "57"]
                .iter()
                .any(|class| code.starts_with(class))
                || code == "25P03"
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_away_until_it_is_known_to_have_answered() {
        let reveal = Reveal::default();
        let away = Error::from(sqlx::Error::PoolTimedOut);
        assert_eq!(reveal.reveal(&away, "1"), AppError::UNAVAILABLE);
        let is_away = || reveal.database.is_away.load(Ordering::Relaxed);
        reveal.answered(Store::Redis);
        assert!(is_away(), "the other one answered");
        reveal.answered(Store::Database);
        assert!(!is_away());
        let fault = Error::from(sqlx::Error::RowNotFound);
        assert_eq!(reveal.reveal(&fault, "2"), AppError::Internal);
        assert!(!is_away(), "a fault of ours");
    }
}
