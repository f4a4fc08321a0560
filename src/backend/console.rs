//! The sales console: all sales, one sale with what happens at it, its orders. Each asks for the role itself.

use app::{
    backend::Backend,
    error::AppError,
    model::{
        AdminSale, OrdersPage, OrdersSearch, SaleDetail, SalesPage, SalesSearch, Series, Span,
        Voucher, VoucherId,
    },
};
use time::{Duration, OffsetDateTime};

use super::RequestBackend;
use crate::{db, figures::BUCKET_S, shop_search};

/// Sales, and orders, of a page.
const PAGE: usize = 50;

/// Steps of a chart over the whole of a sale, at most.
const MOST_STEPS: i64 = 120;

/// The steps that a chart may have, in seconds.
const STEPS_S: [i64; 9] = [10, 60, 300, 900, 3600, 10_800, 21_600, 86_400, 604_800];

/// Figures are joined to minutes after an hour; a little sooner no chart needs them finer.
const JOINED_AFTER: Duration = Duration::minutes(50);

impl RequestBackend {
    pub(super) async fn list_sales(&self, search: SalesSearch) -> Result<SalesPage, AppError> {
        self.require_admin().await?;
        let pool = &self.services.pool;
        let found = if search.words.is_empty() && search.standing.is_none() {
            db::vouchers::by_phase(pool, search.after, PAGE + 1).await
        } else {
            self.show(shop_search::fold_some(pool).await)?;
            db::vouchers::search(pool, &search, PAGE + 1).await
        };
        let mut found = self.show(found)?;
        let is_more = found.len() > PAGE;
        found.truncate(PAGE);
        let next = found.last().map(|(cursor, _)| *cursor);
        let vouchers = found.into_iter().map(|(_, voucher)| voucher).collect();
        Ok(SalesPage {
            sales: self.admin_sales(vouchers).await?,
            next: next.filter(|_| is_more),
        })
    }

    pub(super) async fn show_sale(
        &self,
        id: VoucherId,
        span: Span,
    ) -> Result<SaleDetail, AppError> {
        self.require_admin().await?;
        let voucher = self.voucher_of(id).await?;
        let units = self.units(&voucher).await?;
        let series = self.series(id, span).await?;
        let mut sales = self.admin_sales(vec![voucher]).await?;
        let sale = sales.pop().ok_or(AppError::NotFound)?;
        Ok(SaleDetail {
            sale,
            units,
            series,
        })
    }

    pub(super) async fn list_sale_orders(
        &self,
        id: VoucherId,
        search: OrdersSearch,
    ) -> Result<OrdersPage, AppError> {
        self.require_admin().await?;
        let voucher = self.voucher_of(id).await?;
        let (pool, count) = (&self.services.pool, i64::try_from(PAGE).unwrap_or_default());
        let mut orders = self.show(db::sale_orders::next(pool, id, search, count + 1).await)?;
        let is_more = orders.len() > PAGE;
        orders.truncate(PAGE);
        Ok(OrdersPage {
            title: voucher.title,
            zone: voucher.zone,
            orders,
            is_more,
        })
    }

    /// Past the catalogue: an operator sees what is so now.
    pub(super) async fn voucher_of(&self, id: VoucherId) -> Result<Voucher, AppError> {
        real(id)?;
        let voucher = self.show(db::vouchers::by_id(&self.services.pool, id).await)?;
        voucher.ok_or(AppError::NotFound)
    }

    async fn admin_sales(&self, vouchers: Vec<Voucher>) -> Result<Vec<AdminSale>, AppError> {
        let ids: Vec<VoucherId> = vouchers.iter().map(|voucher| voucher.id).collect();
        let looks = self.unless_away(self.services.gate.look(&ids)).await;
        let since = floor(self.now(), BUCKET_S) - Duration::seconds(BUCKET_S);
        let seconds = (self.now() - since).as_seconds_f64();
        let pool = &self.services.pool;
        let accepted = self.show(db::sale_figures::accepted_since(pool, &ids, since).await)?;
        let sales = vouchers.into_iter().enumerate().map(|(place, voucher)| {
            let look = looks.as_ref().and_then(|looks| looks.get(place));
            let (id, sold) = (voucher.id, voucher.sold);
            AdminSale {
                view: self.view(voucher, look, None),
                rate: per_second(accepted.get(&id).copied().unwrap_or_default(), seconds),
                backlog: look
                    .and_then(|look| look.marks)
                    .map(|marks| (marks - sold).max(0)),
                drift: look.and_then(|look| look.drift()),
            }
        });
        Ok(sales.collect())
    }

    async fn series(&self, id: VoucherId, span: Span) -> Result<Series, AppError> {
        let (pool, now) = (&self.services.pool, self.now());
        let (from, until, step_s) = match span {
            Span::Minutes => (now - Duration::seconds(590), now, 10),
            Span::Hours => (now - Duration::minutes(119), now, 60),
            Span::Whole => match self.show(db::sale_figures::known_of(pool, id).await)? {
                Some((first, last)) => {
                    let until = (last + Duration::seconds(BUCKET_S)).min(now).max(first);
                    (first, until, step_between(first, until, now))
                }
                None => (now, now, 60),
            },
        };
        let from = floor(from, step_s);
        let found = self.show(db::sale_figures::of_sale(pool, id, from, step_s).await)?;
        Ok(filled(from, until, step_s, found))
    }
}

/// A rehearsal's sale is in no console: it is made and removed as a whole.
pub(super) fn real(id: VoucherId) -> Result<(), AppError> {
    if id.is_rehearsal() {
        return Err(AppError::NotFound);
    }
    Ok(())
}

/// The finest step in which a span has few enough of them.
fn step_between(first: OffsetDateTime, until: OffsetDateTime, now: OffsetDateTime) -> i64 {
    let finest = if first < now - JOINED_AFTER { 60 } else { 10 };
    let fits = |step: &i64| (until - first).whole_seconds() / step < MOST_STEPS;
    let mut steps = STEPS_S.into_iter().filter(|step| *step >= finest);
    steps.find(fits).unwrap_or(STEPS_S[STEPS_S.len() - 1])
}

/// All steps from the first to the one that holds `until`, with what was found of each.
fn filled(
    from: OffsetDateTime,
    until: OffsetDateTime,
    step_s: i64,
    found: Vec<(OffsetDateTime, app::model::Counts)>,
) -> Series {
    let place = |at: OffsetDateTime| (at - from).whole_seconds().div_euclid(step_s);
    let last = place(until).max(0);
    let mut steps = vec![Default::default(); usize::try_from(last + 1).unwrap_or(1)];
    for (at, counts) in found {
        let step = usize::try_from(place(at)).ok();
        // By another clock something may have happened a moment from now.
        if let Some(step) = step.and_then(|step| steps.get_mut(step)) {
            *step = counts;
        }
    }
    let begun = from + Duration::seconds(last * step_s);
    Series {
        from,
        step_s,
        steps,
        last_s: (until - begun).whole_seconds().clamp(1, step_s),
    }
}

fn floor(at: OffsetDateTime, step_s: i64) -> OffsetDateTime {
    let second = at.unix_timestamp();
    let floor = OffsetDateTime::from_unix_timestamp(second - second.rem_euclid(step_s));
    floor.unwrap_or(at)
}

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
fn per_second(count: i64, seconds: f64) -> f64 {
    count as f64 / seconds
}

#[cfg(test)]
mod tests {
    use app::model::Counts;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-30 10:00:07 UTC);

    #[test]
    fn a_series_has_every_step_and_knows_how_much_of_the_last_has_passed() {
        let from = datetime!(2026-11-30 09:59:00 UTC);
        let counts = Counts {
            accepted: 3,
            ..Counts::default()
        };
        let ahead = (NOW + Duration::seconds(10), counts);
        let series = filled(
            from,
            NOW,
            10,
            vec![(from + Duration::seconds(20), counts), ahead],
        );
        let accepted: Vec<i64> = series.steps.iter().map(|step| step.accepted).collect();
        assert_eq!(accepted, [0, 0, 3, 0, 0, 0, 0]);
        assert_eq!((series.seconds(0), series.seconds(6)), (10, 7));
        assert_eq!(series.begins(6), datetime!(2026-11-30 10:00:00 UTC));
    }

    #[test]
    fn a_whole_sale_fits_into_few_steps_and_old_ones_are_not_finer_than_they_are_kept() {
        let ago = |time: Duration| (NOW - time, NOW);
        for (span, right) in [
            (Duration::seconds(5), 10),
            (Duration::minutes(19), 10),
            (Duration::minutes(40), 60),
            (Duration::hours(3), 300),
            (Duration::days(29), 21_600),
            (Duration::days(3650), 604_800),
        ] {
            let (first, until) = ago(span);
            assert_eq!(step_between(first, until, NOW), right, "{span}");
        }
        let first = NOW - Duration::days(1);
        assert_eq!(step_between(first, first + Duration::minutes(5), NOW), 60);
    }
}
