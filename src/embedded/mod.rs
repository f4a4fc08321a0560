//! Embedded mode: a private PostgreSQL and a private Redis under one data folder, for a program that
//! was given no addresses. Both listen on Unix sockets only, are started again when they die, and end
//! with the program, however it ends. Knows nothing of tables, keys or the application.

mod account;
mod child;
mod error;
mod folder;
mod keeper;
mod log;
mod postgres;
mod program;
mod redis;

use std::path::Path;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

pub use error::StoresError;
pub use folder::default_data_folder;
pub use redis::REDIS_SETTINGS;

/// Longer than the keeper's own limits together, so that it is the keeper that decides.
const STOP_LIMIT: Duration = Duration::from_secs(90);

/// The private stores. Dropped without [`Stores::stop`], they still shut down, but nobody waits for it.
#[derive(Debug)]
pub struct Stores {
    addresses: Addresses,
    stop: watch::Sender<bool>,
    failures: mpsc::Receiver<StoresError>,
}

/// Where the stores answer.
#[derive(Debug)]
struct Addresses {
    database: String,
    redis: String,
}

impl Stores {
    /// Starts both stores on `data`, creating what is missing, and returns when both answer.
    ///
    /// What an earlier run left behind is stopped first, for up to a minute.
    ///
    /// # Errors
    /// Each [`StoresError`] is one line for the person who started the program.
    pub async fn start(data: &Path) -> Result<Self, StoresError> {
        let (ready, is_ready) = oneshot::channel();
        let (stop, is_asked_to_stop) = watch::channel(false);
        let (failure, failures) = mpsc::channel(1);
        keeper::spawn(data.to_path_buf(), ready, is_asked_to_stop, failure)?;
        let addresses = is_ready.await.map_err(|_| StoresError::Keeper)??;
        Ok(Self {
            addresses,
            stop,
            failures,
        })
    }

    /// For `sqlx::postgres::PgConnectOptions::from_str`.
    #[must_use]
    pub fn database_url(&self) -> &str {
        &self.addresses.database
    }

    /// For `redis::Client::open`.
    #[must_use]
    pub fn redis_url(&self) -> &str {
        &self.addresses.redis
    }

    /// Resolves when the stores are lost for good: a store that merely dies is started again, for as
    /// long as it takes. Safe to drop and call again, as `select!` does.
    pub async fn failed(&mut self) -> StoresError {
        self.failures.recv().await.unwrap_or(StoresError::Keeper)
    }

    /// Shuts both stores down in order and waits for it. To be called after the last use of them.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        let ended = async {
            while let Some(error) = self.failures.recv().await {
                tracing::warn!(%error, "a private store was lost before the stop");
            }
        };
        if tokio::time::timeout(STOP_LIMIT, ended).await.is_err() {
            tracing::warn!("the private stores did not stop in time; the system will end them");
        }
    }
}
