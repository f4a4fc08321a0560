//! `pictures`: those of shops, by the hash of their bytes. One that no shop shows any more goes in the statement that takes
//! it off its last shop.

use app::model::{Picture, PictureId, ShopId};
use futures::FutureExt;
use sqlx::{PgConnection, PgPool};

use crate::picture::Pictures;

/// The file of a picture.
///
/// # Errors
/// When the database fails.
pub async fn jpeg(pool: &PgPool, id: PictureId) -> sqlx::Result<Option<Vec<u8>>> {
    sqlx::query_scalar!("SELECT jpeg FROM pictures WHERE hash = $1", &id.0[..])
        .fetch_optional(pool)
        .await
}

/// The large picture of a shop.
///
/// # Errors
/// When the database fails.
pub async fn of_shop(pool: &PgPool, shop: ShopId) -> sqlx::Result<Option<Picture>> {
    let row = sqlx::query!(
        "SELECT p.hash, p.width, p.height
         FROM shops
         JOIN pictures p ON p.hash = shops.picture
         WHERE shops.id = $1",
        shop.0
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.and_then(|row| {
        Some(Picture {
            id: PictureId::from_stored(&row.hash)?,
            width: row.width.try_into().ok()?,
            height: row.height.try_into().ok()?,
        })
    }))
}

/// Gives a shop these pictures, or none, and notes who did it. Whether there is such a shop.
///
/// Changes of pictures follow one another: of two at once, one could store what the other has just found to be in use
/// nowhere, and drops.
///
/// # Errors
/// When the database fails; nothing is changed then.
pub async fn replace(
    pool: &PgPool,
    shop: ShopId,
    pictures: Option<Pictures>,
    actor: String,
) -> sqlx::Result<bool> {
    super::in_transaction(pool, move |transaction| {
        async move {
            sqlx::query!("LOCK TABLE pictures IN SHARE ROW EXCLUSIVE MODE")
                .execute(&mut *transaction)
                .await?;
            replace_in(transaction, shop, pictures.as_ref(), &actor).await
        }
        .boxed()
    })
    .await
}

async fn replace_in(
    transaction: &mut PgConnection,
    shop: ShopId,
    pictures: Option<&Pictures>,
    actor: &str,
) -> sqlx::Result<bool> {
    let large = pictures.map(|pictures| &pictures.large);
    let tile = pictures.map(|pictures| &pictures.tile);
    let made = || large.into_iter().chain(tile);
    let hash = |id: PictureId| id.0.to_vec();
    let hashes: Vec<Vec<u8>> = made().map(|made| hash(made.picture.id)).collect();
    let files: Vec<Vec<u8>> = made().map(|made| made.jpeg.clone()).collect();
    let side = |side: u32| i32::try_from(side).unwrap_or(i32::MAX);
    let widths: Vec<i32> = made().map(|made| side(made.picture.width)).collect();
    let heights: Vec<i32> = made().map(|made| side(made.picture.height)).collect();
    sqlx::query_scalar!(
        r#"WITH shop AS (
               SELECT id, picture, tile
               FROM shops
               WHERE id = $1
               FOR NO KEY UPDATE
           ), stored AS (
               INSERT INTO pictures (hash, jpeg, width, height)
               SELECT made.*
               FROM UNNEST($2::bytea[], $3::bytea[], $4::integer[], $5::integer[]) AS made
               WHERE EXISTS (SELECT FROM shop)
               ON CONFLICT (hash) DO NOTHING
           ), shown AS (
               UPDATE shops
               SET picture = $6, tile = $7
               FROM shop
               WHERE shops.id = shop.id
           ), dropped AS (
               DELETE FROM pictures
               USING shop
               WHERE pictures.hash IN (shop.picture, shop.tile)
                 AND pictures.hash <> ALL ($2)
                 AND NOT EXISTS (
                     SELECT
                     FROM shops
                     WHERE (shops.picture = pictures.hash OR shops.tile = pictures.hash)
                       AND shops.id <> shop.id)
           ), noted AS (
               INSERT INTO audit_log (actor, action, subject, detail)
               SELECT $8, CASE WHEN $6::bytea IS NULL THEN 'remove_shop_picture' ELSE 'set_shop_picture' END,
                      'shop ' || id,
                      COALESCE(encode(picture, 'hex'), 'none') || ' -> ' || COALESCE(encode($6, 'hex'), 'none')
               FROM shop
               WHERE picture IS DISTINCT FROM $6
           )
           SELECT EXISTS (SELECT FROM shop) AS "exists!""#,
        shop.0,
        &hashes,
        &files,
        &widths,
        &heights,
        large.map(|made| hash(made.picture.id)),
        tile.map(|made| hash(made.picture.id)),
        actor
    )
    .fetch_one(transaction)
    .await
}
