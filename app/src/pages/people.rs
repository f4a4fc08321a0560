//! Who has which role, and the form that gives one. A shopper's takes any other away.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Changed, Field, Form, Head, Kind, Notice, Query, page},
    model::{Account, Role, Shop, ShopId},
    texts::Lang,
};

/// Who has which role. Admins only.
#[component]
pub(crate) fn People() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::typed_here();
    page(async move {
        let (staff, shops) = (backend().staff().await?, backend().all_shops().await?);
        Head::title(lang.text("people"));
        let form = Form {
            lang,
            query: query.clone(),
        };
        let heads = ["name", "role", "shop", "change"]
            .map(|key| view! { <th scope="col">{lang.text(&format!("people-{key}"))}</th> });
        let heads = heads.into_iter().collect_view();
        let rows = staff.into_iter().map(|account| row(lang, account, &shops));
        Ok(view! {
            <p class="back"><a href="/admin/sales">{lang.text("sales")}</a></p>
            <h1>{lang.text("people")}</h1>
            <Changed lang=lang query=query.clone()/>
            <Notice lang=lang query=query/>
            <div class="scroll" role="region" tabindex="0" aria-label=lang.text("people")>
                <table class="stacks">
                    <thead><tr>{heads}</tr></thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
            <h2>{lang.text("give-role")}</h2>
            <div class="narrow">{grant(form, shops.clone())}</div>
        }
        .into_any())
    })
}

fn row(lang: Lang, account: Account, shops: &[Shop]) -> impl IntoView + use<> {
    let shop = account.shop.map(|id| shop_named(shops, id));
    let withdraw = format!("{} {}", lang.text("withdraw"), account.name);
    view! {
        <tr>
            <th scope="row"><bdi>{account.name.clone()}</bdi></th>
            <td data-label=lang.text("people-role")>{lang.text(&format!("role-{}", account.role.as_str()))}</td>
            <td data-label=lang.text("people-shop")><bdi>{shop}</bdi></td>
            <td data-label=lang.text("people-change")>
                <details class="confirm">
                    <summary aria-label=withdraw.clone()>{lang.text("withdraw")}"…"</summary>
                    <p class="small">{lang.text("withdraw-explained")}</p>
                    <form method="post" action="/api/admin/set_role">
                        <input type="hidden" name="name" value=account.name/>
                        <input type="hidden" name="role" value=Role::Shopper.as_str()/>
                        <button class="button" aria-label=withdraw>{lang.text("withdraw")}</button>
                    </form>
                </details>
            </td>
        </tr>
    }
}

fn grant(form: Form, shops: Vec<Shop>) -> impl IntoView {
    let lang = form.lang;
    let role = |role: Role| {
        let word = role.as_str();
        (word.to_owned(), lang.text(&format!("role-{word}")))
    };
    let roles = vec![role(Role::Clerk), role(Role::Admin)];
    let none = (String::new(), "–".to_owned());
    let shops = shops
        .into_iter()
        .map(|shop| (shop.id.to_string(), shop.name));
    let shops = std::iter::once(none).chain(shops).collect();
    view! {
        <form class="stack" method="post" action="/api/admin/set_role" novalidate>
            <Field form=form.clone() name="name" kind=Kind::Line/>
            <Field form=form.clone() name="role" kind=Kind::Choice(roles)/>
            <Field form=form name="shop_id" kind=Kind::Choice(shops) optional=true/>
            <p class="hint">{lang.text("give-role-explained")}</p>
            <button class="button wide">{lang.text("give-role")}</button>
        </form>
    }
}

fn shop_named(shops: &[Shop], id: ShopId) -> String {
    let shop = shops.iter().find(|shop| shop.id == id);
    shop.map_or_else(|| id.to_string(), |shop| shop.name.clone())
}
