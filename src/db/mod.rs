//! All SQL, one file a table, one function a statement. Knows neither the gate nor the web.

pub mod audit_log;
pub mod orders;
pub mod pictures;
pub mod rehearsals;
pub mod sale_figures;
pub mod sale_orders;
pub mod sales;
pub mod settings;
pub mod shop_search;
pub mod shops;
pub mod together;
pub mod users;
pub mod vouchers;

use std::{io, str::FromStr, time::Duration};

use futures::future::BoxFuture;
use sqlx::{
    Connection, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

/// The migrations, embedded in the program.
pub static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!();

/// A statement, or a transaction, may take so long: more than the server gives it, less than the idle limit of a queue
/// entry.
const LIMIT: Duration = Duration::from_secs(12);

/// A pool of connections to PostgreSQL, made when first used.
///
/// A statement may take 10 s, less than the idle limit of a queue entry; a transaction whose owner stands
/// still or is gone is ended by the server after 5 s, so that it holds up nobody for longer; a request waits 2 s for a
/// connection, then is told to try again.
///
/// A connection keeps its plans, and a flash sale fills a table that was empty when they were made: so no plan reads
/// a whole table where an index leads to the row. A table without a fitting index is read all the same, but then
/// looks dear enough to be compiled, which takes longer than it saves; hence no `jit`.
///
/// # Errors
/// When the address cannot be read.
pub fn pool(url: &str, size: u32) -> sqlx::Result<PgPool> {
    let options = PgConnectOptions::from_str(url)?
        .application_name("seckill")
        .options([
            ("statement_timeout", "10s"),
            ("idle_in_transaction_session_timeout", "5s"),
            ("timezone", "UTC"),
            ("enable_seqscan", "off"),
            ("jit", "off"),
        ]);
    Ok(PgPoolOptions::new()
        .max_connections(size)
        .acquire_timeout(Duration::from_secs(2))
        .connect_lazy_with(options))
}

/// A pool of its own to the same database, made when first used.
#[must_use]
pub fn apart(pool: &PgPool) -> PgPool {
    let options = pool.connect_options().as_ref().clone();
    pool.options().clone().connect_lazy_with(options)
}

/// Waits for a statement, but not for ever: a line may be open and nothing come back. For what no request waits for, whose
/// time is limited as a whole.
///
/// # Errors
/// As the statement; `Io` (timed out) after [`LIMIT`].
pub async fn in_time<T>(statement: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    tokio::time::timeout(LIMIT, statement)
        .await
        .unwrap_or_else(|_| Err(late()))
}

fn late() -> sqlx::Error {
    io::Error::from(io::ErrorKind::TimedOut).into()
}

/// Runs `work` in one transaction, in a task of its own, which nobody cancels: a `begin` cancelled half-way would give a
/// connection with an open transaction back to the pool. On a line from which nothing comes back it ends after [`LIMIT`];
/// whether it was committed is not known then.
///
/// # Errors
/// When the database fails; nothing is changed then.
pub async fn in_transaction<T: Send + 'static>(
    pool: &PgPool,
    work: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, sqlx::Result<T>> + Send + 'static,
) -> sqlx::Result<T> {
    let pool = pool.clone();
    let task = tokio::spawn(async move {
        let mut connection = pool.acquire().await?;
        let transaction = async {
            let mut transaction = connection.begin().await?;
            let done = work(&mut transaction).await?;
            transaction.commit().await?;
            Ok(done)
        };
        match tokio::time::timeout(LIMIT, transaction).await {
            Ok(result) => result,
            Err(_) => {
                connection.close_on_drop();
                Err(late())
            }
        }
    });
    task.await.unwrap_or_else(|panic| {
        Err(sqlx::Error::Protocol(format!(
            "the task of a transaction failed: {panic}"
        )))
    })
}

/// The name of the constraint that a statement broke.
#[must_use]
pub fn broken_constraint(error: &sqlx::Error) -> Option<&str> {
    match error {
        sqlx::Error::Database(error) => error.constraint(),
        _ => None,
    }
}

/// Is it the data's own fault (SQLSTATE classes 22, data exception, and 23, integrity violation)? Anything else may
/// go away by itself.
#[must_use]
pub fn is_datas_fault(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => error
            .code()
            .is_some_and(|code| code.starts_with("22") || code.starts_with("23")),
        _ => false,
    }
}
