//! The desk of a shop: a clerk looks at the order that a customer shows.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Field, Form, Head, Kind, Moment, Query, page, zone_named},
    error::AppError,
    model::{OrderId, OrderView},
    texts::Lang,
};

/// The desk of a shop. Staff only.
#[component]
pub(crate) fn Desk() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::here();
    page(async move {
        let shop = backend().desk_shop().await?;
        let typed = query.words("order", 64);
        let order = find(&typed).await?;
        Head::title(lang.text("desk"));
        let form = Form { lang, query };
        Ok(view! {
            <div class="narrow">
                <h1>{lang.text("desk")}</h1>
                <p class="muted">
                    {match shop {
                        Some(shop) => view! { <bdi>{shop.name}</bdi> }.into_any(),
                        None => lang.text("all-shops").into_any(),
                    }}
                </p>
                <form class="stack" method="get" action="/desk">
                    <Field form=form name="order" kind=Kind::Line hinted=true/>
                    <button class="button wide">{lang.text("look-up")}</button>
                </form>
                {(!typed.is_empty()).then(|| match order {
                    Some(order) => found(lang, order).into_any(),
                    None => view! { <p class="notice" role="status">{lang.text("no-such-order")}</p> }.into_any(),
                })}
            </div>
        }
        .into_any())
    })
}

/// The order of this number; `None` for one that is none, is not stored, or is another shop's.
async fn find(typed: &str) -> Result<Option<OrderView>, AppError> {
    let Some(id) = OrderId::parse(&typed.to_lowercase()) else {
        return Ok(None);
    };
    match backend().desk_order(id).await {
        Ok(order) => Ok(Some(order)),
        Err(AppError::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

fn found(lang: Lang, order: OrderView) -> impl IntoView {
    let status = order.status.as_str();
    let zone = zone_named(order.zone.as_deref().unwrap_or_default());
    view! {
        <section role="status">
            <p><span class="badge" data-status=status>{lang.text(&format!("status-{status}"))}</span></p>
            <dl class="details">
                <div><dt>{lang.text("voucher")}</dt><dd><bdi>{order.voucher_title}</bdi></dd></div>
                <div><dt>{lang.text("shop")}</dt><dd><bdi>{order.shop_name}</bdi></dd></div>
                <div><dt>{lang.text("accepted-at")}</dt><dd><Moment at=order.accepted_at zone=zone/></dd></div>
            </dl>
        </section>
    }
}
