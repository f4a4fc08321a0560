//! `shops` as they are searched: their folded texts, and the index over them (migration 0006). What is due to be folded is
//! read here and stored here; what folding does is `app::model::folded`. The shop of a rehearsal (migration 0009) is never
//! folded, so that no words find it.

use app::model::{
    Category, FoundOffer, PictureId, Shop, ShopId, ShopKey, ShopSearch, VoucherId, Words,
};
use sqlx::PgPool;
use time::OffsetDateTime;

/// Shops a page of the list.
pub const PAGE: usize = 20;

/// Shops that are compared letter by letter when no shop has all words.
const NEAR: i64 = 60;

/// Shops of one half of a word that are looked at for that.
const HALF: i64 = 2_000;

/// Titles of one shop that are searched: those of the sales that end first.
const TITLES: i64 = 50;

/// A shop whose texts are to be folded.
pub struct Due {
    /// The shop.
    pub id: i32,
    /// Since when.
    pub due_at: OffsetDateTime,
    /// Its name.
    pub name: String,
    /// What else it is found by: category, address, titles of its vouchers.
    pub others: String,
    /// When the first of its sales ends, and its title is nothing to be found by any more.
    pub ends_at: Option<OffsetDateTime>,
}

/// A shop, folded.
pub struct Folded {
    /// What was folded.
    pub due: Due,
    /// Its folded name.
    pub name: String,
    /// All of it, folded.
    pub text: String,
}

/// Shops whose texts are to be folded, those that wait longest first.
///
/// # Errors
/// When the database fails.
pub async fn due(pool: &PgPool, at_most: i64) -> sqlx::Result<Vec<Due>> {
    sqlx::query_as!(
        Due,
        r#"SELECT shop.id, shop.search_due_at AS due_at, shop.name,
                  concat_ws(' ', shop.category, shop.address, offers.titles) AS "others!",
                  offers.ends_at
           FROM (SELECT *
                 FROM shops
                 WHERE search_due_at <= now()
                   AND id < 2000000000
                 ORDER BY search_due_at, id
                 LIMIT $1) AS shop
           CROSS JOIN LATERAL (
                 SELECT string_agg(title, ' ') AS titles, min(ends_at) AS ends_at
                 FROM (SELECT v.title, s.ends_at
                       FROM vouchers v
                       JOIN sales s ON s.voucher_id = v.id
                       WHERE v.shop_id = shop.id
                         AND s.ends_at > now()
                         AND s.state <> 'withdrawn'
                       ORDER BY s.ends_at, v.id
                       LIMIT $2) AS offer) AS offers"#,
        at_most,
        TITLES
    )
    .fetch_all(pool)
    .await
}

/// Stores folded texts, except of shops that have changed since, or that somebody else is changing: those are due again.
///
/// # Errors
/// When the database fails.
pub async fn store(pool: &PgPool, folded: &[Folded]) -> sqlx::Result<()> {
    let ids: Vec<i32> = folded.iter().map(|shop| shop.due.id).collect();
    let since: Vec<OffsetDateTime> = folded.iter().map(|shop| shop.due.due_at).collect();
    let until: Vec<Option<OffsetDateTime>> = folded.iter().map(|shop| shop.due.ends_at).collect();
    let names: Vec<&str> = folded.iter().map(|shop| shop.name.as_str()).collect();
    let texts: Vec<&str> = folded.iter().map(|shop| shop.text.as_str()).collect();
    sqlx::query!(
        "WITH mine AS MATERIALIZED (
             SELECT id, search_due_at
             FROM shops
             WHERE id = ANY($1)
             ORDER BY id
             FOR NO KEY UPDATE SKIP LOCKED
         )
         UPDATE shops
         SET search_name = folded.name,
             search_text = folded.text,
             search_due_at = COALESCE(folded.until, 'infinity')
         FROM mine
         JOIN UNNEST($1::integer[], $2::timestamptz[], $3::timestamptz[], $4::text[], $5::text[])
              AS folded (id, since, until, name, text) ON folded.id = mine.id
         WHERE shops.id = mine.id
           AND mine.search_due_at = folded.since",
        &ids,
        &since,
        &until as &[Option<OffsetDateTime>],
        &names as &[&str],
        &texts as &[&str]
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Shops that have all words, best first, one more than [`PAGE`] when more follow.
///
/// # Errors
/// When the database fails.
pub async fn find(pool: &PgPool, search: &ShopSearch) -> sqlx::Result<Vec<(ShopKey, Shop)>> {
    // Nothing is before the first page, which need not look.
    let after = search.after.map_or((-1, 0), |key| (key.rank, key.id.0));
    let limit = i64::try_from(PAGE + 1).unwrap_or(i64::MAX);
    let rows = sqlx::query_as!(
        FoundRow,
        r#"SELECT id, name, category, address, tile, rank AS "rank!"
           FROM (SELECT id, name, category, address, tile,
                        CASE WHEN NOT search_name LIKE ALL ($2) THEN 2
                             WHEN starts_with(search_name, $3) THEN 0
                             ELSE 1 END AS rank
                 FROM shops
                 WHERE shop_grams(search_text) @> $1
                   AND search_text LIKE ALL ($8)
                   AND ($4 = '' OR category = $4)) AS found
           WHERE $5 < 0
              OR (rank, id) > ($5, $6)
           ORDER BY rank, id
           LIMIT $7"#,
        &search.words.grams(),
        &patterns(search.words.folded()),
        search.words.phrase(),
        search.category,
        after.0,
        after.1,
        limit,
        &patterns(search.words.long())
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(FoundRow::into_found).collect())
}

/// All shops, or those of a category, in order of id, one more than [`PAGE`] when more follow.
///
/// # Errors
/// When the database fails.
pub async fn all(pool: &PgPool, search: &ShopSearch) -> sqlx::Result<Vec<(ShopKey, Shop)>> {
    let limit = i64::try_from(PAGE + 1).unwrap_or(i64::MAX);
    let rows = sqlx::query_as!(
        FoundRow,
        r#"SELECT id, name, category, address, tile, 0 AS "rank!"
           FROM shops
           WHERE ($1 = '' OR category = $1)
             AND id > $2
             AND id < 2000000000
           ORDER BY id
           LIMIT $3"#,
        search.category,
        search.after.map_or(0, |key| key.id.0),
        limit
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(FoundRow::into_found).collect())
}

/// Shops that have at least a half of one of the words, with their folded texts; those that share most with the words
/// first.
///
/// # Errors
/// When the database fails.
pub async fn near(
    pool: &PgPool,
    words: &Words,
    category: &str,
) -> sqlx::Result<Vec<(String, Shop)>> {
    let rows = sqlx::query_as!(
        NearRow,
        r#"SELECT id, name, category, address, tile, search_text
           FROM (SELECT DISTINCT shops.*
                 FROM UNNEST($1::text[]) AS half
                 CROSS JOIN LATERAL (
                       SELECT id, name, category, address, tile, search_text
                       FROM shops
                       WHERE shop_grams(search_text) @> shop_grams(half)
                         AND strpos(search_text, half) > 0
                         AND ($2 = '' OR category = $2)
                       LIMIT $4) AS shops) AS near
           ORDER BY (SELECT count(*) FROM UNNEST($3::text[]) AS gram WHERE strpos(search_text, gram) > 0) DESC, id
           LIMIT $5"#,
        &words.halves(),
        category,
        &words.grams(),
        HALF,
        NEAR
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(NearRow::into_near).collect())
}

/// What shops offer now, those of each shop whose sale ends first before the others.
///
/// # Errors
/// When the database fails.
pub async fn offers(pool: &PgPool, shops: &[ShopId]) -> sqlx::Result<Vec<FoundOffer>> {
    let ids: Vec<i32> = shops.iter().map(|shop| shop.0).collect();
    let rows = sqlx::query!(
        r#"SELECT offer.shop_id AS "shop_id!", offer.id AS "id!", offer.title AS "title!"
           FROM UNNEST($1::integer[]) AS shop (id)
           CROSS JOIN LATERAL (
                 SELECT v.shop_id, v.id, v.title, s.ends_at
                 FROM vouchers v
                 JOIN sales s ON s.voucher_id = v.id
                 WHERE v.shop_id = shop.id
                   AND s.ends_at > now()
                   AND s.state <> 'withdrawn'
                 ORDER BY s.ends_at, v.id
                 LIMIT $2) AS offer
           ORDER BY offer.shop_id, offer.ends_at, offer.id"#,
        &ids,
        TITLES
    )
    .fetch_all(pool)
    .await?;
    let offers = rows.into_iter().map(|row| FoundOffer {
        shop: ShopId(row.shop_id),
        voucher: VoucherId(row.id),
        title: row.title,
    });
    Ok(offers.collect())
}

/// How many shops of each category have all words, the largest first.
///
/// # Errors
/// When the database fails.
pub async fn categories(pool: &PgPool, words: &Words) -> sqlx::Result<Vec<Category>> {
    sqlx::query_as!(
        Category,
        r#"SELECT category AS name, count(*) AS "shops!"
           FROM shops
           WHERE shop_grams(search_text) @> $1
             AND search_text LIKE ALL ($2)
           GROUP BY category
           ORDER BY count(*) DESC, category"#,
        &words.grams(),
        &patterns(words.long())
    )
    .fetch_all(pool)
    .await
}

/// How many shops each category has, the largest first.
///
/// # Errors
/// When the database fails.
pub async fn all_categories(pool: &PgPool) -> sqlx::Result<Vec<Category>> {
    sqlx::query_as!(
        Category,
        r#"SELECT category AS name, count(*) AS "shops!"
           FROM shops
           WHERE id < 2000000000
           GROUP BY category
           ORDER BY count(*) DESC, category"#
    )
    .fetch_all(pool)
    .await
}

/// The words anywhere in a text. Folded words hold no wildcard.
fn patterns<'a>(words: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let words = words.into_iter();
    words.map(|word| format!("%{word}%")).collect()
}

struct FoundRow {
    id: i32,
    name: String,
    category: String,
    address: String,
    tile: Option<Vec<u8>>,
    rank: i32,
}

impl FoundRow {
    fn into_found(self) -> (ShopKey, Shop) {
        let id = ShopId(self.id);
        let shop = Shop {
            id,
            name: self.name,
            category: self.category,
            address: self.address,
            tile: self.tile.and_then(|hash| PictureId::from_stored(&hash)),
        };
        let rank = self.rank;
        (ShopKey { rank, id }, shop)
    }
}

struct NearRow {
    id: i32,
    name: String,
    category: String,
    address: String,
    tile: Option<Vec<u8>>,
    search_text: String,
}

impl NearRow {
    fn into_near(self) -> (String, Shop) {
        let shop = Shop {
            id: ShopId(self.id),
            name: self.name,
            category: self.category,
            address: self.address,
            tile: self.tile.and_then(|hash| PictureId::from_stored(&hash)),
        };
        (self.search_text, shop)
    }
}
