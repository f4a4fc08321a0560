//! The admin's list of sales: what was granted, where the units are, and whether the sums agree.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Head, Moment, Query, page, zone_named},
    model::{AdminSale, VoucherId},
    texts::Lang,
};

const COLUMNS: [&str; 8] = [
    "voucher",
    "sale-state",
    "sold-of-granted",
    "left",
    "marks",
    "drift",
    "begins",
    "ends",
];

const COUNTS: [&str; 4] = ["sold-of-granted", "left", "marks", "drift"];

/// All sales. Admins only.
#[component]
pub(crate) fn Sales() -> impl IntoView {
    let lang = visitor_lang();
    let created = VoucherId::parse(Query::here().value("created")).ok();
    page(async move {
        let sales = backend().sales().await?;
        Head::title(lang.text("sales"));
        let heads = COLUMNS.map(|key| {
            let count = COUNTS.contains(&key);
            view! { <th scope="col" class:count=count>{lang.text(key)}</th> }
        });
        let heads = heads.into_iter().collect_view();
        Ok(view! {
            <h1>{lang.text("sales")}</h1>
            {created.map(|id| view! {
                <p class="notice good" role="status">
                    {lang.text("sale-created")}" "<a href=format!("/vouchers/{id}")>{lang.text("see-voucher")}</a>
                </p>
            })}
            <p class="actions">
                <a class="button" href="/admin/sales/new">{lang.text("new-sale")}</a>
                <a class="button quiet" href="/admin/shops">{lang.text("edit-shops")}</a>
                <a class="button quiet" href="/admin/people">{lang.text("people")}</a>
                <a class="button quiet" href="/desk">{lang.text("desk")}</a>
                <a class="button quiet" href="/admin/dead-letters">{lang.text("dead-letters")}</a>
            </p>
            {if sales.is_empty() {
                view! { <p class="empty">{lang.text("no-sales")}</p> }.into_any()
            } else {
                view! {
                    <div class="scroll" role="region" tabindex="0" aria-label=lang.text("sales")>
                        <table>
                            <thead><tr>{heads}</tr></thead>
                            <tbody>{sales.into_iter().map(|sale| row(lang, sale)).collect_view()}</tbody>
                        </table>
                    </div>
                }
                .into_any()
            }}
            <p class="muted small">{lang.text("drift-explained")}</p>
        }
        .into_any())
    })
}

fn row(lang: Lang, sale: AdminSale) -> impl IntoView {
    let AdminSale { view, marks, drift } = sale;
    let voucher = view.voucher;
    let zone = zone_named(&voucher.zone);
    let unknown = || lang.text("unknown");
    let count = |n: Option<i64>| n.map_or_else(unknown, |n| n.to_string());
    let sick = drift.is_some_and(|drift| drift != 0);
    view! {
        <tr data-voucher=voucher.id.to_string()>
            <th scope="row">
                <a href=format!("/vouchers/{}", voucher.id)><bdi>{voucher.title}</bdi></a>
                <span class="muted small"><bdi>{voucher.shop_name}</bdi></span>
                <a class="small" href=format!("/admin/sales/{}/edit", voucher.id)>{lang.text("edit-sale")}</a>
            </th>
            <td>
                <span class="badge" data-phase=view.phase.as_str()>{lang.text(&format!("phase-{}", view.phase.as_str()))}</span>
                <span class="muted small">{lang.text(&format!("state-{}", voucher.state.as_str()))}</span>
            </td>
            <td class="count">{format!("{} / {}", voucher.sold, voucher.granted)}</td>
            <td class="count">{count(view.left)}</td>
            <td class="count">{count(marks)}</td>
            <td class="count" class:sick=sick>{count(drift)}</td>
            <td><Moment at=voucher.begins_at zone=zone.clone()/></td>
            <td><Moment at=voucher.ends_at zone=zone/></td>
        </tr>
    }
}
