//! The button: who gets a unit, and what is said to those who press it again.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use app::model::{Outcome, SalePhase, Status, UserId};
use futures::{StreamExt, future::join_all, stream};
use seckill::gate::unix_ms;
use sqlx::PgPool;

use super::harness::{App, Sale, eventually};

#[sqlx::test]
async fn two_thousand_buys_at_once_by_a_thousand_shoppers_sell_exactly_a_hundred_units(
    database: PgPool,
) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(100)).await;
    let crowd = app.crowd(1000).await;
    let twice = crowd
        .iter()
        .chain(&crowd)
        .map(|shopper| async move { (shopper.id(), shopper.buy(voucher).await) });
    // As many at once as one process has sockets for, and one thread for both sides keeps up with.
    let replies: Vec<_> = stream::iter(twice).buffer_unordered(200).collect().await;

    let mut orders: HashMap<UserId, HashSet<String>> = HashMap::new();
    for (user, reply) in &replies {
        match (reply.outcome, &reply.order_id) {
            (Outcome::Queued | Outcome::AlreadyBought, Some(order)) => {
                orders.entry(*user).or_default().insert(order.clone());
            }
            (Outcome::SoldOut, None) => {}
            other => panic!("{other:?}"),
        }
    }
    let queued = replies
        .iter()
        .filter(|(_, reply)| reply.outcome == Outcome::Queued)
        .count();
    assert_eq!(queued, 100);
    assert_eq!(orders.len(), 100, "a hundred shoppers");
    assert!(
        orders.values().all(|named| named.len() == 1),
        "every repeat names the same order"
    );

    app.drain().await;
    let live = app.live(voucher).await;
    assert_eq!(live.len(), 100);
    assert!(
        live.iter()
            .all(|order| orders[&order.user].contains(&order.order.to_string()))
    );
    assert_eq!(app.stock(voucher).await, Some(0));
    app.check_promises().await;
}

#[sqlx::test]
async fn o01_repeated_clicks_of_one_buyer_take_one_unit_and_name_one_order(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(10)).await;
    let crowd = app.crowd(11).await;
    let mut replies = join_all((0..50).map(|_| crowd[0].buy(voucher))).await;
    replies.extend(
        stream::iter(0..20)
            .then(|_| crowd[0].buy(voucher))
            .collect::<Vec<_>>()
            .await,
    );
    assert_eq!(
        replies
            .iter()
            .filter(|reply| reply.outcome == Outcome::Queued)
            .count(),
        1
    );
    assert_eq!(
        replies
            .iter()
            .filter(|reply| reply.outcome == Outcome::AlreadyBought)
            .count(),
        69
    );
    assert!(
        replies
            .iter()
            .all(|reply| reply.order_id == replies[0].order_id)
    );
    assert_eq!(app.stock(voucher).await, Some(9));

    for shopper in &crowd[1..10] {
        let order = shopper.buy_one(voucher).await;
        assert_eq!(shopper.status(&order).await.status, Status::Queued);
    }
    assert_eq!(crowd[10].buy(voucher).await.outcome, Outcome::SoldOut);
    app.check_promises().await;
}

#[sqlx::test]
async fn o07_nothing_is_sold_before_the_begin_or_after_the_end_whichever_instance_is_asked(
    database: PgPool,
) {
    let app = App::start(database).await;
    let second = app.another_instance().await;
    let (amy, bob) = (
        app.shopper("amy").await,
        app.shopper("bob").await.at(&second),
    );
    let soon = app
        .sale(Sale::of(5).beginning_in(Duration::from_secs(3)))
        .await;
    let ending = app
        .sale(Sale::of(5).ending_in(Duration::from_secs(2)))
        .await;
    let order = amy.buy_one(ending).await;
    for shopper in [&amy, &bob] {
        assert_eq!(shopper.buy(soon).await.outcome, Outcome::NotStarted);
    }
    eventually("the sale ends", async || {
        let look = app.look(ending).await;
        Some(unix_ms(look.now)) >= look.ends_ms
    })
    .await;
    assert_eq!(bob.buy(ending).await.outcome, Outcome::Ended);
    let again = amy.buy(ending).await;
    assert_eq!(
        (again.outcome, again.order_id),
        (Outcome::AlreadyBought, Some(order.clone()))
    );
    assert_eq!(
        (app.look(soon).await.stock, app.look(soon).await.marks),
        (Some(5), Some(0))
    );
    assert_eq!(
        (app.look(ending).await.stock, app.look(ending).await.marks),
        (Some(4), Some(1))
    );
    assert_eq!(
        app.backlog().await.queued,
        1,
        "refusals leave nothing in the queue"
    );

    eventually("the sale begins", async || {
        let look = app.look(soon).await;
        Some(unix_ms(look.now)) >= look.begins_ms
    })
    .await;
    amy.buy_one(soon).await;
    app.drain().await;
    assert_eq!(
        amy.status(&order).await.status,
        Status::Confirmed,
        "accepted in time is bought"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o06_who_hung_up_before_the_answer_is_told_the_same_order_again(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let crowd = app.crowd(5).await;
    for (heads, shopper) in (1..).zip(&crowd[..3]) {
        let line = shopper.press_without_listening(voucher).await;
        eventually("the gate has sold", async || {
            app.look(voucher).await.marks == Some(heads)
        })
        .await;
        drop(line);
    }
    for shopper in &crowd[3..] {
        // Hung up at once: perhaps nothing was sold yet.
        drop(shopper.press_without_listening(voucher).await);
    }
    let replies = join_all(crowd.iter().map(|shopper| shopper.buy(voucher))).await;
    assert!(
        replies[..3]
            .iter()
            .all(|reply| reply.outcome == Outcome::AlreadyBought),
        "{replies:?}"
    );
    let orders: HashSet<_> = replies
        .iter()
        .map(|reply| reply.order_id.clone().unwrap())
        .collect();
    assert_eq!(orders.len(), 5, "each has an order of its own");
    assert_eq!(
        (app.stock(voucher).await, app.backlog().await.queued),
        (Some(0), 5)
    );
    for (shopper, reply) in crowd.iter().zip(&replies) {
        let again = shopper.buy(voucher).await;
        assert_eq!(
            again.order_id, reply.order_id,
            "sold out, and told the same order"
        );
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn o06_when_the_gates_answer_is_lost_with_its_line_the_same_order_is_asked_for_again(
    database: PgPool,
) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    app.redis_line().lose_the_answer_to("EVALSHA");
    let order = amy.buy_one(voucher).await;
    assert!(app.redis_line().has_lost());
    assert_eq!(
        (app.stock(voucher).await, app.backlog().await.queued),
        (Some(4), 1),
        "one unit, one entry"
    );
    assert_eq!(amy.buy(voucher).await.order_id, Some(order));
    app.check_promises().await;
}

#[sqlx::test]
async fn o06_when_the_gate_answers_too_late_trying_again_tells_the_order(database: PgPool) {
    let app = App::on(database).with_own_redis().await.start().await;
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    let redis = app.redis_server.as_ref().unwrap();
    // So that the script is known.
    app.shopper("bob").await.buy_one(voucher).await;
    // Redis takes the buy and stands still until it has been given up.
    let line = app.first.stores.gate.clone();
    redis.stand_still();
    let order = app
        .first
        .stores
        .order_ids
        .make(amy.id(), voucher, seckill::clock::system());
    assert!(
        line.buy(amy.id(), voucher, order)
            .await
            .unwrap_err()
            .is_timeout()
    );
    let answer = amy.try_buy(voucher).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("retry-after")),
        (503, Some("2"))
    );
    redis.go_on();
    let reply = amy.buy(voucher).await;
    assert_eq!(reply.outcome, Outcome::AlreadyBought, "the script had run");
    assert_eq!(reply.order_id, Some(order.to_string()));
    assert_eq!(
        (app.stock(voucher).await, app.backlog().await.queued),
        (Some(3), 2)
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn who_presses_too_often_is_told_when_to_try_again_and_has_one_unit(database: PgPool) {
    let app = App::on(database).with_limits().start().await;
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let answers = join_all((0..40).map(|_| amy.try_buy(voucher))).await;
    let (told, limited): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert!(
        (10..25).contains(&told.len()),
        "the burst is twice the rate of 5 a second: {}",
        told.len()
    );
    for answer in limited {
        assert_eq!(
            (answer.status.as_u16(), answer.body.as_str()),
            (429, r#"{"error":"too_many_requests"}"#)
        );
        assert!(
            answer
                .header("retry-after")
                .unwrap()
                .parse::<u32>()
                .unwrap()
                >= 1
        );
    }
    bob.buy_one(voucher).await;
    assert_eq!(app.stock(voucher).await, Some(3));
    app.check_promises().await;
}

#[sqlx::test]
async fn units_left_and_phase_are_told_as_the_gate_has_them(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(2)).await;
    let coming = app
        .sale(Sale::of(2).beginning_in(Duration::from_secs(60)))
        .await;
    let guest = app.guest();
    let told = async |voucher| {
        let status = guest.sale_status(voucher).await;
        (status.phase, status.left, status.granted)
    };
    assert_eq!(told(coming).await, (SalePhase::NotStarted, Some(2), 2));
    assert_eq!(told(voucher).await, (SalePhase::Running, Some(2), 2));
    for shopper in app.crowd(2).await {
        shopper.buy_one(voucher).await;
    }
    eventually("it is told that all are sold", async || {
        told(voucher).await == (SalePhase::SoldOut, Some(0), 2)
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn who_is_told_that_it_is_sold_out_sees_a_page_that_says_the_same(database: PgPool) {
    let app = App::start(database).await;
    for _ in 0..5 {
        let voucher = app.sale(Sale::of(1)).await;
        let crowd = app.crowd(2).await;
        // So that what the page shows is remembered from before.
        let page = format!("/vouchers/{voucher}");
        assert!(app.guest().get(&page).await.body.contains("1 of 1 left"));
        crowd[0].buy_one(voucher).await;
        let loser = crowd[1].without_script();
        let told = loser
            .post("/api/buy", &[("voucher_id", &voucher.to_string())])
            .await;
        assert!(told.location().ends_with("outcome=sold_out"), "{told:?}");
        let shown = loser.get(told.location()).await.body;
        assert!(
            shown.contains("0 of 1 left") && shown.contains("Sold out"),
            "{shown}"
        );
    }
    app.check_promises().await;
}
