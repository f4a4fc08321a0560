//! Who has which role, and the form that gives one. A shopper's takes any other away.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Changed, Field, Form, Head, Kind, Notice, Query, page, shop_names},
    model::{Account, Problem, Role, ShopId},
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
        let names = shop_names(&shops);
        // What went wrong with a withdrawal stands in its row, and fills in no form for another.
        let failed = Failed::of(&query).filter(|failed| failed.is_of(&staff));
        let query = match failed {
            Some(_) => Query::default(),
            None => query,
        };
        let form = Form {
            lang,
            query: query.clone(),
        };
        let heads = ["name", "role", "shop", "change"]
            .map(|key| view! { <th scope="col">{lang.text(&format!("people-{key}"))}</th> });
        let heads = heads.into_iter().collect_view();
        let rows = staff
            .into_iter()
            .map(|account| row(lang, account, &names, failed.as_ref()));
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
            <div class="narrow">{grant(form, names.clone())}</div>
        }
        .into_any())
    })
}

/// A withdrawal that was refused.
struct Failed {
    name: String,
    problem: Problem,
}

impl Failed {
    /// The one that the address tells of: only a withdrawal makes a shopper of somebody.
    fn of(query: &Query) -> Option<Self> {
        let (_, problem) = query.problems().next()?;
        let name = query.value("name").to_owned();
        (query.value("role") == Role::Shopper.as_str()).then_some(Self { name, problem })
    }

    fn is_of(&self, staff: &[Account]) -> bool {
        staff.iter().any(|account| account.name == self.name)
    }
}

fn row(
    lang: Lang,
    account: Account,
    shops: &[(ShopId, String)],
    failed: Option<&Failed>,
) -> impl IntoView + use<> {
    let shop = account.shop.map(|id| shop_named(shops, id));
    let failed = failed.filter(|failed| failed.name == account.name);
    let open = failed.is_some();
    let problem = failed.map(|failed| lang.problem(failed.problem));
    let withdraw = format!("{} {}", lang.text("withdraw"), account.name);
    view! {
        <tr>
            <th scope="row"><bdi>{account.name.clone()}</bdi></th>
            <td data-label=lang.text("people-role")>{lang.text(&format!("role-{}", account.role.as_str()))}</td>
            <td data-label=lang.text("people-shop")><bdi>{shop}</bdi></td>
            <td data-label=lang.text("people-change")>
                <details class="confirm" open=open>
                    <summary aria-label=withdraw.clone()>{lang.text("withdraw")}"…"</summary>
                    {problem.map(|problem| view! { <p class="error" role="alert">{problem}</p> })}
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

fn grant(form: Form, shops: Vec<(ShopId, String)>) -> impl IntoView {
    let lang = form.lang;
    let role = |role: Role| {
        let word = role.as_str();
        (word.to_owned(), lang.text(&format!("role-{word}")))
    };
    let roles = vec![role(Role::Clerk), role(Role::Admin)];
    let none = (String::new(), "–".to_owned());
    let shops = shops.into_iter().map(|(id, name)| (id.to_string(), name));
    let shops = std::iter::once(none).chain(shops).collect();
    view! {
        <form class="stack" method="post" action="/api/admin/set_role" novalidate>
            <Field form=form.clone() name="name" kind=Kind::Line/>
            <Field form=form.clone() name="role" kind=Kind::Choice(roles)/>
            <Field form=form name="shop_id" kind=Kind::Choice(shops) optional=true hinted=true/>
            <p class="hint">{lang.text("give-role-explained")}</p>
            <button class="button wide">{lang.text("give-role")}</button>
        </form>
    }
}

fn shop_named(shops: &[(ShopId, String)], id: ShopId) -> String {
    let shop = shops.iter().find(|(shop, _)| *shop == id);
    shop.map_or_else(|| id.to_string(), |(_, name)| name.clone())
}
