//! `vouchers`, each with its sale. Lists leave out what is a rehearsal's: numbers from 2,000,000,000 on (migration 0009).

use std::collections::HashMap;

use app::model::{
    Cents, NewSale, PictureId, SaleState, SalesCursor, SalesSearch, ShopId, Voucher, VoucherId,
};
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;

/// The constraint that a voucher of an unknown shop breaks.
pub const SHOP_EXISTS: &str = "vouchers_shop_exists";

/// Stores a voucher with its sale and who did it, in one statement.
///
/// # Errors
/// When the database fails or refuses.
pub async fn insert(pool: &PgPool, sale: &NewSale, actor: &str) -> sqlx::Result<VoucherId> {
    sqlx::query_scalar!(
        "WITH voucher AS (
             INSERT INTO vouchers (shop_id, title, subtitle, rules, price_cents, face_value_cents)
             VALUES ($1, $2, $3, $4, $5, $6)
             RETURNING id
         ), audit AS (
             INSERT INTO audit_log (actor, action, subject, detail)
             SELECT $11, 'create_sale', 'voucher ' || id, $7::bigint || ' units'
             FROM voucher
         )
         INSERT INTO sales (voucher_id, granted, begins_at, ends_at, zone)
         SELECT id, $7, $8, $9, $10
         FROM voucher
         RETURNING voucher_id",
        sale.shop_id.0,
        sale.title.as_str(),
        sale.subtitle.as_str(),
        sale.rules.as_str(),
        sale.price.0,
        sale.face_value.0,
        sale.stock,
        sale.begins_at,
        sale.ends_at,
        sale.zone.name(),
        actor
    )
    .fetch_one(pool)
    .await
    .map(VoucherId)
}

/// A voucher with its sale.
///
/// # Errors
/// When the database fails.
pub async fn by_id(pool: &PgPool, id: VoucherId) -> sqlx::Result<Option<Voucher>> {
    Ok(of_ids(pool, &[id]).await?.pop())
}

/// What came of [`change`].
#[derive(Debug)]
pub enum Changed {
    /// It was so already; nothing was stored.
    Not(Voucher),
    /// Stored, as a new version.
    Stored(Voucher),
}

/// Changes a voucher and its sale to what `decide` makes of them, as a new version, and notes who did it with what was and
/// what is. The sale's row is locked from the look to the change, so that of two who change it each sees what the other
/// did. `None` where there is no such voucher.
///
/// # Errors
/// When the database fails; nothing is changed then. Inside: why `decide` would not; nothing is changed either.
pub async fn change<E: Send + 'static>(
    pool: &PgPool,
    id: VoucherId,
    actor: String,
    action: &'static str,
    decide: impl FnOnce(&Voucher) -> Result<Voucher, E> + Send + 'static,
) -> sqlx::Result<Option<Result<Changed, E>>> {
    super::in_transaction(pool, move |connection| {
        Box::pin(async move {
            let Some(was) = locked(connection, id).await? else {
                return Ok(None);
            };
            let mut voucher = match decide(&was) {
                Err(refusal) => return Ok(Some(Err(refusal))),
                Ok(voucher) if voucher == was => return Ok(Some(Ok(Changed::Not(was)))),
                Ok(voucher) => voucher,
            };
            voucher.version = was.version + 1;
            update(connection, &voucher, &was, &actor, action).await?;
            Ok(Some(Ok(Changed::Stored(voucher))))
        })
    })
    .await
}

/// A voucher whose sale nobody else changes until the transaction ends.
async fn locked(connection: &mut PgConnection, id: VoucherId) -> sqlx::Result<Option<Voucher>> {
    let lock = sqlx::query!(
        "SELECT FROM sales WHERE voucher_id = $1 FOR NO KEY UPDATE",
        id.0
    );
    // A statement of its own: the next one sees what was stored while this one waited.
    lock.fetch_optional(&mut *connection).await?;
    Ok(of_ids(connection, &[id]).await?.pop())
}

async fn update(
    connection: &mut PgConnection,
    voucher: &Voucher,
    was: &Voucher,
    actor: &str,
    action: &str,
) -> sqlx::Result<()> {
    sqlx::query!(
        "WITH voucher AS (
             UPDATE vouchers
             SET title = $2, subtitle = $3, rules = $4, price_cents = $5, face_value_cents = $6
             WHERE id = $1
         ), audit AS (
             INSERT INTO audit_log (actor, action, subject, detail)
             VALUES ($14, $15, 'voucher ' || $1::integer, $16)
         )
         UPDATE sales
         SET granted = $7, cut_to = $8, begins_at = $9, ends_at = $10, zone = $11, state = $12, version = $13
         WHERE voucher_id = $1",
        voucher.id.0,
        voucher.title,
        voucher.subtitle,
        voucher.rules,
        voucher.price.0,
        voucher.face_value.0,
        voucher.granted,
        voucher.cut_to,
        voucher.begins_at,
        voucher.ends_at,
        voucher.zone,
        voucher.state.as_str(),
        voucher.version,
        actor,
        action,
        voucher.differences(was)
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Vouchers of these ids, in any order.
///
/// # Errors
/// When the database fails.
pub async fn by_ids(pool: &PgPool, ids: &[VoucherId]) -> sqlx::Result<Vec<Voucher>> {
    of_ids(pool, ids).await
}

/// The vouchers of a shop, running and coming sales first; none that is withdrawn.
///
/// # Errors
/// When the database fails.
pub async fn of_shop(pool: &PgPool, shop: ShopId) -> sqlx::Result<Vec<Voucher>> {
    select(
        pool,
        Choice {
            shop: Some(shop),
            limit: 200,
            ..Choice::default()
        },
    )
    .await
}

/// Up to 24 vouchers whose sale runs or begins within a week: those with units left first, and of them those that run, the
/// last begun first, then those to come, the next first. None that is withdrawn.
///
/// # Errors
/// When the database fails.
pub async fn current(pool: &PgPool) -> sqlx::Result<Vec<Voucher>> {
    select(
        pool,
        Choice {
            current: true,
            limit: 24,
            ..Choice::default()
        },
    )
    .await
}

/// A page of all vouchers: running sales first, those that began last before others; then coming ones, the next first; then
/// those that are over, the last first. Each with its place, after which the next page begins.
///
/// What is over is read by its index, so that a page costs the same however many there are.
///
/// # Errors
/// When the database fails.
pub async fn by_phase(
    pool: &PgPool,
    after: Option<SalesCursor>,
    count: usize,
) -> sqlx::Result<Vec<(SalesCursor, Voucher)>> {
    let after = after.unwrap_or(FIRST);
    let rows = sqlx::query!(
        r#"WITH listed AS (
             SELECT voucher_id, (begins_at > now())::integer AS place,
                    CASE WHEN begins_at > now() THEN 1 ELSE -1 END
                        * (extract(epoch FROM begins_at) * 1000000)::bigint AS rank
             FROM sales
             WHERE ends_at > now() AND voucher_id < 2000000000
             UNION ALL (
                 SELECT voucher_id, 2, -(extract(epoch FROM ends_at) * 1000000)::bigint
                 FROM sales
                 WHERE ends_at <= LEAST(now(), $5)
                   AND voucher_id < 2000000000
                   AND ($1 < 2 OR (-(extract(epoch FROM ends_at) * 1000000)::bigint, voucher_id) > ($2, $3))
                 ORDER BY ends_at DESC, voucher_id
                 LIMIT $4
             )
         )
         SELECT listed.place AS "place!", listed.rank AS "rank!", v.id, v.shop_id, shop.name AS shop_name,
                shop.category AS shop_category, shop.tile AS shop_tile, v.title, v.subtitle, v.rules, v.price_cents,
                v.face_value_cents, s.granted, s.cut_to, s.sold, s.begins_at, s.ends_at, s.zone, s.state, s.version
         FROM listed
         JOIN sales s ON s.voucher_id = listed.voucher_id
         JOIN vouchers v ON v.id = listed.voucher_id
         JOIN shops shop ON shop.id = v.shop_id
         WHERE (listed.place, listed.rank, listed.voucher_id) > ($1, $2, $3)
         ORDER BY listed.place, listed.rank, listed.voucher_id
         LIMIT $4"#,
        after.group,
        after.rank,
        after.voucher.0,
        i64::try_from(count).unwrap_or(i64::MAX),
        ended_by(after)
    )
    .fetch_all(pool)
    .await?;
    let listed = rows.into_iter().map(|row| {
        let cursor = SalesCursor {
            group: row.place,
            rank: row.rank,
            voucher: VoucherId(row.id),
        };
        let voucher = VoucherRow {
            id: row.id,
            shop_id: row.shop_id,
            shop_name: row.shop_name,
            shop_category: row.shop_category,
            shop_tile: row.shop_tile,
            title: row.title,
            subtitle: row.subtitle,
            rules: row.rules,
            price_cents: row.price_cents,
            face_value_cents: row.face_value_cents,
            granted: row.granted,
            cut_to: row.cut_to,
            sold: row.sold,
            begins_at: row.begins_at,
            ends_at: row.ends_at,
            zone: row.zone,
            state: row.state,
            version: row.version,
        };
        Ok((cursor, voucher.into_voucher()?))
    });
    listed.collect()
}

/// A page of the vouchers that are wanted, in the order of [`by_phase`].
///
/// What has the words is found by indexes, and so is what was withdrawn; sales that are over are read by theirs, no more
/// than a page needs.
///
/// # Errors
/// When the database fails.
pub async fn search(
    pool: &PgPool,
    search: &SalesSearch,
    count: usize,
) -> sqlx::Result<Vec<(SalesCursor, Voucher)>> {
    let after = search.after.unwrap_or(FIRST);
    let standing = search.standing.map(|standing| standing.as_str());
    let names: Vec<String> = search.words.folded().iter().map(like).collect();
    let plain = search.words.plain();
    let titles = plain.iter().flat_map(|words| words.split(' ')).map(like);
    let rows = sqlx::query!(
        r#"WITH wanted AS (
             SELECT id FROM vouchers
             WHERE $4::text IS NOT NULL
               AND shop_grams(lower(title)) @> shop_grams(lower($4))
               AND lower(title) LIKE ALL (SELECT lower(UNNEST($5::text[])))
             UNION
             SELECT vouchers.id FROM shops
             JOIN vouchers ON vouchers.shop_id = shops.id
             WHERE $4 IS NOT NULL
               AND cardinality($6::text[]) > 0
               AND shop_grams(shops.search_text) @> $7
               AND shops.search_name LIKE ALL ($6)
             UNION
             SELECT voucher_id FROM sales
             WHERE $4 IS NULL AND $8::text <> 'over' AND ends_at > now()
             UNION
             SELECT voucher_id FROM sales
             WHERE $4 IS NULL AND $8 = 'withdrawn' AND state = 'withdrawn'
             UNION
             (SELECT voucher_id FROM sales
              WHERE $4 IS NULL
                AND $8 = 'over'
                AND ends_at <= LEAST(now(), $9)
                AND voucher_id < 2000000000
                AND ($1 < 2 OR (-(extract(epoch FROM ends_at) * 1000000)::bigint, voucher_id) > ($2, $3))
              ORDER BY ends_at DESC, voucher_id
              LIMIT $10)
         ), listed AS (
             SELECT voucher_id, state,
                    CASE WHEN ends_at <= now() THEN 2 WHEN begins_at > now() THEN 1 ELSE 0 END AS place,
                    CASE WHEN ends_at <= now() THEN -(extract(epoch FROM ends_at) * 1000000)::bigint
                         WHEN begins_at > now() THEN (extract(epoch FROM begins_at) * 1000000)::bigint
                         ELSE -(extract(epoch FROM begins_at) * 1000000)::bigint END AS rank
             FROM sales
             JOIN wanted ON wanted.id = sales.voucher_id
         )
         SELECT voucher_id, place AS "place!", rank AS "rank!"
         FROM listed
         WHERE (place, rank, voucher_id) > ($1, $2, $3)
           AND voucher_id < 2000000000
           AND CASE $8
                   WHEN 'running' THEN place = 0 AND state = 'open'
                   WHEN 'coming' THEN place = 1 AND state = 'open'
                   WHEN 'over' THEN place = 2
                   WHEN 'paused' THEN place < 2 AND state = 'paused'
                   WHEN 'withdrawn' THEN state = 'withdrawn'
                   ELSE true
               END
         ORDER BY place, rank, voucher_id
         LIMIT $10"#,
        after.group,
        after.rank,
        after.voucher.0,
        plain,
        &titles.collect::<Vec<String>>(),
        &names,
        &search.words.grams(),
        standing,
        ended_by(after),
        i64::try_from(count).unwrap_or(i64::MAX)
    )
    .fetch_all(pool)
    .await?;
    let places = rows.into_iter().map(|row| SalesCursor {
        group: row.place,
        rank: row.rank,
        voucher: VoucherId(row.voucher_id),
    });
    let places: Vec<SalesCursor> = places.collect();
    let ids: Vec<VoucherId> = places.iter().map(|place| place.voucher).collect();
    let found = by_ids(pool, &ids).await?.into_iter();
    let mut found: HashMap<VoucherId, Voucher> =
        found.map(|voucher| (voucher.id, voucher)).collect();
    let listed = places.into_iter();
    Ok(listed
        .filter_map(|place| Some((place, found.remove(&place.voucher)?)))
        .collect())
}

/// What a text with this word is like, the word as it is.
fn like(word: impl AsRef<str>) -> String {
    let mut pattern = String::from("%");
    for letter in word.as_ref().chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern + "%"
}

/// Before every place in the list of sales.
const FIRST: SalesCursor = SalesCursor {
    group: 0,
    rank: i64::MIN,
    voucher: VoucherId(0),
};

/// When the sale of a place ended, if it is over.
fn ended_by(place: SalesCursor) -> Option<OffsetDateTime> {
    let micros = i128::from(place.rank.saturating_neg());
    let ended_by = OffsetDateTime::from_unix_timestamp_nanos(micros * 1000);
    ended_by.ok().filter(|_| place.group == 2)
}

/// A statement of its own: one for every wish reads all vouchers once it is planned for any of them.
async fn of_ids(executor: impl PgExecutor<'_>, ids: &[VoucherId]) -> sqlx::Result<Vec<Voucher>> {
    let ids: Vec<i32> = ids.iter().map(|id| id.0).collect();
    let rows = sqlx::query_as!(
        VoucherRow,
        "SELECT v.id, v.shop_id, shop.name AS shop_name, shop.category AS shop_category, shop.tile AS shop_tile,
                v.title, v.subtitle, v.rules, v.price_cents,
                v.face_value_cents, s.granted, s.cut_to, s.sold, s.begins_at, s.ends_at, s.zone, s.state, s.version
         FROM vouchers v
         JOIN sales s ON s.voucher_id = v.id
         JOIN shops shop ON shop.id = v.shop_id
         WHERE v.id = ANY($1)",
        &ids
    )
    .fetch_all(executor)
    .await?;
    rows.into_iter().map(VoucherRow::into_voucher).collect()
}

/// Which vouchers are wanted.
#[derive(Clone, Copy, Default)]
struct Choice {
    shop: Option<ShopId>,
    current: bool,
    limit: i64,
}

async fn select(executor: impl PgExecutor<'_>, choice: Choice) -> sqlx::Result<Vec<Voucher>> {
    let limit = if choice.limit > 0 {
        Some(choice.limit)
    } else {
        None
    };
    let rows = sqlx::query_as!(
        VoucherRow,
        "SELECT v.id, v.shop_id, shop.name AS shop_name, shop.category AS shop_category, shop.tile AS shop_tile,
                v.title, v.subtitle, v.rules, v.price_cents,
                v.face_value_cents, s.granted, s.cut_to, s.sold, s.begins_at, s.ends_at, s.zone, s.state, s.version
         FROM vouchers v
         JOIN sales s ON s.voucher_id = v.id
         JOIN shops shop ON shop.id = v.shop_id
         WHERE v.id < 2000000000
           AND ($1::integer IS NULL OR v.shop_id = $1)
           AND s.state <> 'withdrawn'
           AND (NOT $2::boolean OR (s.ends_at > now() AND s.begins_at < now() + interval '7 days'))
         ORDER BY CASE WHEN $2::boolean THEN s.sold >= s.granted END,
                  CASE WHEN $2::boolean THEN s.begins_at > now() END,
                  CASE WHEN $2::boolean AND s.begins_at <= now() THEN s.begins_at END DESC,
                  s.ends_at <= now(), s.begins_at, v.id
         LIMIT $3",
        choice.shop.map(|shop| shop.0),
        choice.current,
        limit
    )
    .fetch_all(executor)
    .await?;
    rows.into_iter().map(VoucherRow::into_voucher).collect()
}

struct VoucherRow {
    id: i32,
    shop_id: i32,
    shop_name: String,
    shop_category: String,
    shop_tile: Option<Vec<u8>>,
    title: String,
    subtitle: String,
    rules: String,
    price_cents: i64,
    face_value_cents: i64,
    granted: i64,
    cut_to: Option<i64>,
    sold: i64,
    begins_at: OffsetDateTime,
    ends_at: OffsetDateTime,
    zone: String,
    state: String,
    version: i64,
}

impl VoucherRow {
    fn into_voucher(self) -> sqlx::Result<Voucher> {
        let state = SaleState::parse(&self.state)
            .ok_or_else(|| sqlx::Error::Decode("unknown sale state".into()))?;
        Ok(Voucher {
            id: VoucherId(self.id),
            shop_id: ShopId(self.shop_id),
            shop_name: self.shop_name,
            shop_category: self.shop_category,
            shop_tile: self
                .shop_tile
                .and_then(|hash| PictureId::from_stored(&hash)),
            title: self.title,
            subtitle: self.subtitle,
            rules: self.rules,
            price: Cents(self.price_cents),
            face_value: Cents(self.face_value_cents),
            granted: self.granted,
            cut_to: self.cut_to,
            sold: self.sold,
            begins_at: self.begins_at,
            ends_at: self.ends_at,
            zone: self.zone,
            state,
            version: self.version,
        })
    }
}
