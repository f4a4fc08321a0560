//! The bar above and the line below every page. They never fail: while the sessions are away, the visitor is
//! shown as a guest. On a phone the ways are a popover behind one button, which the browser opens without script.

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
    let staff = match account.as_ref().map(|account| account.role) {
        Some(Role::Admin) => Some(("/admin/sales", "admin")),
        Some(Role::Clerk) => Some(("/desk", "desk")),
        _ => None,
    };
    let ways = [("/", "shops"), ("/orders", "my-orders")]
        .into_iter()
        .chain(staff)
        .map(|(path, key)| way(path, lang.text(key)));
    let ways = ways.collect_view();
    // What the bar has room for on a wide page only is in the menu on a phone; the style sheet shows one of the two.
    let (in_bar, in_menu) = match &account {
        Some(_) => (sign_out(lang).into_any(), sign_out(lang).into_any()),
        None => (sign_up(lang).into_any(), sign_up(lang).into_any()),
    };
    view! {
        <header class="top">
            <div class="bar">
                <button class="menu-button" type="button" popovertarget="menu">
                    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
                        <path d="M4 7h16M4 12h16M4 17h16"></path>
                    </svg>
                    <span class="unseen">{lang.text("menu")}</span>
                </button>
                <a class="brand" href="/">
                    <svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
                        <path d="M13.5 1.5 4 13.5h6.5L9 22.5l11-13h-7z"></path>
                    </svg>
                    {lang.text("brand")}
                </a>
                <nav class="menu" id="menu" popover="auto" aria-label=lang.text("main-ways")>
                    <ul role="list">
                        {ways}
                        <li class="in-menu">{in_menu}</li>
                    </ul>
                </nav>
                <div class="who">
                    <LanguageSwitch lang=lang/>
                    {match account {
                        Some(account) => own(lang, account).into_any(),
                        None => sign_in(lang).into_any(),
                    }}
                    <div class="in-bar">{in_bar}</div>
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

fn own(lang: Lang, account: Account) -> impl IntoView {
    view! {
        <a class="plain name" href="/account" title=lang.text("account")><bdi>{account.name}</bdi></a>
    }
}

fn sign_out(lang: Lang) -> impl IntoView {
    view! {
        <form method="post" action="/api/sign_out">
            <button class="plain">{lang.text("sign-out")}</button>
        </form>
    }
}

fn sign_in(lang: Lang) -> impl IntoView {
    view! { <a class="plain" href=address_for("/sign-in")>{lang.text("sign-in")}</a> }
}

fn sign_up(lang: Lang) -> impl IntoView {
    view! { <a class="plain" href=address_for("/sign-up")>{lang.text("sign-up")}</a> }
}

/// The address of a form for guests, after which they go on: here, or where the form that is open was going. From the front
/// page it says nothing, so that everybody begins where their role does.
fn address_for(form: &str) -> String {
    let query = Query::here();
    let here = here();
    let next = if here.starts_with("/sign-") {
        query.next().unwrap_or("/")
    } else {
        &here
    };
    match next {
        "/" => form.to_owned(),
        next => format!("{form}?next={}", encode(next)),
    }
}
