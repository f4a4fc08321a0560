//! Changes of sales and shops. PostgreSQL first, as a new version, then the gate (`carry`); who did it is noted in the same
//! transaction. Where the gate cannot be told now, the keeper tells it, and the admin is told so.

use app::{
    backend::Backend,
    error::AppError,
    model::{
        NoChange, Problem, SaleAction, SaleChange, SaleEdit, SaleToEdit, ShopEdit, ShopId,
        ShopToEdit, VoucherId,
    },
};
use time::OffsetDateTime;
use tokio::time::Instant;

use super::{RequestBackend, console::real};
use crate::{
    carry::carry,
    db::{self, sales::Sale, vouchers::Changed},
    error::Error,
    gate::{Applied, instant, unix_ms},
};

/// The gate's clock, by which sales begin and end: read before a sale is locked, asked once it is.
struct GateClock {
    showed: OffsetDateTime,
    read_at: Instant,
}

impl GateClock {
    fn showing(now: OffsetDateTime) -> Self {
        Self {
            showed: now,
            read_at: Instant::now(),
        }
    }

    /// To the millisecond, as the gate counts.
    fn now(&self) -> OffsetDateTime {
        instant(unix_ms(self.showed + self.read_at.elapsed()))
    }
}

impl RequestBackend {
    pub(super) async fn find_sale_to_edit(&self, id: VoucherId) -> Result<SaleToEdit, AppError> {
        self.require_admin().await?;
        let pool = &self.services.pool;
        let voucher = self.voucher_of(id).await?;
        let look = self.unless_away(self.services.gate.look(&[id])).await;
        let look = look.and_then(|mut looks| looks.pop());
        let last_change = db::audit_log::last_change(pool, &format!("voucher {id}")).await;
        Ok(SaleToEdit {
            voucher,
            now: look.as_ref().map_or_else(|| self.now(), |look| look.now),
            left: look.and_then(|look| look.stock),
            last_change: self.show(last_change)?,
        })
    }

    pub(super) async fn change_offer(
        &self,
        id: VoucherId,
        edit: SaleEdit,
    ) -> Result<SaleChange, AppError> {
        let admin = self.require_admin().await?.actor();
        real(id)?;
        let clock = self.gate_clock(id).await;
        let clock = clock.unwrap_or_else(|_| GateClock::showing(self.now()));
        let pool = &self.services.pool;
        let change = db::vouchers::change(pool, id, admin.clone(), "edit_sale", move |sale| {
            edit.of(sale, clock.now())
        });
        let changed = self.show(change.await)?.ok_or(AppError::NotFound)??;
        Ok(self.tell_gate(&changed, None, &admin).await)
    }

    pub(super) async fn act(
        &self,
        id: VoucherId,
        action: SaleAction,
    ) -> Result<SaleChange, AppError> {
        let admin = self.require_admin().await?.actor();
        real(id)?;
        let clock = match self.gate_clock(id).await {
            Ok(clock) => clock,
            // Whoever ends a sale means the moment at which the gate stops.
            Err(error) if action == SaleAction::End => return Err(error),
            Err(_) => GateClock::showing(self.now()),
        };
        let pool = &self.services.pool;
        let change =
            db::vouchers::change(pool, id, admin.clone(), action.noted_as(), move |sale| {
                action.of(sale, clock.now())
            });
        match self.show(change.await)?.ok_or(AppError::NotFound)? {
            Ok(changed) => {
                let cut_to = match (&changed, action) {
                    (Changed::Stored(voucher), SaleAction::Cut(_)) => voucher.cut_to,
                    _ => None,
                };
                Ok(self.tell_gate(&changed, cut_to, &admin).await)
            }
            Err(NoChange::Outcome(outcome)) => Ok(outcome),
            Err(NoChange::Field(field, problem)) => Err(AppError::field(field, problem)),
        }
    }

    pub(super) async fn find_shop_to_edit(&self, id: ShopId) -> Result<ShopToEdit, AppError> {
        self.require_admin().await?;
        let pool = &self.services.pool;
        let found = self.show(db::shops::versioned(pool, id).await)?;
        let (shop, version) = found.ok_or(AppError::NotFound)?;
        let last_change = db::audit_log::last_change(pool, &format!("shop {id}")).await;
        Ok(ShopToEdit {
            shop,
            version,
            last_change: self.show(last_change)?,
        })
    }

    pub(super) async fn change_shop(&self, id: ShopId, edit: ShopEdit) -> Result<(), AppError> {
        let admin = self.require_admin().await?;
        let pool = &self.services.pool;
        let update = db::shops::update(pool, id, edit.version, &edit.shop, &admin.actor()).await;
        if self.show(update)? {
            self.services.catalogue.forget_shops().await;
            return Ok(());
        }
        let found = self.show(db::shops::by_id(pool, id).await)?;
        found.ok_or(AppError::NotFound)?;
        Err(AppError::field("version", Problem::OldForm))
    }

    async fn gate_clock(&self, id: VoucherId) -> Result<GateClock, AppError> {
        let look = self.show(self.services.catalogue.look(id).await)?;
        Ok(GateClock::showing(look.now))
    }

    /// Tells the gate of a change that is stored; `cut_to` are the units that a cut wants.
    async fn tell_gate(&self, changed: &Changed, cut_to: Option<i64>, admin: &str) -> SaleChange {
        // Also of what was so already: perhaps the gate was not told then.
        let (voucher, done) = match changed {
            Changed::Not(voucher) => (voucher, SaleChange::Unchanged),
            Changed::Stored(voucher) => (voucher, SaleChange::Done),
        };
        let told = self.show(self.carried(voucher.id, admin).await);
        // This instance shows it at once; the others within the time that they remember.
        self.services.catalogue.forget(voucher.id).await;
        let Ok((sale, applied)) = told else {
            self.services.keeper.look();
            return SaleChange::Stored;
        };
        match applied {
            Applied::Applied(_) | Applied::Known(_) => came_of(cut_to, &sale).unwrap_or(done),
            // The keys of a sale that is over for long may have left the gate: there is nothing to tell.
            Applied::Missing if sale.is_settled => done,
            Applied::Missing | Applied::Later | Applied::TooLow | Applied::Newer => {
                self.services.keeper.look();
                SaleChange::Stored
            }
        }
    }

    /// Carries what is stored now, which may be newer still; gives it as it is stored after that.
    async fn carried(&self, id: VoucherId, admin: &str) -> Result<(Sale, Applied), Error> {
        let (pool, gate) = (&self.services.pool, &self.services.gate);
        let stored = async || {
            let sale = db::in_time(db::sales::by_id(pool, id)).await?;
            sale.ok_or(sqlx::Error::RowNotFound)
        };
        let sale = stored().await?;
        let applied = carry(pool, gate, &sale, admin).await?;
        let sale = if sale.cut_to.is_some() {
            stored().await?
        } else {
            sale
        };
        Ok((sale, applied))
    }
}

/// What came of a cut that the gate knows, where that is not all that was wanted.
fn came_of(cut_to: Option<i64>, stored: &Sale) -> Option<SaleChange> {
    match cut_to {
        Some(_) if stored.cut_to.is_some() => Some(SaleChange::Stored),
        Some(units) if stored.granted > units => Some(SaleChange::Stopped),
        _ => None,
    }
}
