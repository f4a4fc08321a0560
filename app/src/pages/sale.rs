//! One sale as an operator sees it: its figures, where each unit is, and what happened over time.

use leptos::prelude::*;

use crate::{
    api::{SALE_ACTIONS, SALE_HEAD, SALE_UNITS, sale_address, visitor_lang},
    backend::backend,
    components::{
        Head, Query, SaleChanged, audit_entries, live_words, page, path_id, said, sale_actions,
        sale_charts, sale_head, sale_units, zone_named,
    },
    islands::LiveParts,
    model::{AuditSearch, RehearsalPlan, Span, VoucherId},
    texts::Lang,
};

/// Entries of the audit log that a sale's page shows.
const LATEST: usize = 10;

/// One sale. Admins only.
#[component]
pub(crate) fn SalePage() -> impl IntoView {
    let lang = visitor_lang();
    let id = path_id::<VoucherId>();
    let query = Query::typed_here();
    let span = Span::parse(Query::here().value("span"));
    page(async move {
        let id = id?;
        let detail = backend().sale(id, span).await?;
        let of_sale = AuditSearch {
            sale: Some(id),
            ..AuditSearch::default()
        };
        let mut history = backend().audit_log(of_sale).await?.entries;
        history.truncate(LATEST);
        let voucher = &detail.sale.view.voucher;
        Head::title(voucher.title.clone());
        let (zone, units) = (
            zone_named(&voucher.zone),
            voucher.granted.min(i64::from(RehearsalPlan::UNITS)),
        );
        // Without what was just done: it is said once.
        let refreshed = format!("/admin/sales/{id}?span={}", span.as_str());
        Ok(view! {
            <p class="back"><a href="/admin/sales">{lang.text("sales")}</a></p>
            <h1>{said(lang, voucher.title.clone())}</h1>
            <p class="muted">{said(lang, voucher.shop_name.clone())}</p>
            <SaleChanged lang=lang query=query.clone()/>
            <div id=SALE_HEAD>{sale_head(lang, &detail.sale)}</div>
            <div class="live-ways">
                <a href=refreshed>{lang.text("refresh")}</a>
                <LiveParts words=live_words(lang, sale_address(id, span))/>
            </div>
            <p class="actions">
                <a class="button" href=format!("/admin/sales/{id}/edit")>{lang.text("edit-sale")}</a>
                <a class="button quiet" href=format!("/admin/sales/new?like={id}")>{lang.text("duplicate-sale")}</a>
                <a class="button quiet" href=format!("/vouchers/{id}")>{lang.text("see-voucher")}</a>
                <a class="button quiet" href=format!("/admin/rehearsals?voucher_id={id}&units={units}")>{lang.text("rehearse-sale")}</a>
                <a class="button quiet" href=format!("/admin/sales/{id}/orders")>{lang.text("sale-orders")}</a>
                <a class="button quiet" href=format!("/admin/sales/{id}/orders.csv") download="">{lang.text("export")}</a>
            </p>
            <section aria-labelledby="sale-actions">
                <h2 id="sale-actions">{lang.text("sale-actions")}</h2>
                <div id=SALE_ACTIONS>{sale_actions(lang, &query, voucher, detail.sale.view.now)}</div>
            </section>
            <section aria-labelledby="units">
                <h2 id="units">{lang.text("units")}</h2>
                <p class="muted small">{lang.text("units-explained")}</p>
                <div id=SALE_UNITS>{sale_units(lang, &detail.sale, &detail.units)}</div>
            </section>
            <section aria-labelledby="over-time">
                <h2 id="over-time">{lang.text("over-time")}</h2>
                {spans(lang, id, span)}
                {sale_charts(lang, &detail.series, &zone)}
                <p class="muted small">{lang.text("charts-explained")}</p>
            </section>
            <section aria-labelledby="history">
                <h2 id="history">{lang.text("history")}</h2>
                {audit_entries(lang, history)}
                <p><a href=format!("/admin/audit?sale={id}")>{lang.text("whole-history")}</a></p>
            </section>
        }
        .into_any())
    })
}

/// Ways to other spans of time.
fn spans(lang: Lang, id: VoucherId, shown: Span) -> impl IntoView {
    let ways = Span::ALL.map(|span| {
        let word = span.as_str();
        let way = format!("/admin/sales/{id}?span={word}#over-time");
        let current = (span == shown).then_some("true");
        view! { <li><a href=way aria-current=current>{lang.text(&format!("span-{word}"))}</a></li> }
    });
    let ways = ways.into_iter().collect_view();
    view! {
        <nav aria-label=lang.text("over-time")><ul class="tabs" role="list">{ways}</ul></nav>
    }
}
