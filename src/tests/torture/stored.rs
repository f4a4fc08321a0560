//! Orders as PostgreSQL has them, and where else they are.

use std::collections::HashMap;

use app::model::{OrderId, UserId, VoucherId};
use seckill::gate::entry::Promise;
use sqlx::Row;
use uuid::Uuid;

use crate::{Result, deployment::Deployment, ledger::Told};

/// An order as stored.
#[derive(Debug)]
pub struct Stored {
    pub user: UserId,
    pub voucher: VoucherId,
    pub status: String,
    pub reason: Option<String>,
}

impl Stored {
    pub fn is_refused(&self) -> bool {
        self.status == "refused"
    }
}

/// Those of the orders told that are stored.
pub async fn stored(deployment: &Deployment, told: &[Told]) -> Result<HashMap<OrderId, Stored>> {
    let ids: Vec<Uuid> = told.iter().map(|told| told.order.0).collect();
    let query = "SELECT id, user_id, voucher_id, status, reason FROM orders WHERE id = ANY($1)";
    let rows = sqlx::query(query)
        .bind(&ids)
        .fetch_all(&deployment.stores.pool)
        .await?;
    let order = |row: sqlx::postgres::PgRow| {
        let stored = Stored {
            user: UserId(row.get("user_id")),
            voucher: VoucherId(row.get("voucher_id")),
            status: row.get("status"),
            reason: row.get("reason"),
        };
        (OrderId(row.get("id")), stored)
    };
    Ok(rows.into_iter().map(order).collect())
}

/// Where an order is: for whoever looks for the fault.
pub async fn whereabouts(deployment: &Deployment, told: &Told) -> Result<String> {
    let stores = &deployment.stores;
    let stored = stored(deployment, std::slice::from_ref(told)).await?;
    let mark = stores.gate.marks(told.user, &[told.voucher]).await?;
    let shard = stores.gate.keys().shard(told.voucher);
    let is_in = |promises: Vec<Promise>| promises.iter().any(|promise| promise.order == told.order);
    Ok(format!(
        "stored: {:?}; mark: {mark:?}; in the stream: {}; dead letter: {}",
        stored.get(&told.order),
        is_in(stores.gate.queued_promises(shard).await?),
        is_in(stores.gate.dead_promises(shard).await?),
    ))
}
