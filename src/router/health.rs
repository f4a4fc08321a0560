//! `/healthz`: the process answers. `/readyz`: the database answers, and the gate can sell, tried with its own
//! script; a PING stays green while no script runs (case O12). Sales under repair are named, and settings with which
//! Redis may forget promises.

use std::{collections::BTreeSet, sync::Arc};

use app::model::{UserId, VoucherId};
use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Serialize;

use crate::{backend::Services, gate::weakness::Weakness};

#[derive(Serialize)]
struct Ready {
    ready: bool,
    database: bool,
    gate: bool,
    sales_under_repair: Vec<VoucherId>,
    /// Settings with which Redis may forget promises.
    warnings: BTreeSet<Weakness>,
}

pub(super) fn routes() -> Router<Arc<Services>> {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
}

async fn healthz() -> Response {
    Json(serde_json::json!({ "alive": true })).into_response()
}

async fn readyz(State(services): State<Arc<Services>>) -> Response {
    let (database, gate) = tokio::join!(database_works(&services), gate_works(&services));
    let ready = database && gate;
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let sales_under_repair = services.keeper.under_repair();
    let warnings = if gate {
        services.gate.weaknesses().await.unwrap_or_default()
    } else {
        BTreeSet::new()
    };
    (
        status,
        Json(Ready {
            ready,
            database,
            gate,
            sales_under_repair,
            warnings,
        }),
    )
        .into_response()
}

async fn database_works(services: &Services) -> bool {
    sqlx::query_scalar!(r#"SELECT 1 AS "one!""#)
        .fetch_one(&services.pool)
        .await
        .is_ok()
}

async fn gate_works(services: &Services) -> bool {
    let order = services
        .order_ids
        .make(UserId(0), VoucherId(0), (services.clock)());
    let probes = services
        .gate
        .keys()
        .shards()
        .map(|shard| services.gate.probe(shard, order));
    let sold = futures::future::join_all(probes).await;
    sold.into_iter().all(|sold| sold.unwrap_or(false))
}
