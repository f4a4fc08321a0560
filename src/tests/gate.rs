//! The gate's scripts, where they cannot be told apart from outside: the edges of the window, keys that are not what
//! they must be, settings that change.

use app::model::{BuyOutcome, Outcome, SaleState, VoucherId};
use futures::{StreamExt, future::join_all, stream};
use seckill::{
    gate::{Applied, BuyAnswer, Release, SaleSettings},
    stores::Stores,
};
use sqlx::PgPool;
use time::OffsetDateTime;

use super::harness::{App, Sale};

/// Asks `buy.lua` itself in the very millisecond in which the sale begins or ends: the window is set by the clock's reading
/// that the script then judges by. (Redis 7.0 does not keep its clock still while a script runs.)
async fn buy_with_window(
    app: &App,
    voucher: VoucherId,
    begins_in_ms: i64,
    ends_in_ms: i64,
) -> String {
    let set = "local time = redis.call('TIME')
        local ms = time[1] * 1000 + math.floor(time[2] / 1000)
        redis.call('HSET', KEYS[1], 'begins', string.format('%.0f', ms + ARGV[4]),
            'ends', string.format('%.0f', ms + ARGV[5]))\n";
    let buy = include_str!("../gate/buy.lua");
    let clock = "redis.call('TIME')";
    assert_eq!(buy.matches(clock).count(), 1);
    let script = format!("{set} do {} end", buy.replace(clock, "time"));
    let user = rand::random::<u32>();
    let keys = [
        app.sale_key(voucher),
        app.stock_key(voucher),
        app.buyers_key(voucher),
        app.stream(),
    ];
    let mut call = redis::cmd("EVAL");
    call.arg(script).arg(keys.len()).arg(&keys);
    call.arg(user)
        .arg("order")
        .arg(voucher.0)
        .arg(begins_in_ms)
        .arg(ends_in_ms);
    let answer: Vec<String> = app.operator.gate.connection().query(&call).await.unwrap();
    if answer[0] == "queued" {
        // Taken back: this was no promise to anybody.
        let _: i64 = app
            .redis(&["HDEL", &app.buyers_key(voucher), &user.to_string()])
            .await;
        let _: i64 = app.redis(&["INCR", &app.stock_key(voucher)]).await;
        let _: i64 = app.redis(&["DEL", &app.stream()]).await;
    }
    answer[0].clone()
}

#[sqlx::test]
async fn calls_made_at_once_are_each_answered_for_themselves(database: PgPool) {
    let app = App::start(database).await;
    let connection = app.operator.gate.connection();
    let call = async |n: usize| {
        let mut command = redis::cmd(if n.is_multiple_of(7) {
            "NONSENSE"
        } else {
            "ECHO"
        });
        command.arg(n);
        connection.query::<usize>(&command).await
    };
    // Of some the answer is no longer waited for.
    let hurried = (0..500_usize).map(async |n| {
        tokio::select! {
            biased;
            answer = call(n) => Some(answer),
            () = std::future::ready(()), if n.is_multiple_of(5) => None,
        }
    });
    for (n, answer) in join_all(hurried).await.into_iter().enumerate() {
        match answer {
            Some(Ok(said)) => assert_eq!(said, n),
            Some(Err(error)) => {
                assert!(n.is_multiple_of(7) && error.to_string().contains("unknown command"))
            }
            None => assert!(n.is_multiple_of(5)),
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn the_first_millisecond_of_a_sale_sells_and_the_end_does_not_by_the_clock_of_redis(
    database: PgPool,
) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    assert_eq!(
        buy_with_window(&app, voucher, 1, 60_000).await,
        "not_started"
    );
    assert_eq!(buy_with_window(&app, voucher, 0, 60_000).await, "queued");
    assert_eq!(buy_with_window(&app, voucher, -1, 1).await, "queued");
    assert_eq!(buy_with_window(&app, voucher, -60_000, 0).await, "ended");
    assert_eq!(buy_with_window(&app, voucher, -60_000, -1).await, "ended");
    app.check_promises().await;
}

#[sqlx::test]
async fn o02_a_stock_that_is_no_number_never_sells_and_is_rebuilt_to_what_is_left(
    database: PgPool,
) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(10)).await;
    let crowd = app.crowd(18).await;
    for shopper in &crowd[..3] {
        shopper.buy_one(voucher).await;
    }
    app.drain().await;
    let stock = app.stock_key(voucher);
    let states: [&[&str]; 6] = [
        &["DEL", &stock],
        &["SET", &stock, ""],
        &["SET", &stock, "abc"],
        &["SET", &stock, "\"7\""],
        &["SET", &stock, "-3"],
        &["SET", &stock, "007"],
    ];
    for (place, state) in states.iter().enumerate() {
        let _: redis::Value = app.redis(state).await;
        for shopper in &crowd[3..6] {
            assert_eq!(
                shopper.buy(voucher).await.outcome,
                Outcome::Closed,
                "{state:?}"
            );
        }
        app.keeper_look().await;
        assert_eq!(
            app.stock(voucher).await,
            Some(7 - place as i64),
            "{state:?}"
        );
        // The last one sold is not stored yet at the next repair.
        crowd[6 + place].buy_one(voucher).await;
    }
    let rest = join_all(
        crowd[12..]
            .iter()
            .chain(&crowd[3..6])
            .map(|shopper| shopper.buy(voucher)),
    )
    .await;
    assert_eq!(
        rest.iter()
            .filter(|reply| reply.outcome == Outcome::Queued)
            .count(),
        1,
        "ten in all"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o02_a_stock_beyond_what_was_granted_never_sells(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(10)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    amy.buy_one(voucher).await;
    let _: redis::Value = app.redis(&["SET", &app.stock_key(voucher), "11"]).await;
    assert_eq!(bob.buy(voucher).await.outcome, Outcome::Closed);
    app.keeper_look().await;
    assert_eq!(app.stock(voucher).await, Some(9));
    // Units are gone, and nobody is known to have them.
    let _: redis::Value = app.redis(&["DEL", &app.buyers_key(voucher)]).await;
    assert_eq!(bob.buy(voucher).await.outcome, Outcome::Closed);
    app.keeper_look().await;
    bob.buy_one(voucher).await;
    assert_eq!(app.stock(voucher).await, Some(8));
    app.check_promises().await;
}

#[sqlx::test]
async fn o04_a_buy_that_cannot_be_written_takes_nothing_and_marks_nobody(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, bob, eve) = (
        app.shopper("amy").await,
        app.shopper("bob").await,
        app.shopper("eve").await,
    );
    eve.buy_one(voucher).await;
    for (shopper, key) in [(&amy, app.stream()), (&bob, app.buyers_key(voucher))] {
        let before = app.look(voucher).await.stock;
        let _: redis::Value = app.redis(&["RENAME", &key, &format!("{key}:aside")]).await;
        let _: redis::Value = app.redis(&["SET", &key, "x"]).await;
        assert_eq!(
            shopper.buy(voucher).await.outcome,
            Outcome::Closed,
            "a clear temporary failure"
        );
        let _: redis::Value = app.redis(&["RENAME", &format!("{key}:aside"), &key]).await;
        assert_eq!(app.stock(voucher).await, before);
        assert_eq!(
            app.look(voucher).await.drift(),
            Some(0),
            "nobody was marked"
        );
        shopper.buy_one(voucher).await;
    }
    assert_eq!(
        (app.stock(voucher).await, app.backlog().await.queued),
        (Some(2), 3)
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o12_no_buy_fails_when_redis_forgets_the_scripts(database: PgPool) {
    let app = App::on(database).with_own_redis().await.start().await;
    let voucher = app.sale(Sale::of(300)).await;
    let crowd = app.crowd(300).await;
    let buys = stream::iter(&crowd).map(|shopper| shopper.buy_one(voucher));
    let buys = buys.buffer_unordered(50).collect::<Vec<_>>();
    let flushes = async {
        for _ in 0..20 {
            let _: redis::Value = app.redis(&["SCRIPT", "FLUSH"]).await;
        }
    };
    let (orders, ()) = tokio::join!(buys, flushes);
    assert_eq!(orders.len(), 300);
    app.check_promises().await;
}

#[sqlx::test]
async fn two_clicks_within_one_millisecond_are_one_order_and_the_second_is_a_repeat(
    database: PgPool,
) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    let Stores {
        gate, order_ids, ..
    } = &app.operator;
    let now = seckill::clock::system();
    let order = order_ids.make(amy.id(), voucher, now);
    assert_eq!(order, order_ids.make(amy.id(), voucher, now));
    let first = gate.buy(amy.id(), voucher, order).await.unwrap();
    let second = gate.buy(amy.id(), voucher, order).await.unwrap();
    assert_eq!(first, BuyAnswer::Decided(BuyOutcome::Queued(order)));
    assert_eq!(second, BuyAnswer::Decided(BuyOutcome::AlreadyBought(order)));
    assert_eq!(
        (app.stock(voucher).await, app.backlog().await.queued),
        (Some(4), 1)
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_unit_is_given_back_once_however_often_it_is_released(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    amy.buy_one(voucher).await;
    // A promise by hand, so that nobody was told of it.
    let order = app
        .operator
        .order_ids
        .make(bob.id(), voucher, seckill::clock::system());
    app.operator
        .gate
        .buy(bob.id(), voucher, order)
        .await
        .unwrap();
    let other = app
        .operator
        .order_ids
        .make(bob.id(), voucher, OffsetDateTime::UNIX_EPOCH);
    let release = async |order| {
        app.operator
            .gate
            .release(bob.id(), voucher, order)
            .await
            .unwrap()
    };
    assert_eq!(release(other).await, Release::Kept);
    assert_eq!(app.stock(voucher).await, Some(3));
    assert_eq!(release(order).await, Release::Released);
    assert_eq!(release(order).await, Release::Kept);
    assert_eq!(app.stock(voucher).await, Some(4));
    let _: redis::Value = app.redis(&["DEL", &app.stock_key(voucher)]).await;
    assert_eq!(
        release(order).await,
        Release::Later,
        "nothing is given back into a sale that is broken"
    );
    app.keeper_look().await;
    // The entry of the order given back is still there, and a promise as long as it is.
    assert_eq!(app.stock(voucher).await, Some(3));
    app.check_promises().await;
}

#[sqlx::test]
async fn changed_settings_reach_the_gate_once_and_never_below_what_is_promised(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    for shopper in app.crowd(3).await {
        shopper.buy_one(voucher).await;
    }
    let store = async |granted: i64, version: i64| {
        let change = "UPDATE sales SET granted = $2, version = $3 WHERE voucher_id = $1";
        sqlx::query(change)
            .bind(voucher.0)
            .bind(granted)
            .bind(version)
            .execute(&app.database)
            .await
            .unwrap();
    };
    let sale = seckill::db::sales::by_id(&app.database, voucher)
        .await
        .unwrap()
        .unwrap();
    let settings = |granted, version| SaleSettings {
        voucher,
        version,
        granted,
        cut_to: None,
        begins_at: sale.begins_at,
        ends_at: sale.ends_at,
        state: SaleState::Open,
    };
    let apply = async |granted, version| {
        app.operator
            .gate
            .apply(&settings(granted, version), false)
            .await
            .unwrap()
    };

    // An addition is stored first; where the gate was not told, the keeper tells it.
    store(8, 2).await;
    app.keeper_look().await;
    assert_eq!(app.stock(voucher).await, Some(5));
    app.keeper_look().await;
    assert_eq!(apply(8, 2).await, Applied::Known(8));
    assert_eq!(
        apply(5, 1).await,
        Applied::Newer,
        "an older form does not bring old units back"
    );
    assert_eq!(app.stock(voucher).await, Some(5));
    // A cut is for the gate to judge first.
    assert_eq!(apply(2, 3).await, Applied::TooLow);
    assert_eq!(app.stock(voucher).await, Some(5));
    assert_eq!(apply(3, 3).await, Applied::Applied(3));
    store(3, 3).await;
    assert_eq!(app.stock(voucher).await, Some(0));
    assert_eq!(
        app.shopper("amy").await.buy(voucher).await.outcome,
        Outcome::SoldOut
    );
    // Never loaded twice, and never into a gate that lost the sale.
    let _: redis::Value = app.redis(&["DEL", &app.sale_key(voucher)]).await;
    assert_eq!(apply(100, 4).await, Applied::Missing);
    assert_eq!(
        app.operator
            .gate
            .apply(&settings(100, 4), true)
            .await
            .unwrap(),
        Applied::Missing
    );
    app.keeper_look().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn sales_are_spread_over_shards_and_each_is_as_sound_as_with_one(database: PgPool) {
    let app = App::on(database).with_shards(4).start().await;
    let crowd = app.crowd(6).await;
    let mut vouchers = Vec::new();
    for _ in 0..5 {
        vouchers.push(app.sale(Sale::of(5)).await);
    }
    let mut bought = 0;
    for voucher in &vouchers {
        let replies = join_all(crowd.iter().map(|shopper| shopper.buy(*voucher))).await;
        let queued = replies
            .iter()
            .filter(|reply| reply.outcome == Outcome::Queued);
        assert_eq!(queued.count(), 5, "{replies:?}");
        bought += usize::from(replies[0].order_id.is_some());
    }
    let _: redis::Value = app.redis(&["DEL", &app.stock_key(vouchers[2])]).await;
    app.keeper_look().await;
    assert_eq!(crowd[0].my_orders().await.len(), bought);
    app.check_promises().await;
}
