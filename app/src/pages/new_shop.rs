//! The form that creates a shop.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Field, Form, Head, Kind, Notice, Query, page},
    model::{ADDRESS, CATEGORY, SHOP_NAME},
};

/// The form that creates a shop. Admins only.
#[component]
pub(crate) fn NewShop() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::typed_here();
    page(async move {
        // Asked for the role that it demands; the form itself needs none of them.
        backend().all_shops().await?;
        Head::title(lang.text("new-shop"));
        let form = Form {
            lang,
            query: query.clone(),
        };
        Ok(view! {
            <div class="narrow">
                <p class="back"><a href="/admin/sales">{lang.text("sales")}</a></p>
                <h1>{lang.text("new-shop")}</h1>
                <Notice lang=lang query=query/>
                <form class="stack" method="post" action="/api/admin/create_shop" novalidate>
                    <Field form=form.clone() name="name" kind=Kind::Line letters=SHOP_NAME/>
                    <Field form=form.clone() name="category" kind=Kind::Line letters=CATEGORY hinted=true/>
                    <Field form=form name="address" kind=Kind::Line letters=ADDRESS/>
                    <button class="button wide">{lang.text("create-shop")}</button>
                </form>
            </div>
        }
        .into_any())
    })
}
