//! The picture of a shop: the present one, and the forms that set another and take it away.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Changed, Head, Notice, Photo, Query, Tile, page, path_id},
    model::{Shop, ShopId},
    texts::Lang,
};

/// What may be chosen; what a file is says its content alone.
const ACCEPTED: &str = "image/jpeg,image/png,image/webp";

/// The picture of a shop. Admins only.
#[component]
pub(crate) fn ShopPicture() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::typed_here();
    let id = path_id();
    page(async move {
        let view = backend().shop(id?).await?;
        let shop = view.shop;
        Head::title(lang.text("shop-picture"));
        Ok(view! {
            <div class="narrow">
                <p class="back"><a href=format!("/shops/{}", shop.id)><bdi>{shop.name.clone()}</bdi></a></p>
                <h1>{lang.text("shop-picture")}</h1>
                <Changed lang=lang query=query.clone()/>
                <Notice lang=lang query=query.clone()/>
                {match view.picture {
                    Some(picture) => view! {
                        <Photo lang=lang name=shop.name.clone() picture=picture/>
                        <h2>{lang.text("picture-in-lists")}</h2>
                    }
                    .into_any(),
                    None => view! { <p class="muted">{lang.text("no-picture")}</p> }.into_any(),
                }}
                {small(lang, &shop)}
                {upload(lang, &query, shop.id)}
                {view.picture.map(|_| removal(lang, shop.id))}
            </div>
        }
        .into_any())
    })
}

fn small(lang: Lang, shop: &Shop) -> impl IntoView + use<> {
    view! {
        <div class="picture-preview">
            <Tile lang=lang name=shop.name.clone() category=shop.category.clone() picture=shop.tile/>
        </div>
    }
}

fn upload(lang: Lang, query: &Query, shop: ShopId) -> impl IntoView + use<> {
    let problem = query.problem("picture");
    let described = if problem.is_some() {
        "picture-hint picture-error"
    } else {
        "picture-hint"
    };
    // The shop is in the address too: where a file is too large, the form is not read.
    let action = format!("/api/admin/set_shop_picture?shop={shop}");
    view! {
        <form class="stack" method="post" action=action enctype="multipart/form-data">
            <input type="hidden" name="shop_id" value=shop.to_string()/>
            <div class="field">
                <label for="picture">{lang.text("field-picture")}</label>
                <p class="hint" id="picture-hint">{lang.text("field-picture-hint")}</p>
                <input
                    type="file"
                    id="picture"
                    name="picture"
                    accept=ACCEPTED
                    required=true
                    aria-invalid=problem.map(|_| "true")
                    aria-describedby=described
                />
                {problem.map(|problem| view! {
                    <p class="error" id="picture-error">{lang.problem(problem)}</p>
                })}
            </div>
            <button class="button wide">{lang.text("set-picture")}</button>
        </form>
    }
}

fn removal(lang: Lang, shop: ShopId) -> impl IntoView {
    view! {
        <details class="confirm">
            <summary>{lang.text("remove-picture")}"…"</summary>
            <p class="small">{lang.text("remove-picture-explained")}</p>
            <form method="post" action="/api/admin/remove_shop_picture">
                <input type="hidden" name="shop_id" value=shop.to_string()/>
                <button class="button">{lang.text("remove-picture")}</button>
            </form>
        </details>
    }
}
