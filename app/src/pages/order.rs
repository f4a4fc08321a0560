//! One order: where it stands, and what to do next. "Bought" is said of stored orders only.

use leptos::prelude::*;
use time::OffsetDateTime;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Head, Moment, Query, encode, money, page, path_id, visitor_zone},
    islands::{OrderStatus, OrderWords},
    model::{OrderId, OrderReply, OrderView, Reason, Status},
    texts::Lang,
};

/// An own order.
#[component]
pub(crate) fn OrderPage() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::here();
    let id = path_id::<OrderId>();
    page(async move {
        let order = backend().order(id?).await?;
        Head::title(lang.text("order"));
        if order.status == Status::Queued {
            refresh(order.id, query.value("n"));
        }
        let waited = OffsetDateTime::now_utc() - order.accepted_at;
        let waited_ms = u32::try_from(waited.whole_milliseconds().max(0)).unwrap_or(u32::MAX);
        let words = words(lang, order.id);
        let title = order.voucher_title.clone().unwrap_or_else(|| {
            lang.text_with(
                "voucher-number",
                [("id", order.voucher_id.to_string().into())],
            )
        });
        Ok(view! {
            <div class="narrow">
                <p class="back"><a href="/orders">{lang.text("my-orders")}</a></p>
                <h1>{lang.text("order")}</h1>
                {view! { <OrderStatus order=OrderReply::from(order.clone()) waited_ms=waited_ms words=words/> }.into_any()}
                {view! { <Details lang=lang order=order title=title/> }.into_any()}
            </div>
        }
        .into_any())
    })
}

#[component]
fn Details(lang: Lang, order: OrderView, title: String) -> impl IntoView {
    let zone = visitor_zone(lang);
    let voucher = format!("/vouchers/{}", order.voucher_id);
    let stored = order.stored_at.map(|at| {
        view! { <div><dt>{lang.text("stored-at")}</dt><dd><Moment at=at zone=zone.clone()/></dd></div> }
    });
    view! {
        <dl class="details">
            <div><dt>{lang.text("voucher")}</dt><dd><a href=voucher><bdi>{title}</bdi></a></dd></div>
            {order.shop_name.map(|shop| view! {
                <div><dt>{lang.text("shop")}</dt><dd><bdi>{shop}</bdi></dd></div>
            })}
            {order.price.map(|price| view! {
                <div><dt>{lang.text("price")}</dt><dd class="price">{money(lang, price)}</dd></div>
            })}
            <div><dt>{lang.text("accepted-at")}</dt><dd><Moment at=order.accepted_at zone=zone/></dd></div>
            {stored}
            <div><dt>{lang.text("order-number")}</dt><dd class="number"><code>{order.id.to_string()}</code></dd></div>
        </dl>
    }
}

/// Where no script runs, the page asks again: after 2 s, then less and less often.
fn refresh(id: OrderId, tries: &str) {
    let tries: u8 = tries.parse().unwrap_or(0);
    let seconds = [2, 2, 3, 4, 5, 7, 10][usize::from(tries.min(6))];
    Head::refresh(
        seconds,
        format!("/orders/{id}?n={}", tries.saturating_add(1)),
    );
}

fn words(lang: Lang, id: OrderId) -> OrderWords {
    let statuses = [Status::Queued, Status::Confirmed, Status::Refused];
    let reasons = [
        Reason::AlreadyBought,
        Reason::SoldOut,
        Reason::Discarded,
        Reason::Lost,
        Reason::IdClash,
    ];
    OrderWords {
        statuses: statuses.map(|s| lang.text(&format!("status-{}", s.as_str()))),
        hints: statuses.map(|s| lang.text(&format!("status-{}-hint", s.as_str()))),
        reasons: reasons.map(|r| lang.text(&format!("reason-{}", r.as_str()))),
        slow: lang.text("slow"),
        live_order: lang.text("live-order"),
        voucher: lang.text("see-voucher"),
        signed_out: lang.text("signed-out"),
        sign_in: lang.text("sign-in"),
        sign_in_address: format!("/sign-in?next={}", encode(&format!("/orders/{id}"))),
    }
}
