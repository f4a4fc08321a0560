//! What an operator's monitor is told.

use std::time::Duration;

use seckill::{consumer::rebuild, gate::keys::Shard};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::harness::{App, Program, Sale, within};

#[sqlx::test]
async fn the_program_is_alive_and_ready_on_sound_stores(database: PgPool) {
    let app = App::on(database).with_own_redis().await.start().await;
    assert_eq!(
        app.guest().get("/healthz").await.ok::<Value>(),
        json!({"alive": true})
    );
    let ready = app.guest().get("/readyz").await.ok::<Value>();
    assert_eq!(
        ready,
        json!({"ready": true, "database": true, "gate": true, "sales_under_repair": [], "warnings": []})
    );
    assert!(
        app.keys().await.is_empty(),
        "the probe leaves nothing behind"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn readiness_turns_red_while_a_store_is_away_and_green_by_itself(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let guest = app.guest();
    for (line, away) in [
        (app.database_line(), "database"),
        (app.redis_line(), "gate"),
    ] {
        for silent in [false, true] {
            if silent {
                line.silence()
            } else {
                line.cut()
            }
            let began = std::time::Instant::now();
            let answer = guest.get("/readyz").await;
            assert!(
                began.elapsed() < Duration::from_secs(4),
                "{away}: {:?}",
                began.elapsed()
            );
            let ready = answer.json::<Value>();
            assert_eq!(
                (answer.status.as_u16(), &ready["ready"], &ready[away]),
                (503, &json!(false), &json!(false))
            );
            assert_eq!(
                guest.get("/healthz").await.status,
                200,
                "the process itself is well"
            );
            line.mend();
            within(Duration::from_secs(10), "it is ready again", async || {
                guest.get("/readyz").await.status == 200
            })
            .await;
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn o12_readiness_is_red_when_the_gate_cannot_write_though_redis_answers_pings(
    database: PgPool,
) {
    let app = App::on(database).with_own_redis().await.start().await;
    let _: String = app.redis(&["CONFIG", "SET", "maxmemory", "1"]).await;
    assert_eq!(app.redis::<String>(&["PING"]).await, "PONG");
    assert_eq!(app.guest().get("/readyz").await.status, 503);
    let _: String = app.redis(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(app.guest().get("/readyz").await.status, 200);
    app.check_promises().await;
}

#[sqlx::test]
async fn readiness_is_red_when_the_queue_is_no_queue(database: PgPool) {
    let app = App::start(database).await;
    let _: String = app.redis(&["SET", &app.stream(), "x"]).await;
    assert_eq!(app.guest().get("/readyz").await.status, 503);
    let _: i64 = app.redis(&["DEL", &app.stream()]).await;
    assert_eq!(app.guest().get("/readyz").await.status, 200);
    app.check_promises().await;
}

#[sqlx::test]
async fn o02_sales_under_repair_are_named(database: PgPool) {
    let app = App::start(database).await;
    let (sound, broken) = (app.sale(Sale::of(5)).await, app.sale(Sale::of(5)).await);
    let _: i64 = app.redis(&["DEL", &app.stock_key(broken)]).await;
    // Another instance is at work there, and does not get on.
    let lock = rebuild::lock(&app.operator.gate, Shard(0))
        .await
        .unwrap()
        .unwrap();
    app.keeper_look().await;
    let ready = app.guest().get("/readyz").await.ok::<Value>();
    assert_eq!(ready["sales_under_repair"], json!([broken]));
    app.shopper("amy").await.buy_one(sound).await;
    lock.release().await.unwrap();
    app.keeper_look().await;
    app.keeper_look().await;
    assert_eq!(
        app.guest().get("/readyz").await.ok::<Value>()["sales_under_repair"],
        json!([])
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn metrics_are_for_this_machine_only(database: PgPool) {
    let app = App::start(database).await;
    let program = Program::start(&app, "web");
    let guest = app.guest().at_base(program.base().await);
    let voucher = app.sale(Sale::of(5)).await;
    app.shopper("amy")
        .await
        .at_base(program.base().await)
        .buy_one(voucher)
        .await;
    let metrics = guest.get("/metrics").await;
    assert_eq!(metrics.status, 200);
    assert!(
        metrics
            .body
            .contains(r#"seckill_buys_total{outcome="queued"} 1"#),
        "{}",
        metrics.body
    );
    assert_eq!(
        guest
            .with_header("x-forwarded-for", "203.0.113.7")
            .get("/metrics")
            .await
            .status,
        404
    );
    assert_eq!(
        guest
            .with_header("forwarded", "for=203.0.113.7")
            .get("/metrics")
            .await
            .status,
        404
    );
    program.kill().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn a_redis_that_may_forget_promises_is_named_at_start_and_in_readyz(database: PgPool) {
    let app = App::on(database).with_own_redis().await.start().await;
    let set = async |name: &str, value: &str| {
        let _: String = app.redis(&["CONFIG", "SET", name, value]).await;
    };
    let warnings = async || app.guest().get("/readyz").await.ok::<Value>()["warnings"].clone();
    set("appendonly", "no").await;
    assert_eq!(warnings().await, json!(["no_append_only_file"]));
    set("maxmemory-policy", "allkeys-lru").await;
    assert_eq!(
        warnings().await,
        json!(["no_append_only_file", "evicts_keys"])
    );
    let program = Program::start(&app, "consumer");
    program.has_said("set `appendonly yes`").await;
    program.has_said("set `maxmemory-policy noeviction`").await;
    program.kill().await;
    set("appendonly", "yes").await;
    set("maxmemory-policy", "noeviction").await;
    assert_eq!(warnings().await, json!([]));
    app.check_promises().await;
}
