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

/// All shops, by name.
///
/// # Errors
/// When the database fails.
pub async fn all(pool: &PgPool) -> sqlx::Result<Vec<Shop>> {
    let rows = sqlx::query_as!(
        ShopRow,
        "SELECT id, name, category, address, tile FROM shops ORDER BY name, id"
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
