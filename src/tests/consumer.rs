//! The consumer: what it meets that it cannot store, and stores that are late.

use std::time::Duration;

use app::model::{OrderId, Reason, Status, UserId};
use futures::future::join_all;
use seckill::{
    clock,
    consumer::{Consumer, reconcile::report::Report},
    db::{
        self,
        orders::{Batch, NewOrder, Verdict},
    },
    gate::keys::Shard,
    stores::Stores,
};
use sqlx::PgPool;
use tokio::sync::watch;

use super::harness::{App, Program, Sale, eventually, within};

#[sqlx::test]
async fn o05_an_order_that_the_database_refuses_names_the_order_that_counts(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(3)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let live = app
        .operator
        .order_ids
        .make(amy.id(), voucher, time::OffsetDateTime::UNIX_EPOCH);
    app.store_order(live, amy.id(), voucher).await;
    let report = Report::make(&app.operator.pool, &app.operator.gate)
        .await
        .unwrap();
    assert!(
        !report.is_healthy(),
        "the report shows that gate and database disagree"
    );
    let said = format!("live order {live} of user {} has no mark", amy.id());
    assert!(report.to_string().contains(&said), "{report}");

    let (refused, bought) = (amy.buy_one(voucher).await, bob.buy_one(voucher).await);
    app.drain().await;
    let shown = amy.status(&refused).await;
    assert_eq!(
        (shown.status, shown.reason),
        (Status::Refused, Some(Reason::AlreadyBought))
    );
    assert_eq!(shown.live_order_id, Some(live.to_string()));
    assert_eq!(
        amy.status(&live.to_string()).await.status,
        Status::Confirmed
    );
    assert_eq!(
        bob.status(&bought).await.status,
        Status::Confirmed,
        "the line was not held up"
    );
    assert_eq!(
        app.stock(voucher).await,
        Some(1),
        "the unit counts once, for the order that stands"
    );
    assert_eq!(amy.buy(voucher).await.order_id, Some(live.to_string()));
    app.check_promises().await;
}

#[sqlx::test]
async fn o05_an_order_beyond_the_granted_units_is_refused_as_sold_out(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(2)).await;
    let crowd = app.crowd(3).await;
    for shopper in &crowd[..2] {
        let order =
            app.operator
                .order_ids
                .make(shopper.id(), voucher, time::OffsetDateTime::UNIX_EPOCH);
        app.store_order(order, shopper.id(), voucher).await;
    }
    let order = crowd[2].buy_one(voucher).await;
    app.drain().await;
    let shown = crowd[2].status(&order).await;
    assert_eq!(
        (shown.status, shown.reason),
        (Status::Refused, Some(Reason::SoldOut))
    );
    // The gate still does not know of the two; when they ask, it learns.
    for shopper in &crowd[..2] {
        shopper.buy_one(voucher).await;
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn o10_entries_that_cannot_be_stored_are_parked_in_view_and_hold_nobody_up(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(20)).await;
    let crowd = app.crowd(15).await;
    app.start_consumer();
    let id = |voucher: i32| {
        let order = app.operator.order_ids.make(
            crowd[0].id(),
            app::model::VoucherId(voucher),
            seckill::clock::system(),
        );
        order.to_string()
    };
    let (user, huge) = (crowd[0].id().to_string(), "x".repeat(1_000_000));
    app.enqueue(&[("", "")]).await;
    app.enqueue(&[
        ("order", &id(voucher.0)),
        ("user", &user),
        ("voucher", "seven"),
    ])
    .await;
    app.enqueue(&[("order", &id(999)), ("user", &user), ("voucher", "999")])
        .await;
    app.enqueue(&[
        ("order", &id(voucher.0)),
        ("user", "999999"),
        ("voucher", &voucher.to_string()),
    ])
    .await;
    app.enqueue(&[("junk", &huge)]).await;
    join_all(crowd[..10].iter().map(|shopper| shopper.buy_one(voucher))).await;
    within(Duration::from_secs(10), "ten are stored", async || {
        app.live(voucher).await.len() == 10
    })
    .await;
    eventually("the bad ones are parked", async || {
        app.backlog().await.dead == 5
    })
    .await;
    eventually("and out of the queue", async || {
        app.backlog().await.queued == 0
    })
    .await;
    join_all(crowd[10..].iter().map(|shopper| shopper.buy_one(voucher))).await;
    within(Duration::from_secs(10), "all are stored", async || {
        app.live(voucher).await.len() == 15
    })
    .await;

    let page = app
        .admin()
        .await
        .without_script()
        .get("/admin/dead-letters")
        .await;
    assert_eq!(page.status, 200);
    for reason in [
        "cannot be read as an order",
        "There is no such voucher",
        "There is no such account",
    ] {
        assert!(page.body.contains(reason), "{reason}");
    }
    assert!(
        page.body.len() < 100_000,
        "a huge entry is shortened for the eye"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o13_orders_accepted_while_the_database_is_away_are_stored_when_it_is_back(
    database: PgPool,
) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(50)).await;
    let crowd = app.crowd(20).await;
    app.start_consumer();
    crowd[0].buy_one(voucher).await;
    eventually("the first order is stored and acknowledged", async || {
        app.live(voucher).await.len() == 1 && app.backlog().await.queued == 0
    })
    .await;
    app.database_line().cut();
    let orders = join_all(crowd[1..].iter().map(|shopper| shopper.buy_one(voucher))).await;
    for (shopper, order) in crowd[1..].iter().zip(&orders) {
        assert_eq!(shopper.status(order).await.status, Status::Queued);
    }
    assert_eq!(
        app.backlog().await.queued,
        19,
        "nothing is acknowledged before it is stored"
    );
    app.database_line().mend();
    within(Duration::from_secs(30), "all are stored", async || {
        app.live(voucher).await.len() == 20
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn two_consumers_at_once_do_not_sell_the_last_unit_twice(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(30)).await;
    let crowd = app.crowd(30).await;
    app.start_consumer();
    let programs = [
        Program::start(&app, "consumer"),
        Program::start(&app, "consumer"),
    ];
    for program in &programs {
        program.has_said("consumer started").await;
    }
    // Half of the units are sold behind the gate's back while it sells all of them.
    let behind = async {
        for shopper in &crowd[..15] {
            let order = app.operator.order_ids.make(
                shopper.id(),
                voucher,
                time::OffsetDateTime::UNIX_EPOCH,
            );
            let insert = "WITH sale AS (
                     UPDATE sales SET sold = sold + 1
                     WHERE voucher_id = $2 AND sold < granted
                       AND NOT EXISTS (SELECT FROM orders WHERE voucher_id = $2 AND user_id = $3 AND status = 'confirmed')
                     RETURNING voucher_id
                 )
                 INSERT INTO orders (id, voucher_id, user_id, status, accepted_at)
                 SELECT $1, voucher_id, $3, 'confirmed', now() FROM sale";
            // Where it collides with the consumer, the database refuses the whole statement, `sold` included.
            let _ = sqlx::query(insert)
                .bind(order.0)
                .bind(voucher.0)
                .bind(shopper.id().0)
                .execute(&app.database)
                .await;
        }
    };
    let buys = join_all(
        crowd[15..]
            .iter()
            .chain(&crowd[..15])
            .map(|shopper| shopper.buy_one(voucher)),
    );
    let (orders, ()) = tokio::join!(buys, behind);
    eventually("all are decided", async || app.backlog().await.queued == 0).await;
    assert!(app.live(voucher).await.len() <= 30);
    let ids: Vec<OrderId> = orders
        .iter()
        .map(|order| OrderId::parse(order).unwrap())
        .collect();
    for id in ids {
        assert!(app.order(id).await.is_some());
    }
    for program in programs {
        program.kill().await;
    }
    app.check_promises().await;
}

/// So many accounts, in one statement.
async fn accounts(app: &App, count: i32) -> Vec<UserId> {
    let made = sqlx::query_scalar(
        "INSERT INTO users (name, name_key, password_hash)
         SELECT 'n' || n, 'n' || n, '!' FROM generate_series(1, $1) n RETURNING id",
    );
    let ids: Vec<i64> = made.bind(count).fetch_all(&app.database).await.unwrap();
    ids.into_iter().map(UserId).collect()
}

#[sqlx::test]
async fn what_is_read_to_store_an_order_does_not_grow_with_its_sale(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(10_000)).await;
    let users = accounts(&app, 3000).await;
    // One connection whose plan was made on an empty table, as that of a consumer.
    #[expect(
        clippy::disallowed_methods,
        reason = "nothing cancels it, and it is rolled back"
    )]
    let mut work = app.first.stores.pool.begin().await.unwrap();
    for (place, users) in users.chunks(100).enumerate() {
        let at = clock::system();
        let order = |user: &UserId| NewOrder {
            id: app.operator.order_ids.make(*user, voucher, at),
            user: *user,
            voucher,
            accepted_at: at,
        };
        let batch: Vec<NewOrder> = users.iter().map(order).collect();
        let batch = Batch::of(&batch);
        if place % 2 == 0 {
            db::orders::all_confirmed(&mut work, &batch).await.unwrap();
        } else {
            let judged = db::orders::judge(&mut work, &batch).await.unwrap();
            assert!(judged.iter().all(|one| one.verdict == Verdict::Confirmed));
        }
    }
    let read: i64 = sqlx::query_scalar(
        "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'orders'",
    )
    .fetch_one(&mut *work)
    .await
    .unwrap();
    assert!(read < 3 * 3000, "{read} rows of orders read to store 3,000");
    work.rollback().await.unwrap();
    app.check_promises().await;
}

#[sqlx::test]
async fn told_to_stop_a_consumer_stores_what_it_has_read_ahead(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(3_000)).await;
    let users = accounts(&app, 2200).await;
    let Stores {
        pool,
        gate,
        order_ids,
        ..
    } = app.operator.clone();
    let buys = users.into_iter().map(async |user| {
        let order = order_ids.make(user, voucher, clock::system());
        gate.buy(user, voucher, order).await.unwrap();
    });
    join_all(buys).await;
    let stall = app.stall_orders().await;
    let keeper = app.first.keeper.clone();
    let consumer = Consumer::new(pool, &gate, Shard(0), "reader", keeper).unwrap();
    let (stop, stopped) = watch::channel(false);
    let working = tokio::spawn(consumer.run(stopped));
    eventually("two batches are in hand", async || {
        app.backlog().await.pending == 2000
    })
    .await;
    stop.send(true).unwrap();
    stall.release().await;
    working.await.unwrap();
    let left = app.backlog().await;
    assert_eq!((left.queued, left.pending), (200, 0));
    assert_eq!(app.rows("orders").await, 2000);
    app.drain().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn what_an_order_refers_to_is_there_and_stays(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(1)).await;
    let amy = app.shopper("amy").await;
    amy.buy_one(voucher).await;
    app.drain().await;
    let refused = async |statement: &'static str| {
        let failed = sqlx::query(statement).execute(&app.database).await;
        let failed = failed.expect_err(statement);
        assert!(db::is_datas_fault(&failed), "{statement}: {failed}");
        assert_eq!(db::broken_constraint(&failed), Some("orders_refer"));
    };
    for statement in [
        "INSERT INTO orders (id, voucher_id, user_id, status, accepted_at)
         SELECT gen_random_uuid(), voucher_id, -1, status, now() FROM orders",
        "INSERT INTO orders (id, voucher_id, user_id, status, accepted_at)
         SELECT gen_random_uuid(), -1, user_id, status, now() FROM orders",
        "UPDATE orders SET user_id = -1",
        "DELETE FROM users WHERE id IN (SELECT user_id FROM orders)",
        "DELETE FROM sales",
        "UPDATE sales SET voucher_id = -1",
    ] {
        refused(statement).await;
    }
    app.check_promises().await;
}
