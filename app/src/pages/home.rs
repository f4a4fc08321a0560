//! The front page: vouchers on sale now, then the shops with search and categories. Every choice is in the address, so that
//! a link to it can be sent on.

use futures::future::join3;
use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Empty, Head, Query, Tile, VoucherCards, encode, page, said},
    model::{Category, FoundOffer, Shop, ShopKey, ShopList, ShopSearch, Words, grouped},
    texts::Lang,
};

/// Categories with a link of their own; the others are in the form.
const CHIPS: usize = 12;

/// The front page.
#[component]
pub(crate) fn Home() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::here();
    let search = ShopSearch {
        words: Words::read(&query.words("words", 60)),
        category: query.words("category", 20),
        after: ShopKey::parse(query.value("after")).ok(),
    };
    page(async move {
        let backend = backend();
        let on_front = search == ShopSearch::default();
        let list = backend.shops(&search).await?;
        let vouchers = async {
            // The shops are worth showing even while the gate is away.
            if on_front {
                backend.current_vouchers().await.unwrap_or_default()
            } else {
                Vec::new()
            }
        };
        let words = Words::default();
        let (found_in, all) = (
            backend.categories(&search.words),
            backend.categories(&words),
        );
        let (found_in, all, vouchers) = join3(found_in, all, vouchers).await;
        let (found_in, all) = (found_in?, all?);
        Head::title(title(lang, &search));
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
                <SearchForm lang=lang search=search.clone() categories=&all/>
                <Chips lang=lang search=search.clone() categories=&found_in/>
                {found(lang, &search, list)}
            </section>
        }
        .into_any())
    })
}

/// What is looked at, for whoever has many pages open.
fn title(lang: Lang, search: &ShopSearch) -> String {
    let words = [search.words.typed(), &search.category];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        lang.text("shops")
    } else {
        words.join(" · ")
    }
}

#[component]
fn SearchForm<'a>(lang: Lang, search: ShopSearch, categories: &'a [Category]) -> impl IntoView {
    // One that no shop has is none to choose.
    let names = categories.iter().map(|category| category.name.as_str());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let options = names.into_iter().map(|name| {
        let selected = name == search.category;
        view! { <option value=name.to_owned() selected=selected>{name.to_owned()}</option> }
    });
    let options = options.collect_view();
    view! {
        <search>
            <form class="search" action="/#all-shops" method="get">
                <div class="field">
                    <label for="words">{lang.text("search-words")}</label>
                    <input type="search" id="words" name="words" value=search.words.typed().to_owned() maxlength="60"/>
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

/// The largest categories, each a link that keeps the words.
#[component]
fn Chips<'a>(lang: Lang, search: ShopSearch, categories: &'a [Category]) -> impl IntoView {
    if categories.is_empty() {
        return ().into_any();
    }
    let all = categories.iter().map(|category| category.shops).sum();
    let all = chip(&search, "", lang.text("all-categories"), all);
    let chips = categories.iter().take(CHIPS);
    let chips = chips.map(|category| {
        let Category { name, shops } = category;
        chip(&search, name, name.clone(), *shops)
    });
    let chips = std::iter::once(all).chain(chips).collect_view();
    view! {
        <nav class="chips" aria-label=lang.text("categories")>
            <ul role="list">{chips}</ul>
        </nav>
    }
    .into_any()
}

fn chip(search: &ShopSearch, category: &str, words: String, shops: i64) -> impl IntoView + use<> {
    let here = (search.category == category).then_some("true");
    let address = address(search.words.typed(), category, None);
    view! {
        <li>
            <a class="chip" href=address aria-current=here>
                <bdi>{words}</bdi>" "<span class="count">{grouped(shops)}</span>
            </a>
        </li>
    }
}

/// The shops, or what to do where there are none.
fn found(lang: Lang, search: &ShopSearch, list: ShopList) -> AnyView {
    let first = search
        .after
        .map(|_| address(search.words.typed(), &search.category, None));
    let first = first.map(|first| view! { <a class="button quiet" href=first rel="first">{lang.text("first-shops")}</a> });
    if list.shops.is_empty() {
        let way = ("/#all-shops".to_owned(), lang.text("show-all-shops"));
        return view! { <Empty words=lang.text("no-shops") hint=lang.text("no-shops-hint") way=way/> }.into_any();
    }
    let next = list
        .next
        .map(|key| address(search.words.typed(), &search.category, Some(key)));
    view! {
        {list.is_guess.then(|| view! { <p class="lead" role="status">{lang.text("similar-shops")}</p> })}
        <ul class="cards shops" role="list">{list.shops.into_iter().map(|shop| card(lang, shop, &list.offers)).collect_view()}</ul>
        {(first.is_some() || next.is_some()).then(|| view! {
            <p class="actions">
                {first}
                {next.map(|next| view! { <a class="button quiet" href=next rel="next">{lang.text("more-shops")}</a> })}
            </p>
        })}
    }
    .into_any()
}

fn card(lang: Lang, shop: Shop, offers: &[FoundOffer]) -> impl IntoView + use<> {
    let offers = offers.iter().filter(|offer| offer.shop == shop.id);
    let offers: Vec<_> = offers
        .map(|offer| {
            let way = format!("/vouchers/{}", offer.voucher);
            view! { <li><a href=way>{said(lang, offer.title.clone())}</a></li> }
        })
        .collect();
    view! {
        <li class="card shop">
            <Tile lang=lang name=shop.name.clone() category=shop.category.clone() picture=shop.tile/>
            <h3><a href=format!("/shops/{}", shop.id)>{said(lang, shop.name)}</a></h3>
            <p><span class="tag">{said(lang, shop.category)}</span></p>
            <p class="muted small">{said(lang, shop.address)}</p>
            {(!offers.is_empty()).then(|| view! {
                <ul class="offers" role="list" aria-label=lang.text("vouchers")>{offers}</ul>
            })}
        </li>
    }
}

/// The address of a choice, without what was not chosen.
fn address(words: &str, category: &str, after: Option<ShopKey>) -> String {
    let after = after.map(|key| key.to_string()).unwrap_or_default();
    let parts = [("words", words), ("category", category), ("after", &after)];
    let parts = parts.iter().filter(|(_, value)| !value.is_empty());
    let parts: Vec<String> = parts
        .map(|(name, value)| format!("{name}={}", encode(value)))
        .collect();
    let query = if parts.is_empty() { "" } else { "?" };
    format!("/{query}{}#all-shops", parts.join("&"))
}
