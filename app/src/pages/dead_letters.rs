//! Queue entries that could not be persisted, with the reason, for the operator.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Empty, Head, Moment, Notice, Query, page, said, visitor_zone},
    model::{
        DeadLetter, DeadLetterId, LetterNames, LetterOutcome, LettersSearch, UserId, VoucherId,
    },
    texts::Lang,
};

/// The parked queue entries. Admins only.
#[component]
pub(crate) fn DeadLetters() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::here();
    let search = LettersSearch {
        sale: VoucherId::parse(query.value("sale")).ok(),
        after: DeadLetterId::parse(query.value("after")).ok(),
    };
    page(async move {
        let found = backend().dead_letters(&search).await?;
        Head::title(lang.text("dead-letters"));
        let LettersSearch { sale, after } = search;
        let next = found.next.map(|next| address(sale, Some(&next)));
        let first = after.map(|_| address(sale, None));
        let heads = ["entry", "reason", "tries", "fields", "decision"]
            .map(|key| view! { <th scope="col">{lang.text(key)}</th> });
        let heads = heads.into_iter().collect_view();
        Ok(view! {
            <p class="back">{match sale {
                Some(sale) => view! { <a href=format!("/admin/sales/{sale}")>{of_sale(lang, sale)}</a> }.into_any(),
                None => view! { <a href="/admin/sales">{lang.text("sales")}</a> }.into_any(),
            }}</p>
            <h1>{lang.text("dead-letters")}</h1>
            <p class="muted">{lang.text("dead-letters-explained")}</p>
            {outcome(lang, &query)}
            <Notice lang query/>
            {filter(lang, sale)}
            {if found.letters.is_empty() {
                let words = if next.is_some() { "no-dead-letters-so-far" } else { "no-dead-letters" };
                view! { <Empty words=lang.text(words) hint=lang.text("no-dead-letters-hint")/> }.into_any()
            } else {
                view! {
                    <div class="scroll" role="region" tabindex="0" aria-label=lang.text("dead-letters")>
                        <table class="stacks">
                            <thead><tr>{heads}</tr></thead>
                            <tbody>{found.letters.into_iter().map(|letter| row(lang, sale, letter)).collect_view()}</tbody>
                        </table>
                    </div>
                }
                .into_any()
            }}
            <p class="actions">
                {first.map(|first| view! { <a class="button quiet" href=first>{lang.text("first-letters")}</a> })}
                {next.map(|next| view! { <a class="button quiet" href=next>{lang.text("more-letters")}</a> })}
            </p>
        }
        .into_any())
    })
}

fn address(sale: Option<VoucherId>, after: Option<&DeadLetterId>) -> String {
    let sale = sale.map(|sale| format!("sale={sale}"));
    let after = after.map(|after| format!("after={after}"));
    let query: Vec<String> = sale.into_iter().chain(after).collect();
    format!("/admin/dead-letters?{}", query.join("&"))
}

fn of_sale(lang: Lang, sale: VoucherId) -> String {
    lang.text_with("voucher-number", [("id", sale.to_string().into())])
}

/// Lets those of one sale be chosen, and all of them again.
fn filter(lang: Lang, sale: Option<VoucherId>) -> impl IntoView {
    view! {
        <form class="search" action="/admin/dead-letters" method="get">
            <div class="field">
                <label for="sale">{lang.text("letters-of-sale")}</label>
                <input id="sale" name="sale" inputmode="numeric" value=sale.map(|sale| sale.to_string())/>
            </div>
            <button class="button">{lang.text("show")}</button>
            {sale.map(|_| view! { <a class="button quiet" href="/admin/dead-letters">{lang.text("all-letters")}</a> })}
        </form>
    }
}

/// What became of the letter that was just decided on.
fn outcome(lang: Lang, query: &Query) -> Option<impl IntoView + use<>> {
    let outcome = LetterOutcome::parse(query.value("letter"))?;
    let good = matches!(outcome, LetterOutcome::Replayed | LetterOutcome::Discarded);
    let text = lang.text(&format!("letter-{}", outcome.as_str()));
    Some(view! { <p class="notice" class:good=good role="status">{text}</p> })
}

/// Why it was parked, in words; what the database said stands below.
fn reason(lang: Lang, reason: String) -> AnyView {
    match reason.as_str() {
        "unreadable" => lang.text("parked-unreadable").into_any(),
        "unknown voucher" => lang.text("parked-unknown-voucher").into_any(),
        "unknown user" => lang.text("parked-unknown-user").into_any(),
        _ => view! {
            {lang.text("parked-refused")}
            <bdi class="muted small said" lang="en">{reason}</bdi>
        }
        .into_any(),
    }
}

/// The name of an entry's field; a stranger's stays as it is.
fn field_name(lang: Lang, name: String) -> AnyView {
    match name.as_str() {
        "order" => lang.text("order-number").into_any(),
        "user" => lang.text("buyer").into_any(),
        "voucher" => lang.text("voucher").into_any(),
        _ => view! { <bdi>{name}</bdi> }.into_any(),
    }
}

/// What a number in a field is called.
fn more_about(
    lang: Lang,
    field: &str,
    (_, voucher): (UserId, VoucherId),
    names: &LetterNames,
) -> Option<AnyView> {
    match field {
        "user" => names
            .buyer
            .clone()
            .map(|name| view! { " · "{said(lang, name)} }.into_any()),
        "voucher" => names.title.clone().map(|title| {
            let way = format!("/admin/sales/{voucher}");
            view! { " · "<a href=way>{said(lang, title)}</a> }.into_any()
        }),
        _ => None,
    }
}

fn row(lang: Lang, sale: Option<VoucherId>, letter: DeadLetter) -> impl IntoView {
    let id = letter.id.to_string();
    let explained = if letter.can_be_replayed {
        "discard-explained"
    } else {
        "discard-nothing-explained"
    };
    // The page that is open is the one to come back to.
    let kept =
        || sale.map(|sale| view! { <input type="hidden" name="sale" value=sale.to_string()/> });
    let parked_at = letter.id.parked_at();
    let (promise, names) = (letter.promise, letter.names);
    let fields = letter.fields.into_iter().map(|(name, value)| {
        let more = promise.and_then(|promise| more_about(lang, &name, promise, &names));
        view! { <div><dt>{field_name(lang, name)}</dt><dd><bdi>{value}</bdi>{more}</dd></div> }
    });
    view! {
        <tr>
            <th scope="row">
                <code>{id.clone()}</code>
                {parked_at.map(|at| view! { <span class="muted small"><Moment at=at zone=visitor_zone(lang) seconds=true/></span> })}
            </th>
            <td data-label=lang.text("reason")>{reason(lang, letter.reason)}</td>
            <td class="count" data-label=lang.text("tries")>{letter.tries.to_string()}</td>
            <td data-label=lang.text("fields")><dl class="fields">{fields.collect_view()}</dl></td>
            <td data-label=lang.text("decision")>
                <div class="decision">
                    {letter.can_be_replayed.then(|| view! {
                        <form method="post" action="/api/admin/replay_dead_letter">
                            <input type="hidden" name="letter" value=id.clone()/>
                            {kept()}
                            <button class="button quiet">{lang.text("replay")}</button>
                        </form>
                    })}
                    <details class="confirm">
                        <summary>{lang.text("discard")}</summary>
                        <p class="small">{lang.text(explained)}</p>
                        <form method="post" action="/api/admin/discard_dead_letter">
                            <input type="hidden" name="letter" value=id/>
                            {kept()}
                            <button class="button">{lang.text("discard-for-good")}</button>
                        </form>
                    </details>
                </div>
            </td>
        </tr>
    }
}
