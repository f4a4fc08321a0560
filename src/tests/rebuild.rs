//! What Redis forgets, and what is made of the rest: never sold twice, never forgotten in silence.

use std::time::Duration;

use app::model::{Outcome, Reason, Status, VoucherId};
use futures::future::join_all;
use sqlx::PgPool;

use super::harness::{App, Program, Sale, eventually};

#[sqlx::test]
async fn o03_a_restart_during_the_sale_does_not_sell_queued_units_again(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(20)).await;
    let crowd = app.crowd(25).await;
    let stall = app.stall_orders().await;
    let program = Program::start(&app, "serve");
    let base = program.base().await;
    for shopper in &crowd[..15] {
        shopper.at_base(base.clone()).buy_one(voucher).await;
    }
    eventually("the consumer has taken some", async || {
        app.backlog().await.pending > 0
    })
    .await;
    program.kill().await;

    let (one, two) = (Program::start(&app, "serve"), Program::start(&app, "serve"));
    let bases = [one.base().await, two.base().await];
    // The pages are up before the keeper has looked once; it would be wrong at any time to refill.
    assert_eq!(app.stock(voucher).await, Some(5), "not 20");
    let _: redis::Value = app.redis(&["DEL", &app.stock_key(voucher)]).await;
    let buys = crowd[15..].iter().zip(bases.iter().cycle());
    let replies = join_all(buys.map(|(shopper, base)| {
        let shopper = shopper.at_base(base.clone());
        async move { shopper.buy(voucher).await.outcome }
    }))
    .await;
    assert!(
        replies
            .iter()
            .filter(|outcome| **outcome == Outcome::Queued)
            .count()
            <= 5,
        "{replies:?}"
    );
    eventually("the sale is rebuilt by itself", async || {
        app.look(voucher).await.drift() == Some(0)
    })
    .await;
    let outcomes = join_all(crowd.iter().map(|shopper| shopper.buy(voucher))).await;
    let holders = outcomes
        .iter()
        .filter(|reply| reply.order_id.is_some())
        .count();
    assert_eq!(
        holders, 20,
        "all units have found a buyer, and none has two"
    );

    stall.release().await;
    one.kill().await;
    two.kill().await;
    app.drain().await;
    assert_eq!(app.live(voucher).await.len(), 20);
    app.check_promises().await;
}

#[sqlx::test]
async fn o08_after_a_flush_old_buyers_keep_their_orders_and_lost_ones_are_told_so(
    database: PgPool,
) {
    let app = App::on(database).with_own_redis().await.start().await;
    let voucher = app.sale(Sale::of(10)).await;
    let crowd = app.crowd(8).await;
    let stored = join_all(crowd[..3].iter().map(|shopper| shopper.buy_one(voucher))).await;
    app.drain().await;
    let lost = join_all(crowd[3..5].iter().map(|shopper| shopper.buy_one(voucher))).await;
    let _: redis::Value = app.redis(&["FLUSHALL"]).await;
    // Their login sessions are gone as well.
    assert_eq!(crowd[0].try_buy(voucher).await.status, 401);
    let crowd = join_all(crowd.iter().map(|shopper| app.person(shopper.id()))).await;
    assert_eq!(
        crowd[0].buy(voucher).await.outcome,
        Outcome::Closed,
        "nothing is sold on a guess"
    );
    app.keeper_look().await;
    assert_eq!(app.stock(voucher).await, Some(7));
    for (shopper, order) in crowd.iter().zip(&stored) {
        let reply = shopper.buy(voucher).await;
        assert_eq!(
            (reply.outcome, reply.order_id.as_ref()),
            (Outcome::AlreadyBought, Some(order))
        );
    }
    for (shopper, order) in crowd[3..5].iter().zip(&lost) {
        let shown = shopper.status(order).await;
        assert_eq!(
            (shown.status, shown.reason),
            (Status::Refused, Some(Reason::Lost))
        );
    }
    for shopper in &crowd[3..] {
        shopper.buy_one(voucher).await;
    }
    assert_eq!(app.stock(voucher).await, Some(2));
    app.check_promises().await;
}

#[sqlx::test]
async fn a_redis_that_was_killed_comes_back_with_its_promises(database: PgPool) {
    let mut app = App::on(database).with_own_redis().await.start().await;
    let voucher = app.sale(Sale::of(5)).await;
    let crowd = app.crowd(4).await;
    app.keeper_look().await;
    let stored = crowd[0].buy_one(voucher).await;
    app.drain().await;
    let queued = crowd[1].buy_one(voucher).await;
    app.written_down().await;
    app.redis_server.as_mut().unwrap().kill().await;
    assert_eq!(crowd[2].try_buy(voucher).await.status, 503);
    app.redis_server.as_mut().unwrap().start_again().await;
    app.is_back().await;
    app.keeper_look().await;
    assert_eq!(crowd[0].status(&stored).await.status, Status::Confirmed);
    assert_eq!(
        crowd[1].status(&queued).await.status,
        Status::Queued,
        "its session and its promise survive"
    );
    crowd[2].buy_one(voucher).await;
    assert_eq!(app.stock(voucher).await, Some(2));
    app.check_promises().await;
}

#[sqlx::test]
async fn an_empty_redis_in_the_place_of_the_old_one_sells_only_what_is_left(database: PgPool) {
    let mut app = App::on(database).with_own_redis().await.start().await;
    let voucher = app.sale(Sale::of(3)).await;
    let crowd = app.crowd(4).await;
    app.keeper_look().await;
    for shopper in &crowd[..2] {
        shopper.buy_one(voucher).await;
    }
    app.drain().await;
    let redis = app.redis_server.as_mut().unwrap();
    redis.kill().await;
    redis.start_empty().await;
    app.is_back().await;
    app.keeper_look().await;
    let again = join_all(crowd.iter().map(|shopper| app.person(shopper.id()))).await;
    let replies = join_all(again.iter().map(|shopper| shopper.buy(voucher))).await;
    assert_eq!(
        replies
            .iter()
            .filter(|reply| reply.outcome == Outcome::AlreadyBought)
            .count(),
        2
    );
    assert_eq!(
        replies
            .iter()
            .filter(|reply| reply.outcome == Outcome::Queued)
            .count(),
        1
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn buys_let_in_by_an_older_redis_end_as_sold_out(database: PgPool) {
    let mut app = App::on(database).with_own_redis().await.start().await;
    let voucher = app.sale(Sale::of(3)).await;
    let crowd = app.crowd(6).await;
    app.keeper_look().await;
    app.written_down().await;
    let redis = app.redis_server.as_mut().unwrap();
    redis.kill().await;
    redis.keep_a_copy();
    redis.start_again().await;
    app.is_back().await;
    app.keeper_look().await;
    for shopper in &crowd[..3] {
        shopper.buy_one(voucher).await;
    }
    app.drain().await;
    let redis = app.redis_server.as_mut().unwrap();
    redis.kill().await;
    redis.start_with_the_copy().await;
    app.is_back().await;
    // Before anybody has noticed; also somebody who has an order already.
    let excess = join_all(crowd[2..].iter().map(|shopper| shopper.buy(voucher))).await;
    let let_in: Vec<_> = excess
        .iter()
        .filter(|reply| reply.outcome == Outcome::Queued)
        .collect();
    assert_eq!(let_in.len(), 3);
    app.keeper_look().await;
    app.drain().await;
    assert_eq!(app.live(voucher).await.len(), 3);
    assert_eq!(app.stock(voucher).await, Some(0));
    app.check_promises().await;
}

#[sqlx::test]
async fn keepers_of_many_instances_rebuild_a_sale_as_one(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(50)).await;
    let crowd = app.crowd(50).await;
    let orders = join_all(crowd[..20].iter().map(|shopper| shopper.buy_one(voucher))).await;
    for key in [app.stock_key(voucher), app.sale_key(voucher), app.stream()] {
        let _: redis::Value = app.redis(&["DEL", &key]).await;
        join_all((0..4).map(|_| app.keeper_look())).await;
    }
    app.first
        .keeper
        .queue_was_lost(seckill::gate::keys::Shard(0));
    join_all((0..4).map(|_| app.keeper_look())).await;
    assert_eq!(app.stock(voucher).await, Some(30));
    for (shopper, order) in crowd.iter().zip(&orders) {
        assert_eq!(shopper.buy(voucher).await.order_id.as_ref(), Some(order));
    }
    let rest = join_all(crowd[20..].iter().map(|shopper| shopper.buy(voucher))).await;
    assert!(rest.iter().all(|reply| reply.outcome == Outcome::Queued));
    app.check_promises().await;
}

#[sqlx::test]
async fn buyers_press_while_their_sale_is_rebuilt_again_and_again(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(60)).await;
    let crowd = app.crowd(100).await;
    app.start_consumer();
    let breaking = async {
        for _ in 0..10 {
            let _: redis::Value = app.redis(&["DEL", &app.stock_key(voucher)]).await;
            eventually("it sells again", async || {
                app.look(voucher).await.drift() == Some(0)
            })
            .await;
        }
    };
    let pressing = join_all(crowd.iter().map(|shopper| async {
        // Until the sale is open and has answered.
        eventually("an answer", async || {
            shopper.buy(voucher).await.outcome != Outcome::Closed
        })
        .await;
    }));
    tokio::join!(breaking, pressing);
    eventually("all units are sold", async || {
        app.live(voucher).await.len() == 60
    })
    .await;
    app.check_promises().await;
}

/// A sale each of `sales`, with a thousand stored orders each, and a queued one.
async fn sold_a_thousand_each(app: &App, sales: usize) -> Vec<VoucherId> {
    let crowd = app.crowd(1000).await;
    let mut vouchers = Vec::new();
    for _ in 0..sales {
        vouchers.push(app.sale(Sale::of(2000)).await);
    }
    let ids: Vec<i32> = vouchers.iter().map(|voucher| voucher.0).collect();
    let store = "INSERT INTO orders (id, voucher_id, user_id, status, accepted_at)
         SELECT overlay(gen_random_uuid()::text PLACING '8' FROM 15)::uuid, v, u.id, 'confirmed', now()
         FROM UNNEST($1::integer[]) v, users u WHERE u.name LIKE 'crowd-%'";
    sqlx::query(store)
        .bind(&ids)
        .execute(&app.database)
        .await
        .unwrap();
    let counted = "UPDATE sales SET sold = 1000 WHERE voucher_id = ANY($1)";
    sqlx::query(counted)
        .bind(&ids)
        .execute(&app.database)
        .await
        .unwrap();
    assert_eq!(crowd.len(), 1000);
    vouchers
}

#[sqlx::test]
async fn a_hundred_sales_with_a_hundred_thousand_orders_are_open_again_within_ten_seconds(
    database: PgPool,
) {
    let app = App::on(database).with_own_redis().await.start().await;
    let vouchers = sold_a_thousand_each(&app, 100).await;
    // As one keeper's look has it, every second: the Redis of now is known.
    app.keeper_look().await;
    let _: redis::Value = app.redis(&["FLUSHALL"]).await;
    let began = std::time::Instant::now();
    app.keeper_look().await;
    let took = began.elapsed();
    let bob = app.shopper("bob").await;
    for voucher in &vouchers {
        assert_eq!(app.stock(*voucher).await, Some(1000));
    }
    bob.buy_one(vouchers[50]).await;
    eprintln!("open again after {took:?}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    let marks = app.operator.gate.all_marks(vouchers[0]).await.unwrap();
    assert_eq!(marks.len(), 1000);
    app.check_promises().await;
}

#[sqlx::test]
async fn an_order_in_a_consumers_hands_while_redis_forgot_it_has_its_unit_in_the_end(
    database: PgPool,
) {
    let app = App::on(database).with_own_redis().await.start().await;
    let voucher = app.sale(Sale::of(2)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let stall = app.stall_orders().await;
    app.start_consumer();
    let order = amy.buy_one(voucher).await;
    eventually("the consumer is about to store it", async || {
        app.waiting_for_locks().await == 1
    })
    .await;
    let _: redis::Value = app.redis(&["FLUSHALL"]).await;
    eventually("the sale is rebuilt, without the order", async || {
        app.stock(voucher).await == Some(2)
    })
    .await;
    stall.release().await;
    let amy = app.person(amy.id()).await;
    eventually("it is stored, and has its unit", async || {
        app.order(app::model::OrderId::parse(&order).unwrap())
            .await
            .is_some()
            && app.stock(voucher).await == Some(1)
    })
    .await;
    assert_eq!(amy.buy(voucher).await.order_id, Some(order));
    app.person(bob.id()).await.buy_one(voucher).await;
    let cid = app.shopper("cid").await;
    assert_eq!(cid.buy(voucher).await.outcome, Outcome::SoldOut);
    app.check_promises().await;
}
