//! `sale_figures`: what happened at each sale, in buckets of ten seconds by who counted, later of a minute for all.

use std::collections::HashMap;

use app::model::{Counts, VoucherId};
use sqlx::PgPool;
use time::OffsetDateTime;

/// Rows that one tidying joins, and deletes, at most.
const TIDIED: i64 = 5000;

/// The sums of one count: the sale, when its bucket begins, the number that it was given, and what it has come to.
pub type Row = (VoucherId, OffsetDateTime, i64, Counts);

/// Writes sums, in the place of what was written of the same counts before.
///
/// # Errors
/// When the database fails.
pub async fn upsert(pool: &PgPool, rows: &[Row]) -> sqlx::Result<()> {
    let vouchers: Vec<i32> = rows.iter().map(|(voucher, ..)| voucher.0).collect();
    let times: Vec<OffsetDateTime> = rows.iter().map(|(_, at, ..)| *at).collect();
    let ids: Vec<i64> = rows.iter().map(|(_, _, id, _)| *id).collect();
    let column = |of: fn(&Counts) -> i64| -> Vec<i64> {
        rows.iter().map(|(.., counts)| of(counts)).collect()
    };
    sqlx::query!(
        "INSERT INTO sale_figures (voucher_id, bucket_at, count_id, accepted, already_bought, sold_out, not_started,
                                   ended, closed, confirmed, refused, lag_ms, max_lag_ms, backlog)
         SELECT *
         FROM UNNEST($1::integer[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
                     $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[])
         ON CONFLICT ON CONSTRAINT sale_figures_once DO UPDATE
         SET accepted = EXCLUDED.accepted,
             already_bought = EXCLUDED.already_bought,
             sold_out = EXCLUDED.sold_out,
             not_started = EXCLUDED.not_started,
             ended = EXCLUDED.ended,
             closed = EXCLUDED.closed,
             confirmed = EXCLUDED.confirmed,
             refused = EXCLUDED.refused,
             lag_ms = EXCLUDED.lag_ms,
             max_lag_ms = EXCLUDED.max_lag_ms,
             backlog = EXCLUDED.backlog,
             written_at = now()",
        &vouchers,
        &times,
        &ids,
        &column(|counts| counts.accepted),
        &column(|counts| counts.already_bought),
        &column(|counts| counts.sold_out),
        &column(|counts| counts.not_started),
        &column(|counts| counts.ended),
        &column(|counts| counts.closed),
        &column(|counts| counts.confirmed),
        &column(|counts| counts.refused),
        &column(|counts| counts.lag_ms),
        &column(|counts| counts.max_lag_ms),
        &column(|counts| counts.backlog)
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// The figures of a sale since `from`, of all who count together, by the beginning of each step of `step_s` seconds.
///
/// # Errors
/// When the database fails.
pub async fn of_sale(
    pool: &PgPool,
    voucher: VoucherId,
    from: OffsetDateTime,
    step_s: i64,
) -> sqlx::Result<Vec<(OffsetDateTime, Counts)>> {
    let rows = sqlx::query!(
        r#"SELECT to_timestamp(extract(epoch FROM bucket_at)::bigint / $3 * $3) AS "at!",
                sum(accepted)::bigint AS "accepted!",
                sum(already_bought)::bigint AS "already_bought!",
                sum(sold_out)::bigint AS "sold_out!",
                sum(not_started)::bigint AS "not_started!",
                sum(ended)::bigint AS "ended!",
                sum(closed)::bigint AS "closed!",
                sum(confirmed)::bigint AS "confirmed!",
                sum(refused)::bigint AS "refused!",
                sum(lag_ms)::bigint AS "lag_ms!",
                max(max_lag_ms) AS "max_lag_ms!",
                max(backlog) AS "backlog!"
         FROM sale_figures
         WHERE voucher_id = $1 AND bucket_at >= $2
         GROUP BY 1
         ORDER BY 1"#,
        voucher.0,
        from,
        step_s
    )
    .fetch_all(pool)
    .await?;
    let steps = rows.into_iter().map(|row| {
        let counts = Counts {
            accepted: row.accepted,
            already_bought: row.already_bought,
            sold_out: row.sold_out,
            not_started: row.not_started,
            ended: row.ended,
            closed: row.closed,
            confirmed: row.confirmed,
            refused: row.refused,
            lag_ms: row.lag_ms,
            max_lag_ms: row.max_lag_ms,
            backlog: row.backlog,
        };
        (row.at, counts)
    });
    Ok(steps.collect())
}

/// When something was first and last noted of a sale.
///
/// # Errors
/// When the database fails.
pub async fn known_of(
    pool: &PgPool,
    voucher: VoucherId,
) -> sqlx::Result<Option<(OffsetDateTime, OffsetDateTime)>> {
    let row = sqlx::query!(
        "SELECT min(bucket_at) AS first, max(bucket_at) AS last FROM sale_figures WHERE voucher_id = $1",
        voucher.0
    )
    .fetch_one(pool)
    .await?;
    Ok(row.first.zip(row.last))
}

/// Orders accepted since an instant, by sale.
///
/// # Errors
/// When the database fails.
pub async fn accepted_since(
    pool: &PgPool,
    vouchers: &[VoucherId],
    since: OffsetDateTime,
) -> sqlx::Result<HashMap<VoucherId, i64>> {
    let vouchers: Vec<i32> = vouchers.iter().map(|voucher| voucher.0).collect();
    let rows = sqlx::query!(
        r#"SELECT voucher_id, sum(accepted)::bigint AS "accepted!"
         FROM sale_figures
         WHERE voucher_id = ANY($1) AND bucket_at >= $2
         GROUP BY voucher_id"#,
        &vouchers,
        since
    )
    .fetch_all(pool)
    .await?;
    let accepted = rows
        .into_iter()
        .map(|row| (VoucherId(row.voucher_id), row.accepted));
    Ok(accepted.collect())
}

/// Joins what is older than an hour to minutes, and deletes what is older than thirty days; so many rows of each at most.
/// True when there is more. Who comes at the same time skips the rows in hand, so that none is joined twice. What was written
/// within the hour is left: who wrote it may not have heard so, and write it again, after an outage much later than it was counted.
///
/// # Errors
/// When the database fails; nothing is changed then.
pub async fn tidy(pool: &PgPool) -> sqlx::Result<bool> {
    let row = sqlx::query!(
        r#"WITH old AS (
             DELETE FROM sale_figures
             WHERE ctid = ANY(ARRAY(
                 SELECT ctid
                 FROM sale_figures
                 WHERE bucket_at < now() - interval '30 days'
                 ORDER BY bucket_at
                 LIMIT $1
                 FOR UPDATE SKIP LOCKED
             ))
             RETURNING 1
         ), fresh AS (
             DELETE FROM sale_figures
             WHERE ctid = ANY(ARRAY(
                 SELECT ctid
                 FROM sale_figures
                 WHERE count_id <> 0
                   AND bucket_at < now() - interval '1 hour'
                   AND written_at < now() - interval '1 hour'
                   AND bucket_at >= now() - interval '30 days'
                 ORDER BY bucket_at
                 LIMIT $1
                 FOR UPDATE SKIP LOCKED
             ))
             RETURNING *
         ), joined AS (
             INSERT INTO sale_figures (voucher_id, bucket_at, count_id, accepted, already_bought, sold_out, not_started,
                                       ended, closed, confirmed, refused, lag_ms, max_lag_ms, backlog)
             SELECT voucher_id, date_trunc('minute', bucket_at) AS minute, 0, sum(accepted), sum(already_bought),
                    sum(sold_out), sum(not_started), sum(ended), sum(closed), sum(confirmed), sum(refused), sum(lag_ms),
                    max(max_lag_ms), max(backlog)
             FROM fresh
             GROUP BY voucher_id, minute
             ORDER BY voucher_id, minute
             ON CONFLICT ON CONSTRAINT sale_figures_once DO UPDATE
             SET accepted = sale_figures.accepted + EXCLUDED.accepted,
                 already_bought = sale_figures.already_bought + EXCLUDED.already_bought,
                 sold_out = sale_figures.sold_out + EXCLUDED.sold_out,
                 not_started = sale_figures.not_started + EXCLUDED.not_started,
                 ended = sale_figures.ended + EXCLUDED.ended,
                 closed = sale_figures.closed + EXCLUDED.closed,
                 confirmed = sale_figures.confirmed + EXCLUDED.confirmed,
                 refused = sale_figures.refused + EXCLUDED.refused,
                 lag_ms = sale_figures.lag_ms + EXCLUDED.lag_ms,
                 max_lag_ms = GREATEST(sale_figures.max_lag_ms, EXCLUDED.max_lag_ms),
                 backlog = GREATEST(sale_figures.backlog, EXCLUDED.backlog)
         )
         SELECT GREATEST((SELECT count(*) FROM old), (SELECT count(*) FROM fresh)) >= $1 AS "is_more!""#,
        TIDIED
    )
    .fetch_one(pool)
    .await?;
    Ok(row.is_more)
}
