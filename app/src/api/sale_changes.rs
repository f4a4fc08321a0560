//! What admins do to a sale. The router asks for the role before the fields are read; the `Backend` asks again.

#![expect(
    missing_docs,
    reason = "the contract names the fields of the generated argument types"
)]

use leptos::{prelude::*, server_fn::codec::Json};
use serde::{Deserialize, Serialize};

use crate::{error::ErrorBody, model::SaleChange};

#[cfg(feature = "ssr")]
use crate::{
    error::AppError,
    model::{SaleAction, UnitsChange, VoucherId},
};

/// What came of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaleChangeReply {
    /// The outcome.
    pub outcome: SaleChange,
}

/// Changes a sale's texts, price and window, unless somebody else has since the form was made.
#[server(name = EditSale, prefix = "/api/admin", endpoint = "edit_sale", output = Json)]
pub async fn edit_sale(
    #[server(default)] voucher_id: String,
    #[server(default)] version: String,
    #[server(default)] title: String,
    #[server(default)] subtitle: String,
    #[server(default)] rules: String,
    #[server(default)] price: String,
    #[server(default)] face_value: String,
    #[server(default)] begins_at: String,
    #[server(default)] begins_at_offset: String,
    #[server(default)] ends_at: String,
    #[server(default)] ends_at_offset: String,
    #[server(default)] zone: String,
) -> Result<SaleChangeReply, ErrorBody> {
    use crate::{
        backend::backend,
        model::{OfferForm, SaleEditForm},
    };
    let form = SaleEditForm {
        version,
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
    let id = voucher(&voucher_id);
    let result = match (&id, form.parse()) {
        (Ok(id), Ok(edit)) => backend().edit_sale(*id, edit).await,
        (Err(error), _) => Err(error.clone()),
        (Ok(_), Err(error)) => Err(error),
    };
    let page = id.map_or_else(|_| LIST.to_owned(), |id| format!("/admin/sales/{id}/edit"));
    changed(result, "edit", id_page(&voucher_id), page, &form.typed())
}

/// Sells nothing until the sale is resumed.
#[server(name = PauseSale, prefix = "/api/admin", endpoint = "pause_sale", output = Json)]
pub async fn pause_sale(
    #[server(default)] voucher_id: String,
) -> Result<SaleChangeReply, ErrorBody> {
    act(&voucher_id, Ok(SaleAction::Pause), "pause", &[]).await
}

/// Sells again.
#[server(name = ResumeSale, prefix = "/api/admin", endpoint = "resume_sale", output = Json)]
pub async fn resume_sale(
    #[server(default)] voucher_id: String,
) -> Result<SaleChangeReply, ErrorBody> {
    act(&voucher_id, Ok(SaleAction::Resume), "resume", &[]).await
}

/// Ends a sale now, for good.
#[server(name = EndSale, prefix = "/api/admin", endpoint = "end_sale", output = Json)]
pub async fn end_sale(#[server(default)] voucher_id: String) -> Result<SaleChangeReply, ErrorBody> {
    act(&voucher_id, Ok(SaleAction::End), "end", &[]).await
}

/// Sells nothing any more, for good.
#[server(name = WithdrawSale, prefix = "/api/admin", endpoint = "withdraw_sale", output = Json)]
pub async fn withdraw_sale(
    #[server(default)] voucher_id: String,
) -> Result<SaleChangeReply, ErrorBody> {
    act(&voucher_id, Ok(SaleAction::Withdraw), "withdraw", &[]).await
}

/// Grants more units, once for a form.
#[server(name = AddUnits, prefix = "/api/admin", endpoint = "add_units", output = Json)]
pub async fn add_units(
    #[server(default)] voucher_id: String,
    #[server(default)] units: String,
    #[server(default)] version: String,
) -> Result<SaleChangeReply, ErrorBody> {
    let action = UnitsChange::parse(&units, &version).map(SaleAction::Add);
    act(&voucher_id, action, "add", &[("units", &units)]).await
}

/// Takes units that nobody has been promised out of a sale, once for a form.
#[server(name = CutUnits, prefix = "/api/admin", endpoint = "cut_units", output = Json)]
pub async fn cut_units(
    #[server(default)] voucher_id: String,
    #[server(default)] units: String,
    #[server(default)] version: String,
) -> Result<SaleChangeReply, ErrorBody> {
    let action = UnitsChange::parse(&units, &version).map(SaleAction::Cut);
    act(&voucher_id, action, "cut", &[("units", &units)]).await
}

#[cfg(feature = "ssr")]
const LIST: &str = "/admin/sales";

/// The page of a sale, which shows what came of an action.
#[cfg(feature = "ssr")]
fn sale_page(id: VoucherId) -> String {
    format!("/admin/sales/{id}")
}

#[cfg(feature = "ssr")]
fn id_page(id: &str) -> String {
    VoucherId::parse(id).map_or_else(|_| LIST.to_owned(), sale_page)
}

#[cfg(feature = "ssr")]
fn voucher(id: &str) -> Result<VoucherId, AppError> {
    VoucherId::parse(id).map_err(|problem| AppError::field("voucher_id", problem))
}

#[cfg(feature = "ssr")]
async fn act(
    voucher_id: &str,
    action: Result<SaleAction, AppError>,
    word: &'static str,
    typed: &[(&'static str, &str)],
) -> Result<SaleChangeReply, ErrorBody> {
    let result = match (voucher(voucher_id), action) {
        (Ok(id), Ok(action)) => crate::backend::backend().act_on_sale(id, action).await,
        (Err(error), _) | (Ok(_), Err(error)) => Err(error),
    };
    let page = id_page(voucher_id);
    let form = format!("{page}?did={word}");
    changed(result, word, page, form, typed)
}

/// Answers: on success the sale's page says what came of it; else the form's page shows what was typed.
#[cfg(feature = "ssr")]
fn changed(
    result: Result<SaleChange, AppError>,
    word: &'static str,
    done: String,
    form: String,
    typed: &[(&'static str, &str)],
) -> Result<SaleChangeReply, ErrorBody> {
    use super::answer::{Page, answer};
    let reply = result.map(|outcome| SaleChangeReply { outcome });
    answer(reply, &Page { form, typed }, |reply| {
        format!("{done}?did={word}.{}", reply.outcome.as_str())
    })
}
