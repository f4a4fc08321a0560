//! Vouchers and the gate's view of their sales, remembered for a moment, so that a crowd on one page costs the
//! stores as much as one visitor. Look-ups of the same thing at once are one; what is not there is remembered too.

use std::{sync::Arc, time::Duration};

use app::model::{Category, Voucher, VoucherId, Words};
use futures::future::try_join_all;
use moka::future::Cache;
use sqlx::PgPool;
use tokio::time::Instant;

use crate::{
    db::{self, together::Together},
    error::Error,
    gate::{Gate, SaleLook},
    shop_search,
};

/// How long a voucher's texts and settings are remembered: changes show within so long.
const VOUCHERS_FOR: Duration = Duration::from_secs(1);

/// How long the gate's view of a sale is remembered.
const LOOKS_FOR: Duration = Duration::from_millis(300);

/// How long the counts of shops by category are remembered: they read every shop that was found.
const CATEGORIES_FOR: Duration = Duration::from_secs(5);

/// A voucher, if there is one, and when it was asked for.
pub type Read = (Option<Arc<Voucher>>, Instant);

/// Vouchers and their sales.
pub struct Catalogue {
    pool: PgPool,
    rows: Together<VoucherId, Arc<Voucher>>,
    gate: Gate,
    vouchers: Cache<VoucherId, Read>,
    looks: Cache<VoucherId, Arc<(SaleLook, Instant)>>,
    current: Cache<(), Arc<Vec<Voucher>>>,
    unsettled: Cache<(), Arc<Vec<VoucherId>>>,
    categories: Cache<Words, Arc<Vec<Category>>>,
}

impl Catalogue {
    /// The catalogue over these stores.
    #[must_use]
    pub fn new(pool: PgPool, gate: Gate) -> Self {
        Self {
            rows: rows(pool.clone()),
            pool,
            gate,
            vouchers: Cache::builder()
                .max_capacity(10_000)
                .time_to_live(VOUCHERS_FOR)
                .build(),
            looks: Cache::builder()
                .max_capacity(10_000)
                .time_to_live(LOOKS_FOR)
                .build(),
            current: Cache::builder()
                .max_capacity(1)
                .time_to_live(VOUCHERS_FOR)
                .build(),
            unsettled: Cache::builder()
                .max_capacity(1)
                .time_to_live(VOUCHERS_FOR)
                .build(),
            categories: Cache::builder()
                .max_capacity(1_000)
                .time_to_live(CATEGORIES_FOR)
                .build(),
        }
    }

    /// A voucher; `None` when there is no such.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn voucher(&self, id: VoucherId) -> Result<Option<Arc<Voucher>>, Arc<sqlx::Error>> {
        Ok(self.voucher_read(id).await?.0)
    }

    /// A voucher, and since when it is known to be so.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn voucher_read(&self, id: VoucherId) -> Result<Read, Arc<sqlx::Error>> {
        let find = async {
            let asked_at = Instant::now();
            Ok::<_, Arc<sqlx::Error>>((self.rows.find(id).await?, asked_at))
        };
        let read = self.vouchers.try_get_with(id, find).await;
        read.map_err(|error| (*error).clone())
    }

    /// A voucher that is at least as new as what the gate says of its sale, where it was `read` before: a change shows on
    /// every instance as soon as the gate was looked at again, and not only once the voucher is forgotten. It is read again
    /// at most once a look, so that a gate that is ahead of the database costs little.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn voucher_as_new_as(
        &self,
        look: Option<&SaleLook>,
        id: VoucherId,
        (voucher, read_at): Read,
    ) -> Result<Option<Arc<Voucher>>, Arc<sqlx::Error>> {
        let version = look.and_then(|look| look.version);
        if voucher.as_ref().is_none_or(|v| version <= Some(v.version)) {
            return Ok(voucher);
        }
        let looked_at = self.looks.get(&id).await.map(|look| look.1);
        if looked_at.is_some_and(|looked_at| read_at < looked_at) {
            self.vouchers.invalidate(&id).await;
            return self.voucher(id).await;
        }
        Ok(voucher)
    }

    /// A sale as the gate has it, with the gate's clock as it shows now.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn look(&self, id: VoucherId) -> Result<SaleLook, Error> {
        let look = async {
            let look = self.gate.look(&[id]).await?.pop();
            let look =
                look.ok_or_else(|| redis::RedisError::from((redis::ErrorKind::Parse, "no look")))?;
            Ok::<_, redis::RedisError>(Arc::new((look, Instant::now())))
        };
        let remembered = self.looks.try_get_with(id, look).await;
        let (look, at) = &*remembered.map_err(|error| Error::Redis(error.as_ref().clone()))?;
        Ok(SaleLook {
            now: look.now + at.elapsed(),
            ..look.clone()
        })
    }

    /// Sales as the gate has them, in the order of `ids`.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn looks(&self, ids: &[VoucherId]) -> Result<Vec<SaleLook>, Error> {
        try_join_all(ids.iter().map(|id| self.look(*id))).await
    }

    /// The vouchers of the front page.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn current(&self) -> Result<Arc<Vec<Voucher>>, Arc<sqlx::Error>> {
        let find = async { db::vouchers::current(&self.pool).await.map(Arc::new) };
        self.current.try_get_with((), find).await
    }

    /// The gate has just said that nothing is left: whoever is told so sees it at once, and not what was remembered.
    pub async fn notice_sold_out(&self, id: VoucherId) {
        let remembered = self.looks.get(&id).await;
        if remembered.is_some_and(|look| look.0.stock != Some(0)) {
            self.looks.invalidate(&id).await;
        }
    }

    /// How many shops of each category have these words.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn categories(&self, words: &Words) -> Result<Arc<Vec<Category>>, Arc<sqlx::Error>> {
        let count = async {
            shop_search::categories(&self.pool, words)
                .await
                .map(Arc::new)
        };
        self.categories.try_get_with_by_ref(words, count).await
    }

    /// A voucher and its sale are new, or have changed: whoever asks next is told so.
    pub async fn forget(&self, id: VoucherId) {
        self.vouchers.invalidate(&id).await;
        self.looks.invalidate(&id).await;
        self.current.invalidate(&()).await;
    }

    /// A shop has changed, whose name and picture stand on its vouchers.
    pub async fn forget_shops(&self) {
        self.vouchers.invalidate_all();
        self.current.invalidate(&()).await;
    }

    /// The vouchers whose marks the gate holds, but that of a rehearsal.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn unsettled(&self) -> Result<Arc<Vec<VoucherId>>, Arc<sqlx::Error>> {
        let find = async {
            let sales = db::sales::unsettled(&self.pool).await?;
            let vouchers = sales.into_iter().map(|sale| sale.voucher);
            let real = vouchers.filter(|voucher| !voucher.is_rehearsal());
            Ok(Arc::new(real.collect()))
        };
        self.unsettled.try_get_with((), find).await
    }
}

fn rows(pool: PgPool) -> Together<VoucherId, Arc<Voucher>> {
    Together::new(pool, |pool, ids| {
        Box::pin(async move {
            let found = db::vouchers::by_ids(&pool, &ids).await?.into_iter();
            Ok(found.map(|found| (found.id, Arc::new(found))).collect())
        })
    })
}
