//! Vouchers in a list: what, how much, and where the sale stands.

use leptos::prelude::*;

use super::{Moment, money, said, saved_percent, zone_named};
use crate::{
    model::{SalePhase, VoucherView, grouped},
    texts::Lang,
};

/// A list of vouchers, each a link to its page.
#[component]
pub(crate) fn VoucherCards(
    /// The visitor's language.
    lang: Lang,
    /// The vouchers.
    vouchers: Vec<VoucherView>,
    /// Whether the shop's name is part of the card.
    shop_shown: bool,
) -> impl IntoView {
    let cards = vouchers
        .into_iter()
        .map(|view| card(lang, view, shop_shown))
        .collect_view();
    view! { <ul class="cards vouchers" role="list">{cards}</ul> }
}

fn card(lang: Lang, view: VoucherView, shop_shown: bool) -> impl IntoView {
    let VoucherView {
        voucher,
        phase,
        left,
        ..
    } = view;
    let zone = zone_named(&voucher.zone);
    let (word, at) = match phase {
        SalePhase::NotStarted => ("begins", Some(voucher.begins_at)),
        SalePhase::Running | SalePhase::SoldOut => ("ends", Some(voucher.ends_at)),
        SalePhase::Ended => ("ended-at", Some(voucher.ends_at)),
        SalePhase::Paused | SalePhase::Withdrawn | SalePhase::Closed => ("begins", None),
    };
    let left = left.filter(|_| phase == SalePhase::Running);
    let saved = saved_percent(voucher.price, voucher.face_value);
    view! {
        <li class="card voucher" data-phase=phase.as_str()>
            <h3>
                <a href=format!("/vouchers/{}", voucher.id)>{said(lang, voucher.title)}</a>
            </h3>
            {shop_shown.then(|| view! { <p class="muted">{said(lang, voucher.shop_name)}</p> })}
            <p class="prices">
                <strong class="price">{money(lang, voucher.price)}</strong>
                {(voucher.face_value > voucher.price).then(|| view! {
                    <s><span class="unseen">{lang.text("face-value")}" "</span>{money(lang, voucher.face_value)}</s>
                })}
                {saved.map(|percent| view! {
                    <span class="saved">{lang.text_with("saved-percent", [("percent", percent.to_string().into())])}</span>
                })}
            </p>
            <p class="state">
                <span class="badge" data-phase=phase.as_str()>
                    {lang.text(&format!("phase-{}", phase.as_str()))}
                </span>
                {left.map(|left| view! {
                    <span>{lang.text_with("units-left", [("left", grouped(left).into())])}</span>
                })}
            </p>
            {at.map(|at| view! {
                <p class="muted small"><span>{lang.text(word)}</span>" "<Moment at=at zone=zone/></p>
            })}
        </li>
    }
}
