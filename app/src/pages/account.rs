//! The visitor's own account: another password, and the end of it.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    components::{Changed, Field, Form, Head, Kind, Notice, Query, Visitor, page},
    error::AppError,
    texts::Lang,
};

/// The visitor's own account.
#[component]
pub(crate) fn Account() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::typed_here();
    page(async move {
        let visitor = Visitor::here();
        let account = visitor.account().ok_or(AppError::SignInRequired)?;
        Head::title(lang.text("account"));
        let name = account.name.clone();
        let role = lang.text(&format!("role-{}", account.role.as_str()));
        let form = Form {
            lang,
            query: query.clone(),
        };
        Ok(view! {
            <div class="narrow">
                <h1>{lang.text("account")}</h1>
                <p><bdi>{name}</bdi>" · "<span class="muted">{role}</span></p>
                <Changed lang=lang query=query.clone()/>
                <Notice lang=lang query=query/>
                {password(form.clone())}
                {end(lang, form)}
            </div>
        }
        .into_any())
    })
}

fn password(form: Form) -> impl IntoView {
    let lang = form.lang;
    view! {
        <h2>{lang.text("change-password")}</h2>
        <form class="stack" method="post" action="/api/change_password" novalidate>
            <Field form=form.clone() name="current_password" kind=Kind::Password("current-password")/>
            <Field form=form name="new_password" kind=Kind::Password("new-password") hinted=true/>
            <button class="button wide">{lang.text("change-password")}</button>
        </form>
    }
}

/// Open at once when its own form came back with a problem.
fn end(lang: Lang, form: Form) -> impl IntoView {
    let open = form.query.problem("password").is_some();
    view! {
        <h2>{lang.text("delete-account")}</h2>
        <details class="confirm" open=open>
            <summary>{lang.text("delete-account")}"…"</summary>
            <p>{lang.text("delete-account-explained")}</p>
            <form class="stack" method="post" action="/api/delete_account" novalidate>
                <Field form=form name="password" kind=Kind::Password("current-password")/>
                <button class="button wide">{lang.text("delete-for-good")}</button>
            </form>
        </details>
    }
}
