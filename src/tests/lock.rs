//! The lock of a shard, and the four faults that such locks are known for.

use std::time::Duration;

use seckill::{gate::keys::Shard, lock::Lock};
use sqlx::PgPool;

use super::harness::{App, Sale, eventually};

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(300);

async fn acquire(app: &App, lease: Duration) -> Option<Lock> {
    let gate = &app.operator.gate;
    Lock::acquire(gate.connection(), gate.keys().lock(Shard(0)), lease)
        .await
        .unwrap()
}

async fn holder(app: &App) -> Option<String> {
    app.redis(&["GET", &app.operator.gate.keys().lock(Shard(0))])
        .await
}

#[sqlx::test]
async fn one_holds_the_lock_and_the_next_gets_it_when_it_is_released(database: PgPool) {
    let app = App::start(database).await;
    let lock = acquire(&app, LONG).await.unwrap();
    assert!(acquire(&app, LONG).await.is_none());
    assert!(lock.release().await.unwrap());
    let next = acquire(&app, LONG).await.unwrap();
    assert!(next.release().await.unwrap());
    assert_eq!(holder(&app).await, None);
    app.check_promises().await;
}

#[sqlx::test]
async fn when_the_holder_dies_the_lock_ends_by_itself(database: PgPool) {
    let app = App::start(database).await;
    drop(acquire(&app, SHORT).await.unwrap());
    assert!(holder(&app).await.is_some(), "nobody released it");
    eventually("another gets it", async || {
        acquire(&app, SHORT).await.is_some()
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn a_holder_slower_than_the_lease_keeps_the_lock(database: PgPool) {
    let app = App::start(database).await;
    let lock = acquire(&app, SHORT).await.unwrap();
    let other = async {
        eventually("never", async || acquire(&app, SHORT).await.is_some()).await;
    };
    assert!(
        tokio::time::timeout(SHORT * 5, other).await.is_err(),
        "nobody gets it for five leases"
    );
    assert!(!lock.is_lost());
    assert!(lock.release().await.unwrap());
    app.check_promises().await;
}

#[sqlx::test]
async fn who_lost_the_lock_notices_and_ends_nobody_elses(database: PgPool) {
    let app = App::start(database).await;
    let late = acquire(&app, SHORT).await.unwrap();
    let _: i64 = app
        .redis(&["DEL", &app.operator.gate.keys().lock(Shard(0))])
        .await;
    let holding = acquire(&app, LONG).await.unwrap();
    eventually("the late one notices", async || late.is_lost()).await;
    assert!(
        !late.release().await.unwrap(),
        "a late release releases nothing"
    );
    assert_eq!(holder(&app).await.as_deref(), Some(holding.token()));
    assert!(holding.release().await.unwrap());
    app.check_promises().await;
}

#[sqlx::test]
async fn between_comparing_and_deleting_the_lock_nobody_comes(database: PgPool) {
    let app = App::start(database).await;
    for _ in 0..100 {
        let ending = acquire(&app, LONG).await.unwrap();
        // It expires in the very moment in which it is released and another comes.
        let key = app.operator.gate.keys().lock(Shard(0));
        let expiry = async { app.redis::<i64>(&["PEXPIRE", &key, "0"]).await };
        let (_, released, next) = tokio::join!(expiry, ending.release(), acquire(&app, LONG));
        released.unwrap();
        if let Some(next) = next {
            assert_eq!(holder(&app).await.as_deref(), Some(next.token()));
            assert!(next.release().await.unwrap());
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn who_does_not_hold_the_lock_can_rebuild_nothing(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    app.shopper("amy").await.buy_one(voucher).await;
    let before = app.look(voucher).await;
    let gate = &app.operator.gate;
    assert!(!gate.rebuild_begin("stranger", voucher).await.unwrap());
    assert_eq!(app.look(voucher).await.stock, before.stock);

    // Stopped beyond the lease in the middle of a rebuild, which another has finished meanwhile.
    let lock = acquire(&app, LONG).await.unwrap();
    let token = lock.token().to_owned();
    assert!(gate.rebuild_begin(&token, voucher).await.unwrap());
    assert!(lock.release().await.unwrap());
    app.keeper_look().await;
    let sale = seckill::db::sales::by_id(&app.database, voucher)
        .await
        .unwrap()
        .unwrap();
    let wrong = seckill::gate::SaleSettings {
        granted: 500,
        ..seckill::carry::settings(&sale)
    };
    let drop = seckill::gate::rebuild::Finding::Drop;
    let amy = app.shopper("amy").await;
    let mark = gate.marks(amy.id(), &[voucher]).await.unwrap()[0].unwrap();
    assert!(
        !gate
            .rebuild_mark(&token, voucher, &[drop(amy.id(), mark)])
            .await
            .unwrap()
    );
    assert_eq!(gate.rebuild_end(&token, &wrong, 0).await.unwrap(), None);
    assert_eq!(
        (app.look(voucher).await.stock, app.look(voucher).await.marks),
        (Some(4), Some(1))
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_sale_whose_rebuild_was_broken_off_sells_nothing_until_another_finishes_it(
    database: PgPool,
) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    amy.buy_one(voucher).await;
    let lock = acquire(&app, SHORT).await.unwrap();
    assert!(
        app.operator
            .gate
            .rebuild_begin(lock.token(), voucher)
            .await
            .unwrap()
    );
    drop(lock);
    assert_eq!(bob.buy(voucher).await.outcome.as_str(), "closed");
    app.start_consumer();
    eventually("it is finished by itself", async || {
        bob.buy(voucher).await.order_id.is_some()
    })
    .await;
    assert_eq!(app.stock(voucher).await, Some(3));
    app.check_promises().await;
}

#[sqlx::test]
async fn marks_that_are_lost_while_a_sale_is_rebuilt_are_not_sold_again(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    amy.buy_one(voucher).await;
    app.drain().await;
    let sale = seckill::db::sales::by_id(&app.database, voucher)
        .await
        .unwrap()
        .unwrap();
    let gate = &app.operator.gate;
    let lock = acquire(&app, LONG).await.unwrap();
    assert!(gate.rebuild_begin(lock.token(), voucher).await.unwrap());
    let mark = gate.marks(amy.id(), &[voucher]).await.unwrap()[0].unwrap();
    let keep = seckill::gate::rebuild::Finding::Keep(amy.id(), mark);
    assert!(
        gate.rebuild_mark(lock.token(), voucher, &[keep])
            .await
            .unwrap()
    );
    let _: i64 = app.redis(&["DEL", &app.buyers_key(voucher)]).await;
    let settings = seckill::carry::settings(&sale);
    let end = gate.rebuild_end(lock.token(), &settings, 1).await.unwrap();
    assert_eq!(end, None, "a unit of hers would be sold again");
    assert!(app.look(voucher).await.is_broken());
    assert!(lock.release().await.unwrap());
    app.keeper_look().await;
    assert_eq!(app.look(voucher).await.stock, Some(4));
    app.check_promises().await;
}
