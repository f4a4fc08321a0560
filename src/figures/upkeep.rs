//! Writes the figures down as they come, and keeps their table small: what is older than an hour is joined to minutes,
//! what is older than thirty days is deleted. Every instance with consumers may do so; nothing is joined twice.

use std::time::Duration;

use sqlx::PgPool;
use tokio::{sync::watch, time::sleep};

use super::Figures;
use crate::{db, outage::Outage};

/// How often figures are written.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// How often old ones are joined and deleted.
const TIDY_EVERY: Duration = Duration::from_secs(60);

/// Writes every second until `stop` says so.
pub async fn write(figures: Figures, pool: PgPool, mut stop: watch::Receiver<bool>) {
    let mut outage = Outage::of("writing figures");
    while !*stop.borrow() {
        match figures.flush(&pool).await {
            Ok(()) => outage.worked(),
            Err(error) => outage.failed(&error),
        }
        tokio::select! {
            () = sleep(WRITE_EVERY) => {}
            _ = stop.changed() => {}
        }
    }
}

/// Tidies every minute until `stop` says so; goes on at once while there is more to do.
pub async fn tidy(pool: PgPool, mut stop: watch::Receiver<bool>) {
    let mut outage = Outage::of("tidying figures");
    while !*stop.borrow() {
        let tidied = db::in_time(db::sale_figures::tidy(&pool)).await;
        match &tidied {
            Ok(_) => outage.worked(),
            Err(error) => outage.failed(error),
        }
        if !tidied.is_ok_and(|is_more| is_more) {
            tokio::select! {
                () = sleep(TIDY_EVERY) => {}
                _ = stop.changed() => {}
            }
        }
    }
}
