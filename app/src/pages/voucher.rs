//! A voucher: what it is, what it costs, when it sells, and the one button.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{
        Head, Moment, Notice, Query, Tile, Visitor, encode, foreign, money, page, path_id, said,
        saved_percent, zone_named,
    },
    islands::{SaleArea, Words},
    model::{Cents, SalePhase, SaleReply, Voucher, VoucherId, VoucherView},
    texts::{Lang, PerLang},
};

const PHASES: [SalePhase; 7] = [
    SalePhase::NotStarted,
    SalePhase::Running,
    SalePhase::SoldOut,
    SalePhase::Ended,
    SalePhase::Paused,
    SalePhase::Withdrawn,
    SalePhase::Closed,
];

/// A voucher with its flash-sale button.
#[component]
pub(crate) fn VoucherPage() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::here();
    let id = path_id();
    page(async move {
        let view = backend().voucher(id?).await?;
        let guest = Visitor::here().is_guest();
        let sale = reply(&view);
        let instead = guest.then(|| sign_in(lang, view.voucher.id));
        Head::title(view.voucher.title.clone());
        if let Some(seconds) = until_begin_s(&sale) {
            Head::refresh(seconds, format!("/vouchers/{}", view.voucher.id));
        }
        let notice = view! { <Notice lang=lang query=query/> }.into_any();
        let changes = view! { <SaleArea sale=sale words=words(lang) signed_in=!guest/> }.into_any();
        let buying = view! { {changes} {instead} }.into_any();
        Ok(article(lang, view.voucher, notice, buying))
    })
}

/// A voucher as shoppers see it. `notice` stands below its title, `buying` below its price: what changes while it sells.
pub(super) fn article(lang: Lang, voucher: Voucher, notice: AnyView, buying: AnyView) -> AnyView {
    let zone = zone_named(&voucher.zone);
    let shop = format!("/shops/{}", voucher.shop_id);
    let rules_lang = foreign(lang, &voucher.rules);
    view! {
        <article class="voucher-page">
            <p class="back"><a href=shop.clone()>{said(lang, voucher.shop_name.clone())}</a></p>
            <h1>{said(lang, voucher.title)}</h1>
            {(!voucher.subtitle.is_empty()).then(|| view! { <p class="lead">{said(lang, voucher.subtitle)}</p> })}
            {notice}
            <div class="shop-tile">
                <Tile lang=lang name=voucher.shop_name.clone() category=voucher.shop_category picture=voucher.shop_tile/>
            </div>
            <div class="offer">
                {view! { <Price lang=lang price=voucher.price face_value=voucher.face_value/> }.into_any()}
                {buying}
            </div>
            <section aria-labelledby="window">
                <h2 id="window">{lang.text("window")}</h2>
                <dl class="window">
                    <dt>{lang.text("begins")}</dt>
                    <dd><Moment at=voucher.begins_at zone=zone.clone()/></dd>
                    <dt>{lang.text("ends")}</dt>
                    <dd><Moment at=voucher.ends_at zone=zone/></dd>
                </dl>
                <p class="muted small">{lang.text_with("window-zone", [("zone", voucher.zone.into())])}</p>
            </section>
            {(!voucher.rules.is_empty()).then(|| view! {
                <section aria-labelledby="rules">
                    <h2 id="rules">{lang.text("field-rules")}</h2>
                    <p class="rules" dir="auto" lang=rules_lang>{voucher.rules}</p>
                </section>
            })}
            <section aria-labelledby="shop">
                <h2 id="shop">{lang.text("shop")}</h2>
                <p><a href=shop>{said(lang, voucher.shop_name)}</a></p>
            </section>
        </article>
    }
    .into_any()
}

#[component]
fn Price(lang: Lang, price: Cents, face_value: Cents) -> impl IntoView {
    let saving = Cents(face_value.0 - price.0);
    let percent = saved_percent(price, face_value).unwrap_or_default();
    let saved = [
        ("amount", money(lang, saving).into()),
        ("percent", percent.to_string().into()),
    ];
    view! {
        <dl class="price-line">
            <div class="now"><dt>{lang.text("price")}</dt><dd class="price">{money(lang, price)}</dd></div>
            {(saving.0 > 0).then(|| view! {
                <div><dt>{lang.text("face-value")}</dt><dd><s>{money(lang, face_value)}</s></dd></div>
                <div class="saving"><dt>{lang.text("saving")}</dt><dd>{lang.text_with("saving-of", saved)}</dd></div>
            })}
        </dl>
    }
}

fn reply(view: &VoucherView) -> SaleReply {
    let millis = |at: time::OffsetDateTime| {
        i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or_default()
    };
    SaleReply {
        voucher_id: view.voucher.id.0,
        phase: view.phase,
        left: view.left,
        granted: view.voucher.granted,
        now_ms: millis(view.now),
        begins_ms: millis(view.voucher.begins_at),
        ends_ms: millis(view.voucher.ends_at),
        order_id: view.own_order.map(|order| order.to_string()),
    }
}

/// What stands in the button's place for a guest.
fn sign_in(lang: Lang, voucher: VoucherId) -> impl IntoView {
    let next = encode(&format!("/vouchers/{voucher}"));
    let address = format!("/sign-in?next={next}");
    view! {
        <p class="enter"><a class="button buy wide" href=address>{lang.text("sign-in-to-buy")}</a></p>
    }
}

/// Without script the page loads itself again just after the begin, each a little later than the other.
fn until_begin_s(sale: &SaleReply) -> Option<i64> {
    let left_s = (sale.begins_ms - sale.now_ms) / 1000;
    let waits = sale.phase == SalePhase::NotStarted && (0..3600).contains(&left_s);
    waits.then(|| left_s + 1 + sale.now_ms.rem_euclid(3))
}

/// The words of the island, the same on the pages of all vouchers.
fn words(lang: Lang) -> Words {
    static WORDS: PerLang<Words> = PerLang::new();
    WORDS.get(lang, || all_words(lang)).clone()
}

fn all_words(lang: Lang) -> Words {
    let plain = [
        "begins-in",
        "ends-in",
        "sending",
        "change-again",
        "press-again",
        "press-unknown",
        "own-order",
        "see-order",
    ];
    let plain = plain.map(|key| (key.to_owned(), lang.text(key)));
    // The island puts in the numbers.
    let (left, granted, days) = ("{left}".into(), "{granted}".into(), "{days}".into());
    let numbered = [
        ("days".to_owned(), lang.text_with("days", [("days", days)])),
        (
            "units-left-of".to_owned(),
            lang.text_with("units-left-of", [("left", left), ("granted", granted)]),
        ),
    ];
    let phases = PHASES.into_iter().flat_map(|phase| {
        ["phase", "button", "change"].map(|kind| {
            let key = format!("{kind}-{}", phase.as_str());
            let text = lang.text(&key);
            (key, text)
        })
    });
    Words::new(plain.into_iter().chain(numbered).chain(phases))
}
