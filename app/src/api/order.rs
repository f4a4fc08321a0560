//! The flash-sale button, and what became of it.

#![expect(
    missing_docs,
    reason = "the contract names the fields of the generated argument types"
)]

use leptos::{
    prelude::*,
    server_fn::codec::{GetUrl, Json},
};

use crate::{
    error::ErrorBody,
    model::{BuyReply, OrderReply, SaleReply},
};

/// Presses the flash-sale button for the signed-in shopper.
#[server(name = Buy, prefix = "/api", endpoint = "buy", output = Json)]
pub async fn buy(#[server(default)] voucher_id: String) -> Result<BuyReply, ErrorBody> {
    use super::answer::{Page, answer};
    use crate::backend::backend;
    let id = voucher_pressed(&voucher_id);
    let page = Page::at(
        id.as_ref()
            .map_or_else(|_| "/".to_owned(), |id| format!("/vouchers/{id}")),
    );
    let result = match id {
        Ok(id) => backend().buy(id).await.map(BuyReply::from),
        Err(error) => Err(error),
    };
    answer(result, &page, |reply| match &reply.order_id {
        Some(order) => format!("/orders/{order}"),
        None => format!("{}?outcome={}", page.form, reply.outcome.as_str()),
    })
}

/// The voucher whose button was pressed.
///
/// # Errors
/// `Invalid` where it is no number of one.
#[cfg(feature = "ssr")]
pub fn voucher_pressed(
    voucher_id: &str,
) -> Result<crate::model::VoucherId, crate::error::AppError> {
    crate::model::VoucherId::parse(voucher_id)
        .map_err(|problem| crate::error::AppError::field("voucher_id", problem))
}

/// Where an own order stands.
#[server(name = GetOrderStatus, prefix = "/api", endpoint = "order_status", input = GetUrl, output = Json)]
pub async fn order_status(#[server(default)] order_id: String) -> Result<OrderReply, ErrorBody> {
    use super::answer::reply;
    use crate::{backend::backend, error::AppError, model::OrderId};
    reply(match OrderId::parse(&order_id) {
        Some(id) => backend().order(id).await.map(OrderReply::from),
        None => Err(AppError::NotFound),
    })
}

/// The visitor's orders, newest first, queued ones included.
#[server(name = MyOrders, prefix = "/api", endpoint = "my_orders", input = GetUrl, output = Json)]
pub async fn my_orders() -> Result<Vec<OrderReply>, ErrorBody> {
    use super::answer::reply;
    let orders = crate::backend::backend().my_orders().await;
    reply(orders.map(|orders| orders.into_iter().map(OrderReply::from).collect()))
}

/// What changes about a sale: phase, units left, the gate's clock.
#[server(name = GetSaleStatus, prefix = "/api", endpoint = "sale_status", input = GetUrl, output = Json)]
pub async fn sale_status(#[server(default)] voucher_id: String) -> Result<SaleReply, ErrorBody> {
    use super::answer::reply;
    use crate::{backend::backend, error::AppError, model::VoucherId};
    reply(match VoucherId::parse(&voucher_id) {
        Ok(id) => backend().sale_status(id).await,
        Err(problem) => Err(AppError::field("voucher_id", problem)),
    })
}
