//! Errors inside the server, with their sources. What a browser may see is `app::error::AppError`; `backend`
//! converts, in one place, and logs there once.

/// A failure of a store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// PostgreSQL.
    #[error("database: {0}")]
    Sql(#[from] sqlx::Error),
    /// PostgreSQL, asked by several at once.
    #[error("database: {0}")]
    SharedSql(#[from] std::sync::Arc<sqlx::Error>),
    /// Migrations.
    #[error("migration: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// Redis.
    #[error("redis: {0}")]
    Redis(#[from] redis::RedisError),
    /// A login session.
    #[error("login session: {0}")]
    Session(#[from] tower_sessions::session::Error),
    /// Hashing of a password.
    #[error("password hash: {0}")]
    Password(String),
    /// A task of the program's own.
    #[error("a task failed: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// The lock was lost during the work.
    #[error("the lock was lost; whoever holds it now goes on")]
    LockLost,
}
