//! The queue between gate and consumer: it may vanish, and nothing that was promised vanishes with it.

use std::time::Duration;

use app::model::{OrderId, Reason, Status};
use futures::future::join_all;
use sqlx::PgPool;

use super::harness::{App, Program, Sale, eventually, within};

#[sqlx::test]
async fn o08_a_destroyed_group_is_made_again_within_ten_seconds_and_few_words(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(100)).await;
    let crowd = app.crowd(6).await;
    crowd[0].buy_one(voucher).await;
    let consumer = Program::start(&app, "consumer");
    eventually("the first order is stored", async || {
        app.live(voucher).await.len() == 1
    })
    .await;
    let words = consumer.said().len();
    let _: i64 = app
        .redis(&["XGROUP", "DESTROY", &app.stream(), "consumers"])
        .await;
    for shopper in &crowd[1..] {
        shopper.buy_one(voucher).await;
    }
    within(Duration::from_secs(10), "all are stored", async || {
        app.live(voucher).await.len() == 6
    })
    .await;
    let said = &consumer.said()[words..];
    assert!(said.len() < 20, "{said:#?}");
    consumer.kill().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o08_orders_whose_entries_were_deleted_are_stored_all_the_same(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(100)).await;
    let crowd = app.crowd(8).await;
    let lost = join_all(crowd[..3].iter().map(|shopper| shopper.buy_one(voucher))).await;
    let _: i64 = app.redis(&["DEL", &app.stream()]).await;
    for order in crowd.iter().zip(&lost) {
        assert_eq!(order.0.status(order.1).await.status, Status::Queued);
    }
    for shopper in &crowd[3..] {
        shopper.buy_one(voucher).await;
    }
    app.start_consumer();
    within(Duration::from_secs(10), "all are stored", async || {
        app.live(voucher).await.len() == 8
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o08_entries_deleted_while_they_are_being_stored_are_no_loss(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(100)).await;
    let crowd = app.crowd(8).await;
    app.start_consumer();
    let stall = app.stall_orders().await;
    for shopper in &crowd[..3] {
        shopper.buy_one(voucher).await;
    }
    eventually("the consumer has one at least", async || {
        app.backlog().await.pending > 0
    })
    .await;
    let _: i64 = app.redis(&["DEL", &app.stream()]).await;
    for shopper in &crowd[3..] {
        shopper.buy_one(voucher).await;
    }
    stall.release().await;
    eventually("all are stored", async || {
        app.live(voucher).await.len() == 8
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o08_a_lost_queue_stops_no_sale_and_gives_back_what_was_refused(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(100)).await;
    let crowd = app.crowd(60).await;
    let (refused, rest) = crowd.split_first().unwrap();
    // Stored as refused, and the entry lost before the unit was given back.
    let order = OrderId::parse(&refused.buy_one(voucher).await).unwrap();
    let insert = "INSERT INTO orders (id, voucher_id, user_id, status, reason, accepted_at)
         VALUES ($1, $2, $3, 'refused', 'sold_out', now())";
    let insert = sqlx::query(insert).bind(order.0).bind(voucher.0);
    insert
        .bind(refused.id().0)
        .execute(&app.database)
        .await
        .unwrap();
    app.start_consumer();
    for shoppers in rest.chunks(10) {
        let _: i64 = app.redis(&["DEL", &app.stream()]).await;
        join_all(shoppers.iter().map(|shopper| shopper.buy_one(voucher))).await;
    }
    eventually("all are stored", async || {
        app.live(voucher).await.len() == 59
    })
    .await;
    eventually("the unit is back", async || {
        app.stock(voucher).await == Some(41)
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o08_orders_placed_before_there_was_any_consumer_are_stored(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(100)).await;
    let crowd = app.crowd(10).await;
    join_all(crowd.iter().map(|shopper| shopper.buy_one(voucher))).await;
    app.start_consumer();
    within(Duration::from_secs(10), "all are stored", async || {
        app.live(voucher).await.len() == 10
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o09_a_copy_of_an_entry_that_was_dealt_with_changes_nothing(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(3)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let order = amy.buy_one(voucher).await;
    let (user, id) = (amy.id().to_string(), voucher.to_string());
    // Twice in the same batch, and again later.
    app.enqueue(&[("order", &order), ("user", &user), ("voucher", &id)])
        .await;
    app.drain().await;
    app.enqueue(&[("order", &order), ("user", &user), ("voucher", &id)])
        .await;
    app.drain().await;
    assert_eq!(
        (app.live(voucher).await.len(), app.stock(voucher).await),
        (1, Some(2))
    );
    // With another's name on it, it is a clash, and gives nothing to anybody.
    app.enqueue(&[
        ("order", &order),
        ("user", &bob.id().to_string()),
        ("voucher", &id),
    ])
    .await;
    app.drain().await;
    assert_eq!(
        (app.orders(voucher).await.len(), app.stock(voucher).await),
        (1, Some(2))
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o09_a_copy_of_an_entry_that_was_refused_gives_nothing_back_twice(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(3)).await;
    let amy = app.shopper("amy").await;
    let live = app
        .operator
        .order_ids
        .make(amy.id(), voucher, time::OffsetDateTime::UNIX_EPOCH);
    app.store_order(live, amy.id(), voucher).await;
    let order = amy.buy_one(voucher).await;
    let entry = [
        ("order", order.as_str()),
        ("user", &amy.id().to_string()),
        ("voucher", &voucher.to_string()),
    ];
    for _ in 0..3 {
        app.drain().await;
        let shown = amy.status(&order).await;
        assert_eq!(
            (shown.status, shown.reason),
            (Status::Refused, Some(Reason::AlreadyBought))
        );
        assert_eq!(app.stock(voucher).await, Some(2));
        app.enqueue(&entry).await;
    }
    app.check_promises().await;
}
