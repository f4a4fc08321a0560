//! What admins call. The router asks for the role before the fields are read; the `Backend` asks again.

#![expect(
    missing_docs,
    reason = "the contract names the fields of the generated argument types"
)]

use leptos::{prelude::*, server_fn::codec::Json};
use serde::{Deserialize, Serialize};

use crate::error::ErrorBody;

/// The new shop.
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
    #[server(default)] ends_at: String,
    #[server(default)] zone: String,
) -> Result<SaleCreated, ErrorBody> {
    use super::answer::{Page, answer};
    use crate::{backend::backend, model::SaleForm};
    let form = SaleForm {
        shop_id,
        title,
        subtitle,
        rules,
        price,
        face_value,
        stock,
        begins_at,
        ends_at,
        zone,
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
