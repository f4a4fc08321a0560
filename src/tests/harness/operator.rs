//! What an operator sees and does at the stores themselves, past the application.

use app::model::{DeadLetter, LettersSearch, OrderId, UserId, VoucherId};
use futures::future::join_all;
use redis::FromRedisValue;
use seckill::gate::{SaleLook, backlog::Backlog, keys::GROUP, keys::Shard};
use sqlx::{Row, pool::PoolConnection, postgres::PgRow};

use super::App;

/// Writes to orders wait, reads go on, until it is dropped or released.
pub struct Stall(PoolConnection<sqlx::Postgres>);

impl Stall {
    pub async fn release(mut self) {
        sqlx::query("ROLLBACK").execute(&mut *self.0).await.unwrap();
    }
}

/// An order as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub order: OrderId,
    pub user: UserId,
    pub voucher: VoucherId,
    pub status: String,
    pub reason: Option<String>,
}

impl App {
    /// Case PG-STALL: `BEGIN; LOCK TABLE orders IN SHARE MODE;` and left open.
    pub async fn stall_orders(&self) -> Stall {
        self.stall("orders").await
    }

    pub async fn stall(&self, table: &str) -> Stall {
        self.lock_table(table, "SHARE").await
    }

    /// Reads wait as well.
    pub async fn stall_reads_of(&self, table: &str) -> Stall {
        self.lock_table(table, "ACCESS EXCLUSIVE").await
    }

    async fn lock_table(&self, table: &str, mode: &str) -> Stall {
        let mut connection = self.database.acquire().await.unwrap();
        sqlx::query("BEGIN")
            .execute(&mut *connection)
            .await
            .unwrap();
        let lock = sqlx::AssertSqlSafe(format!("LOCK TABLE {table} IN {mode} MODE"));
        sqlx::query(lock).execute(&mut *connection).await.unwrap();
        Stall(connection)
    }

    /// Statements that wait for a stall to end.
    pub async fn waiting_for_locks(&self) -> i64 {
        let query = "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'";
        sqlx::query_scalar(query)
            .fetch_one(&self.database)
            .await
            .unwrap()
    }

    /// A command to Redis.
    pub async fn redis<T: FromRedisValue>(&self, words: &[&str]) -> T {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        self.operator
            .gate
            .connection()
            .query(&command)
            .await
            .unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// The keys of the login sessions.
    pub async fn sessions(&self) -> Vec<String> {
        let pattern = format!("{}:session:*", self.direct.key_prefix);
        self.redis(&["KEYS", &pattern]).await
    }

    /// Ends everybody's login session on the server.
    pub async fn end_sessions(&self) {
        for session in self.sessions().await {
            let _: i64 = self.redis(&["DEL", &session]).await;
        }
    }

    /// Redis has written down everything so far.
    pub async fn written_down(&self) {
        super::eventually("Redis has written its file", async || {
            let info: redis::InfoDict = self.redis(&["INFO", "persistence"]).await;
            info.get::<u64>("aof_pending_bio_fsync") == Some(0)
                && info.get::<u64>("aof_buffer_length") == Some(0)
        })
        .await;
    }

    /// Redis is back: application and operator have noticed, on every shard.
    pub async fn is_back(&self) {
        let gates = [&self.operator.gate, &self.first.stores.gate];
        super::eventually("the application reaches Redis again", async || {
            let calls = gates
                .into_iter()
                .flat_map(|gate| gate.keys().shards().map(|shard| gate.run_id(shard)));
            join_all(calls).await.iter().all(Result::is_ok)
        })
        .await;
    }

    /// The gate's view of a sale.
    pub async fn look(&self, voucher: VoucherId) -> SaleLook {
        self.operator.gate.look(&[voucher]).await.unwrap().remove(0)
    }

    pub async fn stock(&self, voucher: VoucherId) -> Option<i64> {
        self.look(voucher).await.stock
    }

    pub fn stock_key(&self, voucher: VoucherId) -> String {
        self.operator.gate.keys().stock(voucher)
    }

    pub fn buyers_key(&self, voucher: VoucherId) -> String {
        self.operator.gate.keys().buyers(voucher)
    }

    pub fn sale_key(&self, voucher: VoucherId) -> String {
        self.operator.gate.keys().sale(voucher)
    }

    /// The stream of the first shard.
    pub fn stream(&self) -> String {
        self.operator.gate.keys().orders(Shard(0))
    }

    /// How the queues stand, all shards together.
    pub async fn backlog(&self) -> Backlog {
        let gate = &self.operator.gate;
        let mut sum = Backlog::default();
        for shard in gate.keys().shards() {
            let one = gate.backlog(shard).await.unwrap();
            sum.queued += one.queued;
            sum.pending += one.pending;
            sum.dead += one.dead;
        }
        sum
    }

    /// The dead letters, all of them.
    pub async fn letters(&self) -> Vec<DeadLetter> {
        let all = LettersSearch::default();
        let page = self.operator.gate.dead_letters(&all, usize::MAX);
        page.await.unwrap().letters
    }

    /// Appends an entry to the queue by hand.
    pub async fn enqueue(&self, fields: &[(&str, &str)]) {
        let stream = self.stream();
        let mut words = vec!["XADD", &stream, "*"];
        words.extend(fields.iter().flat_map(|(name, value)| [*name, *value]));
        let _id: String = self.redis(&words).await;
    }

    /// As after the first start of a consumer: who finds no group has the sales looked after.
    pub async fn group_exists(&self) {
        let words = ["XGROUP", "CREATE", &self.stream(), GROUP, "0", "MKSTREAM"];
        let _: String = self.redis(&words).await;
    }

    /// The names in the consumer group.
    pub async fn consumer_names(&self) -> usize {
        self.redis::<Vec<redis::Value>>(&["XINFO", "CONSUMERS", &self.stream(), GROUP])
            .await
            .len()
    }

    pub async fn orders(&self, voucher: VoucherId) -> Vec<Stored> {
        let query = "SELECT id, user_id, voucher_id, status, reason FROM orders WHERE voucher_id = $1 ORDER BY id";
        sqlx::query(query)
            .bind(voucher.0)
            .map(stored)
            .fetch_all(&self.database)
            .await
            .unwrap()
    }

    pub async fn order(&self, order: OrderId) -> Option<Stored> {
        let query = "SELECT id, user_id, voucher_id, status, reason FROM orders WHERE id = $1";
        sqlx::query(query)
            .bind(order.0)
            .map(stored)
            .fetch_optional(&self.database)
            .await
            .unwrap()
    }

    /// The orders of a voucher that count.
    pub async fn live(&self, voucher: VoucherId) -> Vec<Stored> {
        self.orders(voucher)
            .await
            .into_iter()
            .filter(|order| order.status == "confirmed")
            .collect()
    }

    /// Stores a live order that the gate does not know of.
    pub async fn store_order(&self, order: OrderId, user: UserId, voucher: VoucherId) {
        let insert = "INSERT INTO orders (id, voucher_id, user_id, status, accepted_at)
             VALUES ($1, $2, $3, 'confirmed', now())";
        sqlx::query(insert)
            .bind(order.0)
            .bind(voucher.0)
            .bind(user.0)
            .execute(&self.database)
            .await
            .unwrap();
        let count = "UPDATE sales SET sold = sold + 1 WHERE voucher_id = $1";
        sqlx::query(count)
            .bind(voucher.0)
            .execute(&self.database)
            .await
            .unwrap();
    }

    /// Notes a rehearsal that came to nothing; gives its number.
    pub async fn a_rehearsal(&self) -> i32 {
        let insert = r#"INSERT INTO rehearsals (asked_by, settings, state, failure, ended_at)
             VALUES ('command line',
                     '{"shoppers":1,"units":1,"shape":"spike","seconds":1,"voucher":null,"seed":1,"on_production":false}',
                     'failed', 'it was stopped', now())
             RETURNING id"#;
        sqlx::query_scalar(insert)
            .fetch_one(&self.database)
            .await
            .unwrap()
    }

    /// The number of rows of a table.
    pub async fn rows(&self, table: &'static str) -> i64 {
        let query = format!("SELECT count(*) FROM {table}");
        sqlx::query_scalar(sqlx::AssertSqlSafe(query))
            .fetch_one(&self.database)
            .await
            .unwrap()
    }

    /// All Redis keys of this test, without the login sessions.
    pub async fn keys(&self) -> Vec<String> {
        let pattern = format!("{}:*", self.direct.key_prefix);
        let mut keys: Vec<String> = self.redis(&["KEYS", &pattern]).await;
        keys.retain(|key| !key.contains(":session"));
        keys.sort_unstable();
        keys
    }
}

fn stored(row: PgRow) -> Stored {
    Stored {
        order: OrderId(row.get("id")),
        user: UserId(row.get("user_id")),
        voucher: VoucherId(row.get("voucher_id")),
        status: row.get("status"),
        reason: row.get("reason"),
    }
}
