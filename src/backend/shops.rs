//! Shops, vouchers, and where their sales stand.

use std::sync::Arc;

use app::{
    backend::Backend,
    error::AppError,
    model::{
        OrderId, SalePhase, SaleReply, ShopId, ShopList, ShopSearch, ShopView, UserId, Voucher,
        VoucherId, VoucherView,
    },
};
use time::OffsetDateTime;

use super::{RequestBackend, catalogue::Read, reveal::Store};
use crate::{
    db,
    gate::{SaleLook, unix_ms},
    shop_search,
};

impl RequestBackend {
    pub(super) async fn find_shops(&self, search: &ShopSearch) -> Result<ShopList, AppError> {
        if *search == ShopSearch::default() {
            // The front page, which a crowd asks for at once.
            let first = self.show(self.services.first_shops.find(()).await)?;
            self.services.reveal.answered(Store::Database);
            return Ok(first.unwrap_or_default());
        }
        self.show(shop_search::find(&self.services.pool, search).await)
    }

    pub(super) async fn show_shop(&self, id: ShopId) -> Result<ShopView, AppError> {
        let shop = self
            .show(db::shops::by_id(&self.services.pool, id).await)?
            .ok_or(AppError::NotFound)?;
        let picture = self.show(db::pictures::of_shop(&self.services.pool, id).await)?;
        let vouchers = self.show(db::vouchers::of_shop(&self.services.pool, id).await)?;
        Ok(ShopView {
            shop,
            picture,
            vouchers: self.views(vouchers).await,
        })
    }

    pub(super) async fn show_voucher(&self, id: VoucherId) -> Result<VoucherView, AppError> {
        let known = self.known(id).await?;
        let look = self.unless_away(self.services.catalogue.look(id)).await;
        let voucher = self.as_new_as(look.as_ref(), id, known).await?;
        let own_order = self.own_order(id).await;
        Ok(self.view(voucher.as_ref().clone(), look.as_ref(), own_order))
    }

    pub(super) async fn show_sale_status(&self, id: VoucherId) -> Result<SaleReply, AppError> {
        let known = self.known(id).await?;
        let look = self.show(self.services.catalogue.look(id).await)?;
        let voucher = self.as_new_as(Some(&look), id, known).await?;
        if look.version >= Some(voucher.version)
            && let Some(told) = look.reply(id)
        {
            return Ok(told);
        }
        // The gate knows less than the database: it was not told yet, or the sale has left it.
        let (phase, left) = phase(&voucher, Some(&look), look.now);
        Ok(SaleReply {
            voucher_id: id.0,
            phase,
            left,
            granted: voucher.granted,
            now_ms: unix_ms(look.now),
            begins_ms: unix_ms(voucher.begins_at),
            ends_ms: unix_ms(voucher.ends_at),
            order_id: None,
        })
    }

    /// Whether there is such a voucher: the gate is not asked for what does not exist. A rehearsal's is there for its own
    /// shoppers alone.
    async fn known(&self, id: VoucherId) -> Result<Read, AppError> {
        if id.is_rehearsal() && !self.user().await?.is_some_and(UserId::is_rehearsal) {
            return Err(AppError::NotFound);
        }
        let read = self.show(self.services.catalogue.voucher_read(id).await)?;
        read.0.is_some().then_some(read).ok_or(AppError::NotFound)
    }

    async fn as_new_as(
        &self,
        look: Option<&SaleLook>,
        id: VoucherId,
        known: Read,
    ) -> Result<Arc<Voucher>, AppError> {
        let catalogue = &self.services.catalogue;
        let voucher = catalogue.voucher_as_new_as(look, id, known).await;
        self.show(voucher)?.ok_or(AppError::NotFound)
    }

    /// Vouchers as a visitor sees them; without the gate they are shown all the same.
    pub(super) async fn views(&self, vouchers: Vec<Voucher>) -> Vec<VoucherView> {
        let ids: Vec<VoucherId> = vouchers.iter().map(|voucher| voucher.id).collect();
        let looks = self.unless_away(self.services.catalogue.looks(&ids)).await;
        let look = |place: usize| looks.as_ref().and_then(|looks| looks.get(place));
        vouchers
            .into_iter()
            .enumerate()
            .map(|(place, voucher)| self.view(voucher, look(place), None))
            .collect()
    }

    pub(super) fn view(
        &self,
        voucher: Voucher,
        look: Option<&SaleLook>,
        own_order: Option<OrderId>,
    ) -> VoucherView {
        let now = look.map_or_else(|| self.now(), |look| look.now);
        let (phase, left) = phase(&voucher, look, now);
        VoucherView {
            voucher,
            phase,
            left,
            now,
            own_order,
        }
    }

    /// The visitor's own order of a voucher, as far as the gate knows; a page is shown without it rather than not.
    pub(crate) async fn own_order(&self, id: VoucherId) -> Option<OrderId> {
        let user = self.user().await.ok()??;
        self.show(self.services.gate.marks(user, &[id]).await)
            .ok()?
            .into_iter()
            .next()?
    }
}

/// Where a sale stands at `now`, and the units left. The gate decides; this only tells.
fn phase(
    voucher: &Voucher,
    look: Option<&SaleLook>,
    now: OffsetDateTime,
) -> (SalePhase, Option<i64>) {
    let left = look.and_then(|look| look.stock);
    let is_sound = look.is_some_and(SaleLook::is_open);
    let phase = SalePhase::at(
        unix_ms(now),
        voucher.state,
        unix_ms(voucher.begins_at),
        unix_ms(voucher.ends_at),
        left.filter(|_| is_sound),
    );
    (phase, left)
}
