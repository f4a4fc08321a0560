//! A store is away: failures are fast and plain, what can go on goes on, and all is well again by itself.

use std::time::{Duration, Instant};

use app::model::{Outcome, Status};
use futures::future::join_all;
use seckill::{consumer::keeper::Keeper, stores::Stores};
use sqlx::PgPool;

use super::harness::{Answer, App, Person, Sale, eventually, within};

const FAST: Duration = Duration::from_secs(3);

/// A call that has to fail within 3 s, plainly and with a hint when to try again.
async fn unavailable(call: impl Future<Output = Answer>) {
    let began = Instant::now();
    let answer = call.await;
    assert!(began.elapsed() < FAST, "{:?}: {answer:?}", began.elapsed());
    assert_eq!(
        (answer.status.as_u16(), answer.body.as_str()),
        (503, r#"{"error":"unavailable"}"#)
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

/// A page that has to be shown within 5 s.
async fn shown(reader: &Person, path: &str) -> Answer {
    let began = Instant::now();
    let page = reader.without_script().get(path).await;
    println!("{path} shown after {:?}", began.elapsed());
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{path}: {:?}",
        began.elapsed()
    );
    assert_eq!(page.status, 200, "{path}: {}", page.body);
    page
}

/// A page that says plainly, within 3 s, that it cannot be shown now.
async fn not_shown(reader: &Person, path: &str) {
    let began = Instant::now();
    let page = reader.without_script().get(path).await;
    assert!(began.elapsed() < FAST, "{path}: {:?}", began.elapsed());
    assert_eq!(page.status, 503, "{path}");
    assert!(page.header("retry-after").is_some(), "{path}");
    assert!(page.body.contains("Not available just now"), "{path}");
    for word in [
        "sql",
        "Sql",
        "postgres",
        "redis",
        "127.0.0.1",
        "pool",
        "panicked",
        "os error",
    ] {
        assert!(!page.body.contains(word), "{path} says {word:?}");
    }
}

/// What works and what does not while PostgreSQL is away.
async fn without_database(
    app: &App,
    voucher: app::model::VoucherId,
    queued: &str,
    amy: &Person,
    bob: &Person,
) {
    assert_eq!(
        bob.buy(voucher).await.outcome,
        Outcome::Queued,
        "the button needs no database"
    );
    assert_eq!(
        amy.status(queued).await.status,
        Status::Queued,
        "told from the mark"
    );
    let (guest, shop) = (
        app.guest(),
        [("name", "n"), ("category", "c"), ("address", "a")],
    );
    let credentials = [("name", "amy"), ("password", "correct horse")];
    tokio::join!(
        unavailable(amy.get("/api/my_orders")),
        unavailable(guest.post("/api/sign_in", &credentials)),
        unavailable(amy.post("/api/admin/create_shop", &shop)),
        not_shown(&guest, "/"),
        not_shown(&guest, "/shops/1"),
    );
    let page = amy.without_script().get(&format!("/orders/{queued}")).await;
    assert_eq!(page.status, 200, "the order's page too");
    assert!(page.body.contains("In the queue"));
}

#[sqlx::test]
async fn o13_while_the_database_refuses_buys_go_on_and_the_rest_fails_fast(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let order = amy.buy_one(voucher).await;
    app.database_line().cut();
    without_database(&app, voucher, &order, &amy, &bob).await;
    app.database_line().mend();
    within(Duration::from_secs(10), "all is well again", async || {
        amy.get("/api/my_orders").await.status == 200
    })
    .await;
    assert_eq!(bob.my_orders().await.len(), 1);
    shown(&app.guest(), "/").await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o13_while_the_database_is_silent_buys_go_on_and_the_rest_fails_fast(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let order = amy.buy_one(voucher).await;
    app.database_line().silence();
    without_database(&app, voucher, &order, &amy, &bob).await;
    app.database_line().mend();
    within(Duration::from_secs(10), "all is well again", async || {
        amy.get("/api/my_orders").await.status == 200
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o12_while_redis_refuses_buys_fail_fast_and_shops_are_shown(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let order = amy.buy_one(voucher).await;
    app.redis_line().cut();
    unavailable(bob.try_buy(voucher)).await;
    unavailable(amy.get(&format!("/api/order_status?order_id={order}"))).await;
    unavailable(amy.get("/api/my_orders")).await;
    unavailable(
        app.guest()
            .get(&format!("/api/sale_status?voucher_id={voucher}")),
    )
    .await;
    for reader in [&app.guest(), &amy] {
        shown(reader, "/").await;
        shown(reader, "/shops/1").await;
        shown(reader, &format!("/vouchers/{voucher}")).await;
    }
    app.redis_line().mend();
    within(Duration::from_secs(10), "all is well again", async || {
        bob.try_buy(voucher).await.status == 200
    })
    .await;
    assert_eq!(
        amy.status(&order).await.status,
        Status::Queued,
        "signed in as before"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o12_while_redis_stands_still_buys_fail_fast_and_shops_are_shown(database: PgPool) {
    let app = App::on(database).with_own_redis().await.start().await;
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    amy.buy_one(voucher).await;
    app.redis_server.as_ref().unwrap().stand_still();
    unavailable(bob.try_buy(voucher)).await;
    let (guest, sale) = (app.guest(), format!("/vouchers/{voucher}"));
    tokio::join!(
        shown(&guest, "/"),
        shown(&guest, "/shops/1"),
        shown(&guest, &sale),
        shown(&amy, "/"),
        shown(&amy, "/shops/1"),
        shown(&amy, &sale),
    );
    app.redis_server.as_ref().unwrap().go_on();
    within(Duration::from_secs(10), "all is well again", async || {
        bob.try_buy(voucher).await.status == 200
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o12_a_redis_that_is_killed_during_the_sale_comes_back_to_a_working_shop(database: PgPool) {
    let mut app = App::on(database).with_own_redis().await.start().await;
    let voucher = app.sale(Sale::of(100)).await;
    let crowd = app.crowd(60).await;
    app.start_consumer();
    join_all(crowd[..20].iter().map(|shopper| shopper.buy_one(voucher))).await;
    app.written_down().await;
    app.redis_server.as_mut().unwrap().kill().await;
    for shopper in &crowd[20..25] {
        unavailable(shopper.try_buy(voucher)).await;
    }
    app.redis_server.as_mut().unwrap().start_again().await;
    app.is_back().await;
    within(
        Duration::from_secs(10),
        "web part and consumer work again",
        async || {
            let answer = crowd[20].try_buy(voucher).await;
            answer.status == 200 && answer.json::<app::model::BuyReply>().order_id.is_some()
        },
    )
    .await;
    // The keeper may still be at it: it was another start of Redis.
    join_all(crowd[21..].iter().map(|shopper| async move {
        eventually("an answer", async || {
            shopper.buy(voucher).await.order_id.is_some()
        })
        .await;
    }))
    .await;
    within(Duration::from_secs(10), "all are stored", async || {
        app.live(voucher).await.len() == 60
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o12_a_redis_that_hangs_up_on_everybody_costs_nobody_an_order(database: PgPool) {
    let app = App::on(database).with_own_redis().await.start().await;
    let voucher = app.sale(Sale::of(40)).await;
    let crowd = app.crowd(40).await;
    app.start_consumer();
    let hanging_up = async {
        let client = redis::Client::open(app.direct.redis_url.as_ref().unwrap().expose()).unwrap();
        for _ in 0..5 {
            let mut connection = client.get_multiplexed_async_connection().await.unwrap();
            let mut kill = redis::cmd("CLIENT");
            kill.arg("KILL").arg("TYPE").arg("normal");
            kill.query_async::<i64>(&mut connection).await.unwrap();
        }
    };
    let pressing = join_all(crowd.iter().map(|shopper| async {
        within(Duration::from_secs(10), "an order", async || {
            let answer = shopper.try_buy(voucher).await;
            assert!([200, 503].contains(&answer.status.as_u16()), "{answer:?}");
            answer.status == 200 && answer.json::<app::model::BuyReply>().order_id.is_some()
        })
        .await;
    }));
    tokio::join!(hanging_up, pressing);
    app.is_back().await;
    eventually("all are stored", async || {
        app.live(voucher).await.len() == 40
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn consumer_and_keeper_come_back_when_both_stores_were_away(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(10)).await;
    let crowd = app.crowd(4).await;
    app.start_consumer();
    crowd[0].buy_one(voucher).await;
    eventually("it works", async || app.live(voucher).await.len() == 1).await;
    app.database_line().cut();
    app.redis_line().cut();
    unavailable(crowd[1].try_buy(voucher)).await;
    app.redis_line().mend();
    within(Duration::from_secs(10), "the gate works", async || {
        crowd[1].try_buy(voucher).await.status == 200
    })
    .await;
    let _: redis::Value = app.redis(&["DEL", &app.stock_key(voucher)]).await;
    assert_eq!(
        crowd[2].buy(voucher).await.outcome,
        Outcome::Closed,
        "nobody can rebuild it now"
    );
    app.database_line().mend();
    within(Duration::from_secs(10), "it sells again", async || {
        crowd[2].buy(voucher).await.order_id.is_some()
    })
    .await;
    within(Duration::from_secs(10), "all are stored", async || {
        app.live(voucher).await.len() == 3
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn a_line_to_redis_that_has_gone_deaf_is_made_again(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(50)).await;
    let crowd = app.crowd(20).await;
    app.start_consumer();
    crowd[0].buy_one(voucher).await;
    app.redis_line().forget_connections();
    let mut left = crowd[1..].iter();
    within(Duration::from_secs(10), "people buy again", async || {
        let answer = left.next().unwrap().try_buy(voucher).await;
        assert!([200, 503].contains(&answer.status.as_u16()), "{answer:?}");
        answer.status == 200
    })
    .await;
    // The consumer's own line, which waits for entries, too.
    within(Duration::from_secs(30), "and it is stored", async || {
        app.backlog().await.queued == 0
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn a_line_to_the_database_that_has_gone_deaf_holds_up_nobody_for_long(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    amy.buy_one(voucher).await;
    let stall = app.stall_orders().await;
    app.start_consumer();
    let shop = [("name", "n"), ("category", "c"), ("address", "a")];
    let admin = app.admin().await;
    let shops = app.stall("shops").await;
    let asked = admin.post("/api/admin/create_shop", &shop);
    let deaf = async {
        eventually(
            "the consumer and the admin are in the middle of it",
            async || app.waiting_for_locks().await == 2,
        )
        .await;
        app.database_line().forget_connections();
        stall.release().await;
        shops.release().await;
        std::time::Instant::now()
    };
    let (answer, since) = tokio::join!(asked, deaf);
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(
        since.elapsed() < Duration::from_secs(6),
        "{:?}",
        since.elapsed()
    );
    within(
        Duration::from_secs(10),
        "the rest works again",
        async || bob.get("/api/my_orders").await.status == 200,
    )
    .await;
    within(Duration::from_secs(40), "the order is stored", async || {
        app.live(voucher).await.len() == 1 && app.backlog().await.queued == 0
    })
    .await;
    app.database_line().mend();
    app.check_promises().await;
}

#[sqlx::test]
async fn a_keeper_whose_line_to_the_database_has_gone_deaf_lets_another_go_on(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    amy.buy_one(voucher).await;
    app.drain().await;
    let _: i64 = app.redis(&["DEL", &app.stock_key(voucher)]).await;
    // In the middle of a rebuild, with the lock in its hands, it reads the orders, and hears nothing more.
    let stall = app.stall_reads_of("orders").await;
    let Stores { pool, gate, .. } = app.first.stores.clone();
    let deaf = Keeper::new(pool, gate, app.first.keeper.clone());
    let deaf = tokio::spawn(async move { deaf.look().await });
    eventually("it reads the orders", async || {
        app.waiting_for_locks().await == 1
    })
    .await;
    app.database_line().forget_connections();
    stall.release().await;
    within(
        Duration::from_secs(30),
        "the sale sells again",
        async || {
            app.keeper_look().await;
            app.stock(voucher).await == Some(4)
        },
    )
    .await;
    assert!(deaf.await.unwrap().is_err());
    app.database_line().mend();
    app.check_promises().await;
}
