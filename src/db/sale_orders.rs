//! `orders` of one sale, as an admin lists and exports them: in the order in which they were accepted, by key. Confirmed
//! ones by `voucher_id::bigint`, as their index has it, which is for nothing else (migration 0005).

use app::model::{AdminOrder, OrderId, OrdersSearch, Reason, Status, UserId, VoucherId};
use sqlx::PgPool;
use uuid::Uuid;

/// The next `count` orders of a sale, with their owners' names.
///
/// # Errors
/// When the database fails.
pub async fn next(
    pool: &PgPool,
    voucher: VoucherId,
    search: OrdersSearch,
    count: i64,
) -> sqlx::Result<Vec<AdminOrder>> {
    let rows = sqlx::query!(
        r#"SELECT o.id AS "id!", o.user_id AS "user_id!", u.name, o.status AS "status!", o.reason,
                o.accepted_at AS "accepted_at!", o.stored_at AS "stored_at!"
         FROM (
             (SELECT *
              FROM orders
              WHERE voucher_id::bigint = $1::integer AND status = 'confirmed' AND id > $2 AND COALESCE($3, 'confirmed') = 'confirmed'
              ORDER BY id
              LIMIT $4)
             UNION ALL
             (SELECT *
              FROM orders
              WHERE voucher_id = $1 AND status = 'refused' AND id > $2 AND COALESCE($3, 'refused') = 'refused'
              ORDER BY id
              LIMIT $4)
         ) o
         JOIN users u ON u.id = o.user_id
         ORDER BY o.id
         LIMIT $4"#,
        voucher.0,
        search.after.map_or(Uuid::nil(), |after| after.0),
        search.status.map(Status::as_str),
        count
    )
    .fetch_all(pool)
    .await?;
    let orders = rows.into_iter().map(|row| {
        let unknown = || sqlx::Error::Decode("unknown status or reason of an order".into());
        let reason = row.reason.as_deref();
        Ok(AdminOrder {
            id: OrderId(row.id),
            user: UserId(row.user_id),
            user_name: row.name,
            status: Status::parse(&row.status).ok_or_else(unknown)?,
            reason: reason
                .map(|word| Reason::parse(word).ok_or_else(unknown))
                .transpose()?,
            accepted_at: row.accepted_at,
            stored_at: row.stored_at,
        })
    });
    orders.collect()
}

/// How many orders of a sale were refused after they were accepted.
///
/// # Errors
/// When the database fails.
pub async fn refused(pool: &PgPool, voucher: VoucherId) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"SELECT count(*) AS "refused!" FROM orders WHERE voucher_id = $1 AND status = 'refused'"#,
        voucher.0
    )
    .fetch_one(pool)
    .await
}
