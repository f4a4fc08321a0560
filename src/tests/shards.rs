//! Sales spread over many hash tags of one Redis: each shard has its own queue and consumer, and fails by itself.

use app::model::{Status, VoucherId};
use futures::future::join_all;
use sqlx::PgPool;

use super::harness::{App, Person, Sale, eventually, within};

const SHARDS: u16 = 16;

#[sqlx::test]
async fn every_shard_sells_and_stores_and_comes_back_after_a_restart_of_redis(database: PgPool) {
    let mut app = App::on(database)
        .with_own_redis()
        .await
        .with_shards(SHARDS)
        .start()
        .await;
    let vouchers = a_sale_a_shard(&app).await;
    let crowd = app.crowd(3).await;
    app.start_consumer();
    buy_everywhere(&crowd[0], &vouchers).await;
    eventually("all are stored", async || {
        live(&app, &vouchers).await == vouchers.len()
    })
    .await;
    app.written_down().await;
    let redis = app.redis_server.as_mut().unwrap();
    redis.kill().await;
    redis.start_again().await;
    app.is_back().await;
    eventually("every shard sells again", async || {
        let presses = vouchers.iter().map(|voucher| crowd[1].try_buy(*voucher));
        let answers = join_all(presses).await;
        answers.iter().all(|answer| {
            answer.status == 200 && answer.json::<app::model::BuyReply>().order_id.is_some()
        })
    })
    .await;
    within(
        std::time::Duration::from_secs(10),
        "every consumer stores again",
        async || live(&app, &vouchers).await == 2 * vouchers.len(),
    )
    .await;
    let orders = crowd[1].my_orders().await;
    assert_eq!(orders.len(), vouchers.len());
    assert!(orders.iter().all(|order| order.status == Status::Confirmed));
    app.check_promises().await;
}

#[sqlx::test]
async fn orders_that_wait_on_many_shards_are_all_shown_to_their_owner(database: PgPool) {
    let app = App::on(database).with_shards(SHARDS).start().await;
    let vouchers = a_sale_a_shard(&app).await;
    let amy = app.shopper("amy").await;
    buy_everywhere(&amy, &vouchers).await;
    let orders = amy.my_orders().await;
    assert_eq!(orders.len(), vouchers.len());
    assert!(orders.iter().all(|order| order.status == Status::Queued));
    app.check_promises().await;
}

#[sqlx::test]
async fn a_shard_whose_queue_is_unusable_holds_up_no_other(database: PgPool) {
    let app = App::on(database).with_shards(SHARDS).start().await;
    let vouchers = a_sale_a_shard(&app).await;
    let crowd = app.crowd(2).await;
    let (sick, sound) = vouchers.split_first().unwrap();
    let keys = app.operator.gate.keys();
    let queue = keys.orders(keys.shard(*sick));
    let _: String = app.redis(&["SET", &queue, "no stream"]).await;
    app.start_consumer();
    buy_everywhere(&crowd[0], sound).await;
    let _: i64 = app.redis(&["DEL", &app.stock_key(sound[0])]).await;
    eventually("a sound shard is healed", async || {
        app.look(sound[0]).await.drift() == Some(0)
    })
    .await;
    buy_everywhere(&crowd[1], sound).await;
    eventually("sound shards store", async || {
        live(&app, &vouchers).await == 2 * sound.len()
    })
    .await;
    assert_eq!(crowd[0].buy(*sick).await.outcome.as_str(), "closed");
    let _: i64 = app.redis(&["DEL", &queue]).await;
    eventually("the sick shard sells again", async || {
        crowd[0].buy(*sick).await.order_id.is_some()
    })
    .await;
    app.check_promises().await;
}

async fn a_sale_a_shard(app: &App) -> Vec<VoucherId> {
    let mut vouchers = Vec::new();
    for _ in 0..SHARDS {
        vouchers.push(app.sale(Sale::of(3)).await);
    }
    vouchers
}

async fn buy_everywhere(shopper: &Person, vouchers: &[VoucherId]) {
    join_all(vouchers.iter().map(|voucher| shopper.buy_one(*voucher))).await;
}

async fn live(app: &App, vouchers: &[VoucherId]) -> usize {
    let orders = join_all(vouchers.iter().map(|voucher| app.live(*voucher))).await;
    orders.iter().map(Vec::len).sum()
}
