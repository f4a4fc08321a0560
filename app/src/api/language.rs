//! The language switch: remembers the visitor's choice in a cookie that holds nothing else.

#![expect(
    missing_docs,
    reason = "the contract names the fields of the generated argument types"
)]

use leptos::{prelude::*, server_fn::codec::Json};

use super::account::Done;
use crate::error::ErrorBody;

/// Chooses the language of all further pages.
#[server(name = SetLanguage, prefix = "/api", endpoint = "set_language", output = Json)]
pub async fn set_language(
    #[server(default)] lang: String,
    #[server(default)] next: String,
) -> Result<Done, ErrorBody> {
    use super::answer::{Page, answer, local_path};
    use crate::{
        error::AppError,
        model::Problem,
        texts::{COOKIE, Lang},
    };
    let chosen = Lang::parse(&lang).ok_or(AppError::field("lang", Problem::Unknown));
    let result = chosen.map(|lang| {
        let cookie = format!(
            "{COOKIE}={}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax",
            lang.code()
        );
        if let (Some(response), Ok(cookie)) = (
            use_context::<leptos_axum::ResponseOptions>(),
            http::HeaderValue::from_str(&cookie),
        ) {
            response.append_header(http::header::SET_COOKIE, cookie);
        }
        Done {}
    });
    let next = local_path(&next).unwrap_or("/").to_owned();
    answer(result, &Page::at(next.clone()), |_| next)
}
