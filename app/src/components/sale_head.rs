//! A sale in a few figures, as its page and the list of sales show it.

use leptos::prelude::*;

use super::{Moment, chart::amount, zone_named};
use crate::{
    model::{AdminSale, grouped},
    texts::Lang,
};

/// The state and the figures of one sale, large.
pub(crate) fn sale_head(lang: Lang, sale: &AdminSale) -> impl IntoView + use<> {
    let voucher = &sale.view.voucher;
    let zone = zone_named(&voucher.zone);
    let (begins_at, ends_at) = (voucher.begins_at, voucher.ends_at);
    let is_over = voucher.is_over(sale.view.now);
    let left = if is_over { "unit-unsold" } else { "sale-left" };
    let figure =
        |key: &str, value: AnyView| view! { <div><dt>{lang.text(key)}</dt><dd>{value}</dd></div> };
    view! {
        <dl class="figures">
            {figure("sale-state", sale_state(lang, sale).into_any())}
            {figure("sold-of-granted", sold_bar(sale).into_any())}
            {figure(left, count(lang, sale.view.left).into_any())}
            {figure("sale-rate", amount(sale.rate).into_any())}
            {figure("sale-backlog", count(lang, sale.backlog).into_any())}
            {figure("begins", view! { <Moment at=begins_at zone=zone.clone()/> }.into_any())}
            {figure("ends", view! { <Moment at=ends_at zone/> }.into_any())}
        </dl>
    }
}

/// Where the sale stands.
pub(crate) fn sale_state(lang: Lang, sale: &AdminSale) -> impl IntoView + use<> {
    let phase = sale.view.phase.as_str();
    view! { <span class="badge" data-phase=phase>{lang.text(&format!("phase-{phase}"))}</span> }
}

/// Sold of granted, as a bar and in figures.
pub(crate) fn sold_bar(sale: &AdminSale) -> impl IntoView + use<> {
    let (sold, granted) = (sale.view.voucher.sold, sale.view.voucher.granted);
    view! {
        <span>{format!("{} / {}", grouped(sold), grouped(granted))}</span>
        <progress aria-hidden="true" max=granted.to_string() value=sold.to_string()></progress>
    }
}

/// A count, or that it is not known.
pub(crate) fn count(lang: Lang, count: Option<i64>) -> String {
    count.map_or_else(|| lang.text("unknown"), grouped)
}
