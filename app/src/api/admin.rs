//! What admins call. The router asks for the role before the fields are read; the `Backend` asks again.

#![expect(
    missing_docs,
    reason = "the contract names the fields of the generated argument types"
)]

use leptos::{prelude::*, server_fn::codec::Json};
use serde::{Deserialize, Serialize};

use crate::{error::ErrorBody, model::LetterOutcome};

/// The shop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShopCreated {
    /// Its id.
    pub shop_id: i32,
}

/// The new voucher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaleCreated {
    /// Its id.
    pub voucher_id: i32,
}

/// A shop's picture was taken away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureRemoved {}

/// What became of a dead letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LetterReply {
    /// The outcome.
    pub outcome: LetterOutcome,
}

/// Creates a shop.
#[server(name = CreateShop, prefix = "/api/admin", endpoint = "create_shop", output = Json)]
pub async fn create_shop(
    #[server(default)] name: String,
    #[server(default)] category: String,
    #[server(default)] address: String,
) -> Result<ShopCreated, ErrorBody> {
    use super::answer::{Page, answer};
    use crate::{backend::backend, model::ShopForm};
    let form = ShopForm {
        name,
        category,
        address,
    };
    let result = match form.parse() {
        Ok(shop) => backend()
            .create_shop(shop)
            .await
            .map(|id| ShopCreated { shop_id: id.0 }),
        Err(error) => Err(error),
    };
    let typed = [
        ("name", form.name.as_str()),
        ("category", &form.category),
        ("address", &form.address),
    ];
    let page = Page {
        form: "/admin/shops/new".to_owned(),
        typed: &typed,
    };
    answer(result, &page, |shop| format!("/shops/{}", shop.shop_id))
}

/// Takes a shop's picture away. Setting one is `router::upload`, since it carries a file.
#[server(name = RemoveShopPicture, prefix = "/api/admin", endpoint = "remove_shop_picture", output = Json)]
pub async fn remove_shop_picture(
    #[server(default)] shop_id: String,
) -> Result<PictureRemoved, ErrorBody> {
    use super::answer::{Page, answer};
    use crate::{backend::backend, error::AppError, model::ShopId};
    let shop = ShopId::parse(&shop_id).map_err(|problem| AppError::field("shop_id", problem));
    let page = match &shop {
        Ok(shop) => format!("/admin/shops/{shop}/picture"),
        Err(_) => "/admin/sales".to_owned(),
    };
    let result = match shop {
        Ok(shop) => backend().remove_shop_picture(shop).await,
        Err(error) => Err(error),
    };
    let result = result.map(|()| PictureRemoved {});
    answer(result, &Page::at(page.as_str()), |_| {
        format!("{page}?changed=picture")
    })
}

/// Changes a shop's texts, unless somebody else has since the form was made.
#[server(name = EditShop, prefix = "/api/admin", endpoint = "edit_shop", output = Json)]
pub async fn edit_shop(
    #[server(default)] shop_id: String,
    #[server(default)] version: String,
    #[server(default)] name: String,
    #[server(default)] category: String,
    #[server(default)] address: String,
) -> Result<ShopCreated, ErrorBody> {
    use super::answer::{Page, answer};
    use crate::{
        backend::backend,
        error::AppError,
        model::{ShopForm, ShopId},
    };
    let form = ShopForm {
        name,
        category,
        address,
    };
    let id = ShopId::parse(&shop_id);
    let result = match (id, form.parse_edit(&version)) {
        (Ok(id), Ok(edit)) => backend()
            .edit_shop(id, edit)
            .await
            .map(|()| ShopCreated { shop_id: id.0 }),
        (Ok(_), Err(error)) => Err(error),
        (Err(problem), _) => Err(AppError::field("shop_id", problem)),
    };
    let page = Page {
        form: id.map_or_else(
            |_| "/admin/shops".to_owned(),
            |id| format!("/admin/shops/{id}/edit"),
        ),
        typed: &[
            ("version", &version),
            ("name", &form.name),
            ("category", &form.category),
            ("address", &form.address),
        ],
    };
    answer(result, &page, |shop| {
        format!("/admin/shops/{}/edit?changed=shop", shop.shop_id)
    })
}

/// Creates a voucher with its sale.
#[server(name = CreateSale, prefix = "/api/admin", endpoint = "create_sale", output = Json)]
pub async fn create_sale(
    #[server(default)] shop_id: String,
    #[server(default)] title: String,
    #[server(default)] subtitle: String,
    #[server(default)] rules: String,
    #[server(default)] price: String,
    #[server(default)] face_value: String,
    #[server(default)] stock: String,
    #[server(default)] begins_at: String,
    #[server(default)] begins_at_offset: String,
    #[server(default)] ends_at: String,
    #[server(default)] ends_at_offset: String,
    #[server(default)] zone: String,
) -> Result<SaleCreated, ErrorBody> {
    use super::answer::{Page, answer};
    use crate::{
        backend::backend,
        model::{OfferForm, SaleForm},
    };
    let form = SaleForm {
        shop_id,
        stock,
        offer: OfferForm {
            title,
            subtitle,
            rules,
            price,
            face_value,
            begins_at,
            begins_at_offset,
            ends_at,
            ends_at_offset,
            zone,
        },
    };
    let result = match form.parse(backend().now()) {
        Ok(sale) => backend()
            .create_sale(sale)
            .await
            .map(|id| SaleCreated { voucher_id: id.0 }),
        Err(error) => Err(error),
    };
    let page = Page {
        form: "/admin/sales/new".to_owned(),
        typed: &form.typed(),
    };
    answer(result, &page, |sale| {
        format!("/admin/sales?created={}", sale.voucher_id)
    })
}

/// Puts a dead letter back into the queue.
#[server(name = ReplayDeadLetter, prefix = "/api/admin", endpoint = "replay_dead_letter", output = Json)]
pub async fn replay_dead_letter(
    #[server(default)] letter: String,
    #[server(default)] sale: String,
) -> Result<LetterReply, ErrorBody> {
    let result = match letter_id(&letter) {
        Ok(id) => crate::backend::backend().replay_dead_letter(id).await,
        Err(error) => Err(error),
    };
    letter_answer(result, &sale)
}

/// Cancels the order of a dead letter: its owner is told, its unit goes back on sale.
#[server(name = DiscardDeadLetter, prefix = "/api/admin", endpoint = "discard_dead_letter", output = Json)]
pub async fn discard_dead_letter(
    #[server(default)] letter: String,
    #[server(default)] sale: String,
) -> Result<LetterReply, ErrorBody> {
    let result = match letter_id(&letter) {
        Ok(id) => crate::backend::backend().discard_dead_letter(id).await,
        Err(error) => Err(error),
    };
    letter_answer(result, &sale)
}

#[cfg(feature = "ssr")]
fn letter_id(text: &str) -> Result<crate::model::DeadLetterId, crate::error::AppError> {
    crate::model::DeadLetterId::parse(text)
        .map_err(|problem| crate::error::AppError::field("letter", problem))
}

#[cfg(feature = "ssr")]
fn letter_answer(
    result: Result<LetterOutcome, crate::error::AppError>,
    sale: &str,
) -> Result<LetterReply, ErrorBody> {
    use super::answer::{Page, answer};
    use crate::model::VoucherId;
    const PAGE: &str = "/admin/dead-letters";
    let reply = result.map(|outcome| LetterReply { outcome });
    // Back to the letters of the sale that were looked at.
    let sale = VoucherId::parse(sale).map(|sale| format!("sale={sale}"));
    let sale = sale.unwrap_or_default();
    let form = match sale.as_str() {
        "" => PAGE.to_owned(),
        sale => format!("{PAGE}?{sale}"),
    };
    answer(reply, &Page::at(form), |reply| {
        let outcome = format!("letter={}", reply.outcome.as_str());
        let query = [outcome, sale].into_iter().filter(|pair| !pair.is_empty());
        format!("{PAGE}?{}", query.collect::<Vec<_>>().join("&"))
    })
}
