//! Who has which role.

#![expect(
    missing_docs,
    reason = "the contract names the fields of the generated argument types"
)]

use leptos::{prelude::*, server_fn::codec::Json};
use serde::{Deserialize, Serialize};

use crate::error::ErrorBody;

/// Somebody's role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleReply {
    /// The account's name.
    pub name: String,
    /// `shopper`, `clerk` or `admin`.
    pub role: String,
    /// A clerk's shop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shop_id: Option<i32>,
}

/// Gives somebody a role; a shopper's takes any other away. Their login sessions end.
#[server(name = SetRole, prefix = "/api/admin", endpoint = "set_role", output = Json)]
pub async fn set_role(
    #[server(default)] name: String,
    #[server(default)] role: String,
    #[server(default)] shop_id: String,
) -> Result<RoleReply, ErrorBody> {
    use super::answer::{Page, answer};
    use crate::{backend::backend, model::RoleGrant};
    const PAGE: &str = "/admin/people";
    let result = match RoleGrant::parse(&name, &role, &shop_id) {
        Ok(grant) => backend().set_role(grant).await.map(|account| RoleReply {
            name: account.name,
            role: account.role.as_str().to_owned(),
            shop_id: account.shop.map(|shop| shop.0),
        }),
        Err(error) => Err(error),
    };
    let page = Page {
        form: PAGE.to_owned(),
        typed: &[("name", &name), ("role", &role), ("shop_id", &shop_id)],
    };
    answer(result, &page, |_| format!("{PAGE}?changed=role"))
}
