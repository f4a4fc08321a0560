//! The button: who gets a unit, and what is said to those who press it again.

use std::collections::{HashMap, HashSet};

use app::model::{Outcome, Status, UserId};
use futures::{StreamExt, future::join_all, stream};
use sqlx::PgPool;

use super::harness::{App, Sale};

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
    // All are begun at once as far as a system lets one process open sockets.
    let replies: Vec<_> = stream::iter(twice).buffer_unordered(400).collect().await;

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
