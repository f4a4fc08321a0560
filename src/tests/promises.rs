//! The check at the end of every test, put to the test: it notices each way in which a promise can be broken.

use app::model::VoucherId;
use sqlx::PgPool;

use super::harness::{App, Person, Sale};

/// A sale of three units with one order stored.
async fn sold(database: PgPool) -> (App, VoucherId, Person) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(3)).await;
    let amy = app.shopper("amy").await;
    amy.buy_one(voucher).await;
    app.drain().await;
    (app, voucher, amy)
}

#[sqlx::test]
#[should_panic(expected = "a test ends with app.check_promises().await")]
async fn a_test_that_does_not_check_them_fails(database: PgPool) {
    drop(sold(database).await);
}

#[sqlx::test]
#[should_panic(expected = "drift")]
async fn a_unit_that_is_nowhere_is_noticed(database: PgPool) {
    let (app, voucher, _) = sold(database).await;
    let _: i64 = app.redis(&["DECR", &app.stock_key(voucher)]).await;
    app.check_promises().await;
}

#[sqlx::test]
#[should_panic(expected = "at rest every mark is a live order")]
async fn a_mark_without_an_order_is_noticed(database: PgPool) {
    let (app, voucher, _) = sold(database).await;
    let order =
        app.operator
            .order_ids
            .make(app::model::UserId(9), voucher, seckill::clock::system());
    let _: i64 = app
        .redis(&["HSET", &app.buyers_key(voucher), "9", &order.to_string()])
        .await;
    let _: i64 = app.redis(&["DECR", &app.stock_key(voucher)]).await;
    app.check_promises().await;
}

#[sqlx::test]
#[should_panic(expected = "lost")]
async fn an_order_shown_as_bought_that_is_not_stored_so_is_noticed(database: PgPool) {
    let (app, _, _) = sold(database).await;
    // Seen as queued by its mark, and gone from the queue.
    sqlx::query("DELETE FROM orders")
        .execute(&app.database)
        .await
        .unwrap();
    app.check_promises().await;
}

#[sqlx::test]
#[should_panic(expected = "sold counts the live orders")]
async fn an_order_too_few_or_too_many_is_noticed(database: PgPool) {
    let (app, _, _) = sold(database).await;
    sqlx::query("UPDATE sales SET sold = 2")
        .execute(&app.database)
        .await
        .unwrap();
    app.check_promises().await;
}
