//! Sign in and sign up: two forms that lead to each other and keep where the visitor was going.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    components::{Field, Form, Head, Kind, Notice, Query, Visitor, encode},
};

/// Signs in.
#[component]
pub(crate) fn SignIn() -> impl IntoView {
    form(&Words {
        title: "sign-in",
        action: "/api/sign_in",
        password: "current-password",
        hinted: false,
        other: ("no-account", "sign-up", "/sign-up"),
    })
}

/// Creates an account.
#[component]
pub(crate) fn SignUp() -> impl IntoView {
    form(&Words {
        title: "sign-up",
        action: "/api/sign_up",
        password: "new-password",
        hinted: true,
        other: ("has-account", "sign-in", "/sign-in"),
    })
}

struct Words {
    title: &'static str,
    action: &'static str,
    password: &'static str,
    hinted: bool,
    other: (&'static str, &'static str, &'static str),
}

fn form(words: &Words) -> impl IntoView + use<> {
    let lang = visitor_lang();
    let query = Query::here();
    let next = query.next().unwrap_or_default().to_owned();
    let form = Form {
        lang,
        query: query.clone(),
    };
    let (question, other, path) = words.other;
    let other_address = match next.as_str() {
        "" => path.to_owned(),
        next => format!("{path}?next={}", encode(next)),
    };
    let signed_in = Visitor::here().account().map(|account| {
        let way = query.next().unwrap_or(account.role.home()).to_owned();
        let words = lang.text_with("signed-in-as", [("name", account.name.clone().into())]);
        view! { <p class="notice good"><bdi>{words}</bdi>" "<a href=way>{lang.text("go-on")}</a></p> }
    });
    Head::title(lang.text(words.title));
    view! {
        <div class="narrow">
            <h1>{lang.text(words.title)}</h1>
            {signed_in}
            <Notice lang=lang query=query/>
            <form class="stack" method="post" action=words.action novalidate>
                <input type="hidden" name="next" value=next/>
                <Field form=form.clone() name="name" kind=Kind::Name hinted=words.hinted/>
                <Field form=form name="password" kind=Kind::Password(words.password) hinted=words.hinted/>
                <button class="button wide">{lang.text(words.title)}</button>
            </form>
            <p class="muted">{lang.text(question)}" "<a href=other_address>{lang.text(other)}</a></p>
        </div>
    }
}
