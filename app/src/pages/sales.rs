//! The sales console: every sale with where it stands, how fast it sells, and what waits to be stored.

use leptos::prelude::*;

use crate::{
    api::{SALES_ROWS, sales_address, visitor_lang},
    backend::backend,
    components::{Empty, Head, Query, here, live_words, page, sales_rows},
    islands::LiveParts,
    model::{SalesCursor, VoucherId},
};

const COLUMNS: [&str; 8] = [
    "voucher",
    "sale-state",
    "sold-of-granted",
    "sale-rate",
    "sale-backlog",
    "drift",
    "begins",
    "ends",
];

const COUNTS: [&str; 4] = ["sold-of-granted", "sale-rate", "sale-backlog", "drift"];

/// All sales. Admins only.
#[component]
pub(crate) fn Sales() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::here();
    let created = VoucherId::parse(query.value("created")).ok();
    let after = SalesCursor::parse(query.value("after"));
    page(async move {
        let found = backend().sales(after).await?;
        Head::title(lang.text("sales"));
        let heads = COLUMNS.map(|key| {
            let count = COUNTS.contains(&key);
            view! { <th scope="col" class:count=count>{lang.text(key)}</th> }
        });
        let heads = heads.into_iter().collect_view();
        let next = found.next.map(|next| format!("/admin/sales?after={next}"));
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
            {if found.sales.is_empty() {
                view! { <Empty words=lang.text("no-sales") hint=lang.text("no-sales-hint")/> }.into_any()
            } else {
                view! {
                    <div class="live-ways">
                        <a href=here()>{lang.text("refresh")}</a>
                        <LiveParts words=live_words(lang, sales_address(after))/>
                    </div>
                    <div class="scroll" role="region" tabindex="0" aria-label=lang.text("sales")>
                        <table class="console stacks">
                            <thead><tr>{heads}</tr></thead>
                            <tbody id=SALES_ROWS>{sales_rows(lang, &found.sales)}</tbody>
                        </table>
                    </div>
                }
                .into_any()
            }}
            <p class="actions">
                {after.map(|_| view! { <a class="button quiet" href="/admin/sales">{lang.text("first-sales")}</a> })}
                {next.map(|next| view! { <a class="button quiet" href=next>{lang.text("more-sales")}</a> })}
            </p>
            <p class="muted small">{lang.text("console-explained")}</p>
        }
        .into_any())
    })
}
