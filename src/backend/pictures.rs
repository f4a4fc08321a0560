//! Pictures of shops: who may change one, and the files as they are served, the last used ones from memory.

use std::{sync::Arc, time::Duration};

use app::{
    error::AppError,
    model::{PictureId, ShopId},
};
use axum::body::Bytes;
use moka::future::Cache;
use sqlx::PgPool;

use super::RequestBackend;
use crate::{db, picture::Pictures};

/// Bytes of pictures that an instance keeps in memory: some 1,000 tiles.
const KEPT: u64 = 32 * 1024 * 1024;

/// How long a picture is remembered: one that was taken away elsewhere is gone here so soon.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// How long it is remembered that there is no picture of an id.
const MISSING_FOR: Duration = Duration::from_secs(2);

/// The files of pictures. One never changes under its id.
pub struct Gallery {
    pool: PgPool,
    files: Cache<PictureId, Bytes>,
    missing: Cache<PictureId, ()>,
}

impl Gallery {
    /// The pictures of this database.
    #[must_use]
    pub fn new(pool: PgPool) -> Self {
        let weight = |_: &PictureId, file: &Bytes| u32::try_from(file.len()).unwrap_or(u32::MAX);
        Self {
            pool,
            files: Cache::builder()
                .max_capacity(KEPT)
                .weigher(weight)
                .time_to_live(KEPT_FOR)
                .build(),
            missing: Cache::builder()
                .max_capacity(10_000)
                .time_to_live(MISSING_FOR)
                .build(),
        }
    }

    /// The file of a picture.
    ///
    /// # Errors
    /// `RowNotFound` where there is no such; when the database fails.
    pub async fn jpeg(&self, id: PictureId) -> Result<Bytes, Arc<sqlx::Error>> {
        if self.missing.contains_key(&id) {
            return Err(Arc::new(sqlx::Error::RowNotFound));
        }
        let find = async {
            let jpeg = db::pictures::jpeg(&self.pool, id).await?;
            if jpeg.is_none() {
                self.missing.insert(id, ()).await;
            }
            jpeg.map(Bytes::from).ok_or(sqlx::Error::RowNotFound)
        };
        self.files.try_get_with(id, find).await
    }
}

impl RequestBackend {
    /// Gives a shop these pictures. Admins only.
    ///
    /// # Errors
    /// As every use case; `NotFound` where there is no such shop.
    pub async fn set_shop_picture(&self, shop: ShopId, pictures: Pictures) -> Result<(), AppError> {
        self.replace_pictures(shop, Some(pictures)).await
    }

    pub(super) async fn replace_pictures(
        &self,
        shop: ShopId,
        pictures: Option<Pictures>,
    ) -> Result<(), AppError> {
        let admin = self.require_admin().await?;
        let pool = &self.services.pool;
        let replaced = db::pictures::replace(pool, shop, pictures, admin.actor()).await;
        if self.show(replaced)? {
            self.services.gallery.files.invalidate_all();
            self.services.catalogue.forget_shops().await;
            Ok(())
        } else {
            Err(AppError::NotFound)
        }
    }
}
