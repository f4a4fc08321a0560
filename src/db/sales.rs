//! `sales`: the settings that the gate is loaded from. `sold` is raised in `orders::persist`.

use app::model::{SaleState, VoucherId};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

/// A sale's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sale {
    /// The voucher on sale.
    pub voucher: VoucherId,
    /// Units granted.
    pub granted: i64,
    /// The units wanted by a cut that the gate has not decided yet.
    pub cut_to: Option<i64>,
    /// Units sold, as stored.
    pub sold: i64,
    /// First instant of the sale.
    pub begins_at: OffsetDateTime,
    /// First instant after the sale.
    pub ends_at: OffsetDateTime,
    /// What the admin decided.
    pub state: SaleState,
    /// Counts the changes.
    pub version: i64,
    /// Is it over for 7 days, so that it may leave the gate?
    pub is_settled: bool,
}

/// Sales whose keys belong into the gate: all that have not left it.
///
/// # Errors
/// When the database fails.
pub async fn unsettled(pool: &PgPool) -> sqlx::Result<Vec<Sale>> {
    let rows = sqlx::query_as!(
        SaleRow,
        r#"SELECT voucher_id, granted, cut_to, sold, begins_at, ends_at, state, version,
                ends_at <= now() - interval '7 days' AS "is_settled!"
         FROM sales
         WHERE left_gate_at IS NULL
         ORDER BY voucher_id"#
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter().map(SaleRow::into_sale).collect()
}

/// A sale.
///
/// # Errors
/// When the database fails.
pub async fn by_id(pool: &PgPool, voucher: VoucherId) -> sqlx::Result<Option<Sale>> {
    let row = sqlx::query_as!(
        SaleRow,
        r#"SELECT voucher_id, granted, cut_to, sold, begins_at, ends_at, state, version,
                ends_at <= now() - interval '7 days' AS "is_settled!"
         FROM sales
         WHERE voucher_id = $1"#,
        voucher.0
    )
    .fetch_optional(pool)
    .await?;
    row.map(SaleRow::into_sale).transpose()
}

/// Has a sale left the gate?
///
/// # Errors
/// When the database fails.
pub async fn has_left_gate(pool: &PgPool, voucher: VoucherId) -> sqlx::Result<bool> {
    let left = sqlx::query_scalar!(
        r#"SELECT left_gate_at IS NOT NULL AS "left!" FROM sales WHERE voucher_id = $1"#,
        voucher.0
    );
    Ok(left.fetch_optional(pool).await?.unwrap_or_default())
}

/// Notes that a sale has left the gate, if it is still over for 7 days.
///
/// # Errors
/// When the database fails.
pub async fn set_left_gate(pool: &PgPool, voucher: VoucherId) -> sqlx::Result<()> {
    sqlx::query!(
        "UPDATE sales SET left_gate_at = now() WHERE voucher_id = $1 AND ends_at <= now() - interval '7 days'",
        voucher.0
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// The counter of a sale and the number of its live orders, of one moment.
///
/// # Errors
/// When the database fails; `RowNotFound` when there is no such sale.
pub async fn sold_and_live(pool: &PgPool, voucher: VoucherId) -> sqlx::Result<(i64, i64)> {
    let row = sqlx::query!(
        r#"SELECT sold,
                (SELECT count(*) FROM orders WHERE voucher_id = $1 AND status = 'confirmed') AS "live!"
         FROM sales
         WHERE voucher_id = $1"#,
        voucher.0
    )
    .fetch_one(pool)
    .await?;
    Ok((row.sold, row.live))
}

/// Sets the counter of a sale to the number of its live orders. In the caller's transaction: the sale is locked first,
/// as where orders are stored, and only then they are counted.
///
/// # Errors
/// When the database fails; also when there are more live orders than units granted.
pub async fn recount(connection: &mut PgConnection, voucher: VoucherId) -> sqlx::Result<()> {
    sqlx::query!(
        "SELECT FROM sales WHERE voucher_id = $1 FOR NO KEY UPDATE",
        voucher.0
    )
    .fetch_one(&mut *connection)
    .await?;
    sqlx::query!(
        "UPDATE sales
         SET sold = (SELECT count(*) FROM orders WHERE voucher_id = $1 AND status = 'confirmed')
         WHERE voucher_id = $1",
        voucher.0
    )
    .execute(&mut *connection)
    .await?;
    Ok(())
}

/// The gate has decided a cut: `granted` follows what it holds at this version, and the cut is over. False when the sale
/// has changed meanwhile: who changed it carries the cut on.
///
/// Never below what is sold, and never above what was granted. `actor` is who is noted for it.
///
/// # Errors
/// When the database fails.
pub async fn finish_cut(
    pool: &PgPool,
    voucher: VoucherId,
    version: i64,
    held: i64,
    actor: &str,
) -> sqlx::Result<bool> {
    let cut = sqlx::query_scalar!(
        r#"WITH before AS (
             SELECT voucher_id, granted
             FROM sales
             WHERE voucher_id = $1 AND version = $2 AND cut_to IS NOT NULL
             FOR NO KEY UPDATE
         ), cut AS (
             UPDATE sales
             SET granted = LEAST(before.granted, GREATEST($3, sales.sold)),
                 cut_to = NULL,
                 version = sales.version + 1
             FROM before
             WHERE sales.voucher_id = before.voucher_id
             RETURNING sales.voucher_id, before.granted AS was, sales.granted
         ), audit AS (
             INSERT INTO audit_log (actor, action, subject, detail)
             SELECT $4, 'cut_units', 'voucher ' || voucher_id, 'granted ' || was || ' -> ' || granted
             FROM cut
         )
         SELECT voucher_id AS "voucher_id!" FROM cut"#,
        voucher.0,
        version,
        held,
        actor
    )
    .fetch_optional(pool)
    .await?;
    Ok(cut.is_some())
}

/// Gives a sale a version above `held`, which the gate holds and this database does not know (any more). False when it
/// knows it by now.
///
/// # Errors
/// When the database fails.
pub async fn overtake(pool: &PgPool, voucher: VoucherId, held: i64) -> sqlx::Result<bool> {
    let overtaken = sqlx::query_scalar!(
        r#"WITH overtaken AS (
             UPDATE sales
             SET version = $2 + 1
             WHERE voucher_id = $1 AND version < $2
             RETURNING voucher_id
         ), audit AS (
             INSERT INTO audit_log (actor, action, subject, detail)
             SELECT 'program', 'overtake', 'voucher ' || voucher_id, 'the gate held version ' || $2::bigint
             FROM overtaken
         )
         SELECT voucher_id AS "voucher_id!" FROM overtaken"#,
        voucher.0,
        held
    )
    .fetch_optional(pool)
    .await?;
    Ok(overtaken.is_some())
}

/// Is there any sale at all?
///
/// # Errors
/// When the database fails.
pub async fn any(pool: &PgPool) -> sqlx::Result<bool> {
    sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM sales) AS "found!""#)
        .fetch_one(pool)
        .await
}

struct SaleRow {
    voucher_id: i32,
    granted: i64,
    cut_to: Option<i64>,
    sold: i64,
    begins_at: OffsetDateTime,
    ends_at: OffsetDateTime,
    state: String,
    version: i64,
    is_settled: bool,
}

impl SaleRow {
    fn into_sale(self) -> sqlx::Result<Sale> {
        let state = SaleState::parse(&self.state)
            .ok_or_else(|| sqlx::Error::Decode("unknown sale state".into()))?;
        Ok(Sale {
            voucher: VoucherId(self.voucher_id),
            granted: self.granted,
            cut_to: self.cut_to,
            sold: self.sold,
            begins_at: self.begins_at,
            ends_at: self.ends_at,
            state,
            version: self.version,
            is_settled: self.is_settled,
        })
    }
}
