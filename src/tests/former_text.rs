//! Marks and entries with orders of 36 letters, as versions before have left them in a Redis that goes on: every script,
//! and whoever reads, takes them for what they are. What is written now has 22.

use app::model::{
    DeadLetterId, LetterOutcome, OrderId, Outcome, Reason, Status, UserId, VoucherId,
};
use futures::future::join_all;
use seckill::{
    consumer::{
        keeper::Keeper,
        reconcile::{Reconciler, fault::Fault},
    },
    db::{self, orders::NewOrder},
    gate::{
        Release,
        keys::{GROUP, Shard},
        order_text,
        rebuild::Finding,
    },
    lock::Lock,
    stores::Stores,
};
use sqlx::PgPool;
use time::Duration;

use super::harness::{App, Person, Sale};

/// The fields of an entry.
type Fields = Vec<String>;

/// Writes every order of marks and queue as a version before would have: 36 letters.
async fn as_left_by_a_version_before(app: &App, voucher: VoucherId) {
    for (user, order) in app.operator.gate.all_marks(voucher).await.unwrap() {
        mark(app, voucher, user, &order_text::former(order)).await;
    }
    let entries: Vec<(String, Fields)> = app.redis(&["XRANGE", &app.stream(), "-", "+"]).await;
    for (id, mut fields) in entries {
        let _: i64 = app.redis(&["XDEL", &app.stream(), &id]).await;
        fields[1] = former(&fields[1]);
        let fields: Vec<(&str, &str)> = fields
            .chunks(2)
            .map(|pair| (pair[0].as_str(), pair[1].as_str()))
            .collect();
        app.enqueue(&fields).await;
    }
}

fn former(text: &str) -> String {
    order_text::former(order_text::read(text.as_bytes()).unwrap())
}

fn written(order: OrderId) -> String {
    String::from_utf8(order_text::write(order).into()).unwrap()
}

async fn mark(app: &App, voucher: VoucherId, user: UserId, text: &str) {
    let (buyers, user) = (app.buyers_key(voucher), user.to_string());
    let _: i64 = app.redis(&["HSET", &buyers, &user, text]).await;
}

async fn mark_of(app: &App, voucher: VoucherId, user: UserId) -> Option<String> {
    let (buyers, user) = (app.buyers_key(voucher), user.to_string());
    app.redis(&["HGET", &buyers, &user]).await
}

/// The orders in the queue, as they are written there.
async fn queue(app: &App) -> Vec<String> {
    let entries: Vec<(String, Fields)> = app.redis(&["XRANGE", &app.stream(), "-", "+"]).await;
    entries
        .into_iter()
        .map(|(_, fields)| fields[1].clone())
        .collect()
}

/// A sale of three units. One was sold by a version before, as mark and entry say.
async fn sold_before(app: &App) -> (VoucherId, Person, OrderId) {
    let voucher = app.sale(Sale::of(3)).await;
    let amy = app.shopper("amy").await;
    let order = OrderId::parse(&amy.buy_one(voucher).await).unwrap();
    as_left_by_a_version_before(app, voucher).await;
    assert_eq!(
        mark_of(app, voucher, amy.id()).await,
        Some(order.to_string())
    );
    (voucher, amy, order)
}

fn reconciler(app: &App) -> Reconciler {
    let Stores { pool, gate, .. } = app.operator.clone();
    let keeper = Keeper::new(pool.clone(), gate.clone(), app.first.keeper.clone());
    Reconciler::new(pool, gate, keeper)
}

#[sqlx::test]
async fn a_buy_writes_22_letters_and_answers_36_wherever_it_is_asked(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(3)).await;
    let amy = app.shopper("amy").await;
    let order = amy.buy_one(voucher).await;
    let short = written(OrderId::parse(&order).unwrap());
    assert_eq!((order.len(), short.len()), (36, 22));
    assert_eq!(mark_of(&app, voucher, amy.id()).await, Some(short.clone()));
    assert_eq!(queue(&app).await, [short]);
    assert_eq!(amy.buy(voucher).await.order_id, Some(order.clone()));
    assert_eq!(amy.my_orders().await[0].order_id, order);
    app.check_promises().await;
}

#[sqlx::test]
async fn who_bought_before_is_told_that_order_and_it_is_stored_once(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, amy, order) = sold_before(&app).await;
    let again = amy.buy(voucher).await;
    assert_eq!(
        (again.outcome, again.order_id),
        (Outcome::AlreadyBought, Some(order.to_string()))
    );
    assert_eq!(amy.status(&order.to_string()).await.status, Status::Queued);
    assert_eq!(amy.my_orders().await[0].order_id, order.to_string());
    app.drain().await;
    assert_eq!(
        amy.status(&order.to_string()).await.status,
        Status::Confirmed
    );
    // The mark counts as hers (`confirm.lua`): no second unit was taken.
    assert_eq!(
        (app.live(voucher).await.len(), app.stock(voucher).await),
        (1, Some(2))
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn an_entry_in_the_one_text_and_a_mark_in_the_other_are_one_order(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(3)).await;
    let crowd = app.crowd(2).await;
    let orders = join_all(crowd.iter().map(|shopper| shopper.buy_one(voucher))).await;
    let [first, second] = [0, 1].map(|place| OrderId::parse(&orders[place]).unwrap());
    // Beside the entry of each stands one in the other text, and the first one's mark is in the former text.
    mark(&app, voucher, crowd[0].id(), &orders[0]).await;
    for (shopper, order) in crowd.iter().zip([first, second]) {
        let (user, sale) = (shopper.id().to_string(), voucher.to_string());
        for text in [order_text::former(order), written(order)] {
            app.enqueue(&[("order", &text), ("user", &user), ("voucher", &sale)])
                .await;
        }
    }
    assert_eq!(app.backlog().await.queued, 6);
    app.drain().await;
    let stored: Vec<OrderId> = app.orders(voucher).await.iter().map(|o| o.order).collect();
    assert_eq!(stored, [first, second]);
    // And in a later batch.
    let (user, sale) = (crowd[1].id().to_string(), voucher.to_string());
    let fields = [
        ("order", orders[1].as_str()),
        ("user", &user),
        ("voucher", &sale),
    ];
    app.enqueue(&fields).await;
    app.drain().await;
    assert_eq!(
        (app.orders(voucher).await.len(), app.stock(voucher).await),
        (2, Some(1))
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_refused_order_gives_its_unit_back_once(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, amy, order) = sold_before(&app).await;
    let refused = NewOrder {
        id: order,
        user: amy.id(),
        voucher,
        accepted_at: seckill::clock::system(),
    };
    db::orders::insert_refused(&app.operator.pool, &refused, Reason::SoldOut)
        .await
        .unwrap();
    let gate = &app.operator.gate;
    let stranger = app
        .operator
        .order_ids
        .make(amy.id(), voucher, time::OffsetDateTime::UNIX_EPOCH);
    for (order, release) in [
        (stranger, Release::Kept),
        (order, Release::Released),
        (order, Release::Kept),
    ] {
        assert_eq!(
            gate.release(amy.id(), voucher, order).await.unwrap(),
            release
        );
    }
    assert_eq!(app.stock(voucher).await, Some(3));
    app.check_promises().await;
}

#[sqlx::test]
async fn a_mark_is_let_stand_for_the_live_order(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, amy, _) = sold_before(&app).await;
    let ids = &app.operator.order_ids;
    let live = ids.make(amy.id(), voucher, time::OffsetDateTime::UNIX_EPOCH);
    app.store_order(live, amy.id(), voucher).await;
    // The consumer refuses the order of the entry, whose mark now stands for the live one.
    app.drain().await;
    assert_eq!(mark_of(&app, voucher, amy.id()).await, Some(written(live)));
    assert_eq!(app.stock(voucher).await, Some(2));
    app.check_promises().await;
}

/// Amy's order, sold by a version before, is a dead letter and holds its unit.
async fn parked_before(app: &App) -> (VoucherId, Person, OrderId, DeadLetterId) {
    let (voucher, amy, order) = sold_before(app).await;
    let refuse = "ALTER TABLE orders ADD CONSTRAINT none CHECK (false) NOT VALID";
    sqlx::query(refuse).execute(&app.database).await.unwrap();
    app.drain().await;
    let accept = "ALTER TABLE orders DROP CONSTRAINT none";
    sqlx::query(accept).execute(&app.database).await.unwrap();
    let letters = app.letters().await;
    assert_eq!(letters.len(), 1, "{letters:?}");
    let waiting = app.operator.gate.waiting(voucher).await.unwrap().unwrap();
    assert_eq!((waiting.queued, waiting.dead), (0, vec![order]));
    assert!(
        letters[0]
            .fields
            .contains(&("order".to_owned(), order.to_string())),
        "{letters:?}"
    );
    (voucher, amy, order, letters[0].id.clone())
}

async fn decide(app: &App, verb: &str, letter: &DeadLetterId) -> LetterOutcome {
    let path = format!("/api/admin/{verb}_dead_letter");
    let admin = app.admin().await;
    let answer = admin.post(&path, &[("letter", &letter.to_string())]).await;
    let reply: serde_json::Value = answer.ok();
    LetterOutcome::parse(reply["outcome"].as_str().unwrap()).unwrap()
}

#[sqlx::test]
async fn a_dead_letter_is_put_back_with_the_unit_that_it_holds(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, amy, order, letter) = parked_before(&app).await;
    assert_eq!(
        decide(&app, "replay", &letter).await,
        LetterOutcome::Replayed
    );
    app.drain().await;
    assert_eq!(
        amy.status(&order.to_string()).await.status,
        Status::Confirmed
    );
    assert_eq!(app.stock(voucher).await, Some(2));
    app.check_promises().await;
}

#[sqlx::test]
async fn a_dead_letter_is_discarded_and_its_unit_sells_again(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, amy, order, letter) = parked_before(&app).await;
    assert_eq!(
        decide(&app, "discard", &letter).await,
        LetterOutcome::Discarded
    );
    assert_eq!(
        amy.status(&order.to_string()).await.reason,
        Some(Reason::Discarded)
    );
    assert_eq!(
        (
            app.stock(voucher).await,
            mark_of(&app, voucher, amy.id()).await
        ),
        (Some(3), None)
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_promise_of_which_only_the_mark_is_left_is_enqueued_again(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, amy, order) = sold_before(&app).await;
    let _: i64 = app.redis(&["DEL", &app.stream()]).await;
    let gate = &app.operator.gate;
    let then = seckill::clock::system() - Duration::seconds(31);
    let other = app.operator.order_ids.make(amy.id(), voucher, then);
    let promises = [(amy.id(), other), (amy.id(), order)];
    assert_eq!(gate.enqueue_again(voucher, &promises).await.unwrap(), 1);
    assert_eq!(queue(&app).await, [written(order)]);
    app.drain().await;
    assert_eq!(
        amy.status(&order.to_string()).await.status,
        Status::Confirmed
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_rebuild_keeps_promises_and_drops_the_marks_of_refused_orders(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let crowd = app.crowd(4).await;
    let orders = join_all(crowd[..3].iter().map(|shopper| shopper.buy_one(voucher))).await;
    let orders: Vec<OrderId> = orders
        .iter()
        .filter_map(|order| OrderId::parse(order))
        .collect();
    as_left_by_a_version_before(&app, voucher).await;
    // The first is stored as refused; of the last the entry is lost as well.
    let refused = NewOrder {
        id: orders[0],
        user: crowd[0].id(),
        voucher,
        accepted_at: seckill::clock::system(),
    };
    db::orders::insert_refused(&app.operator.pool, &refused, Reason::SoldOut)
        .await
        .unwrap();
    let entries: Vec<(String, Fields)> = app.redis(&["XRANGE", &app.stream(), "-", "+"]).await;
    let of_last = |(_, fields): &&(String, Fields)| fields[1] == orders[2].to_string();
    let (last, _) = entries.iter().find(of_last).unwrap();
    let _: i64 = app.redis(&["XDEL", &app.stream(), last]).await;
    let _: i64 = app.redis(&["DEL", &app.stock_key(voucher)]).await;
    app.keeper_look().await;
    assert_eq!(app.stock(voucher).await, Some(3));
    assert_eq!(mark_of(&app, voucher, crowd[0].id()).await, None);
    assert_eq!(queue(&app).await.last(), Some(&written(orders[2])));
    app.drain().await;
    let live = app.live(voucher).await;
    let live: Vec<OrderId> = live.iter().map(|order| order.order).collect();
    assert_eq!(live.len(), 2);
    assert!(live.contains(&orders[1]) && live.contains(&orders[2]));
    app.check_promises().await;
}

#[sqlx::test]
async fn a_rebuild_drops_no_mark_of_another_order(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, amy, order) = sold_before(&app).await;
    let gate = &app.operator.gate;
    let key = gate.keys().lock(Shard(0));
    let lease = std::time::Duration::from_secs(10);
    let lock = Lock::acquire(gate.connection(), key, lease)
        .await
        .unwrap()
        .unwrap();
    let token = lock.token();
    assert!(gate.rebuild_begin(token, voucher).await.unwrap());
    let ids = &app.operator.order_ids;
    let other = ids.make(amy.id(), voucher, time::OffsetDateTime::UNIX_EPOCH);
    for (dropped, left) in [(other, Some(order.to_string())), (order, None)] {
        let finding = [Finding::Drop(amy.id(), dropped)];
        assert!(gate.rebuild_mark(token, voucher, &finding).await.unwrap());
        assert_eq!(mark_of(&app, voucher, amy.id()).await, left);
    }
    let finding = [Finding::Keep(amy.id(), order)];
    assert!(gate.rebuild_mark(token, voucher, &finding).await.unwrap());
    assert_eq!(mark_of(&app, voucher, amy.id()).await, Some(written(order)));
    assert!(lock.release().await.unwrap());
    app.keeper_look().await;
    assert_eq!(app.stock(voucher).await, Some(2));
    app.check_promises().await;
}

#[sqlx::test]
async fn reconciliation_finds_nothing_wrong_with_them_and_repairs_what_is(database: PgPool) {
    let app = App::start(database).await;
    let (voucher, amy, order) = sold_before(&app).await;
    let bob = app.shopper("bob").await;
    bob.buy_one(voucher).await;
    app.drain().await;
    as_left_by_a_version_before(&app, voucher).await;
    let report = reconciler(&app).on_demand(None, |_, _| {}).await.unwrap();
    assert!(report.is_healthy(), "{report}");
    let refuse = "UPDATE orders SET status = 'refused', reason = 'sold_out' WHERE id = $1";
    let refuse = sqlx::query(refuse).bind(order.0);
    refuse.execute(&app.database).await.unwrap();
    let report = reconciler(&app).on_demand(None, |_, _| {}).await.unwrap();
    let unreleased = Fault::Unreleased(voucher, amy.id(), order);
    assert!(report.faults.contains(&unreleased), "{report}");
    let repair = reconciler(&app).on_demand(Some("amy"), |_, _| {}).await;
    assert!(repair.unwrap().is_healthy());
    assert_eq!(app.stock(voucher).await, Some(2));
    app.check_promises().await;
}

#[sqlx::test]
async fn an_entry_whose_consumer_was_deleted_with_it_is_met_again(database: PgPool) {
    let app = App::start(database).await;
    let (_, amy, order) = sold_before(&app).await;
    let stream = app.stream();
    app.group_exists().await;
    let read = [
        "XREADGROUP",
        "GROUP",
        GROUP,
        "gone",
        "STREAMS",
        &stream,
        ">",
    ];
    let _: redis::Value = app.redis(&read).await;
    let _: i64 = app
        .redis(&["XGROUP", "DELCONSUMER", &stream, GROUP, "gone"])
        .await;
    let gate = &app.operator.gate;
    let orphans = gate.orphans(Shard(0)).await.unwrap();
    assert_eq!(gate.requeue(Shard(0), &orphans).await.unwrap(), 1);
    app.drain().await;
    assert_eq!(
        amy.status(&order.to_string()).await.status,
        Status::Confirmed
    );
    app.check_promises().await;
}
