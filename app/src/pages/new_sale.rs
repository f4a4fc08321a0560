//! The form that creates a voucher with its flash sale.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Field, Form, Head, Kind, Notice, Query, page, visitor_zone},
    model::Shop,
};

/// Zones to suggest; any IANA name is taken.
const ZONES: [&str; 12] = [
    "Asia/Shanghai",
    "Asia/Hong_Kong",
    "Asia/Taipei",
    "Asia/Singapore",
    "Asia/Tokyo",
    "Asia/Urumqi",
    "Europe/London",
    "Europe/Berlin",
    "America/New_York",
    "America/Los_Angeles",
    "Australia/Sydney",
    "UTC",
];

/// The form that creates a sale. Admins only.
#[component]
pub(crate) fn NewSale() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::here();
    page(async move {
        let shops = backend().all_shops().await?;
        Head::title(lang.text("new-sale"));
        let form = Form {
            lang,
            query: query.clone(),
        };
        let zone = visitor_zone(lang).name().to_owned();
        Ok(view! {
            <div class="narrow">
                <p class="back"><a href="/admin/sales">{lang.text("sales")}</a></p>
                <h1>{lang.text("new-sale")}</h1>
                <Notice lang=lang query=query/>
                {shops.is_empty().then(|| view! {
                    <p class="notice">{lang.text("no-shop-yet")}" "<a href="/admin/shops/new">{lang.text("new-shop")}</a></p>
                })}
                <form class="stack" method="post" action="/api/admin/create_sale" novalidate>
                    <Field form=form.clone() name="shop_id" kind=Kind::Choice(choices(shops))/>
                    <Field form=form.clone() name="title" kind=Kind::Line hinted=true/>
                    <Field form=form.clone() name="subtitle" kind=Kind::Line optional=true/>
                    <Field form=form.clone() name="rules" kind=Kind::Lines optional=true/>
                    <div class="pair">
                        <Field form=form.clone() name="price" kind=Kind::Money/>
                        <Field form=form.clone() name="face_value" kind=Kind::Money/>
                    </div>
                    <Field form=form.clone() name="stock" kind=Kind::Number hinted=true/>
                    <fieldset>
                        <legend>{lang.text("window")}</legend>
                        <p class="hint">{lang.text("window-rule")}</p>
                        <div class="pair">
                            <Field form=form.clone() name="begins_at" kind=Kind::Time/>
                            <Field form=form.clone() name="ends_at" kind=Kind::Time/>
                        </div>
                        <Field form=form name="zone" kind=Kind::Suggest(&ZONES) hinted=true initial=zone/>
                    </fieldset>
                    <button class="button wide">{lang.text("create-sale")}</button>
                </form>
            </div>
        }
        .into_any())
    })
}

fn choices(shops: Vec<Shop>) -> Vec<(String, String)> {
    let choices = shops
        .into_iter()
        .map(|shop| (shop.id.to_string(), shop.name));
    choices.collect()
}
