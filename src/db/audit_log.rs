//! `audit_log`: who changed what.

use sqlx::PgPool;

/// Notes a change. `actor` is an account's name, or `program` for what it does by itself.
///
/// # Errors
/// When the database fails.
pub async fn insert(
    pool: &PgPool,
    actor: &str,
    action: &str,
    subject: &str,
    detail: &str,
) -> sqlx::Result<()> {
    sqlx::query!(
        "INSERT INTO audit_log (actor, action, subject, detail) VALUES ($1, $2, $3, $4)",
        actor,
        action,
        subject,
        detail
    )
    .execute(pool)
    .await?;
    Ok(())
}
