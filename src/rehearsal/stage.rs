//! What a rehearsal makes, and removes again: shoppers with login sessions, and a sale for them.

use app::model::{RehearsalPlan, UserId, VoucherId};
use futures::{StreamExt, TryStreamExt, stream};
use time::{Duration, OffsetDateTime};
use tokio::time::{Instant, sleep};

use super::{RehearsalError, watch::Watch};
use crate::{
    auth::login::Logins,
    consumer::rebuild,
    db::{
        self,
        rehearsals::{AT_ONCE, delete_sale, delete_shoppers, delete_shops, delete_voucher},
    },
    error::Error,
    gate::{SaleSettings, instant, unix_ms},
    stores::Stores,
};

/// Login sessions that are begun, or ended, at once.
const SESSIONS_AT_ONCE: usize = 256;

/// What a killed rehearsal leaves signed in is signed out after so long in any case.
const SIGNED_IN_FOR: Duration = Duration::hours(2);

/// A sale is open this much longer than shoppers arrive.
const OPEN_FOR_LONGER: Duration = Duration::hours(1);

/// Somebody else may be at work at the sale's shard for so long.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A made-up shopper who is signed in.
#[derive(Clone, Debug)]
pub struct Shopper {
    /// The account.
    pub id: UserId,
    /// The value of the login session's cookie.
    pub cookie: String,
}

/// Makes the shoppers of a plan, signed in.
///
/// # Errors
/// When a store is away, or the rehearsal is stopped.
pub async fn make_shoppers(
    stores: &Stores,
    plan: &RehearsalPlan,
    watch: &Watch,
) -> Result<Vec<Shopper>, RehearsalError> {
    let logins = stores.logins.lasting(SIGNED_IN_FOR);
    let wanted = usize::try_from(plan.shoppers).unwrap_or(usize::MAX);
    let mut shoppers: Vec<Shopper> = Vec::with_capacity(wanted);
    while shoppers.len() < wanted {
        watch.go_on()?;
        let more = i64::try_from(wanted - shoppers.len()).unwrap_or(AT_ONCE);
        let ids = db::in_time(db::rehearsals::insert_shoppers(&stores.pool, more)).await?;
        shoppers.extend(signed_in(&logins, ids).await?);
        watch.done(shoppers.len());
    }
    Ok(shoppers)
}

async fn signed_in(logins: &Logins, ids: Vec<UserId>) -> Result<Vec<Shopper>, Error> {
    let shoppers = stream::iter(ids).map(|id| async move {
        let cookie = logins.admit(id).await?;
        Ok(Shopper { id, cookie })
    });
    shoppers.buffered(SESSIONS_AT_ONCE).try_collect().await
}

/// Puts the units of a plan on sale, from an instant on.
///
/// # Errors
/// When a store is away, or there is no such sale to copy.
pub async fn open_sale(
    stores: &Stores,
    plan: &RehearsalPlan,
    begins_at: OffsetDateTime,
) -> Result<VoucherId, RehearsalError> {
    // To the millisecond, as the gate counts.
    let begins_at = instant(unix_ms(begins_at));
    let ends_at = begins_at + Duration::seconds(plan.seconds.into()) + OPEN_FOR_LONGER;
    let units = i64::from(plan.units);
    let made = db::rehearsals::insert_sale(&stores.pool, plan.voucher, units, begins_at, ends_at);
    let voucher = db::in_time(made).await?.ok_or(RehearsalError::NoSuchSale)?;
    let settings = SaleSettings {
        voucher,
        version: 1,
        granted: units,
        cut_to: None,
        begins_at,
        ends_at,
        state: app::model::SaleState::Open,
    };
    stores
        .gate
        .apply(&settings, true)
        .await
        .map_err(Error::from)?;
    Ok(voucher)
}

/// Removes everything that this or an earlier rehearsal has made; gives how many shoppers and sales there were.
///
/// The gate first, so that nothing is promised any more, then orders and sale, then everything that they refer to.
///
/// # Errors
/// When a store is away; asking again is safe.
pub async fn clear(
    stores: &Stores,
    mut removed: impl FnMut(usize),
) -> Result<(usize, usize), Error> {
    let Stores { pool, logins, .. } = stores;
    let vouchers = db::in_time(db::rehearsals::vouchers(pool)).await?;
    for voucher in &vouchers {
        remove_sale(stores, *voucher).await?;
    }
    db::in_time(delete_shops(pool)).await?;
    let mut shoppers = 0;
    loop {
        let some = db::in_time(db::rehearsals::shoppers(pool, UserId(0))).await?;
        if some.is_empty() {
            return Ok((shoppers, vouchers.len()));
        }
        let ending = stream::iter(&some).map(|id| logins.dismiss(*id));
        ending
            .buffer_unordered(SESSIONS_AT_ONCE)
            .try_collect::<Vec<()>>()
            .await?;
        db::in_time(delete_shoppers(pool, &some)).await?;
        shoppers += some.len();
        removed(shoppers);
    }
}

/// Removes a sale, under the lock of its shard: otherwise a keeper would take its keys for lost, and write them anew.
async fn remove_sale(stores: &Stores, voucher: VoucherId) -> Result<(), Error> {
    let Stores { pool, gate, .. } = stores;
    let begun = Instant::now();
    let lock = loop {
        match rebuild::lock(gate, gate.keys().shard(voucher)).await? {
            Some(lock) => break lock,
            None if begun.elapsed() > PATIENCE => return Err(Error::LockLost),
            None => sleep(std::time::Duration::from_millis(100)).await,
        }
    };
    let removed = async {
        gate.erase(voucher).await?;
        delete_sale(pool, voucher).await?;
        db::in_time(delete_voucher(pool, voucher)).await?;
        Ok(())
    };
    let removed = removed.await;
    lock.release().await?;
    removed
}
