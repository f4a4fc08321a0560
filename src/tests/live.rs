//! Live updates: what open pages are told, by whichever instance, and when their streams end.

use std::time::Duration;

use app::model::{OrderReply, SalePhase, SaleReply, Status, VoucherId};
use seckill::clock;
use sqlx::PgPool;

use super::harness::{App, EventStream, Person, Sale, eventually};

fn of_sale(voucher: VoucherId) -> String {
    format!("/live/vouchers/{voucher}")
}

fn of_order(order: &str) -> String {
    format!("/live/orders/{order}")
}

/// Reads on until a stream tells of a sale what is waited for.
async fn until(stream: &mut EventStream, holds: impl Fn(&SaleReply) -> bool) -> SaleReply {
    loop {
        let sale: SaleReply = stream.told().await;
        if holds(&sale) {
            return sale;
        }
    }
}

#[sqlx::test]
async fn units_left_are_told_at_every_instance_and_nobody_is_remembered_afterwards(
    database: PgPool,
) {
    let app = App::start(database).await;
    let other = app.another_instance().await;
    let voucher = app.sale(Sale::of(3)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let mut here = app.guest().listen(&of_sale(voucher)).await;
    let mut also_here = amy.listen(&of_sale(voucher)).await;
    let mut there = bob.at(&other).listen(&of_sale(voucher)).await;
    for stream in [&mut here, &mut also_here, &mut there] {
        let first: SaleReply = stream.told().await;
        assert_eq!((first.phase, first.left), (SalePhase::Running, Some(3)));
    }
    amy.buy_one(voucher).await;
    // Nothing is told twice: what comes next is news.
    for stream in [&mut here, &mut also_here, &mut there] {
        let sale: SaleReply = stream.told().await;
        assert_eq!((sale.left, sale.granted), (Some(2), 3));
    }
    // The last units are told of even when nothing is sold after them.
    for buyer in app.crowd(2).await {
        buyer.at(&other).buy_one(voucher).await;
    }
    for stream in [&mut here, &mut there] {
        let sale = until(stream, |sale| sale.left == Some(0)).await;
        assert_eq!(sale.phase, SalePhase::SoldOut);
    }
    assert_eq!(app.first.live.watched_sales(), 1);
    drop((here, also_here, there));
    eventually("nobody watches any more", async || {
        app.first.live.watched_sales() + other.live.watched_sales() == 0
    })
    .await;
    let channel = app.operator.gate.keys().news();
    let listening: (String, i64) = app.redis(&["PUBSUB", "NUMSUB", &channel]).await;
    assert_eq!(listening.1, 2, "one subscription an instance");
    app.check_promises().await;
}

#[sqlx::test]
async fn a_sale_that_is_paused_repaired_or_over_is_told_of(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(3)).await;
    let mut stream = app.guest().listen(&of_sale(voucher)).await;
    let first: SaleReply = stream.told().await;
    let settings = |version, state, ends_at| seckill::gate::SaleSettings {
        voucher,
        version,
        granted: 3,
        cut_to: None,
        begins_at: seckill::gate::instant(first.begins_ms),
        ends_at,
        state,
    };
    let ends_at = seckill::gate::instant(first.ends_ms);
    let gate = &app.operator.gate;
    for (version, state, phase) in [
        (2, app::model::SaleState::Paused, SalePhase::Paused),
        (3, app::model::SaleState::Open, SalePhase::Running),
    ] {
        gate.apply(&settings(version, state, ends_at), false)
            .await
            .unwrap();
        let sale = until(&mut stream, |sale| sale.phase == phase).await;
        assert_eq!(sale.left, Some(3));
    }
    let _: i64 = app.redis(&["DEL", &app.stock_key(voucher)]).await;
    app.keeper_look().await;
    let soon = gate.look(&[voucher]).await.unwrap()[0].now + Duration::from_millis(200);
    gate.apply(&settings(4, app::model::SaleState::Open, soon), false)
        .await
        .unwrap();
    until(&mut stream, |sale| sale.phase == SalePhase::Ended).await;
    stream.ended().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn an_order_is_told_of_once_it_is_stored_or_refused_and_the_stream_ends(database: PgPool) {
    let app = App::start(database).await;
    let other = app.another_instance().await;
    let voucher = app.sale(Sale::of(3)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let order = amy.buy_one(voucher).await;
    let mut stream = amy.at(&other).listen(&of_order(&order)).await;
    let told: OrderReply = stream.told().await;
    assert_eq!(
        (told.status, told.order_id.as_str()),
        (Status::Queued, order.as_str())
    );
    app.drain().await;
    let told: OrderReply = stream.told().await;
    assert_eq!(told.status, Status::Confirmed);
    stream.ended().await;

    let stands = app
        .operator
        .order_ids
        .make(bob.id(), voucher, clock::system());
    app.store_order(stands, bob.id(), voucher).await;
    let order = bob.buy_one(voucher).await;
    let mut stream = bob.listen(&of_order(&order)).await;
    let told: OrderReply = stream.told().await;
    assert_eq!(told.status, Status::Queued);
    app.drain().await;
    let told: OrderReply = stream.told().await;
    assert_eq!(
        (told.status, told.live_order_id),
        (Status::Refused, Some(stands.to_string()))
    );
    stream.ended().await;

    let mut stream = bob.listen(&of_order(&order)).await;
    let told: OrderReply = stream.told().await;
    assert_eq!(
        told.status,
        Status::Refused,
        "whoever comes later is told too"
    );
    stream.ended().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn a_buyer_who_opens_the_voucher_is_told_the_own_order_and_nobody_elses(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(3)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let order = amy.buy_one(voucher).await;
    let mut stream = amy.listen(&of_sale(voucher)).await;
    let sale: SaleReply = stream.told().await;
    assert_eq!(sale.order_id, Some(order.clone()));
    let mut stream = bob.listen(&of_sale(voucher)).await;
    let sale: SaleReply = stream.told().await;
    assert_eq!(sale.order_id, None);

    let refused = |person: Person, path: String| async move {
        let answer = person.try_listen(&path).await.err().expect("no stream");
        answer.status.as_u16()
    };
    assert_eq!(refused(bob.clone(), of_order(&order)).await, 404);
    assert_eq!(refused(app.guest(), of_order(&order)).await, 401);
    for path in [
        "/live/vouchers/0",
        "/live/vouchers/x",
        "/live/vouchers/2147483647",
    ] {
        assert_eq!(refused(bob.clone(), path.to_owned()).await, 404, "{path}");
    }
    assert_eq!(
        refused(bob.clone(), "/live/orders/17".to_owned()).await,
        404
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn streams_end_at_every_instance_with_a_login_session_and_a_change_of_password(
    database: PgPool,
) {
    let app = App::start(database).await;
    let other = app.another_instance().await;
    let voucher = app.sale(Sale::of(3)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let mut of_bob = bob.listen(&of_sale(voucher)).await;
    let mut of_guest = app.guest().listen(&of_sale(voucher)).await;
    let order = amy.buy_one(voucher).await;
    let mut streams = [
        amy.listen(&of_sale(voucher)).await,
        amy.at(&other).listen(&of_sale(voucher)).await,
        amy.at(&other).listen(&of_order(&order)).await,
    ];
    assert_eq!(amy.post("/api/sign_out", &[]).await.status, 200);
    for stream in &mut streams {
        stream.ended().await;
    }
    let answer = amy
        .try_listen(&of_order(&order))
        .await
        .err()
        .expect("no stream");
    assert_eq!(answer.status, 401);

    let cat = app.account_of("cat", app::model::Role::Shopper).await;
    let mut stream = cat.listen(&of_sale(voucher)).await;
    let nothing = async { Ok(()) };
    let ended = app.operator.logins.end_after(cat.id(), nothing, |()| true);
    ended.await.unwrap();
    stream.ended().await;
    // The others go on.
    bob.buy_one(voucher).await;
    until(&mut of_bob, |sale| sale.left == Some(1)).await;
    until(&mut of_guest, |sale| sale.left == Some(1)).await;
    app.drain().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn streams_end_when_the_program_is_told_to_stop(database: PgPool) {
    let app = App::start(database).await;
    let other = app.another_instance().await;
    let voucher = app.sale(Sale::of(3)).await;
    let amy = app.shopper("amy").await;
    let order = amy.buy_one(voucher).await;
    let mut streams = [
        amy.at(&other).listen(&of_order(&order)).await,
        app.guest().at(&other).listen(&of_sale(voucher)).await,
    ];
    other.tell_to_stop();
    for stream in &mut streams {
        stream.ended().await;
    }
    app.drain().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn one_user_has_so_many_streams_and_those_who_look_leave_places_for_those_who_buy(
    database: PgPool,
) {
    let app = App::on(database)
        .with_limits()
        .with(|config| {
            config.limits.streams_per_user = 2;
            config.limits.connections = 4;
            config.limits.connections_per_address = Some(100);
        })
        .start()
        .await;
    let voucher = app.sale(Sale::of(3)).await;
    let (amy, path) = (app.shopper("amy").await, of_sale(voucher));
    let first = amy.listen(&path).await;
    let second = amy.listen(&path).await;
    let refused = amy.try_listen(&path).await.err().expect("no stream");
    assert_eq!(refused.status, 429);
    assert!(refused.header("retry-after").is_some());
    let _guest = app.guest().listen(&path).await;
    let refused = app
        .guest()
        .try_listen(&path)
        .await
        .err()
        .expect("no stream");
    assert_eq!(refused.status, 503, "three of four connections");
    assert!(refused.header("retry-after").is_some());
    drop(first);
    eventually("a place comes back", async || {
        amy.try_listen(&path).await.is_ok()
    })
    .await;
    drop(second);
    app.check_promises().await;
}

#[sqlx::test]
async fn guests_behind_a_trusted_proxy_have_the_share_of_their_own_address(database: PgPool) {
    let app = App::on(database)
        .with_limits()
        .with(|config| {
            config.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
            config.limits.connections_per_address = Some(2);
        })
        .start()
        .await;
    let path = of_sale(app.sale(Sale::of(3)).await);
    let crowded = app.guest().with_header("x-forwarded-for", "203.0.113.7");
    let _open = [crowded.listen(&path).await, crowded.listen(&path).await];
    let refused = crowded.try_listen(&path).await.err().expect("no stream");
    assert_eq!(refused.status, 429);
    let other = app.guest().with_header("x-forwarded-for", "203.0.113.8");
    let _stream = other.listen(&path).await;
    app.check_promises().await;
}

#[sqlx::test]
async fn news_that_nobody_heard_are_made_good_once_the_line_is_back(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(3)).await;
    let (amy, bob) = (app.shopper("amy").await, app.shopper("bob").await);
    let carl = app.shopper("carl").await.id();
    let order = amy.buy_one(voucher).await;
    let mut of_sale = bob.listen(&of_sale(voucher)).await;
    let mut of_order = amy.listen(&of_order(&order)).await;
    let first: SaleReply = of_sale.told().await;
    assert_eq!(first.left, Some(2));
    let _: OrderReply = of_order.told().await;
    app.redis_line().cut();
    // Past the line that is cut.
    app.drain().await;
    let order = app.operator.order_ids.make(carl, voucher, clock::system());
    app.operator.gate.buy(carl, voucher, order).await.unwrap();
    app.redis_line().mend();
    let told: OrderReply = of_order.told().await;
    assert_eq!(told.status, Status::Confirmed);
    until(&mut of_sale, |sale| sale.left == Some(1)).await;
    app.drain().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn while_the_gate_is_away_who_watches_is_told_what_new_pages_say_and_at_once_when_it_is_back(
    database: PgPool,
) {
    let app = App::on(database).with_lines().start().await;
    let admin = app.admin().await;
    let (voucher, coming) = (
        app.sale(Sale::of(3)).await,
        app.sale(Sale::of(3).beginning_in(std::time::Duration::from_secs(600)))
            .await,
    );
    let mut watching = app.guest().listen(&of_sale(voucher)).await;
    let mut waiting = app.guest().listen(&of_sale(coming)).await;
    let first: SaleReply = watching.told().await;
    assert_eq!(first.phase, SalePhase::Running);
    let _: SaleReply = waiting.told().await;
    app.redis_line().cut();
    let away: SaleReply = watching.told().await;
    assert_eq!((away.phase, away.left), (SalePhase::Closed, Some(3)));
    app.redis_line().mend();
    let back: SaleReply = watching.told().await;
    assert_eq!((back.phase, back.left), (SalePhase::Running, Some(3)));
    // Of one that has not begun there was nothing to tell.
    let coming = coming.to_string();
    let answer = admin
        .post("/api/admin/pause_sale", &[("voucher_id", &coming)])
        .await;
    assert_eq!(answer.status, 200);
    let paused: SaleReply = waiting.told().await;
    assert_eq!(paused.phase, SalePhase::Paused);
    app.check_promises().await;
}
