//! `rehearsals`: the record of each, and what it makes and removes: shoppers, a shop and a sale with numbers of their own
//! (migration 0009). Statements that may touch many rows take some at a time, since none may last long.

use app::model::{
    Rehearsal, RehearsalId, RehearsalPlan, RehearsalProgress, RehearsalReport, RehearsalState,
    UserId, VoucherId,
};
use serde_json::Value;
use sqlx::PgPool;
use time::OffsetDateTime;

/// Rows that one statement makes or removes.
pub const AT_ONCE: i64 = 5000;

/// The index that a second rehearsal at a time breaks.
pub const ONE_AT_A_TIME: &str = "rehearsals_one_at_a_time";

/// Notes a rehearsal that begins now. One that was not renewed for half a minute is given up first: who ran it is gone. Breaks
/// [`ONE_AT_A_TIME`] while another is under way.
///
/// # Errors
/// When the database fails or refuses.
pub async fn begin(
    pool: &PgPool,
    plan: &RehearsalPlan,
    asked_by: &str,
) -> sqlx::Result<RehearsalId> {
    give_up_dead(pool).await?;
    sqlx::query_scalar!(
        "INSERT INTO rehearsals (asked_by, voucher_id, settings) VALUES ($1, $2, $3) RETURNING id",
        asked_by,
        plan.voucher.map(|voucher| voucher.0),
        to_json(plan)?
    )
    .fetch_one(pool)
    .await
    .map(RehearsalId)
}

/// Notes of those that nobody renews any more that they came to nothing.
///
/// # Errors
/// When the database fails.
pub async fn give_up_dead(pool: &PgPool) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE rehearsals
         SET state = 'failed', failure = 'it was ended from outside', ended_at = now()
         WHERE state = 'running' AND renewed_at < now() - interval '30 seconds'"
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Is one under way?
///
/// # Errors
/// When the database fails.
pub async fn any_running(pool: &PgPool) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM rehearsals WHERE state = 'running') AS "found!""#
    )
    .fetch_one(pool)
    .await
}

/// Notes that a rehearsal goes on, and how far it has come; false when it was given up meanwhile.
///
/// # Errors
/// When the database fails.
pub async fn renew(
    pool: &PgPool,
    id: RehearsalId,
    progress: RehearsalProgress,
) -> sqlx::Result<bool> {
    let renewed = sqlx::query!(
        "UPDATE rehearsals SET renewed_at = now(), progress = $2 WHERE id = $1 AND state = 'running'",
        id.0,
        to_json(&progress)?
    )
    .execute(pool)
    .await?;
    Ok(renewed.rows_affected() == 1)
}

/// Notes what a rehearsal has found, at its end.
///
/// # Errors
/// When the database fails.
pub async fn end(pool: &PgPool, id: RehearsalId, report: &RehearsalReport) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE rehearsals SET state = 'ended', report = $2, ended_at = now() WHERE id = $1 AND state = 'running'",
        id.0,
        to_json(report)?
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Notes why a rehearsal could not be carried through.
///
/// # Errors
/// When the database fails.
pub async fn fail(pool: &PgPool, id: RehearsalId, failure: &str) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE rehearsals SET state = 'failed', failure = $2, ended_at = now() WHERE id = $1 AND state = 'running'",
        id.0,
        failure
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// A rehearsal.
///
/// # Errors
/// When the database fails.
pub async fn by_id(pool: &PgPool, id: RehearsalId) -> sqlx::Result<Option<Rehearsal>> {
    let found = select(pool, Some(id), 1).await?;
    Ok(found.into_iter().next())
}

/// The latest rehearsals, the newest first.
///
/// # Errors
/// When the database fails.
pub async fn latest(pool: &PgPool, count: i64) -> sqlx::Result<Vec<Rehearsal>> {
    select(pool, None, count).await
}

async fn select(
    pool: &PgPool,
    id: Option<RehearsalId>,
    count: i64,
) -> sqlx::Result<Vec<Rehearsal>> {
    let rows = sqlx::query!(
        // Accounts are noted by their number, and shown by the name that they have now.
        r#"SELECT rehearsal.id, COALESCE(account.name, rehearsal.asked_by) AS "asked_by!", rehearsal.asked_at,
                rehearsal.settings, rehearsal.state, rehearsal.progress, rehearsal.report, rehearsal.failure
         FROM rehearsals rehearsal
         LEFT JOIN users account ON account.id = substring(rehearsal.asked_by FROM '^user (\d{1,18})$')::bigint
         WHERE $1::integer IS NULL OR rehearsal.id = $1
         ORDER BY rehearsal.id DESC
         LIMIT $2"#,
        id.map(|id| id.0),
        count
    )
    .fetch_all(pool)
    .await?;
    let rehearsals = rows.into_iter().map(|row| {
        let state = match (row.state.as_str(), row.report, row.failure) {
            ("ended", Some(report), _) => RehearsalState::Ended(Box::new(from_json(report)?)),
            ("failed", _, Some(failure)) => RehearsalState::Failed(failure),
            _ => RehearsalState::Running(
                row.progress
                    .map_or_else(|| Ok(RehearsalProgress::default()), from_json)?,
            ),
        };
        Ok(Rehearsal {
            id: RehearsalId(row.id),
            asked_by: row.asked_by,
            asked_at: row.asked_at,
            plan: from_json(row.settings)?,
            state,
        })
    });
    rehearsals.collect()
}

/// What tells that people use this database, not demo data and rehearsals alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InUse {
    /// A shopper who can sign in, or whose account was deleted: the demo data has none of either.
    pub has_shoppers: bool,
    /// A sale that the demo data did not make, and that runs now or begins within the hour.
    pub sale: Option<VoucherId>,
}

/// Do people use this database?
///
/// # Errors
/// When the database fails.
pub async fn in_use(pool: &PgPool) -> sqlx::Result<InUse> {
    let row = sqlx::query!(
        r#"SELECT EXISTS (
                 SELECT FROM users
                 WHERE role = 'shopper'
                   AND id < 1099511627776
                   AND (password_hash <> '!' OR deleted_at IS NOT NULL)
             ) AS "has_shoppers!",
             (SELECT voucher_id
              FROM sales
              WHERE ends_at > now()
                AND begins_at < now() + interval '1 hour'
                AND state = 'open'
                AND voucher_id < 2000000000
                AND NOT EXISTS (
                    SELECT FROM audit_log
                    WHERE subject = 'voucher ' || voucher_id AND action = 'create_sale' AND actor = 'seed'
                )
              LIMIT 1) AS sale"#
    )
    .fetch_one(pool)
    .await?;
    Ok(InUse {
        has_shoppers: row.has_shoppers,
        sale: row.sale.map(VoucherId),
    })
}

/// Makes so many shoppers, [`AT_ONCE`] at most. Nobody can sign in as one of them, and nobody can type their names.
///
/// # Errors
/// When the database fails.
pub async fn insert_shoppers(pool: &PgPool, count: i64) -> sqlx::Result<Vec<UserId>> {
    let ids = sqlx::query_scalar!(
        "INSERT INTO users (id, name, name_key, password_hash)
         OVERRIDING SYSTEM VALUE
         SELECT id, 'rehearsal', E'\\x01rehearsal ' || id, '!'
         FROM (SELECT nextval('rehearsal_users') AS id FROM generate_series(1, $1::bigint)) AS made
         RETURNING id",
        count.min(AT_ONCE)
    )
    .fetch_all(pool)
    .await?;
    Ok(ids.into_iter().map(UserId).collect())
}

/// Makes a shop with a sale of so many units: a copy of another's, or a made-up one. `None` where there is none to copy. Without
/// a line in the audit log: the rehearsal itself has one.
///
/// # Errors
/// When the database fails.
pub async fn insert_sale(
    pool: &PgPool,
    like: Option<VoucherId>,
    units: i64,
    begins_at: OffsetDateTime,
    ends_at: OffsetDateTime,
) -> sqlx::Result<Option<VoucherId>> {
    let voucher = sqlx::query_scalar!(
        "WITH template AS (
             SELECT shop.name, shop.category, shop.address, v.title, v.subtitle, v.rules, v.price_cents,
                    v.face_value_cents, s.zone
             FROM vouchers v
             JOIN sales s ON s.voucher_id = v.id
             JOIN shops shop ON shop.id = v.shop_id
             WHERE v.id = $1 AND v.id < 2000000000
             UNION ALL
             SELECT 'Rehearsal', 'Rehearsal', 'Nowhere', 'A voucher of a rehearsal', 'Made up', 'One each.', 1990, 9900,
                    'UTC'
             WHERE $1 IS NULL
         ), shop AS (
             INSERT INTO shops (id, name, category, address)
             OVERRIDING SYSTEM VALUE
             SELECT nextval('rehearsal_shops'), name, category, address
             FROM template
             RETURNING id
         ), voucher AS (
             INSERT INTO vouchers (id, shop_id, title, subtitle, rules, price_cents, face_value_cents)
             OVERRIDING SYSTEM VALUE
             SELECT nextval('rehearsal_vouchers'), shop.id, title, subtitle, rules, price_cents, face_value_cents
             FROM template, shop
             RETURNING id
         )
         INSERT INTO sales (voucher_id, granted, begins_at, ends_at, zone)
         SELECT voucher.id, $2, $3, $4, template.zone
         FROM voucher, template
         RETURNING voucher_id",
        like.map(|like| like.0),
        units,
        begins_at,
        ends_at
    )
    .fetch_optional(pool)
    .await?;
    Ok(voucher.map(VoucherId))
}

/// An order of a rehearsal, as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct RehearsedOrder {
    /// Its id,
    pub id: uuid::Uuid,
    /// its shopper,
    pub user_id: i64,
    /// whether it is live,
    pub is_live: bool,
    /// when the gate promised it,
    pub accepted_at: OffsetDateTime,
    /// and when it was stored.
    pub stored_at: OffsetDateTime,
}

/// All orders of a sale.
///
/// # Errors
/// When the database fails.
pub async fn orders(pool: &PgPool, voucher: VoucherId) -> sqlx::Result<Vec<RehearsedOrder>> {
    sqlx::query_as!(
        RehearsedOrder,
        r#"SELECT id, user_id, status = 'confirmed' AS "is_live!", accepted_at, stored_at
         FROM orders
         WHERE voucher_id = $1 AND voucher_id >= 2000000000"#,
        voucher.0
    )
    .fetch_all(pool)
    .await
}

/// How many orders of a sale are stored, live ones and refused ones.
///
/// # Errors
/// When the database fails.
pub async fn stored(pool: &PgPool, voucher: VoucherId) -> sqlx::Result<(i64, i64)> {
    let row = sqlx::query!(
        r#"SELECT count(*) FILTER (WHERE status = 'confirmed') AS "live!",
                count(*) FILTER (WHERE status = 'refused') AS "refused!"
         FROM orders
         WHERE voucher_id = $1 AND voucher_id >= 2000000000"#,
        voucher.0
    )
    .fetch_one(pool)
    .await?;
    Ok((row.live, row.refused))
}

/// The next shoppers of rehearsals, in order, [`AT_ONCE`] at most.
///
/// # Errors
/// When the database fails.
pub async fn shoppers(pool: &PgPool, after: UserId) -> sqlx::Result<Vec<UserId>> {
    let ids = sqlx::query_scalar!(
        "SELECT id FROM users WHERE id >= 1099511627776 AND id > $1 ORDER BY id LIMIT $2",
        after.0,
        AT_ONCE
    )
    .fetch_all(pool)
    .await?;
    Ok(ids.into_iter().map(UserId).collect())
}

/// The vouchers of rehearsals.
///
/// # Errors
/// When the database fails.
pub async fn vouchers(pool: &PgPool) -> sqlx::Result<Vec<VoucherId>> {
    let ids = sqlx::query_scalar!("SELECT id FROM vouchers WHERE id >= 2000000000");
    Ok(ids
        .fetch_all(pool)
        .await?
        .into_iter()
        .map(VoucherId)
        .collect())
}

/// Removes a sale with its orders. Its row is locked before the last of them are removed: consumers that have some in hand
/// store them first, or find no sale any more.
///
/// # Errors
/// When the database fails; some orders may be removed then.
pub async fn delete_sale(pool: &PgPool, voucher: VoucherId) -> sqlx::Result<()> {
    loop {
        let some = sqlx::query!(
            "DELETE FROM orders
             WHERE id IN (SELECT id FROM orders WHERE voucher_id = $1 AND voucher_id >= 2000000000 LIMIT $2)",
            voucher.0,
            AT_ONCE
        )
        .execute(pool)
        .await?;
        if some.rows_affected() == 0 {
            break;
        }
    }
    super::in_transaction(pool, move |connection| {
        Box::pin(async move {
            let lock = sqlx::query!(
                "SELECT FROM sales WHERE voucher_id = $1 FOR UPDATE",
                voucher.0
            );
            lock.fetch_optional(&mut *connection).await?;
            let orders = sqlx::query!(
                "DELETE FROM orders WHERE voucher_id = $1 AND voucher_id >= 2000000000",
                voucher.0
            );
            orders.execute(&mut *connection).await?;
            let sale = sqlx::query!(
                "DELETE FROM sales WHERE voucher_id = $1 AND voucher_id >= 2000000000",
                voucher.0
            );
            sale.execute(&mut *connection).await?;
            Ok(())
        })
    })
    .await
}

/// Removes what is left of a voucher without a sale: itself, its shop, and what was noted of it.
///
/// # Errors
/// When the database fails.
pub async fn delete_voucher(pool: &PgPool, voucher: VoucherId) -> sqlx::Result<()> {
    let notes = sqlx::query!(
        "DELETE FROM audit_log WHERE subject = 'voucher ' || $1::integer AND $1 >= 2000000000",
        voucher.0
    );
    notes.execute(pool).await?;
    let itself = sqlx::query!(
        "DELETE FROM vouchers WHERE id = $1 AND id >= 2000000000",
        voucher.0
    );
    itself.execute(pool).await?;
    Ok(())
}

/// Removes shops of rehearsals that have no voucher any more.
///
/// # Errors
/// When the database fails.
pub async fn delete_shops(pool: &PgPool) -> sqlx::Result<()> {
    let shops = sqlx::query!(
        "DELETE FROM shops
         WHERE id >= 2000000000 AND NOT EXISTS (SELECT FROM vouchers WHERE vouchers.shop_id = shops.id)"
    );
    shops.execute(pool).await?;
    Ok(())
}

/// Removes shoppers of rehearsals.
///
/// # Errors
/// When the database fails; also while one of them has an order.
pub async fn delete_shoppers(pool: &PgPool, some: &[UserId]) -> sqlx::Result<()> {
    let ids: Vec<i64> = some.iter().map(|user| user.0).collect();
    let delete = sqlx::query!(
        "DELETE FROM users WHERE id = ANY($1) AND id >= 1099511627776",
        &ids
    );
    delete.execute(pool).await?;
    Ok(())
}

fn to_json(of: &impl serde::Serialize) -> sqlx::Result<Value> {
    serde_json::to_value(of).map_err(|error| sqlx::Error::Encode(error.into()))
}

fn from_json<T: serde::de::DeserializeOwned>(value: Value) -> sqlx::Result<T> {
    serde_json::from_value(value).map_err(|error| sqlx::Error::Decode(error.into()))
}
