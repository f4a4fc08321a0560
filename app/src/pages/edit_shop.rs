//! The form that edits a shop's texts. Made from a version: where somebody else has changed the shop since, nothing is saved.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{
        Changed, Field, Form, Head, Kind, Notice, Outdated, Query, form_version, is_outdated, page,
        path_id,
    },
    model::{ADDRESS, CATEGORY, SHOP_NAME},
};

/// The form that edits a shop. Admins only.
#[component]
pub(crate) fn EditShop() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::typed_here();
    let id = path_id();
    page(async move {
        let found = backend().shop_to_edit(id?).await?;
        let shop = found.shop;
        Head::title(lang.text("edit-shop"));
        let outdated = is_outdated(&query);
        let present = |value: &String| outdated.then(|| value.clone());
        let form = Form {
            lang,
            query: query.clone(),
        };
        Ok(view! {
            <div class="narrow">
                <p class="back"><a href="/admin/shops">{lang.text("edit-shops")}</a></p>
                <h1>{lang.text("edit-shop")}</h1>
                <p class="muted"><a href=format!("/shops/{}", shop.id)><bdi>{shop.name.clone()}</bdi></a></p>
                <Changed lang=lang query=query.clone()/>
                <Notice lang=lang query=query.clone()/>
                {outdated.then(|| view! { <Outdated lang=lang last_change=found.last_change/> })}
                <form class="stack" method="post" action="/api/admin/edit_shop" novalidate>
                    <input type="hidden" name="shop_id" value=shop.id.to_string()/>
                    <input type="hidden" name="version" value=form_version(&query, found.version)/>
                    <Field form=form.clone() name="name" kind=Kind::Line letters=SHOP_NAME present=present(&shop.name) initial=shop.name/>
                    <Field form=form.clone() name="category" kind=Kind::Line letters=CATEGORY hinted=true present=present(&shop.category) initial=shop.category/>
                    <Field form=form name="address" kind=Kind::Line letters=ADDRESS present=present(&shop.address) initial=shop.address/>
                    <button class="button wide">{lang.text("save")}</button>
                </form>
            </div>
        }
        .into_any())
    })
}
