//! The rows of the list of sales.

use leptos::prelude::*;

use super::{
    Moment,
    chart::amount,
    said,
    sale_head::{count, sale_state, sold_bar},
    zone_named,
};
use crate::{model::AdminSale, texts::Lang};

/// A row for each sale.
pub(crate) fn sales_rows(lang: Lang, sales: &[AdminSale]) -> impl IntoView + use<> {
    sales.iter().map(|sale| row(lang, sale)).collect::<Vec<_>>()
}

fn row(lang: Lang, sale: &AdminSale) -> impl IntoView + use<> {
    let voucher = &sale.view.voucher;
    let zone = zone_named(&voucher.zone);
    let sick = sale.drift.is_some_and(|drift| drift != 0);
    view! {
        <tr data-voucher=voucher.id.to_string()>
            <th scope="row">
                <a href=format!("/admin/sales/{}", voucher.id)>{said(lang, voucher.title.clone())}</a>
                <span class="muted small">{said(lang, voucher.shop_name.clone())}</span>
            </th>
            <td data-label=lang.text("sale-state")>{sale_state(lang, sale)}</td>
            <td class="count" data-label=lang.text("sold-of-granted")>{sold_bar(sale)}</td>
            <td class="count" data-label=lang.text("sale-rate")>{amount(sale.rate)}</td>
            <td class="count" data-label=lang.text("sale-backlog")>{count(lang, sale.backlog)}</td>
            <td class="count" class:sick=sick data-label=lang.text("drift")>{count(lang, sale.drift)}</td>
            <td data-label=lang.text("begins")><Moment at=voucher.begins_at zone=zone.clone()/></td>
            <td data-label=lang.text("ends")><Moment at=voucher.ends_at zone=zone/></td>
        </tr>
    }
}
