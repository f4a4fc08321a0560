//! Sign up, sign in, sign out; another password, and the end of an account.

#![expect(
    missing_docs,
    reason = "the contract names the fields of the generated argument types"
)]

use leptos::{prelude::*, server_fn::codec::Json};
use serde::{Deserialize, Serialize};

use crate::error::ErrorBody;

/// Who is signed in now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedIn {
    /// The account's name.
    pub name: String,
    /// `shopper`, `clerk` or `admin`.
    pub role: String,
}

/// What a call answers that has nothing to tell: `{}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {}

/// Creates a shopper's account and signs it in.
#[server(name = SignUp, prefix = "/api", endpoint = "sign_up", output = Json)]
pub async fn sign_up(
    #[server(default)] name: String,
    #[server(default)] password: String,
    #[server(default)] next: String,
) -> Result<SignedIn, ErrorBody> {
    use crate::{backend::backend, model::NewAccount};
    let result = match NewAccount::parse(&name, &password) {
        Ok(account) => backend().sign_up(account).await,
        Err(error) => Err(error),
    };
    signed_in(result, "/sign-up", &name, &next)
}

/// Signs an account in.
#[server(name = SignIn, prefix = "/api", endpoint = "sign_in", output = Json)]
pub async fn sign_in(
    #[server(default)] name: String,
    #[server(default)] password: String,
    #[server(default)] next: String,
) -> Result<SignedIn, ErrorBody> {
    use crate::{backend::backend, model::NewAccount};
    let result = match NewAccount::parse_known(&name, &password) {
        Ok(account) => backend().sign_in(account).await,
        Err(error) => Err(error),
    };
    signed_in(result, "/sign-in", &name, &next)
}

/// Ends the login session.
#[server(name = SignOut, prefix = "/api", endpoint = "sign_out", output = Json)]
pub async fn sign_out() -> Result<Done, ErrorBody> {
    use super::answer::{Page, answer};
    let result = crate::backend::backend().sign_out().await.map(|()| Done {});
    answer(result, &Page::at("/"), |_| "/".to_owned())
}

/// Changes the visitor's password; their other login sessions end.
#[server(name = ChangePassword, prefix = "/api", endpoint = "change_password", output = Json)]
pub async fn change_password(
    #[server(default)] current_password: String,
    #[server(default)] new_password: String,
) -> Result<Done, ErrorBody> {
    use super::answer::{Page, answer};
    use crate::{backend::backend, model::PasswordChange};
    let result = match PasswordChange::parse(&current_password, &new_password) {
        Ok(change) => backend().change_password(change).await.map(|()| Done {}),
        Err(error) => Err(error),
    };
    answer(result, &Page::at("/account"), |_| {
        "/account?changed=password".to_owned()
    })
}

/// Makes the visitor's account nobody's, and signs them out. Their orders stay.
#[server(name = DeleteAccount, prefix = "/api", endpoint = "delete_account", output = Json)]
pub async fn delete_account(#[server(default)] password: String) -> Result<Done, ErrorBody> {
    use super::answer::{Page, answer};
    use crate::{backend::backend, error::AppError, model::Password};
    let result = match Password::parse(&password) {
        Ok(password) => backend().delete_account(password).await.map(|()| Done {}),
        Err(problem) => Err(AppError::field("password", problem)),
    };
    answer(result, &Page::at("/account"), |_| "/".to_owned())
}

#[cfg(feature = "ssr")]
fn signed_in(
    result: Result<crate::model::Account, crate::error::AppError>,
    form: &str,
    name: &str,
    next: &str,
) -> Result<SignedIn, ErrorBody> {
    use super::answer::{Page, answer, local_path};
    let next = local_path(next);
    let home = result.as_ref().map_or("/", |account| account.role.home());
    let result = result.map(|account| SignedIn {
        name: account.name,
        role: account.role.as_str().to_owned(),
    });
    answer(
        result,
        &Page {
            form: form.to_owned(),
            typed: &[("name", name), ("next", next.unwrap_or_default())],
        },
        |_| next.unwrap_or(home).to_owned(),
    )
}
