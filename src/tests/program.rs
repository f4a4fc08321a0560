//! The program as a process: it stops as told, and its commands say what is.

use std::time::Duration;

use futures::future::join_all;
use sqlx::PgPool;

use super::harness::{App, Program, Sale, eventually};

#[sqlx::test]
async fn sigterm_finishes_the_batch_in_hand_acknowledges_and_leaves(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(10)).await;
    let crowd = app.crowd(5).await;
    app.group_exists().await;
    let mut program = Program::start(&app, "serve");
    let base = program.base().await;
    let stall = app.stall_orders().await;
    join_all(crowd.iter().map(|shopper| {
        let shopper = shopper.at_base(base.clone());
        async move { shopper.buy_one(voucher).await }
    }))
    .await;
    eventually("the consumer has some in hand", async || {
        app.backlog().await.pending > 0
    })
    .await;
    let in_hand = usize::try_from(app.backlog().await.pending).unwrap();
    program.signal("TERM");
    program.has_said("stopping").await;
    stall.release().await;
    assert!(program.ended().await.success());
    assert!(
        app.live(voucher).await.len() >= in_hand,
        "what was in hand is stored"
    );
    assert_eq!(app.backlog().await.pending, 0, "and acknowledged");
    assert_eq!(app.consumer_names().await, 0);
    app.check_promises().await;
}

#[sqlx::test]
async fn sigterm_answers_the_request_that_is_under_way(database: PgPool) {
    let app = App::start(database).await;
    let mut program = Program::start(&app, "web");
    let admin = app.admin().await.at_base(program.base().await);
    let stall = app.stall("shops").await;
    let creating = tokio::spawn(async move { admin.create_shop().await });
    eventually("the request is under way", async || {
        app.waiting_for_locks().await == 1
    })
    .await;
    program.signal("TERM");
    program.has_said("stopping").await;
    stall.release().await;
    assert_eq!(creating.await.unwrap(), 1);
    assert!(program.ended().await.success());
    app.check_promises().await;
}

#[sqlx::test]
async fn reconcile_says_where_every_unit_is_and_fails_while_they_disagree(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(10)).await;
    for shopper in app.crowd(3).await {
        shopper.buy_one(voucher).await;
    }
    app.drain().await;
    let mut sound = Program::start(&app, "reconcile");
    assert!(sound.ended().await.success());
    sound
        .has_said("0 queued, 0 of them pending, 0 dead letters")
        .await;

    let _: redis::Value = app.redis(&["SET", &app.stock_key(voucher), "abc"]).await;
    let mut broken = Program::start(&app, "reconcile");
    assert_eq!(broken.ended().await.code(), Some(1));
    broken
        .has_said(&format!(
            "voucher {voucher}: a key of the gate is missing or malformed"
        ))
        .await;
    broken.has_said("gate, queue and database disagree").await;
    let mut repairing = Program::start_with(&app, &["reconcile", "--repair"]);
    assert!(repairing.ended().await.success());
    assert_eq!(app.stock(voucher).await, Some(7));
    app.check_promises().await;
}

#[sqlx::test]
async fn a_program_set_to_another_number_of_shards_refuses_to_start(database: PgPool) {
    let app = App::on(database).with_shards(2).start().await;
    for command in ["serve", "web", "consumer", "migrate", "reconcile"] {
        let mut program = Program::start_with(&app, &[command, "--shards", "3"]);
        assert_eq!(program.ended().await.code(), Some(1), "{command}");
        program
            .has_said("SECKILL_SHARDS is 3, but this database was set up with 2")
            .await;
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn an_idle_program_is_quiet(database: PgPool) {
    let app = App::start(database).await;
    app.group_exists().await;
    let program = Program::start(&app, "serve");
    program.has_said("consumer started").await;
    program.has_said("SECKILL_LIMITS=off").await;
    // The tests' Redis forgets everything.
    program.has_said("without append-only file").await;
    let words = program.said().len();
    // More than two waits of the consumer's read, and several looks of the keeper.
    let anything = eventually("never", async || program.said().len() > words);
    assert!(
        tokio::time::timeout(Duration::from_secs(6), anything)
            .await
            .is_err(),
        "{:?}",
        &program.said()[words..]
    );
    program.kill().await;
    app.check_promises().await;
}
