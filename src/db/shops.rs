//! `shops`: local businesses.

use app::model::{NewShop, PictureId, Shop, ShopId};
use sqlx::PgPool;

/// Stores a shop and who did it, in one statement.
///
/// # Errors
/// When the database fails.
pub async fn insert(pool: &PgPool, shop: &NewShop, actor: &str) -> sqlx::Result<ShopId> {
    sqlx::query_scalar!(
        r#"WITH shop AS (
             INSERT INTO shops (name, category, address) VALUES ($1, $2, $3) RETURNING id
         ), audit AS (
             INSERT INTO audit_log (actor, action, subject) SELECT $4, 'create_shop', 'shop ' || id FROM shop
         )
         SELECT id AS "id!" FROM shop"#,
        shop.name.as_str(),
        shop.category.as_str(),
        shop.address.as_str(),
        actor
    )
    .fetch_one(pool)
    .await
    .map(ShopId)
}

/// A shop with the version that a form of it is made from.
///
/// # Errors
/// When the database fails.
pub async fn versioned(pool: &PgPool, id: ShopId) -> sqlx::Result<Option<(Shop, i64)>> {
    let row = sqlx::query!(
        "SELECT name, category, address, tile, version FROM shops WHERE id = $1",
        id.0
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| {
        let shop = Shop {
            id,
            name: row.name,
            category: row.category,
            address: row.address,
            tile: row.tile.and_then(|hash| PictureId::from_stored(&hash)),
        };
        (shop, row.version)
    }))
}

/// Stores a shop's texts, as a new version, and who did it with what was and what is, in one statement. False when the
/// shop is of another version; saved unchanged, it stays as it is.
///
/// # Errors
/// When the database fails.
pub async fn update(
    pool: &PgPool,
    id: ShopId,
    version: i64,
    shop: &NewShop,
    actor: &str,
) -> sqlx::Result<bool> {
    let found = sqlx::query_scalar!(
        r#"WITH was AS (
             SELECT id, name, category, address
             FROM shops
             WHERE id = $1 AND version = $2
             FOR NO KEY UPDATE
         ), changed AS (
             UPDATE shops
             SET name = $3, category = $4, address = $5, version = version + 1
             FROM was
             WHERE shops.id = was.id AND (was.name, was.category, was.address) <> ($3, $4, $5)
             RETURNING shops.id
         ), audit AS (
             INSERT INTO audit_log (actor, action, subject, detail)
             SELECT $6, 'edit_shop', 'shop ' || was.id,
                    concat_ws('; ',
                        CASE WHEN was.name <> $3
                             THEN 'name ' || to_json(was.name) || ' -> ' || to_json($3::text) END,
                        CASE WHEN was.category <> $4
                             THEN 'category ' || to_json(was.category) || ' -> ' || to_json($4::text) END,
                        CASE WHEN was.address <> $5
                             THEN 'address ' || to_json(was.address) || ' -> ' || to_json($5::text) END)
             FROM was
             JOIN changed ON changed.id = was.id
         )
         SELECT id AS "id!" FROM was"#,
        id.0,
        version,
        shop.name.as_str(),
        shop.category.as_str(),
        shop.address.as_str(),
        actor
    )
    .fetch_optional(pool)
    .await?;
    Ok(found.is_some())
}

/// A shop.
///
/// # Errors
/// When the database fails.
pub async fn by_id(pool: &PgPool, id: ShopId) -> sqlx::Result<Option<Shop>> {
    sqlx::query_as!(
        ShopRow,
        "SELECT id, name, category, address, tile FROM shops WHERE id = $1",
        id.0
    )
    .fetch_optional(pool)
    .await
    .map(|row| row.map(Shop::from))
}

/// All shops, by name, but that of a rehearsal (migration 0009).
///
/// # Errors
/// When the database fails.
pub async fn all(pool: &PgPool) -> sqlx::Result<Vec<Shop>> {
    let rows = sqlx::query_as!(
        ShopRow,
        "SELECT id, name, category, address, tile FROM shops WHERE id < 2000000000 ORDER BY name, id"
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(Shop::from).collect())
}

struct ShopRow {
    id: i32,
    name: String,
    category: String,
    address: String,
    tile: Option<Vec<u8>>,
}

impl From<ShopRow> for Shop {
    fn from(row: ShopRow) -> Self {
        Self {
            id: ShopId(row.id),
            name: row.name,
            category: row.category,
            address: row.address,
            tile: row.tile.and_then(|hash| PictureId::from_stored(&hash)),
        }
    }
}
