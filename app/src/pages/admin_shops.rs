//! The shops, for whoever edits them.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Head, Query, page, said},
    model::{Shop, ShopKey, ShopSearch},
    texts::Lang,
};

/// A page of all shops, by their number. Admins only.
#[component]
pub(crate) fn AdminShops() -> impl IntoView {
    let lang = visitor_lang();
    let search = ShopSearch {
        after: ShopKey::parse(Query::here().value("after")).ok(),
        ..ShopSearch::default()
    };
    page(async move {
        let list = backend().shops(&search).await?;
        Head::title(lang.text("edit-shops"));
        let next = list.next.map(|key| format!("/admin/shops?after={key}"));
        let heads = ["shop", "field-category", "field-address", "edit"]
            .map(|key| view! { <th scope="col">{lang.text(key)}</th> });
        let heads = heads.into_iter().collect_view();
        Ok(view! {
            <p class="back"><a href="/admin/sales">{lang.text("sales")}</a></p>
            <h1>{lang.text("edit-shops")}</h1>
            <p class="actions"><a class="button" href="/admin/shops/new">{lang.text("new-shop")}</a></p>
            {if list.shops.is_empty() {
                view! { <p class="empty">{lang.text("no-more-shops")}</p> }.into_any()
            } else {
                view! {
                    <div class="scroll" role="region" tabindex="0" aria-label=lang.text("edit-shops")>
                        <table class="stacks">
                            <thead><tr>{heads}</tr></thead>
                            <tbody>{list.shops.into_iter().map(|shop| row(lang, shop)).collect_view()}</tbody>
                        </table>
                    </div>
                }
                .into_any()
            }}
            {next.map(|next| view! { <p><a class="button quiet" href=next>{lang.text("more-shops")}</a></p> })}
        }
        .into_any())
    })
}

fn row(lang: Lang, shop: Shop) -> impl IntoView {
    let edit = format!("{} {}", lang.text("edit"), shop.name);
    let picture = format!("{} {}", lang.text("shop-picture"), shop.name);
    view! {
        <tr>
            <th scope="row">{said(lang, shop.name)}</th>
            <td data-label=lang.text("field-category")>{said(lang, shop.category)}</td>
            <td data-label=lang.text("field-address")>{said(lang, shop.address)}</td>
            <td>
                <p class="actions">
                    <a class="button quiet" aria-label=edit href=format!("/admin/shops/{}/edit", shop.id)>{lang.text("edit")}</a>
                    <a class="button quiet" aria-label=picture href=format!("/admin/shops/{}/picture", shop.id)>{lang.text("shop-picture")}</a>
                </p>
            </td>
        </tr>
    }
}
