//! `orders`: what became of the gate's promises. Rows are final; the last door against overselling is here.

use std::{collections::HashMap, sync::Arc};

use app::model::{Cents, LetterNames, OrderId, OrderView, Reason, Status, UserId, VoucherId};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

/// A promise to store.
#[derive(Clone, Copy, Debug)]
pub struct NewOrder {
    /// The order's id.
    pub id: OrderId,
    /// Who buys.
    pub user: UserId,
    /// What.
    pub voucher: VoucherId,
    /// When the gate promised it.
    pub accepted_at: OffsetDateTime,
}

/// What became of one promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Stored as bought, now or before.
    Confirmed,
    /// Stored as refused, now or before; with the live order for `already_bought`.
    Refused(Reason, Option<OrderId>),
    /// The id is stored for another user or voucher.
    Clash,
    /// No such sale; nothing was stored.
    UnknownVoucher,
    /// No such user; nothing was stored.
    UnknownUser,
}

/// A verdict, and whether this batch brought it about: an order that was stored before is judged as it was then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What became of the promise.
    pub verdict: Verdict,
    /// Was its order stored now?
    pub is_new: bool,
}

/// Stores a batch in one transaction; judgements in the order of `batch`. No id may stand twice in it. As a rule there is
/// nothing to judge; where there is, it is begun anew.
///
/// # Errors
/// When the database fails; nothing of the batch is stored then.
pub async fn persist(pool: &PgPool, batch: &[NewOrder]) -> sqlx::Result<Vec<Judgement>> {
    let batch = Arc::new(Batch::of(batch));
    let same = Arc::clone(&batch);
    let stored = super::in_transaction(pool, move |connection| {
        Box::pin(async move { all_confirmed(connection, &same).await })
    });
    match stored.await {
        Ok(()) => {
            let confirmed = Judgement {
                verdict: Verdict::Confirmed,
                is_new: true,
            };
            Ok(vec![confirmed; batch.ids.len()])
        }
        Err(error) if is_to_be_judged(&error) => {
            super::in_transaction(pool, move |connection| {
                Box::pin(async move { judge(connection, &batch).await })
            })
            .await
        }
        Err(error) => Err(error),
    }
}

/// Is it that not all of a batch can be stored as bought?
fn is_to_be_judged(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::RowNotFound) || super::is_datas_fault(error)
}

/// A batch, as statements take it.
pub struct Batch {
    ids: Vec<Uuid>,
    vouchers: Vec<i32>,
    users: Vec<i64>,
    times: Vec<OffsetDateTime>,
}

impl Batch {
    /// These orders.
    #[must_use]
    pub fn of(batch: &[NewOrder]) -> Self {
        Self {
            ids: batch.iter().map(|order| order.id.0).collect(),
            vouchers: batch.iter().map(|order| order.voucher.0).collect(),
            users: batch.iter().map(|order| order.user.0).collect(),
            times: batch.iter().map(|order| order.accepted_at).collect(),
        }
    }
}

/// Locks the rows of a batch's sales, in order of id: two consumers that judged by the same `sold` would both be right and
/// together wrong.
async fn lock_sales(connection: &mut PgConnection, batch: &Batch) -> sqlx::Result<()> {
    let mut vouchers = batch.vouchers.clone();
    vouchers.sort_unstable();
    vouchers.dedup();
    sqlx::query!(
        "SELECT voucher_id FROM sales WHERE voucher_id = ANY($1) ORDER BY voucher_id FOR NO KEY UPDATE",
        &vouchers
    )
    .fetch_all(connection)
    .await
    .map(drop)
}

/// Stores all of a batch as bought, in the caller's transaction, which is how nearly every batch ends. No `ON CONFLICT`,
/// which looks into each unique index twice and writes each row twice to the log of PostgreSQL.
///
/// # Errors
/// `RowNotFound`, or a fault of the data, when one of it is not to be stored so: the transaction is to be undone then.
/// Others when the database fails.
pub async fn all_confirmed(connection: &mut PgConnection, batch: &Batch) -> sqlx::Result<()> {
    lock_sales(connection, batch).await?;
    sqlx::query_scalar!(
        r#"WITH stored AS (
             INSERT INTO orders (id, voucher_id, user_id, status, accepted_at)
             SELECT id, voucher_id, user_id, 'confirmed', accepted_at
             FROM UNNEST($1::uuid[], $2::integer[], $3::bigint[], $4::timestamptz[])
                  AS i (id, voucher_id, user_id, accepted_at)
             RETURNING voucher_id
         ), counted AS (
             UPDATE sales
             SET sold = sold + new.units
             FROM (SELECT voucher_id, count(*) AS units FROM stored GROUP BY voucher_id) new
             WHERE sales.voucher_id = new.voucher_id AND sold + new.units <= granted
             RETURNING new.units
         )
         SELECT TRUE AS "all!"
         FROM counted
         HAVING sum(units) = cardinality($1)"#,
        &batch.ids,
        &batch.vouchers,
        &batch.users,
        &batch.times
    )
    .fetch_one(connection)
    .await
    .map(drop)
}

/// Judges each order of a batch, inserts all and counts, in one statement in the caller's transaction.
///
/// The look-ups are LATERAL with a LIMIT so that each goes through its index, one row at a time: joined freely, a
/// plan made while `orders` was small reads all of it for every batch, and a connection keeps its plans.
///
/// # Errors
/// When the database fails.
pub async fn judge(connection: &mut PgConnection, batch: &Batch) -> sqlx::Result<Vec<Judgement>> {
    lock_sales(connection, batch).await?;
    let rows = sqlx::query!(
        r#"WITH input AS (
             SELECT i.n, i.id, i.voucher_id, i.user_id, i.accepted_at,
                    stored.id IS NOT NULL AS is_stored,
                    stored.status AS stored_status,
                    stored.reason AS stored_reason,
                    stored.live_order_id AS stored_live,
                    stored.voucher_id = i.voucher_id AND stored.user_id = i.user_id AS is_same,
                    sale.voucher_id IS NOT NULL AS sale_known,
                    owner.id IS NOT NULL AS user_known,
                    sale.granted - sale.sold AS left,
                    live.id AS live_id,
                    row_number() OVER (PARTITION BY i.voucher_id, i.user_id, stored.id IS NULL ORDER BY i.n) AS nth_of_user
             FROM UNNEST($1::uuid[], $2::integer[], $3::bigint[], $4::timestamptz[])
                  WITH ORDINALITY AS i (id, voucher_id, user_id, accepted_at, n)
             LEFT JOIN sales sale ON sale.voucher_id = i.voucher_id
             LEFT JOIN LATERAL (
                 SELECT * FROM orders WHERE id = i.id LIMIT 1
             ) stored ON TRUE
             LEFT JOIN LATERAL (
                 SELECT id FROM users WHERE id = i.user_id LIMIT 1
             ) owner ON TRUE
             LEFT JOIN LATERAL (
                 SELECT id
                 FROM orders
                 WHERE voucher_id = i.voucher_id AND user_id = i.user_id AND status = 'confirmed'
                 LIMIT 1
             ) live ON TRUE
         ), fresh AS (
             SELECT *,
                    live_id IS NULL AND nth_of_user = 1 AS is_first,
                    first_value(id) OVER (PARTITION BY voucher_id, user_id ORDER BY n) AS first_id,
                    count(*) FILTER (WHERE live_id IS NULL AND nth_of_user = 1)
                        OVER (PARTITION BY voucher_id ORDER BY n) AS place
             FROM input
             WHERE NOT is_stored AND sale_known AND user_known
         ), seen AS (
             SELECT *, live_id IS NOT NULL OR first_value(place) OVER (PARTITION BY voucher_id, user_id ORDER BY n)
                        <= fresh.left AS first_is_live
             FROM fresh
         ), judged AS (
             SELECT *,
                    CASE WHEN NOT is_first AND first_is_live THEN 'already_bought'
                         WHEN NOT first_is_live THEN 'sold_out' END AS reason,
                    CASE WHEN NOT is_first AND first_is_live THEN COALESCE(live_id, first_id) END AS live_order_id
             FROM seen
         ), stored AS (
             INSERT INTO orders (id, voucher_id, user_id, status, reason, live_order_id, accepted_at)
             SELECT id, voucher_id, user_id, CASE WHEN reason IS NULL THEN 'confirmed' ELSE 'refused' END, reason,
                    live_order_id, accepted_at
             FROM judged
             RETURNING voucher_id, status
         ), counted AS (
             UPDATE sales
             SET sold = sold + new.units
             FROM (SELECT voucher_id, count(*) AS units FROM stored WHERE status = 'confirmed' GROUP BY voucher_id) new
             WHERE sales.voucher_id = new.voucher_id
         )
         SELECT input.is_stored AS "is_stored!", COALESCE(input.is_same, TRUE) AS "is_same!",
                input.sale_known AS "sale_known!", input.user_known AS "user_known!",
                COALESCE(input.stored_reason, judged.reason) AS reason,
                COALESCE(input.stored_live, judged.live_order_id) AS live_order_id
         FROM input
         LEFT JOIN judged ON judged.n = input.n
         ORDER BY input.n"#,
        &batch.ids,
        &batch.vouchers,
        &batch.users,
        &batch.times
    )
    .fetch_all(&mut *connection)
    .await?;
    let judgements = rows.into_iter().map(|row| {
        let verdict = match (row.is_stored, row.reason) {
            (true, _) if !row.is_same => Verdict::Clash,
            (false, _) if !row.sale_known => Verdict::UnknownVoucher,
            (false, _) if !row.user_known => Verdict::UnknownUser,
            (_, None) => Verdict::Confirmed,
            (_, Some(word)) => Verdict::Refused(reason(&word)?, row.live_order_id.map(OrderId)),
        };
        let is_new = !row.is_stored && row.sale_known && row.user_known;
        Ok(Judgement { verdict, is_new })
    });
    judgements.collect()
}

/// A stored order with its owner, for the pages.
///
/// # Errors
/// When the database fails.
pub async fn by_id(pool: &PgPool, id: OrderId) -> sqlx::Result<Option<(UserId, OrderView)>> {
    let row = sqlx::query_as!(
        OrderRow,
        "SELECT o.id, o.voucher_id, o.user_id, o.status, o.reason, o.live_order_id, o.accepted_at, o.stored_at,
                v.title, v.price_cents, sale.zone, shop.name AS shop_name
         FROM orders o
         JOIN vouchers v ON v.id = o.voucher_id
         JOIN sales sale ON sale.voucher_id = o.voucher_id
         JOIN shops shop ON shop.id = v.shop_id
         WHERE o.id = $1",
        id.0
    )
    .fetch_optional(pool)
    .await?;
    row.map(|row| Ok((UserId(row.user_id), row.into_view()?)))
        .transpose()
}

/// The newest 200 orders of a user.
///
/// # Errors
/// When the database fails.
pub async fn of_user(pool: &PgPool, user: UserId) -> sqlx::Result<Vec<OrderView>> {
    let rows = sqlx::query_as!(
        OrderRow,
        "SELECT o.id, o.voucher_id, o.user_id, o.status, o.reason, o.live_order_id, o.accepted_at, o.stored_at,
                v.title, v.price_cents, sale.zone, shop.name AS shop_name
         FROM orders o
         JOIN vouchers v ON v.id = o.voucher_id
         JOIN sales sale ON sale.voucher_id = o.voucher_id
         JOIN shops shop ON shop.id = v.shop_id
         WHERE o.user_id = $1
         ORDER BY o.accepted_at DESC, o.id DESC
         LIMIT 200",
        user.0
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter().map(OrderRow::into_view).collect()
}

/// An order in the eyes of a rebuild.
#[derive(Clone, Copy, Debug)]
pub struct StoredOrder {
    /// The order.
    pub id: OrderId,
    /// Its owner.
    pub user: UserId,
    /// Is it live?
    pub is_live: bool,
}

/// Of a voucher: all live orders, and those of `known` that are stored as refused.
///
/// # Errors
/// When the database fails.
pub async fn of_voucher(
    pool: &PgPool,
    voucher: VoucherId,
    known: &[OrderId],
) -> sqlx::Result<Vec<StoredOrder>> {
    let known: Vec<Uuid> = known.iter().map(|id| id.0).collect();
    let rows = sqlx::query_as!(
        StoredRow,
        r#"SELECT id, user_id, status = 'confirmed' AS "is_live!"
         FROM orders
         WHERE voucher_id = $1 AND (status = 'confirmed' OR id = ANY($2))"#,
        voucher.0,
        &known
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(StoredRow::into_order).collect())
}

/// The live orders of a voucher, by buyer.
///
/// # Errors
/// When the database fails.
pub async fn live_of_voucher(
    pool: &PgPool,
    voucher: VoucherId,
) -> sqlx::Result<HashMap<UserId, OrderId>> {
    let rows = sqlx::query!(
        "SELECT id, user_id FROM orders WHERE voucher_id = $1 AND status = 'confirmed'",
        voucher.0
    )
    .fetch_all(pool)
    .await?;
    let orders = rows
        .into_iter()
        .map(|row| (UserId(row.user_id), OrderId(row.id)));
    Ok(orders.collect())
}

/// The live order of a buyer.
///
/// # Errors
/// When the database fails.
pub async fn live_of(
    pool: &PgPool,
    voucher: VoucherId,
    user: UserId,
) -> sqlx::Result<Option<OrderId>> {
    let id = sqlx::query_scalar!(
        "SELECT id FROM orders WHERE voucher_id = $1 AND user_id = $2 AND status = 'confirmed'",
        voucher.0,
        user.0
    );
    Ok(id.fetch_optional(pool).await?.map(OrderId))
}

/// Those of some orders that are stored.
///
/// # Errors
/// When the database fails.
pub async fn stored(pool: &PgPool, ids: &[OrderId]) -> sqlx::Result<Vec<StoredOrder>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows = sqlx::query_as!(
        StoredRow,
        r#"SELECT id, user_id, status = 'confirmed' AS "is_live!" FROM orders WHERE id = ANY($1)"#,
        &ids
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(StoredRow::into_order).collect())
}

/// What buyers and sales are called, in the order in which they are asked for.
///
/// # Errors
/// When the database fails.
pub async fn names(
    pool: &PgPool,
    promises: &[(UserId, VoucherId)],
) -> sqlx::Result<Vec<LetterNames>> {
    if promises.is_empty() {
        return Ok(Vec::new());
    }
    let users: Vec<i64> = promises.iter().map(|(user, _)| user.0).collect();
    let vouchers: Vec<i32> = promises.iter().map(|(_, voucher)| voucher.0).collect();
    sqlx::query_as!(
        LetterNames,
        r#"SELECT buyer.name AS "buyer?", voucher.title AS "title?"
         FROM UNNEST($1::bigint[], $2::integer[]) WITH ORDINALITY AS asked (user_id, voucher_id, place)
         LEFT JOIN users buyer ON buyer.id = asked.user_id
         LEFT JOIN vouchers voucher ON voucher.id = asked.voucher_id
         ORDER BY asked.place"#,
        &users,
        &vouchers
    )
    .fetch_all(pool)
    .await
}

struct StoredRow {
    id: Uuid,
    user_id: i64,
    is_live: bool,
}

impl StoredRow {
    fn into_order(self) -> StoredOrder {
        StoredOrder {
            id: OrderId(self.id),
            user: UserId(self.user_id),
            is_live: self.is_live,
        }
    }
}

/// Stores a promise as refused, unless it is stored already. False when it is stored as confirmed.
///
/// # Errors
/// When the database fails.
pub async fn insert_refused(pool: &PgPool, order: &NewOrder, reason: Reason) -> sqlx::Result<bool> {
    let stored = sqlx::query!(
        "INSERT INTO orders (id, voucher_id, user_id, status, reason, accepted_at)
         VALUES ($1, $2, $3, 'refused', $4, $5)
         ON CONFLICT (id) DO NOTHING",
        order.id.0,
        order.voucher.0,
        order.user.0,
        reason.as_str(),
        order.accepted_at
    )
    .execute(pool)
    .await?;
    if stored.rows_affected() == 1 {
        return Ok(true);
    }
    let confirmed = sqlx::query_scalar!(
        r#"SELECT EXISTS (
             SELECT FROM orders WHERE id = $1 AND voucher_id = $2 AND user_id = $3 AND status = 'confirmed'
         ) AS "found!""#,
        order.id.0,
        order.voucher.0,
        order.user.0
    );
    Ok(!confirmed.fetch_one(pool).await?)
}

struct OrderRow {
    id: Uuid,
    voucher_id: i32,
    user_id: i64,
    status: String,
    reason: Option<String>,
    live_order_id: Option<Uuid>,
    accepted_at: OffsetDateTime,
    stored_at: OffsetDateTime,
    title: String,
    price_cents: i64,
    zone: String,
    shop_name: String,
}

impl OrderRow {
    fn into_view(self) -> sqlx::Result<OrderView> {
        Ok(OrderView {
            id: OrderId(self.id),
            voucher_id: VoucherId(self.voucher_id),
            voucher_title: Some(self.title),
            shop_name: Some(self.shop_name),
            price: Some(Cents(self.price_cents)),
            zone: Some(self.zone),
            status: if self.status == "confirmed" {
                Status::Confirmed
            } else {
                Status::Refused
            },
            reason: self.reason.as_deref().map(reason).transpose()?,
            live_order: self.live_order_id.map(OrderId),
            accepted_at: self.accepted_at,
            stored_at: Some(self.stored_at),
        })
    }
}

fn reason(word: &str) -> sqlx::Result<Reason> {
    Reason::parse(word).ok_or_else(|| sqlx::Error::Decode("unknown reason of a refusal".into()))
}
