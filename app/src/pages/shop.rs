//! A shop with its vouchers.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Empty, Head, VoucherCards, page, path_id, said},
};

/// A shop with its vouchers.
#[component]
pub(crate) fn ShopPage() -> impl IntoView {
    let lang = visitor_lang();
    let id = path_id();
    page(async move {
        let view = backend().shop(id?).await?;
        Head::title(view.shop.name.clone());
        Ok(view! {
            <p class="back"><a href="/">{lang.text("to-shops")}</a></p>
            <h1>{said(lang, view.shop.name)}</h1>
            <p><span class="tag">{said(lang, view.shop.category)}</span></p>
            <p class="muted">{said(lang, view.shop.address)}</p>
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
