//! The visitor's orders, newest first, queued ones included.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Empty, Head, Moment, money, page, said, visitor_zone, zone_named},
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
                let way = ("/".to_owned(), lang.text("see-sales"));
                view! { <Empty words=lang.text("no-orders") hint=lang.text("no-orders-hint") way=way/> }.into_any()
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
            <p class="state">
                <span class="badge" data-status=status>{lang.text(&format!("status-{status}"))}</span>
                <span class="muted small">
                    <span class="unseen">{lang.text("accepted-at")}" "</span>
                    <Moment at=order.accepted_at zone=zone seconds=true/>
                </span>
            </p>
            <h2><a href=format!("/orders/{}", order.id)>{said(lang, title)}</a></h2>
            {order.shop_name.map(|shop| view! { <p class="muted">{said(lang, shop)}</p> })}
            {order.price.map(|price| view! { <p class="prices"><span class="price">{money(lang, price)}</span></p> })}
            {reason.map(|reason| view! { <p class="small">{reason}</p> })}
            <p class="muted small number"><span>{lang.text("order-number")}</span>" "<code>{order.id.to_string()}</code></p>
        </li>
    }
}
