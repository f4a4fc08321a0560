//! A sale as shoppers will see it, made from a form that is in the address: nothing is stored. From here the form is sent, or
//! shown again as it was filled in.

use leptos::prelude::*;

use super::voucher;
use crate::{
    api::{back_to_form, visitor_lang},
    backend::backend,
    components::{Head, Query, encode, go_on, page},
    error::AppError,
    model::{
        NewSale, OfferForm, Problem, SaleEditForm, SaleForm, SalePhase, SaleState, Voucher,
        VoucherId, grouped,
    },
    texts::Lang,
};

/// A form in the address: of a sale that is to be created, or edited.
enum Filled {
    New(SaleForm),
    Edit(VoucherId, SaleEditForm),
}

/// A sale as its form has it. Admins only.
#[component]
pub(crate) fn PreviewSale() -> impl IntoView {
    let lang = visitor_lang();
    let filled = Filled::of(&Query::typed_here());
    page(async move {
        match filled.voucher().await {
            Ok(voucher) => {
                Head::title(lang.text("preview"));
                Ok(shown(lang, voucher, &filled))
            }
            Err(error @ AppError::Invalid(_)) => {
                go_on(&back_to_form(&error, &filled.form(), &filled.typed()));
                Ok(().into_any())
            }
            Err(error) => Err(error),
        }
    })
}

fn shown(lang: Lang, voucher: Voucher, filled: &Filled) -> AnyView {
    let (call, send) = match filled {
        Filled::New(_) => ("/api/admin/create_sale", "create-sale"),
        Filled::Edit(..) => ("/api/admin/edit_sale", "save"),
    };
    let fields = filled.sent().into_iter().map(|(name, value)| {
        view! { <input type="hidden" name=name value=value/> }
    });
    let typed = filled.typed();
    let typed = typed
        .iter()
        .map(|(name, value)| format!("{name}={}", encode(value)));
    let back = format!("{}?{}", filled.form(), typed.collect::<Vec<_>>().join("&"));
    view! {
        <div class="sale-preview">
            <div class="notice good" role="status">
                <p>{lang.text("preview-explained")}</p>
                <div class="actions">
                    <form method="post" action=call>
                        {fields.collect_view()}
                        <button class="button">{lang.text(send)}</button>
                    </form>
                    <a class="button quiet" href=back>{lang.text("back-to-form")}</a>
                </div>
            </div>
            {article(lang, voucher)}
        </div>
    }
    .into_any()
}

/// As the page of a voucher shows it, to somebody who cannot buy.
fn article(lang: Lang, voucher: Voucher) -> AnyView {
    let now = backend().now();
    let phase = match (voucher.state, voucher.is_over(now), voucher.has_begun(now)) {
        (SaleState::Withdrawn, ..) => SalePhase::Withdrawn,
        (_, true, _) => SalePhase::Ended,
        (SaleState::Paused, ..) => SalePhase::Paused,
        (SaleState::Open, _, true) => SalePhase::Running,
        (SaleState::Open, _, false) => SalePhase::NotStarted,
    };
    let word = phase.as_str();
    let units = grouped(voucher.granted);
    let left = [("left", units.clone().into()), ("granted", units.into())];
    let buying = view! {
        <p class="state">
            <span class="badge" data-phase=word>{lang.text(&format!("phase-{word}"))}</span>
            <span>{lang.text_with("units-left-of", left)}</span>
        </p>
        <p><button class="button buy wide" disabled>{lang.text(&format!("button-{word}"))}</button></p>
    };
    voucher::article(lang, voucher, ().into_any(), buying.into_any())
}

impl Filled {
    fn of(query: &Query) -> Self {
        let value = |name: &str| query.value(name).to_owned();
        let offer = OfferForm {
            title: value("title"),
            subtitle: value("subtitle"),
            rules: value("rules"),
            price: value("price"),
            face_value: value("face_value"),
            begins_at: value("begins_at"),
            begins_at_offset: value("begins_at_offset"),
            ends_at: value("ends_at"),
            ends_at_offset: value("ends_at_offset"),
            zone: value("zone"),
        };
        match VoucherId::parse(query.value("voucher_id")) {
            Ok(id) => Self::Edit(
                id,
                SaleEditForm {
                    version: value("version"),
                    offer,
                },
            ),
            Err(_) => Self::New(SaleForm {
                shop_id: value("shop_id"),
                stock: value("stock"),
                offer,
            }),
        }
    }

    /// The voucher that would be stored.
    async fn voucher(&self) -> Result<Voucher, AppError> {
        match self {
            Self::New(form) => created(form.parse(backend().now())?).await,
            Self::Edit(id, form) => {
                let sale = backend().sale_to_edit(*id).await?;
                form.parse()?.of(&sale.voucher, sale.now)
            }
        }
    }

    /// The page of the form.
    fn form(&self) -> String {
        match self {
            Self::New(_) => "/admin/sales/new".to_owned(),
            Self::Edit(id, _) => format!("/admin/sales/{id}/edit"),
        }
    }

    fn typed(&self) -> Vec<(&'static str, &str)> {
        match self {
            Self::New(form) => form.typed(),
            Self::Edit(_, form) => form.typed(),
        }
    }

    /// What the call is sent.
    fn sent(&self) -> Vec<(&'static str, String)> {
        let typed = self.typed().into_iter();
        let mut sent: Vec<_> = typed
            .map(|(name, value)| (name, value.to_owned()))
            .collect();
        if let Self::Edit(id, _) = self {
            sent.push(("voucher_id", id.to_string()));
        }
        sent
    }
}

/// The voucher that a new sale would be.
async fn created(sale: NewSale) -> Result<Voucher, AppError> {
    let shop = match backend().shop(sale.shop_id).await {
        Err(AppError::NotFound) => return Err(AppError::field("shop_id", Problem::Unknown)),
        shop => shop?.shop,
    };
    Ok(Voucher {
        id: VoucherId(0),
        shop_id: shop.id,
        shop_name: shop.name,
        shop_category: shop.category,
        shop_tile: shop.tile,
        title: sale.title.as_str().to_owned(),
        subtitle: sale.subtitle.as_str().to_owned(),
        rules: sale.rules.as_str().to_owned(),
        price: sale.price,
        face_value: sale.face_value,
        granted: sale.stock,
        cut_to: None,
        sold: 0,
        begins_at: sale.begins_at,
        ends_at: sale.ends_at,
        zone: sale.zone.name().to_owned(),
        state: SaleState::Open,
        version: 1,
    })
}
