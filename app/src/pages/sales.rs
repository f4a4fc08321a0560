//! The sales console: every sale with where it stands, how fast it sells, and what waits to be stored.

use leptos::prelude::*;

use crate::{
    api::{SALES_ROWS, sales_address, sales_query, visitor_lang},
    backend::backend,
    components::{Empty, Head, Query, live_words, page, sales_rows},
    islands::LiveParts,
    model::{SalesSearch, Standing, VoucherId},
    texts::Lang,
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
    let search = SalesSearch::read(
        query.value("words"),
        query.value("standing"),
        query.value("after"),
    );
    page(async move {
        let found = backend().sales(search.clone()).await?;
        Head::title(lang.text("sales"));
        let heads = COLUMNS.map(|key| {
            let count = COUNTS.contains(&key);
            view! { <th scope="col" class:count=count>{lang.text(key)}</th> }
        });
        let heads = heads.into_iter().collect_view();
        let is_filtered = !search.words.is_empty() || search.standing.is_some();
        let at = |after| {
            let page = SalesSearch {
                after,
                ..search.clone()
            };
            format!("/admin/sales?{}", sales_query(&page))
        };
        let next = found.next.map(|next| at(Some(next)));
        let first = search.after.map(|_| at(None));
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
                <a class="button quiet" href="/admin/rehearsals">{lang.text("rehearsals")}</a>
                <a class="button quiet" href="/admin/audit">{lang.text("audit-log")}</a>
            </p>
            {filter(lang, &search)}
            {if found.sales.is_empty() && is_filtered {
                let way = ("/admin/sales".to_owned(), lang.text("all-sales"));
                view! { <Empty words=lang.text("no-such-sales") hint=lang.text("no-such-sales-hint") way=way/> }.into_any()
            } else if found.sales.is_empty() {
                view! { <Empty words=lang.text("no-sales") hint=lang.text("no-sales-hint")/> }.into_any()
            } else {
                view! {
                    <div class="live-ways">
                        <a href=at(search.after)>{lang.text("refresh")}</a>
                        <LiveParts words=live_words(lang, sales_address(&search))/>
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
                {first.map(|first| view! { <a class="button quiet" href=first>{lang.text("first-sales")}</a> })}
                {next.map(|next| view! { <a class="button quiet" href=next>{lang.text("more-sales")}</a> })}
            </p>
            <p class="muted small">{lang.text("console-explained")}</p>
        }
        .into_any())
    })
}

/// Lets sales be chosen by words and by how they stand.
fn filter(lang: Lang, search: &SalesSearch) -> impl IntoView + use<> {
    let options = Standing::ALL.map(|standing| {
        let word = standing.as_str();
        let selected = search.standing == Some(standing);
        view! { <option value=word selected=selected>{lang.text(&format!("standing-{word}"))}</option> }
    });
    view! {
        <search>
            <form class="search" action="/admin/sales" method="get">
                <div class="field">
                    <label for="words">{lang.text("sales-words")}</label>
                    <input type="search" id="words" name="words" value=search.words.typed().to_owned() maxlength="60"/>
                </div>
                <div class="field">
                    <label for="standing">{lang.text("sale-state")}</label>
                    <select id="standing" name="standing">
                        <option value="">{lang.text("all-sales")}</option>
                        {options.into_iter().collect_view()}
                    </select>
                </div>
                <button class="button">{lang.text("search")}</button>
            </form>
        </search>
    }
}
