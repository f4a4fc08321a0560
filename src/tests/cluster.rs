//! A Redis Cluster behind the gate: sales on all its nodes, slots that move, primaries that die.

use std::time::{Duration, Instant};

use app::model::{BuyReply, OrderReply, Outcome, Reason, Status, VoucherId};
use futures::future::join_all;
use sqlx::PgPool;

use super::harness::{Answer, App, Person, Program, RedisCluster, Sale, eventually, within};

const SHARDS: u16 = 16;

/// Units of each sale: fewer than there are buyers in the end.
const UNITS: usize = 8;

#[sqlx::test]
async fn sales_go_on_while_a_slot_moves_and_after_a_primary_died(database: PgPool) {
    let mut cluster = RedisCluster::start().await;
    let app = on(&cluster, database).await;
    let vouchers = a_sale_a_shard(&app).await;
    let crowd = app.crowd(UNITS + 3).await;
    for shopper in &crowd[..2] {
        join_all(vouchers.iter().map(|voucher| shopper.buy_one(*voucher))).await;
    }
    assert_eq!(crowd[0].my_orders().await.len(), vouchers.len());
    assert_eq!(app.guest().get("/readyz").await.status, 200);
    app.start_consumer();

    let moved = app.stock_key(vouchers[0]);
    let to = (cluster.first_home(&moved).await + 1) % 3;
    tokio::join!(
        cluster.move_slot(&moved, to),
        all_press(&crowd[2..4], &vouchers)
    );
    eventually("the moved shard sells", async || {
        is_in(&crowd[4].try_buy(vouchers[0]).await)
    })
    .await;

    let dying = async {
        cluster.kill_first().await;
        cluster.failed_over().await;
    };
    tokio::join!(dying, all_press(&crowd[4..7], &vouchers));
    app.is_back().await;
    let crowd = join_all(crowd.iter().map(|shopper| app.person(shopper.id()))).await;
    within(
        Duration::from_secs(10),
        "all shards sell by themselves",
        async || {
            let answers = vouchers.iter().map(|voucher| crowd[7].try_buy(*voucher));
            join_all(answers).await.iter().all(is_in)
        },
    )
    .await;

    all_press(&crowd, &vouchers).await;
    eventually("every unit is sold, to one buyer each", async || {
        let live = join_all(vouchers.iter().map(|voucher| app.live(*voucher))).await;
        live.iter().all(|orders| orders.len() == UNITS)
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn a_promise_that_the_new_primary_never_heard_of_is_shown_as_lost(database: PgPool) {
    let mut cluster = RedisCluster::start().await;
    let app = on(&cluster, database).await;
    let mut on_first = Vec::new();
    for voucher in a_sale_a_shard(&app).await {
        if cluster.first_home(&app.stock_key(voucher)).await == 0 {
            on_first.push(voucher);
        }
    }
    let voucher = on_first[0];
    let crowd = app.crowd(2).await;
    app.keeper_look().await;
    let kept = crowd[0].buy_one(voucher).await;
    app.drain().await;
    cluster.cut_off_replica().await;
    let lost = crowd[1].buy_one(voucher).await;
    cluster.kill_first().await;
    cluster.let_replica_go_on();
    cluster.failed_over().await;
    app.is_back().await;

    app.start_consumer();
    let status = format!("/api/order_status?order_id={lost}");
    within(Duration::from_secs(10), "its owner is told", async || {
        let answer = crowd[1].get(&status).await;
        answer.status == 200 && {
            let order: OrderReply = answer.json();
            (order.status, order.reason) == (Status::Refused, Some(Reason::Lost))
        }
    })
    .await;
    // The keeper may be at it just now: another Redis serves the sale.
    eventually("its unit is for sale again", async || {
        app.stock(voucher).await == Some(UNITS as i64 - 1)
    })
    .await;
    assert_eq!(crowd[0].status(&kept).await.status, Status::Confirmed);
    eventually("who lost an order may buy again", async || {
        let order = crowd[1].buy(voucher).await.order_id;
        assert_ne!(order.as_ref(), Some(&lost));
        order.is_some()
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn while_a_cluster_stands_still_buys_fail_fast_and_work_again_soon_after(database: PgPool) {
    let cluster = RedisCluster::start().await;
    let app = on(&cluster, database).await;
    let vouchers = a_sale_a_shard(&app).await;
    let crowd = app.crowd(2).await;
    let program = Program::start(&app, "serve");
    program.has_said("consumer started").await;
    all_press(&crowd[..1], &vouchers).await;
    cluster.stand_still();
    for answer in join_all(vouchers.iter().map(|voucher| press(&crowd[1], *voucher))).await {
        assert_eq!(answer.status, 503, "{answer:?}");
    }
    cluster.go_on();
    within(Duration::from_secs(10), "all shards sell", async || {
        let answers = vouchers.iter().map(|voucher| crowd[1].try_buy(*voucher));
        join_all(answers).await.iter().all(is_in)
    })
    .await;
    eventually("the consumers work on all shards", async || {
        let live = join_all(vouchers.iter().map(|voucher| app.live(*voucher))).await;
        live.iter().all(|orders| orders.len() == 2)
    })
    .await;
    let said = program.said();
    assert!(said.len() < 20, "{said:#?}");
    program.kill().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn a_primary_that_hangs_is_left_for_its_replica(database: PgPool) {
    let cluster = RedisCluster::start().await;
    let app = on(&cluster, database).await;
    let vouchers = a_sale_a_shard(&app).await;
    let crowd = app.crowd(2).await;
    app.start_consumer();
    all_press(&crowd[..1], &vouchers).await;
    cluster.let_first_hang();
    cluster.failed_over().await;
    app.is_back().await;
    let shopper = app.person(crowd[1].id()).await;
    within(Duration::from_secs(10), "all shards sell", async || {
        let answers = vouchers.iter().map(|voucher| press(&shopper, *voucher));
        join_all(answers).await.iter().all(is_in)
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn few_shards_on_a_cluster_are_warned_of(database: PgPool) {
    let mut app = App::start(database).await;
    app.direct.redis_url = Some("redis://127.0.0.1:1,127.0.0.1:2".to_owned().into());
    let program = Program::start(&app, "web");
    program.has_said("SECKILL_SHARDS of 16 or more").await;
    program.kill().await;
    app.check_promises().await;
}

async fn on(cluster: &RedisCluster, database: PgPool) -> App {
    App::on(database)
        .on_cluster(cluster)
        .with_shards(SHARDS)
        .start()
        .await
}

/// Vouchers are numbered in a row, so that their shards are all there are.
async fn a_sale_a_shard(app: &App) -> Vec<VoucherId> {
    let mut vouchers = Vec::new();
    for _ in 0..SHARDS {
        vouchers.push(app.sale(Sale::of(UNITS as i64)).await);
    }
    vouchers
}

/// Everybody presses every button until the gate answers; a login session may die with its node.
async fn all_press(crowd: &[Person], vouchers: &[VoucherId]) {
    let presses = crowd.iter().flat_map(|shopper| {
        vouchers.iter().map(move |voucher| {
            eventually("the gate answers", async || {
                let answer = press(shopper, *voucher).await;
                match answer.status.as_u16() {
                    200 => answer.json::<BuyReply>().outcome != Outcome::Closed,
                    401 => true,
                    status => {
                        assert_eq!(status, 503, "{answer:?}");
                        false
                    }
                }
            })
        })
    });
    join_all(presses).await;
}

/// Presses the button, which fails within 3 s if it has to.
async fn press(shopper: &Person, voucher: VoucherId) -> Answer {
    let pressed_at = Instant::now();
    let answer = shopper.try_buy(voucher).await;
    let took = pressed_at.elapsed();
    assert!(
        answer.status == 200 || took < Duration::from_secs(3),
        "{took:?}: {answer:?}"
    );
    answer
}

fn is_in(answer: &Answer) -> bool {
    answer.status == 200 && answer.json::<BuyReply>().order_id.is_some()
}
