//! A shop with its vouchers.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Empty, Head, Photo, Tile, Visitor, VoucherCards, page, path_id, said},
    model::Role,
};

/// A shop with its vouchers.
#[component]
pub(crate) fn ShopPage() -> impl IntoView {
    let lang = visitor_lang();
    let id = path_id();
    page(async move {
        let view = backend().shop(id?).await?;
        Head::title(view.shop.name.clone());
        let shop = &view.shop;
        let is_admin = Visitor::here()
            .account()
            .is_some_and(|account| account.role == Role::Admin);
        let change = is_admin.then(|| format!("/admin/shops/{}/picture", shop.id));
        let (name, category) = (shop.name.clone(), shop.category.clone());
        let photo = match view.picture {
            Some(picture) => view! { <Photo lang=lang name=name picture=picture/> }.into_any(),
            None => view! { <Tile lang=lang name=name category=category picture=None/> }.into_any(),
        };
        Ok(view! {
            <p class="back"><a href="/">{lang.text("to-shops")}</a></p>
            <h1>{said(lang, view.shop.name)}</h1>
            <p><span class="tag">{said(lang, view.shop.category)}</span></p>
            <p class="muted">{said(lang, view.shop.address)}</p>
            <div class="shop-photo">{photo}</div>
            {change.map(|change| view! {
                <p class="actions"><a class="button quiet" href=change>{lang.text("change-picture")}</a></p>
            })}
            <section aria-labelledby="vouchers">
                <h2 id="vouchers">{lang.text("vouchers")}</h2>
                {if view.vouchers.is_empty() {
                    let way = ("/".to_owned(), lang.text("see-sales"));
                    view! { <Empty words=lang.text("no-vouchers") hint=lang.text("no-vouchers-hint") way=way/> }.into_any()
                } else {
                    view! { <VoucherCards lang=lang vouchers=view.vouchers shop_shown=false/> }.into_any()
                }}
            </section>
        }
        .into_any())
    })
}
