//! One order: where it stands, and what to do next. "Bought" is said of stored orders only.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{
        Head, Query, Timeline, encode, money, page, path_id, said, visitor_zone, zone_named,
    },
    islands::{OrderStatus, Words},
    model::{OrderId, OrderReply, OrderView, Reason, Status},
    texts::Lang,
};

const STATUSES: [Status; 3] = [Status::Queued, Status::Confirmed, Status::Refused];

const REASONS: [Reason; 5] = [
    Reason::AlreadyBought,
    Reason::SoldOut,
    Reason::Discarded,
    Reason::Lost,
    Reason::IdClash,
];

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
        let waited = backend().now() - order.accepted_at;
        let waited_ms = u32::try_from(waited.whole_milliseconds().max(0)).unwrap_or(u32::MAX);
        let sign_in = format!("/sign-in?next={}", encode(&format!("/orders/{}", order.id)));
        let title = order.voucher_title.clone().unwrap_or_else(|| {
            lang.text_with(
                "voucher-number",
                [("id", order.voucher_id.to_string().into())],
            )
        });
        let zone = order
            .zone
            .as_deref()
            .map_or_else(|| visitor_zone(lang), zone_named);
        Ok(view! {
            <div class="narrow order-page">
                <p class="back"><a href="/orders">{lang.text("my-orders")}</a></p>
                <h1>{lang.text("order")}</h1>
                {view! { <OrderStatus order=OrderReply::from(order.clone()) waited_ms=waited_ms words=words(lang, &order) sign_in=sign_in/> }.into_any()}
                {view! { <Details lang=lang order=order.clone() title=title/> }.into_any()}
                <section aria-labelledby="timeline">
                    <h2 id="timeline">{lang.text("timeline")}</h2>
                    {view! { <Timeline lang=lang order=order zone=zone/> }.into_any()}
                </section>
            </div>
        }
        .into_any())
    })
}

#[component]
fn Details(lang: Lang, order: OrderView, title: String) -> impl IntoView {
    let voucher = format!("/vouchers/{}", order.voucher_id);
    view! {
        <dl class="details">
            <div><dt>{lang.text("voucher")}</dt><dd><a href=voucher>{said(lang, title)}</a></dd></div>
            {order.shop_name.map(|shop| view! {
                <div><dt>{lang.text("shop")}</dt><dd>{said(lang, shop)}</dd></div>
            })}
            {order.price.map(|price| view! {
                <div><dt>{lang.text("price")}</dt><dd class="price">{money(lang, price)}</dd></div>
            })}
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

fn words(lang: Lang, order: &OrderView) -> Words {
    let plain = ["slow", "live-order", "see-voucher", "signed-out", "sign-in"];
    let plain = plain.map(|key| (key.to_owned(), lang.text(key)));
    let statuses = STATUSES.into_iter().flat_map(|status| {
        let status = status.as_str();
        let name = lang.text(&format!("status-{status}"));
        let hint = lang.text(&format!("status-{status}-hint"));
        [
            (format!("status-{status}"), name),
            (format!("hint-{status}"), hint),
        ]
    });
    let reasons = REASONS.map(|reason| {
        let key = format!("reason-{}", reason.as_str());
        let text = lang.text(&key);
        (key, text)
    });
    // Once it is stored there is more to show, and the page is asked for again.
    let half = order.status == Status::Queued && order.voucher_title.is_none();
    let half = half.then(|| ("half".to_owned(), "half".to_owned()));
    Words::new(plain.into_iter().chain(statuses).chain(reasons).chain(half))
}
