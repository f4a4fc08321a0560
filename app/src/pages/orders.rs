//! The visitor's orders, newest first, queued ones included.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Head, Moment, money, page, visitor_zone, zone_named},
    model::OrderView,
    texts::Lang,
};

/// My orders.
#[component]
pub(crate) fn Orders() -> impl IntoView {
    let lang = visitor_lang();
    page(async move {
        let orders = backend().my_orders().await?;
        Head::title(lang.text("my-orders"));
        Ok(view! {
            <h1>{lang.text("my-orders")}</h1>
            {if orders.is_empty() {
                view! {
                    <p class="empty">{lang.text("no-orders")}</p>
                    <p class="actions"><a class="button" href="/">{lang.text("to-front-page")}</a></p>
                }
                .into_any()
            } else {
                let rows = orders.into_iter().map(|order| row(lang, order)).collect_view();
                view! { <ul class="cards orders" role="list">{rows}</ul> }.into_any()
            }}
        }
        .into_any())
    })
}

fn row(lang: Lang, order: OrderView) -> impl IntoView {
    let status = order.status.as_str();
    let zone = order
        .zone
        .as_deref()
        .map_or_else(|| visitor_zone(lang), zone_named);
    let title = order.voucher_title.unwrap_or_else(|| {
        lang.text_with(
            "voucher-number",
            [("id", order.voucher_id.to_string().into())],
        )
    });
    let reason = order
        .reason
        .map(|reason| lang.text(&format!("reason-{}", reason.as_str())));
    view! {
        <li class="card order" data-status=status>
            <h2><a href=format!("/orders/{}", order.id)><bdi>{title}</bdi></a></h2>
            <p class="state">
                <span class="badge" data-status=status>{lang.text(&format!("status-{status}"))}</span>
                {order.price.map(|price| view! { <span class="price">{money(lang, price)}</span> })}
            </p>
            {reason.map(|reason| view! { <p>{reason}</p> })}
            {order.shop_name.map(|shop| view! { <p class="muted"><bdi>{shop}</bdi></p> })}
            <p class="muted small">
                <span>{lang.text("accepted-at")}</span>" "
                <Moment at=order.accepted_at zone=zone/>
            </p>
            <p class="muted small number"><span>{lang.text("order-number")}</span>" "<code>{order.id.to_string()}</code></p>
        </li>
    }
}
