//! What is counted at each sale for the console: it adds up over instances, through outages, and as it gets old.

use app::model::{Counts, Outcome, VoucherId};
use futures::future::join_all;
use seckill::{clock, db};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::harness::{App, Sale, eventually};

/// All that is written of a sale, added up.
async fn written(app: &App, voucher: VoucherId) -> Counts {
    let from = OffsetDateTime::UNIX_EPOCH;
    let steps = db::sale_figures::of_sale(&app.database, voucher, from, i64::from(i32::MAX));
    let steps = steps.await.unwrap();
    assert!(steps.len() <= 1, "one step holds all");
    steps.first().map(|(_, counts)| *counts).unwrap_or_default()
}

async fn rows(app: &App, voucher: VoucherId) -> Vec<(i64, OffsetDateTime)> {
    let query =
        "SELECT count_id, bucket_at FROM sale_figures WHERE voucher_id = $1 ORDER BY bucket_at";
    sqlx::query_as(query)
        .bind(voucher.0)
        .fetch_all(&app.database)
        .await
        .unwrap()
}

/// As if all that is written had been written two hours ago.
async fn written_long_ago(app: &App) {
    sqlx::query("UPDATE sale_figures SET written_at = now() - interval '2 hours'")
        .execute(&app.database)
        .await
        .unwrap();
}

#[sqlx::test]
async fn every_answer_and_every_stored_order_is_counted_once_over_two_instances(database: PgPool) {
    let app = App::start(database).await;
    let other = app.another_instance().await;
    let running = app.sale(Sale::of(7)).await;
    let coming = app
        .sale(Sale::of(1).beginning_in(std::time::Duration::from_secs(600)))
        .await;
    let crowd = app.crowd(10).await;
    for (n, shopper) in crowd.iter().enumerate() {
        let shopper = if n % 2 == 0 {
            shopper.clone()
        } else {
            shopper.at(&other)
        };
        shopper.buy(running).await;
        shopper.buy(running).await;
        assert_eq!(shopper.buy(coming).await.outcome, Outcome::NotStarted);
    }
    // Held: what waits is seen, and is over once it is stored.
    app.keeper_look().await;
    app.drain().await;
    for figures in [&app.first.figures, &other.figures] {
        figures.flush(&app.database).await.unwrap();
        figures.flush(&app.database).await.unwrap();
    }
    let counts = written(&app, running).await;
    let right = Counts {
        accepted: 7,
        already_bought: 7,
        sold_out: 6,
        confirmed: 7,
        backlog: 7,
        lag_ms: counts.lag_ms,
        max_lag_ms: counts.max_lag_ms,
        ..Counts::default()
    };
    assert_eq!(counts, right);
    assert!(counts.max_lag_ms <= counts.lag_ms && counts.lag_ms < 7 * 20_000);
    assert_eq!(
        written(&app, coming).await,
        Counts {
            not_started: 10,
            ..Counts::default()
        }
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn an_order_that_comes_twice_is_counted_once(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(2)).await;
    let amy = app.shopper("amy").await;
    let order = amy.buy_one(voucher).await;
    app.drain().await;
    app.enqueue(&[
        ("order", &order),
        ("user", &amy.id().to_string()),
        ("voucher", &voucher.to_string()),
    ])
    .await;
    app.drain().await;
    app.first.figures.flush(&app.database).await.unwrap();
    assert_eq!(written(&app, voucher).await.confirmed, 1);
    app.check_promises().await;
}

#[sqlx::test]
async fn while_postgresql_is_away_figures_are_kept_and_then_written_once(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(20)).await;
    let crowd = app.crowd(20).await;
    let figures = &app.first.figures;
    let pool = &app.first.stores.pool;
    for shopper in &crowd[..5] {
        shopper.buy_one(voucher).await;
    }
    // Written, but whoever wrote it does not hear so.
    app.database_line()
        .lose_the_answer_to("INSERT INTO sale_figures");
    figures.flush(pool).await.unwrap_err();
    assert!(app.database_line().has_lost());
    app.database_line().cut();
    for shopper in &crowd[5..] {
        shopper.buy_one(voucher).await;
    }
    figures.flush(pool).await.unwrap_err();
    app.database_line().mend();
    eventually("the figures are written", async || {
        figures.flush(pool).await.is_ok()
    })
    .await;
    assert_eq!(written(&app, voucher).await.accepted, 20);
    app.check_promises().await;
}

#[sqlx::test]
async fn old_figures_are_joined_to_minutes_and_at_last_deleted(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(1)).await;
    let now = clock::system();
    let minute = now
        .replace_nanosecond(0)
        .unwrap()
        .replace_second(0)
        .unwrap();
    let counts = Counts {
        accepted: 3,
        lag_ms: 40,
        max_lag_ms: 30,
        backlog: 5,
        ..Counts::default()
    };
    let at = |ago: Duration, second: i64, id: i64| {
        let at = minute - ago + Duration::seconds(second);
        (voucher, at, id, counts)
    };
    let (hours, days) = (Duration::hours(2), Duration::days(31));
    for id in [1, 2, 3] {
        let old = (0..6).map(|n| at(hours, n * 10, id));
        let ancient = (0..6).map(|n| at(days, n * 10, id));
        let now = [at(Duration::ZERO, 0, id)];
        let figures: Vec<_> = old.chain(ancient).chain(now).collect();
        db::sale_figures::upsert(&app.database, &figures)
            .await
            .unwrap();
    }
    written_long_ago(&app).await;
    // Several at a time, as instances would.
    let tidying = (0..4).map(|_| db::sale_figures::tidy(&app.database));
    for is_more in join_all(tidying).await {
        assert!(!is_more.unwrap());
    }
    let rows = rows(&app, voucher).await;
    assert_eq!(rows[0], (0, minute - hours));
    assert_eq!(rows.len(), 4, "and three fresh ones: {rows:?}");
    let all = written(&app, voucher).await;
    assert_eq!((all.accepted, all.lag_ms), (7 * 3 * 3, 7 * 3 * 40));
    assert_eq!((all.max_lag_ms, all.backlog), (30, 5));

    // One that was cut off for so long comes with what it has kept, and again, since it did not hear that it is written.
    let kept = [at(hours, 20, 4)];
    for _ in 0..2 {
        db::sale_figures::upsert(&app.database, &kept)
            .await
            .unwrap();
        db::sale_figures::tidy(&app.database).await.unwrap();
    }
    assert_eq!(written(&app, voucher).await.accepted, 7 * 3 * 3 + 3);
    written_long_ago(&app).await;
    db::sale_figures::tidy(&app.database).await.unwrap();
    assert_eq!(written(&app, voucher).await.accepted, 7 * 3 * 3 + 3);
    app.check_promises().await;
}
