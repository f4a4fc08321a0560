//! The audit log: who did what, when, newest first; of everything, of one sale, or of one person.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Head, Query, audit_entries, page},
    model::{AuditSearch, UserId, VoucherId},
    texts::Lang,
};

/// The audit log. Admins only.
#[component]
pub(crate) fn AuditLog() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::here();
    let search = AuditSearch {
        sale: VoucherId::parse(query.value("sale")).ok(),
        user: UserId::parse(query.value("user")).ok(),
        before: query.value("before").parse().ok(),
    };
    page(async move {
        let found = backend().audit_log(search).await?;
        Head::title(lang.text("audit-log"));
        let newest = AuditSearch {
            before: None,
            ..search
        };
        let next = found.next.map(|before| AuditSearch {
            before: Some(before),
            ..search
        });
        Ok(view! {
            <p class="back">{match search.sale {
                Some(sale) => {
                    let words = lang.text_with("voucher-number", [("id", sale.to_string().into())]);
                    view! { <a href=format!("/admin/sales/{sale}")>{words}</a> }.into_any()
                }
                None => view! { <a href="/admin/sales">{lang.text("sales")}</a> }.into_any(),
            }}</p>
            <h1>{lang.text("audit-log")}</h1>
            <p class="muted">{lang.text("audit-explained")}</p>
            {filter(lang, search)}
            {audit_entries(lang, found.entries)}
            <p class="actions">
                {search.before.map(|_| view! { <a class="button quiet" href=address(newest)>{lang.text("newest-entries")}</a> })}
                {next.map(|next| view! { <a class="button quiet" href=address(next)>{lang.text("older-entries")}</a> })}
            </p>
        }
        .into_any())
    })
}

fn address(search: AuditSearch) -> String {
    let sale = search.sale.map(|sale| format!("sale={sale}"));
    let user = search.user.map(|user| format!("user={user}"));
    let before = search.before.map(|before| format!("before={before}"));
    let query: Vec<String> = sale.into_iter().chain(user).chain(before).collect();
    format!("/admin/audit?{}", query.join("&"))
}

/// Lets those of one sale or one person be chosen, and all of them again.
fn filter(lang: Lang, search: AuditSearch) -> impl IntoView {
    let is_filtered = search.sale.is_some() || search.user.is_some();
    view! {
        <form class="search" action="/admin/audit" method="get">
            <div class="field">
                <label for="sale">{lang.text("audit-of-sale")}</label>
                <input id="sale" name="sale" inputmode="numeric" value=search.sale.map(|sale| sale.to_string())/>
            </div>
            <div class="field">
                <label for="user">{lang.text("audit-of-user")}</label>
                <input id="user" name="user" inputmode="numeric" value=search.user.map(|user| user.to_string())/>
            </div>
            <button class="button">{lang.text("show")}</button>
            {is_filtered.then(|| view! { <a class="button quiet" href="/admin/audit">{lang.text("all-entries")}</a> })}
        </form>
    }
}
