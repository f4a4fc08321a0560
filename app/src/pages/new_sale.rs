//! The form that creates a voucher with its flash sale, empty or like another sale.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{
        Field, Form, Head, Kind, Notice, OfferFields, OfferShown, Query, WindowFields, page,
        shop_names, visitor_zone,
    },
    error::AppError,
    model::{Shop, VoucherId},
    texts::Lang,
};

/// What the form shows before anything is typed.
struct Shown {
    shop_id: String,
    stock: String,
    offer: OfferShown,
}

/// The form that creates a sale. Admins only.
#[component]
pub(crate) fn NewSale() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::typed_here();
    page(async move {
        let shops = backend().all_shops().await?;
        let shown = shown(lang, query.value("like")).await?;
        Head::title(lang.text("new-sale"));
        let form = Form {
            lang,
            query: query.clone(),
        };
        Ok(view! {
            <div class="narrow">
                <p class="back"><a href="/admin/sales">{lang.text("sales")}</a></p>
                <h1>{lang.text("new-sale")}</h1>
                <Notice lang=lang query=query/>
                {shops.is_empty().then(|| view! {
                    <p class="notice">{lang.text("no-shop-yet")}" "<a href="/admin/shops/new">{lang.text("new-shop")}</a></p>
                })}
                <form class="stack" method="post" action="/api/admin/create_sale" novalidate>
                    <Field form=form.clone() name="shop_id" kind=Kind::Choice(choices(&shops)) initial=shown.shop_id/>
                    <OfferFields form=form.clone() shown=shown.offer.clone()/>
                    <Field form=form.clone() name="stock" kind=Kind::Number hinted=true initial=shown.stock/>
                    <WindowFields form=form shown=shown.offer/>
                    <button class="button wide">{lang.text("create-sale")}</button>
                    <button class="button quiet wide" formmethod="get" formaction="/admin/sales/preview">{lang.text("preview")}</button>
                </form>
            </div>
        }
        .into_any())
    })
}

/// Nothing, or a sale like another.
async fn shown(lang: Lang, like: &str) -> Result<Shown, AppError> {
    let Ok(id) = VoucherId::parse(like) else {
        return Ok(Shown {
            shop_id: String::new(),
            stock: String::new(),
            offer: OfferShown::empty(&visitor_zone(lang)),
        });
    };
    let sale = backend().sale_to_edit(id).await?;
    Ok(Shown {
        shop_id: sale.voucher.shop_id.to_string(),
        stock: sale.voucher.granted.to_string(),
        offer: OfferShown::like(&sale.voucher, sale.now),
    })
}

fn choices(shops: &[Shop]) -> Vec<(String, String)> {
    let names = shop_names(shops).into_iter();
    names.map(|(id, name)| (id.to_string(), name)).collect()
}
