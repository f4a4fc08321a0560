//! People who hang up while something is being written: a request that is dropped half-way must leave no transaction
//! open in the pool, and what it wrote is whole or not there.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use futures::{StreamExt, stream};
use sqlx::PgPool;
use tokio::io::AsyncReadExt;

use super::harness::{App, Person, Sale, eventually, within};

/// Requests that are hung up on in one go. Then nobody asks for anything, and a transaction that was left open shows.
const AT_ONCE: usize = 100;

/// So often.
const TIMES: usize = 30;

/// How long somebody waits before hanging up: any time up to twice what an answer takes, learned from who got one.
struct Patience(AtomicU64);

impl Patience {
    fn new() -> Self {
        Self(AtomicU64::new(5_000))
    }

    /// Sends a form and hangs up, whether the answer has come or not; true when it had come.
    async fn hang_up(&self, who: &Person, path: &str, form: &str) -> bool {
        let typical = self.0.load(Ordering::Relaxed);
        let patience = Duration::from_micros(rand::random_range(0..2 * typical));
        let mut line = who.send_without_listening(path, form).await;
        let mut answer = [0; 512];
        let answered = tokio::time::timeout(patience, line.read(&mut answer))
            .await
            .is_ok();
        let learned = if answered {
            typical * 49 / 50
        } else {
            typical * 51 / 50
        };
        self.0.store(learned.clamp(500, 500_000), Ordering::Relaxed);
        answered
    }
}

async fn count(app: &App, query: &'static str) -> i64 {
    sqlx::query_scalar(query)
        .fetch_one(&app.database)
        .await
        .unwrap()
}

#[sqlx::test]
async fn who_hangs_up_at_any_moment_leaves_no_transaction_open_and_nothing_half_written(
    database: PgPool,
) {
    let app = App::start(database).await;
    let (admin, voucher) = (app.admin().await, app.sale(Sale::of(10)).await);
    let crowd = app.crowd(50).await;
    app.start_consumer();
    let fields = Sale::of(5).fields(1);
    let sale = reqwest::Url::parse_with_params("http://form", fields).unwrap();
    let forms = [
        (
            &admin,
            "/api/admin/create_shop",
            "name=n&category=c&address=a",
        ),
        (&admin, "/api/admin/create_sale", sale.query().unwrap()),
    ];
    let buy = format!("voucher_id={voucher}");
    let patience = [Patience::new(), Patience::new(), Patience::new()];
    let mut answered = 0;
    for _ in 0..TIMES {
        answered += stream::iter(0..AT_ONCE)
            .map(|n| {
                let (who, path, form) = match n % 3 {
                    2 => (&crowd[n % 50], "/api/buy", buy.as_str()),
                    kind => forms[kind],
                };
                patience[n % 3].hang_up(who, path, form)
            })
            .buffer_unordered(8)
            .filter(|answered| std::future::ready(*answered))
            .count()
            .await;
        within(
            // Sooner than PostgreSQL would end it.
            Duration::from_secs(2),
            "no transaction is left open",
            async || {
                let open = "SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
                count(&app, open).await == 0
            },
        )
        .await;
    }
    let all = TIMES * AT_ONCE;
    assert!(
        (1..all).contains(&answered),
        "{answered} of {all} were answered"
    );

    // Every connection of the pool still writes, and whole things stand in the tables.
    let shops = stream::iter(0..100)
        .map(|_| admin.create_shop())
        .buffer_unordered(16);
    assert_eq!(shops.count().await, 100);
    let shops = count(&app, "SELECT count(*) FROM shops").await;
    let noted = "SELECT count(*) FROM audit_log WHERE action = 'create_shop'";
    assert_eq!(shops, count(&app, noted).await);
    let vouchers = count(&app, "SELECT count(*) FROM vouchers").await;
    assert_eq!(vouchers, count(&app, "SELECT count(*) FROM sales").await);
    assert!(vouchers > 1, "some were written all the same");
    // A sale whose creator hung up before the gate was told is carried there by the keeper.
    eventually("the gate knows every sale", async || {
        app.keeper_look().await;
        let sales = seckill::db::sales::unsettled(&app.operator.pool)
            .await
            .unwrap();
        let ids: Vec<_> = sales.iter().map(|sale| sale.voucher).collect();
        let looks = app.operator.gate.look(&ids).await.unwrap();
        looks.iter().all(|look| look.drift() == Some(0))
    })
    .await;
    app.check_promises().await;
}
