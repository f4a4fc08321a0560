//! Several instances on one Redis and one database, some of which die in the middle of the sale.

use std::time::Duration;

use futures::{StreamExt, stream};
use reqwest::StatusCode;
use sqlx::PgPool;

use super::harness::{App, Person, Program, Sale, eventually, within};

/// Presses the button at the first instance that is there.
async fn buy_somewhere(shopper: &Person, at: [&reqwest::Url; 2], voucher: app::model::VoucherId) {
    for base in at.into_iter().cycle() {
        let answer = shopper.at_base(base.clone()).reach_and_buy(voucher).await;
        if answer.is_ok_and(|answer| answer.status == StatusCode::OK) {
            return;
        }
    }
}

#[sqlx::test]
async fn two_webs_and_three_consumers_of_which_one_each_dies_sell_every_unit_once(
    database: PgPool,
) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(400)).await;
    let crowd = app.crowd(400).await;
    let (web, other_web) = (Program::start(&app, "web"), Program::start(&app, "web"));
    let bases = [web.base().await, other_web.base().await];
    let mut consumers: Vec<Program> = (0..3).map(|_| Program::start(&app, "consumer")).collect();
    for consumer in &consumers {
        consumer.has_said("consumer started").await;
    }
    // What cannot be stored holds nobody up.
    for _ in 0..5 {
        app.enqueue(&[("order", "poison")]).await;
    }
    let buying = stream::iter(crowd.iter().enumerate()).for_each_concurrent(8, |(n, shopper)| {
        let (here, there) = (&bases[n % 2], &bases[(n + 1) % 2]);
        buy_somewhere(shopper, [here, there], voucher)
    });
    let killed = consumers.pop().unwrap();
    let killing = async {
        eventually("the sale is on", async || {
            app.live(voucher).await.len() > 50
        })
        .await;
        killed.kill().await;
        other_web.kill().await;
    };
    tokio::join!(buying, killing);

    within(
        Duration::from_secs(30),
        "the backlog is finished",
        async || app.backlog().await.queued == 0,
    )
    .await;
    assert_eq!(app.live(voucher).await.len(), 400);
    assert_eq!(
        app.orders(voucher).await.len(),
        400,
        "nothing is stored twice"
    );
    assert_eq!(app.backlog().await.dead, 5);
    for consumer in &mut consumers {
        consumer.signal("TERM");
        assert!(consumer.ended().await.success());
    }
    assert_eq!(
        app.consumer_names().await,
        1,
        "only the killed one's name is left"
    );
    web.kill().await;
    let rebuilt = "SELECT count(*) FROM audit_log WHERE action = 'rebuild'";
    let rebuilt: i64 = sqlx::query_scalar(rebuilt)
        .fetch_one(&app.database)
        .await
        .unwrap();
    assert_eq!(rebuilt, 0, "no sale is rebuilt because an instance joins");
    app.check_promises().await;
}
