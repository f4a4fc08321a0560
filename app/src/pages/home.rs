//! The front page: vouchers on sale now, then the shops with search and category.

use futures::future::join3;
use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Empty, Head, Query, VoucherCards, encode, page},
    model::{Shop, ShopId, ShopSearch},
    texts::Lang,
};

/// The front page.
#[component]
pub(crate) fn Home() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::here();
    let search = ShopSearch {
        words: query.words("words", 60),
        category: query.words("category", 20),
        after: ShopId::parse(query.value("after")).ok(),
    };
    page(async move {
        let backend = backend();
        let on_front = search == ShopSearch::default();
        let vouchers = async {
            // The shops are worth showing even while the gate is away.
            if on_front {
                backend.current_vouchers().await.unwrap_or_default()
            } else {
                Vec::new()
            }
        };
        let loads = join3(backend.shops(&search), backend.categories(), vouchers);
        let (shops, categories, vouchers) = loads.await;
        let (shops, more) = shops?;
        let categories = categories?;
        Head::title(lang.text("shops"));
        let next = shops
            .last()
            .filter(|_| more)
            .map(|shop| next_page(&search, shop.id));
        Ok(view! {
            <h1>{lang.text("home-title")}</h1>
            {on_front.then(|| view! { <p class="lead">{lang.text("home-lead")}</p> })}
            {(!vouchers.is_empty()).then(|| view! {
                <section aria-labelledby="now">
                    <h2 id="now">{lang.text("on-sale")}</h2>
                    <VoucherCards lang=lang vouchers=vouchers shop_shown=true/>
                </section>
            })}
            <section aria-labelledby="all-shops">
                <h2 id="all-shops">{lang.text("all-shops")}</h2>
                <SearchForm lang=lang search=search categories=categories/>
                {if shops.is_empty() {
                    let way = ("/".to_owned(), lang.text("to-shops"));
                    view! { <Empty words=lang.text("no-shops") hint=lang.text("no-shops-hint") way=way/> }.into_any()
                } else {
                    view! { <ul class="cards shops" role="list">{shops.into_iter().map(card).collect_view()}</ul> }.into_any()
                }}
                {next.map(|next| view! {
                    <p class="actions"><a class="button quiet" href=next>{lang.text("more-shops")}</a></p>
                })}
            </section>
        }
        .into_any())
    })
}

#[component]
fn SearchForm(lang: Lang, search: ShopSearch, categories: Vec<String>) -> impl IntoView {
    let options = categories.into_iter().map(|category| {
        let selected = category == search.category;
        view! { <option value=category.clone() selected=selected>{category.clone()}</option> }
    });
    let options = options.collect_view();
    view! {
        <search>
            <form class="search" action="/" method="get">
                <div class="field">
                    <label for="words">{lang.text("search-words")}</label>
                    <input type="search" id="words" name="words" value=search.words maxlength="60"/>
                </div>
                <div class="field">
                    <label for="category">{lang.text("field-category")}</label>
                    <select id="category" name="category">
                        <option value="">{lang.text("all-categories")}</option>
                        {options}
                    </select>
                </div>
                <button class="button">{lang.text("search")}</button>
            </form>
        </search>
    }
}

fn card(shop: Shop) -> impl IntoView {
    view! {
        <li class="card">
            <h3><a href=format!("/shops/{}", shop.id)><bdi>{shop.name}</bdi></a></h3>
            <p><span class="tag"><bdi>{shop.category}</bdi></span></p>
            <p class="muted small"><bdi>{shop.address}</bdi></p>
        </li>
    }
}

fn next_page(search: &ShopSearch, last: ShopId) -> String {
    let (words, category) = (encode(&search.words), encode(&search.category));
    format!("/?words={words}&category={category}&after={last}#all-shops")
}
