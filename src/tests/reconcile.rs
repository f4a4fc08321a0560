//! Gate, queue and database are made to disagree by hand, one way at a time: it is found, named, and repaired once two
//! looks have proven it.

use app::model::{BuyOutcome, OrderId, Outcome, Reason, Status, UserId, VoucherId};
use futures::future::join_all;
use seckill::{
    consumer::{
        keeper::Keeper,
        reconcile::{Reconciler, fault::Fault},
    },
    gate::BuyAnswer,
    stores::Stores,
};
use sqlx::PgPool;
use time::Duration;

use super::harness::{App, Person, Sale};

fn reconciler(app: &App) -> Reconciler {
    let Stores { pool, gate, .. } = app.operator.clone();
    let keeper = Keeper::new(pool.clone(), gate.clone(), app.first.keeper.clone());
    Reconciler::new(pool, gate, keeper)
}

/// What an operator is told: all that is wrong, proven by two looks.
async fn proven(app: &App) -> Vec<Fault> {
    let report = reconciler(app).on_demand(None, |_, _| {}).await.unwrap();
    report.faults.into_iter().collect()
}

/// Repairs, after which nothing is left; gives what the audit log says of it.
async fn repaired(app: &App) -> Vec<String> {
    let report = reconciler(app)
        .on_demand(Some("amy"), |_, _| {})
        .await
        .unwrap();
    assert!(report.is_healthy(), "{report}");
    audit(app).await
}

async fn audit(app: &App) -> Vec<String> {
    let query = "SELECT actor || ': ' || detail FROM audit_log WHERE action = 'repair' ORDER BY id";
    sqlx::query_scalar(query)
        .fetch_all(&app.database)
        .await
        .unwrap()
}

/// A sale of five units with two orders stored.
async fn sold(app: &App) -> (VoucherId, Vec<Person>, Vec<String>) {
    let voucher = app.sale(Sale::of(5)).await;
    let crowd = app.crowd(5).await;
    let orders = join_all(crowd[..2].iter().map(|shopper| shopper.buy_one(voucher))).await;
    app.drain().await;
    assert_eq!(proven(app).await, [], "a healthy sale");
    (voucher, crowd, orders)
}

/// An order made so long ago that nothing of it can be on its way any more.
fn old_order(app: &App, user: UserId, voucher: VoucherId) -> OrderId {
    let then = seckill::clock::system() - Duration::seconds(31);
    app.operator.order_ids.make(user, voucher, then)
}

#[sqlx::test]
async fn both_signs_of_drift_are_repaired(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, ..) = sold(&app).await;
    for (stock, drift) in [("1", 2), ("4", -1), ("0", 3)] {
        let _: String = app.redis(&["SET", &app.stock_key(voucher), stock]).await;
        assert_eq!(proven(&app).await, [Fault::Drift(voucher, drift)]);
        assert_eq!(
            repaired(&app).await.last().unwrap(),
            &format!("amy: voucher {voucher}: drift {drift}")
        );
        assert_eq!(app.stock(voucher).await, Some(3));
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn a_counter_that_is_not_the_number_of_live_orders_is_counted_again(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, crowd, _) = sold(&app).await;
    for sold in [0, 5] {
        sqlx::query("UPDATE sales SET sold = $1")
            .bind(i64::from(sold))
            .execute(&app.database)
            .await
            .unwrap();
        let fault = Fault::Sold {
            voucher,
            sold: i64::from(sold),
            live: 2,
        };
        assert_eq!(proven(&app).await, [fault]);
        repaired(&app).await;
    }
    join_all(crowd[2..].iter().map(|shopper| shopper.buy_one(voucher))).await;
    app.drain().await;
    assert_eq!(app.live(voucher).await.len(), 5, "each unit still sells");
    app.check_promises().await;
}

#[sqlx::test]
async fn a_promise_that_stands_by_its_mark_alone_is_enqueued_again_once_it_is_old(
    database: PgPool,
) {
    let app = App::start(database).await;
    let (voucher, crowd, _) = sold(&app).await;
    let order = old_order(&app, crowd[2].id(), voucher);
    let buy = app
        .operator
        .gate
        .buy(crowd[2].id(), voucher, order)
        .await
        .unwrap();
    assert_eq!(buy, BuyAnswer::Decided(BuyOutcome::Queued(order)));
    let young = crowd[3].buy_one(voucher).await;
    // Both entries go; the young one might be on its way.
    let _: i64 = app.redis(&["DEL", &app.stream()]).await;
    assert_eq!(
        proven(&app).await,
        [Fault::Lost(voucher, crowd[2].id(), order)]
    );
    repaired(&app).await;
    app.drain().await;
    assert_eq!(
        crowd[2].status(&order.to_string()).await.status,
        Status::Confirmed
    );
    assert_eq!(crowd[3].status(&young).await.status, Status::Queued);
    // The young one's queue was lost with its group: the consumer that makes it again lets the keeper know.
    app.first
        .keeper
        .queue_was_lost(seckill::gate::keys::Shard(0));
    app.keeper_look().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn a_mark_of_a_refused_order_goes_and_its_unit_sells_again(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, crowd, orders) = sold(&app).await;
    let order = OrderId::parse(&orders[0]).unwrap();
    sqlx::query("UPDATE orders SET status = 'refused', reason = 'sold_out' WHERE id = $1")
        .bind(order.0)
        .execute(&app.database)
        .await
        .unwrap();
    let sold = Fault::Sold {
        voucher,
        sold: 2,
        live: 1,
    };
    assert_eq!(
        proven(&app).await,
        [sold, Fault::Unreleased(voucher, crowd[0].id(), order)]
    );
    repaired(&app).await;
    assert_eq!(app.stock(voucher).await, Some(4));
    assert_eq!(crowd[0].buy(voucher).await.outcome, Outcome::Queued);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_live_order_that_the_gate_does_not_know_takes_its_unit_out_of_the_sale(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, crowd, _) = sold(&app).await;
    let order = old_order(&app, crowd[2].id(), voucher);
    app.store_order(order, crowd[2].id(), voucher).await;
    assert_eq!(
        proven(&app).await,
        [Fault::Unmarked(voucher, crowd[2].id(), order)]
    );
    repaired(&app).await;
    assert_eq!(app.stock(voucher).await, Some(2));
    let again = crowd[2].buy(voucher).await;
    assert_eq!(
        (again.outcome, again.order_id),
        (Outcome::AlreadyBought, Some(order.to_string()))
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn an_entry_whose_consumer_was_deleted_with_it_is_met_again(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, crowd, _) = sold(&app).await;
    let order = crowd[2].buy_one(voucher).await;
    // Delivered to a consumer, whose name is then deleted: pending with nobody.
    let (stream, group) = (app.stream(), seckill::gate::keys::GROUP);
    let _: redis::Value = app
        .redis(&[
            "XREADGROUP",
            "GROUP",
            group,
            "gone",
            "STREAMS",
            &stream,
            ">",
        ])
        .await;
    let _: i64 = app
        .redis(&["XGROUP", "DELCONSUMER", &stream, group, "gone"])
        .await;
    let faults = proven(&app).await;
    assert!(matches!(&faults[..], [Fault::Orphan(_, _)]), "{faults:?}");
    repaired(&app).await;
    app.drain().await;
    assert_eq!(crowd[2].status(&order).await.status, Status::Confirmed);
    app.check_promises().await;
}

#[sqlx::test]
async fn every_half_minute_what_two_turns_have_found_is_repaired_and_no_sooner(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, ..) = sold(&app).await;
    let mut reconciler = reconciler(&app);
    reconciler.turn().await.unwrap();
    let _: String = app.redis(&["SET", &app.stock_key(voucher), "1"]).await;
    reconciler.turn().await.unwrap();
    assert_eq!(app.stock(voucher).await, Some(1), "one look proves nothing");
    reconciler.turn().await.unwrap();
    assert_eq!(app.stock(voucher).await, Some(3));
    assert_eq!(
        audit(&app).await,
        [format!("program: voucher {voucher}: drift 2")]
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_sale_that_has_come_to_rest_is_matched_by_id_without_being_asked(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, crowd, _) = sold(&app).await;
    // One mark for another: every sum still fits.
    let (stranger, order) = (UserId(999_999), old_order(&app, UserId(999_999), voucher));
    let buyers = app.buyers_key(voucher);
    let _: i64 = app
        .redis(&["HDEL", &buyers, &crowd[0].id().to_string()])
        .await;
    let (user, id) = (stranger.to_string(), order.to_string());
    let _: i64 = app.redis(&["HSET", &buyers, &user, &id]).await;
    let mut reconciler = reconciler(&app);
    for _ in 0..3 {
        reconciler.turn().await.unwrap();
    }
    let marks = app.operator.gate.all_marks(voucher).await.unwrap();
    assert!(marks.contains_key(&crowd[0].id()), "{marks:?}");
    // The stranger's promise went through the queue, to the dead letters: there is no such account.
    app.drain().await;
    let letters = app.letters().await;
    assert_eq!(letters.len(), 1, "{letters:?}");
    let promise = app.operator.gate.dead_letter(&letters[0].id).await.unwrap();
    app.operator
        .gate
        .discard(&letters[0].id, &promise.unwrap().promise.unwrap())
        .await
        .unwrap();
    repaired(&app).await;
    app.check_promises().await;
}

#[sqlx::test]
async fn seven_days_after_its_end_a_sale_leaves_redis_once_all_of_it_is_stored(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, crowd, orders) = sold(&app).await;
    let queued = crowd[2].buy_one(voucher).await;
    let days = async |days: i32| {
        sqlx::query("UPDATE sales SET begins_at = now() - interval '9 days', ends_at = now() - make_interval(days => $1)")
            .bind(days)
            .execute(&app.database)
            .await
            .unwrap();
    };
    let mut reconciler = reconciler(&app);
    days(6).await;
    reconciler.turn().await.unwrap();
    days(7).await;
    reconciler.turn().await.unwrap();
    let of_the_sale = async || {
        let keys = app.keys().await;
        keys.into_iter()
            .filter(|key| key.ends_with(&format!(":{voucher}")))
            .count()
    };
    assert_eq!(
        of_the_sale().await,
        3,
        "one of its orders is not stored yet"
    );
    app.drain().await;
    reconciler.turn().await.unwrap();
    assert_eq!(of_the_sale().await, 0);
    app.keeper_look().await;
    assert_eq!(of_the_sale().await, 0, "nobody takes it for lost");

    assert_eq!(crowd[2].status(&queued).await.status, Status::Confirmed);
    assert_eq!(crowd[0].my_orders().await[0].order_id, orders[0]);
    assert_eq!(crowd[3].buy(voucher).await.outcome, Outcome::Ended);
    // A promise that nobody remembers is told as lost all the same; a copy of it is dealt with.
    let lost = old_order(&app, crowd[4].id(), voucher);
    let shown = crowd[4].status(&lost.to_string()).await;
    assert_eq!(
        (shown.status, shown.reason),
        (Status::Refused, Some(Reason::Lost))
    );
    app.enqueue(&[
        ("order", &lost.to_string()),
        ("user", &crowd[4].id().to_string()),
        ("voucher", &voucher.to_string()),
    ])
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn while_sales_sell_nothing_seems_to_be_wrong(database: PgPool) {
    let app = App::start(database).await;
    let mut vouchers = Vec::new();
    for _ in 0..3 {
        vouchers.push(app.sale(Sale::of(300)).await);
    }
    let crowd = app.crowd(400).await;
    app.start_consumer();
    let selling = async {
        // Again and again: who has bought is told so, and the rest that it is sold out.
        for voucher in vouchers.iter().cycle() {
            for shoppers in crowd.chunks(20) {
                join_all(shoppers.iter().map(|shopper| shopper.buy(*voucher))).await;
            }
        }
    };
    let mut reconciler = reconciler(&app);
    let looking = async {
        for _ in 0..40 {
            reconciler.turn().await.unwrap();
        }
    };
    tokio::select! {
        () = selling => {}
        () = looking => {}
    }
    assert_eq!(audit(&app).await, [] as [String; 0]);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_unit_whose_mark_is_gone_is_not_sold_to_somebody_else(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(3)).await;
    let crowd = app.crowd(4).await;
    let stored = crowd[0].buy_one(voucher).await;
    crowd[3].buy_one(voucher).await;
    app.drain().await;
    let queued = crowd[1].buy_one(voucher).await;
    let buyers = app.buyers_key(voucher);
    for shopper in &crowd[..2] {
        let _: i64 = app
            .redis(&["HDEL", &buyers, &shopper.id().to_string()])
            .await;
    }
    // Of the stored one it is known whose the unit is; that of the queued one is on its way.
    let stored = OrderId::parse(&stored).unwrap();
    let unmarked = Fault::Unmarked(voucher, crowd[0].id(), stored);
    assert_eq!(proven(&app).await, [unmarked]);
    reconciler(&app)
        .on_demand(Some("amy"), |_, _| {})
        .await
        .unwrap();
    assert_eq!(app.stock(voucher).await, Some(0), "nothing is left to sell");
    assert_eq!(crowd[2].buy(voucher).await.outcome, Outcome::SoldOut);
    app.drain().await;
    assert_eq!(crowd[1].status(&queued).await.status, Status::Confirmed);
    assert_eq!(repaired(&app).await.len(), 1);
    app.check_promises().await;
}

#[sqlx::test]
async fn what_cannot_be_repaired_hinders_no_other_repair(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, crowd, _) = sold(&app).await;
    // More live orders than units, by hand: no counter can say so.
    let cut = "UPDATE sales SET granted = 2, version = version + 1";
    sqlx::query(cut).execute(&app.database).await.unwrap();
    app.keeper_look().await;
    let order = old_order(&app, crowd[2].id(), voucher);
    let store = "INSERT INTO orders (id, voucher_id, user_id, status, accepted_at) VALUES ($1, $2, $3, 'confirmed', now())";
    sqlx::query(store)
        .bind(order.0)
        .bind(voucher.0)
        .bind(crowd[2].id().0)
        .execute(&app.database)
        .await
        .unwrap();
    let other = app.sale(Sale::of(5)).await;
    crowd[3].buy_one(other).await;
    app.drain().await;
    let _: String = app.redis(&["SET", &app.stock_key(other), "3"]).await;
    let mut reconciler = reconciler(&app);
    for _ in 0..3 {
        // It says that it could not repair everything.
        let _ = reconciler.turn().await;
    }
    assert!(reconciler.turn().await.is_err());
    assert_eq!(app.stock(other).await, Some(4));
    let noted = audit(&app).await;
    assert!(
        noted.contains(&format!("program: voucher {other}: drift 1")),
        "{noted:?}"
    );

    let give_way = "DELETE FROM orders WHERE id = $1";
    sqlx::query(give_way)
        .bind(order.0)
        .execute(&app.database)
        .await
        .unwrap();
    let _: i64 = app
        .redis(&["HDEL", &app.buyers_key(voucher), &crowd[2].id().to_string()])
        .await;
    app.check_promises().await;
}
