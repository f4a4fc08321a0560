//! Orders in the eyes of their owners, and of others.

use std::collections::HashSet;

use app::model::{OrderId, Outcome, Reason, Status, UserId, VoucherId};
use futures::future::join_all;
use seckill::clock::Clock;
use sqlx::PgPool;
use uuid::Uuid;

use super::harness::{App, Instance, Sale};

#[sqlx::test]
async fn o14_an_order_id_is_the_same_text_in_every_answer_and_its_neighbours_are_not_found(
    database: PgPool,
) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(20)).await;
    let crowd = app.crowd(20).await;
    for shopper in &crowd {
        let answer = shopper.try_buy(voucher).await.json::<serde_json::Value>();
        let order = answer["order_id"]
            .as_str()
            .expect("a string in JSON")
            .to_owned();
        assert_eq!(shopper.status(&order).await.order_id, order);
        assert_eq!(shopper.my_orders().await[0].order_id, order);
        let number = OrderId::parse(&order).unwrap().0.as_u128();
        for neighbour in [number - 1, number + 1] {
            let neighbour = Uuid::from_u128(neighbour).hyphenated().to_string();
            let answer = shopper
                .get(&format!("/api/order_status?order_id={neighbour}"))
                .await;
            assert_eq!(answer.status, 404);
        }
        app.drain().await;
        let stored = app.order(OrderId::parse(&order).unwrap()).await.unwrap();
        assert_eq!(
            (stored.order.to_string(), stored.user),
            (order.clone(), shopper.id())
        );
        assert_eq!(shopper.status(&order).await.status, Status::Confirmed);
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn o15_ids_are_all_different_without_any_counter_and_none_is_taken_for_another(
    database: PgPool,
) {
    let app = App::start(database).await;
    let crowd = app.crowd(50).await;
    let mut orders = HashSet::new();
    for _ in 0..3 {
        let voucher = app.sale(Sale::of(100)).await;
        orders.extend(join_all(crowd.iter().map(|shopper| shopper.buy_one(voucher))).await);
    }
    assert_eq!(orders.len(), 150);
    app.drain().await;
    assert_eq!(app.rows("orders").await, 150);
    app.check_promises().await;
}

#[sqlx::test]
async fn o15_ids_are_different_over_midnight_and_when_a_clock_goes_back(database: PgPool) {
    let app = App::start(database).await;
    let crowd = app.crowd(50).await;
    let clocks: [Clock; 4] = [
        seckill::clock::system,
        || {
            seckill::clock::system()
                .date()
                .next_day()
                .unwrap()
                .midnight()
                .assume_utc()
        },
        || seckill::clock::system() - time::Duration::seconds(5),
        || time::OffsetDateTime::UNIX_EPOCH,
    ];
    let mut orders = HashSet::new();
    for clock in clocks {
        let instance = Instance::start_by(clock, &app.direct, app.site()).await;
        let voucher = app.sale(Sale::of(100)).await;
        let crowd: Vec<_> = crowd.iter().map(|shopper| shopper.at(&instance)).collect();
        orders.extend(join_all(crowd.iter().map(|shopper| shopper.buy_one(voucher))).await);
    }
    assert_eq!(orders.len(), 200);
    app.drain().await;
    assert_eq!(app.rows("orders").await, 200);
    app.check_promises().await;
}

#[sqlx::test]
async fn o15_an_id_that_is_stored_for_somebody_else_is_refused_and_its_unit_given_back(
    database: PgPool,
) {
    let app = App::start(database).await;
    let (voucher, other) = (app.sale(Sale::of(5)).await, app.sale(Sale::of(5)).await);
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let order = amy.buy_one(voucher).await;
    app.store_order(OrderId::parse(&order).unwrap(), bob.id(), other)
        .await;
    let _: redis::Value = app
        .redis(&[
            "HSET",
            &app.buyers_key(other),
            &bob.id().to_string(),
            &order,
        ])
        .await;
    let _: redis::Value = app.redis(&["DECR", &app.stock_key(other)]).await;
    app.drain().await;
    let shown = amy.status(&order).await;
    assert_eq!(
        (shown.status, shown.reason),
        (Status::Refused, Some(Reason::IdClash))
    );
    assert_eq!(app.stock(voucher).await, Some(5));
    amy.buy_one(voucher).await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o16_an_order_is_queued_from_the_first_moment_and_bought_only_once_it_is_stored(
    database: PgPool,
) {
    let app = App::start(database).await;
    let (first, second) = (app.sale(Sale::of(5)).await, app.sale(Sale::of(5)).await);
    let amy = app.shopper("amy").await;
    app.start_consumer();
    let stall = app.stall_orders().await;
    let orders = [amy.buy_one(first).await, amy.buy_one(second).await];
    for _ in 0..3 {
        for order in &orders {
            assert_eq!(amy.status(order).await.status, Status::Queued);
        }
        let listed = amy.my_orders().await;
        let listed: Vec<_> = listed
            .iter()
            .map(|order| (order.order_id.clone(), order.status))
            .collect();
        let newest_first = [
            (orders[1].clone(), Status::Queued),
            (orders[0].clone(), Status::Queued),
        ];
        assert_eq!(listed, newest_first);
    }
    let page = amy
        .without_script()
        .get(&format!("/orders/{}", orders[0]))
        .await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains(&orders[0]) && page.body.contains("In the queue"));
    let list = amy.without_script().get("/orders").await;
    assert!(
        orders.iter().all(|order| list.body.contains(order)),
        "also in the list of orders"
    );

    stall.release().await;
    super::harness::eventually("both are stored", async || {
        amy.my_orders()
            .await
            .iter()
            .all(|order| order.status == Status::Confirmed)
    })
    .await;
    let page = amy
        .without_script()
        .get(&format!("/orders/{}", orders[0]))
        .await;
    assert!(page.body.contains("Bought"));
    app.check_promises().await;
}

#[sqlx::test]
async fn o23_unknown_forged_and_foreign_orders_are_not_found_in_the_same_words(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let queued = amy.buy_one(voucher).await;
    let another = app.sale(Sale::of(5)).await;
    let stored = amy.buy_one(another).await;
    app.drain().await;
    let queued_again = amy.buy_one(app.sale(Sale::of(5)).await).await;
    let now = seckill::clock::system();
    let forged = seckill::gate::order_id::OrderIds::new(&[7; 32]).make(bob.id(), voucher, now);
    let of_no_voucher = app
        .operator
        .order_ids
        .make(UserId(999_999), VoucherId(999), now);
    let ids = [
        queued,
        stored.clone(),
        queued_again,
        forged.to_string(),
        of_no_voucher.to_string(),
        Uuid::from_u128(rand::random()).to_string(),
        stored.to_uppercase(),
        stored.replace('-', ""),
        format!("{stored}0"),
        String::new(),
        "1".to_owned(),
        "9".repeat(300),
    ];
    for id in &ids {
        let answer = bob.get(&format!("/api/order_status?order_id={id}")).await;
        assert_eq!(
            (answer.status.as_u16(), answer.body.as_str()),
            (404, r#"{"error":"not_found"}"#),
            "{id}"
        );
    }
    for id in ids.iter().filter(|id| !id.is_empty()) {
        let page = bob.get(&format!("/orders/{id}")).await;
        assert_eq!(page.status, 404);
        // The page differs in nothing but its own address.
        assert!(
            page.body
                .contains("There is nothing at this address, or it belongs to another account.")
        );
        assert!(!page.body.contains("满一百减五十"));
    }
    assert!(bob.my_orders().await.is_empty());
    app.check_promises().await;
}

#[sqlx::test]
async fn a_genuine_id_that_nobody_remembers_ends_as_lost_and_its_owner_may_buy_again(
    database: PgPool,
) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    let lost = amy.buy_one(voucher).await;
    // Entry and mark are gone, the unit is not: as after a Redis that lost its last second.
    let _: redis::Value = app.redis(&["DEL", &app.stream()]).await;
    let _: redis::Value = app.redis(&["DEL", &app.buyers_key(voucher)]).await;
    assert_eq!(
        amy.status(&lost).await.status,
        Status::Queued,
        "nobody can tell while the sale is under repair"
    );
    app.keeper_look().await;
    let shown = amy.status(&lost).await;
    assert_eq!(
        (shown.status, shown.reason),
        (Status::Refused, Some(Reason::Lost))
    );
    assert_eq!(app.stock(voucher).await, Some(5));
    let again = amy.buy_one(voucher).await;
    assert_ne!(again, lost);
    app.drain().await;
    assert_eq!(amy.status(&again).await.status, Status::Confirmed);
    let statuses: Vec<_> = amy
        .my_orders()
        .await
        .iter()
        .map(|order| order.status)
        .collect();
    assert_eq!(statuses, [Status::Confirmed, Status::Refused]);
    assert_eq!(amy.buy(voucher).await.outcome, Outcome::AlreadyBought);
    app.check_promises().await;
}
