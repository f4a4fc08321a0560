//! The bar above and the line below every page. They never fail: while the sessions are away, the visitor is
//! shown as a guest.

use leptos::prelude::*;

use super::{Query, Visitor, encode, here};
use crate::{
    model::{Account, Role},
    texts::Lang,
};

/// Brand, ways, language, and who is signed in.
#[component]
pub(crate) fn Header(
    /// The visitor's language.
    lang: Lang,
    /// Who is signed in.
    visitor: Visitor,
) -> impl IntoView {
    let account = visitor.account().cloned();
    let own = match account.as_ref().map(|account| account.role) {
        Some(Role::Admin) => Some(("/admin/sales", "admin")),
        Some(Role::Clerk) => Some(("/desk", "desk")),
        _ => None,
    };
    let ways = [("/", "shops"), ("/orders", "my-orders")]
        .into_iter()
        .chain(own)
        .map(|(path, key)| way(path, lang.text(key)));
    let ways = ways.collect_view();
    view! {
        <header class="top">
            <div class="bar">
                <a class="brand" href="/">
                    <svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
                        <path d="M13.5 1.5 4 13.5h6.5L9 22.5l11-13h-7z"></path>
                    </svg>
                    {lang.text("brand")}
                </a>
                <nav aria-label=lang.text("main-ways")>
                    <ul role="list">{ways}</ul>
                </nav>
                <div class="who">
                    <LanguageSwitch lang=lang/>
                    {match account {
                        Some(account) => signed_in(lang, account).into_any(),
                        None => guest(lang).into_any(),
                    }}
                </div>
            </div>
        </header>
    }
}

/// Who made this, and that the words are true.
#[component]
pub(crate) fn Footer(
    /// The visitor's language.
    lang: Lang,
) -> impl IntoView {
    view! { <footer class="bottom"><p>{lang.text("footer")}</p></footer> }
}

#[component]
fn LanguageSwitch(lang: Lang) -> impl IntoView {
    let other = match lang {
        Lang::Zh => Lang::En,
        Lang::En => Lang::Zh,
    };
    view! {
        <form method="post" action="/api/set_language">
            <input type="hidden" name="lang" value=other.code()/>
            <input type="hidden" name="next" value=here()/>
            <button class="plain" lang=other.html()>{lang.text("other-language")}</button>
        </form>
    }
}

/// A way of the bar, marked when it is the page itself.
fn way(path: &'static str, words: String) -> impl IntoView {
    let here = here();
    let current = here.split('?').next() == Some(path);
    view! { <li><a href=path aria-current=current.then_some("page")>{words}</a></li> }
}

fn signed_in(lang: Lang, account: Account) -> impl IntoView {
    view! {
        <a class="plain name" href="/account" title=lang.text("account")><bdi>{account.name}</bdi></a>
        <form method="post" action="/api/sign_out">
            <button class="plain">{lang.text("sign-out")}</button>
        </form>
    }
}

fn guest(lang: Lang) -> impl IntoView {
    let path = here();
    let on_form = path.starts_with("/sign-");
    let next = if on_form {
        Query::here().next().unwrap_or("/").to_owned()
    } else {
        path
    };
    view! {
        <a class="plain" href=format!("/sign-in?next={}", encode(&next))>{lang.text("sign-in")}</a>
        <a class="plain" href=format!("/sign-up?next={}", encode(&next))>{lang.text("sign-up")}</a>
    }
}
