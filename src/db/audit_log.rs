//! `audit_log`: who changed what.

use app::model::LastChange;
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

/// Notes changes of one kind to several subjects, each with its detail, in one statement.
///
/// # Errors
/// When the database fails.
pub async fn insert_all(
    pool: &PgPool,
    actor: &str,
    action: &str,
    notes: &[(String, String)],
) -> sqlx::Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let (subjects, details): (Vec<String>, Vec<String>) = notes.iter().cloned().unzip();
    sqlx::query!(
        "INSERT INTO audit_log (actor, action, subject, detail)
         SELECT $1, $2, subject, detail
         FROM UNNEST($3::text[], $4::text[]) AS note (subject, detail)",
        actor,
        action,
        &subjects,
        &details
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Who changed a thing last, by name, and when, as far as it was noted.
///
/// # Errors
/// When the database fails.
pub async fn last_change(pool: &PgPool, subject: &str) -> sqlx::Result<Option<LastChange>> {
    sqlx::query_as!(
        LastChange,
        // Accounts are noted by their number, and shown by the name that they have now.
        r#"SELECT COALESCE(account.name, note.actor) AS "actor!", note.at
         FROM (SELECT actor, at FROM audit_log WHERE subject = $1 AND action NOT IN ('rebuild', 'repair')
               ORDER BY id DESC LIMIT 1) note
         LEFT JOIN users account ON account.id = substring(note.actor FROM '^user (\d+)$')::bigint"#,
        subject
    )
    .fetch_optional(pool)
    .await
}
