//! Turns errors with sources into errors that a browser may see, and logs them: a fault of ours every time, with
//! the request's id; a store that is away once.

use std::sync::{Mutex, PoisonError};

use app::error::AppError;

use crate::{error::Error, outage::Outage};

/// What may be seen of an error.
#[derive(Debug)]
pub struct Reveal {
    stores: Mutex<Outage>,
}

impl Default for Reveal {
    fn default() -> Self {
        Self {
            stores: Mutex::new(Outage::of("a store behind the pages")),
        }
    }
}

impl Reveal {
    /// Logs an error and gives what may be seen of it.
    pub fn reveal(&self, error: &Error, request_id: &str) -> AppError {
        if is_away(error) {
            self.stores
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .failed(error);
            metrics::counter!("seckill_unavailable_total").increment(1);
            AppError::UNAVAILABLE
        } else {
            tracing::error!(error = %error, request.id = request_id, "a request failed");
            AppError::Internal
        }
    }
}

/// Will it go away by itself? Redis: everything, since its scripts answer in values. PostgreSQL: connection and
/// resource failures, shutdown, time-outs (SQLSTATE classes 08, 53, 57, and 25P03).
fn is_away(error: &Error) -> bool {
    match error {
        Error::Redis(_) | Error::LockLost => true,
        Error::Session(error) => matches!(error, tower_sessions::session::Error::Store(_)),
        Error::Sql(error) => is_database_away(error),
        Error::SharedSql(error) => is_database_away(error),
        Error::Migrate(_) | Error::Password(_) | Error::Task(_) => false,
    }
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
