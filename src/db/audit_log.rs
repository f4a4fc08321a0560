//! `audit_log`: who changed what.

use app::model::{Actor, AuditEntry, AuditSearch, Detail, LastChange, Subject};
use sqlx::PgPool;
use time::OffsetDateTime;

/// Notes a change. `actor` is [`app::model::Account::actor`], or `program` for what it does by itself.
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

/// The latest entries of those that are wanted, the newest first. Each way to find them reads an index as far as the page
/// needs, so that it costs the same however long the log is.
///
/// # Errors
/// When the database fails.
pub async fn latest(
    pool: &PgPool,
    search: AuditSearch,
    count: usize,
) -> sqlx::Result<Vec<AuditEntry>> {
    let rows = sqlx::query_as!(
        EntryRow,
        // What names nothing by number has no name; numbers are bounded so that each can be read as one.
        r#"WITH note AS (
             (SELECT * FROM audit_log
              WHERE $1::text IS NULL AND $2::text IS NULL AND id < $3
              ORDER BY id DESC LIMIT $4)
             UNION
             (SELECT * FROM audit_log
              WHERE subject = $1 AND ($2 IS NULL OR actor = $2) AND id < $3
              ORDER BY id DESC LIMIT $4)
             UNION
             (SELECT * FROM audit_log
              WHERE $1 IS NULL AND subject = $2 AND id < $3
              ORDER BY id DESC LIMIT $4)
             UNION
             (SELECT * FROM audit_log
              WHERE $1 IS NULL AND actor = $2 AND id < $3
              ORDER BY id DESC LIMIT $4)
         )
         SELECT note.id AS "id!", note.at AS "at!", note.actor AS "actor!", note.action AS "action!",
                note.subject AS "subject!", note.detail AS "detail!",
                (SELECT name FROM users
                 WHERE users.id = substring(note.actor FROM '^user (\d{1,18})$')::bigint) AS actor_name,
                COALESCE(
                    (SELECT title FROM vouchers
                     WHERE vouchers.id = substring(note.subject FROM '^voucher (\d{1,9})$')::integer),
                    (SELECT name FROM shops
                     WHERE shops.id = substring(note.subject FROM '^shop (\d{1,9})$')::integer),
                    (SELECT name FROM users
                     WHERE users.id = substring(note.subject FROM '^user (\d{1,18})$')::bigint)) AS subject_name
         FROM note
         ORDER BY note.id DESC
         LIMIT $4"#,
        search.sale.map(|sale| format!("voucher {sale}")),
        search.user.map(|user| format!("user {user}")),
        search.before.unwrap_or(i64::MAX),
        i64::try_from(count).unwrap_or(i64::MAX)
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(AuditEntry::from).collect())
}

struct EntryRow {
    id: i64,
    at: OffsetDateTime,
    actor: String,
    action: String,
    subject: String,
    detail: String,
    actor_name: Option<String>,
    subject_name: Option<String>,
}

impl From<EntryRow> for AuditEntry {
    fn from(row: EntryRow) -> Self {
        Self {
            id: row.id,
            at: row.at,
            actor: Actor::read(row.actor, row.actor_name),
            detail: Detail::read(&row.action, row.detail),
            action: row.action,
            subject: Subject::read(row.subject, row.subject_name),
        }
    }
}
