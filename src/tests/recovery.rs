//! Consumers die, at any moment; others go on with what they left.

use std::time::Duration;

use app::model::Status;
use futures::future::join_all;
use seckill::{
    consumer::{Consumer, IDLE_LIMIT, unique_name},
    gate::{
        keys::Shard,
        queue::{self, Queue},
    },
};
use sqlx::PgPool;
use tokio::sync::watch;

use super::harness::{App, Program, Sale, eventually, within};

#[sqlx::test]
async fn o09_what_a_killed_consumer_left_is_stored_by_another_of_another_name(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(10)).await;
    let crowd = app.crowd(5).await;
    let stall = app.stall_orders().await;
    let consumer = Program::start(&app, "consumer");
    consumer.has_said("consumer started").await;
    join_all(crowd.iter().map(|shopper| shopper.buy_one(voucher))).await;
    eventually("the consumer has taken one", async || {
        app.backlog().await.pending > 0
    })
    .await;
    consumer.kill().await;
    stall.release().await;
    let another = Program::start(&app, "consumer");
    within(
        Duration::from_secs(60),
        "all are stored and acknowledged",
        async || app.live(voucher).await.len() == 5 && app.backlog().await.queued == 0,
    )
    .await;
    another.kill().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o09_an_order_stored_but_not_acknowledged_is_acknowledged_by_the_next_consumer(
    database: PgPool,
) {
    let app = App::on(database).with_own_redis().await.start().await;
    let voucher = app.sale(Sale::of(10)).await;
    let amy = app.shopper("amy").await;
    let stall = app.stall_orders().await;
    let consumer = Program::start(&app, "consumer");
    amy.buy_one(voucher).await;
    eventually("the consumer has taken it", async || {
        app.backlog().await.pending == 1
    })
    .await;
    let _: String = app.redis(&["CLIENT", "PAUSE", "60000", "WRITE"]).await;
    stall.release().await;
    eventually("it is stored", async || app.live(voucher).await.len() == 1).await;
    consumer.kill().await;
    let _: String = app.redis(&["CLIENT", "UNPAUSE"]).await;
    app.drain().await;
    assert_eq!(
        (app.orders(voucher).await.len(), app.stock(voucher).await),
        (1, Some(9))
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o09_consumers_killed_at_any_moment_neither_lose_nor_double_an_order(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(150)).await;
    let crowd = app.crowd(200).await;
    let killing = async {
        loop {
            let consumer = Program::start(&app, "consumer");
            let before = app.live(voucher).await.len();
            eventually("it has stored something", async || {
                app.live(voucher).await.len() > before.min(149)
            })
            .await;
            consumer.kill().await;
        }
    };
    let buying = async {
        for shoppers in crowd.chunks(5) {
            join_all(shoppers.iter().map(|shopper| shopper.buy(voucher))).await;
            eventually("somebody reads", async || {
                let backlog = app.backlog().await;
                backlog.queued - backlog.pending < 5
            })
            .await;
        }
    };
    tokio::select! {
        () = killing => {}
        () = buying => {}
    }
    app.drain().await;
    assert_eq!(app.live(voucher).await.len(), 150);
    app.check_promises().await;
}

#[sqlx::test]
async fn o09_names_of_consumers_do_not_pile_up(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(50)).await;
    let crowd = app.crowd(20).await;
    app.drain().await;
    let consumer = || {
        let (pool, gate) = (app.operator.pool.clone(), &app.operator.gate);
        let keeper = app.first.keeper.clone();
        Consumer::new(pool, gate, Shard(0), &unique_name(), keeper).unwrap()
    };
    let (say, stop) = watch::channel(false);
    let leaving: Vec<_> = (0..20)
        .map(|_| tokio::spawn(consumer().run(stop.clone())))
        .collect();
    for shopper in &crowd[..10] {
        shopper.buy_one(voucher).await;
    }
    eventually("all are stored", async || {
        app.live(voucher).await.len() == 10
    })
    .await;
    say.send(true).unwrap();
    join_all(leaving).await;
    assert_eq!(
        app.consumer_names().await,
        0,
        "who leaves takes the name away"
    );

    let (_say, stop) = watch::channel(false);
    for (stored, shopper) in (11..).zip(&crowd[10..]) {
        let killed = tokio::spawn(consumer().run(stop.clone()));
        shopper.buy_one(voucher).await;
        // Sooner than what was given to one that is gone is taken over.
        within(IDLE_LIMIT / 2, "it is stored", async || {
            app.live(voucher).await.len() == stored
        })
        .await;
        eventually("it is acknowledged", async || {
            app.backlog().await.queued == 0
        })
        .await;
        killed.abort();
        assert!(killed.await.unwrap_err().is_cancelled());
    }
    assert_eq!(app.consumer_names().await, 10);
    let stall = app.stall_orders().await;
    let killed = tokio::spawn(consumer().run(stop));
    app.shopper("amy").await.buy_one(voucher).await;
    eventually("one has it", async || app.backlog().await.pending == 1).await;
    killed.abort();
    let gate = &app.operator.gate;
    let reads = gate.connection().for_blocking_reads(queue::BLOCK).unwrap();
    let queue = Queue::new(
        gate.connection().clone(),
        reads,
        gate.keys().clone(),
        Shard(0),
        "tidy",
    );
    queue.retire(Duration::ZERO, false).await.unwrap();
    assert_eq!(
        app.consumer_names().await,
        1,
        "a name that holds an entry stays"
    );
    stall.release().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o11_a_consumer_that_has_nothing_to_do_neither_fails_nor_holds_anybody_up(
    database: PgPool,
) {
    let app = App::on(database).with_own_redis().await.start().await;
    let (voucher, amy) = (app.sale(Sale::of(10)).await, app.shopper("amy").await);
    let consumer = Program::start(&app, "consumer");
    consumer.has_said("consumer started").await;
    let info = async |section: &str| app.redis::<redis::InfoDict>(&["INFO", section]).await;
    let reads = async || {
        let stats: Option<String> = info("commandstats").await.get("cmdstat_xreadgroup");
        let calls = stats
            .as_deref()
            .and_then(|stats| stats.strip_prefix("calls="));
        calls
            .and_then(|calls| calls.split(',').next()?.parse().ok())
            .unwrap_or(0_u64)
    };
    let connections = async || info("stats").await.get::<u64>("total_connections_received");
    eventually("it waits for entries", async || reads().await >= 1).await;
    let (before, said) = (connections().await, consumer.said().len());
    eventually("it has waited in vain a few times", async || {
        reads().await >= 4
    })
    .await;
    assert_eq!(connections().await, before, "nobody has connected again");
    assert_eq!(consumer.said().len(), said, "{:?}", consumer.said());

    let began = std::time::Instant::now();
    let order = amy.buy_one(voucher).await;
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
    within(Duration::from_secs(2), "it is stored", async || {
        app.live(voucher).await.len() == 1
    })
    .await;
    assert_eq!(amy.status(&order).await.status, Status::Confirmed);
    consumer.kill().await;
    app.check_promises().await;
}
