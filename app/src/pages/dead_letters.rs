//! Queue entries that could not be persisted, with the reason, for the operator.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Empty, Head, Notice, Query, page},
    model::{DeadLetter, LetterOutcome},
    texts::Lang,
};

/// The parked queue entries. Admins only.
#[component]
pub(crate) fn DeadLetters() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::here();
    page(async move {
        let letters = backend().dead_letters().await?;
        Head::title(lang.text("dead-letters"));
        let heads = ["entry", "reason", "tries", "fields", "decision"]
            .map(|key| view! { <th scope="col">{lang.text(key)}</th> });
        let heads = heads.into_iter().collect_view();
        Ok(view! {
            <p class="back"><a href="/admin/sales">{lang.text("sales")}</a></p>
            <h1>{lang.text("dead-letters")}</h1>
            <p class="muted">{lang.text("dead-letters-explained")}</p>
            {outcome(lang, &query)}
            <Notice lang query/>
            {if letters.is_empty() {
                view! { <Empty words=lang.text("no-dead-letters") hint=lang.text("no-dead-letters-hint")/> }.into_any()
            } else {
                view! {
                    <div class="scroll" role="region" tabindex="0" aria-label=lang.text("dead-letters")>
                        <table class="stacks">
                            <thead><tr>{heads}</tr></thead>
                            <tbody>{letters.into_iter().map(|letter| row(lang, letter)).collect_view()}</tbody>
                        </table>
                    </div>
                }
                .into_any()
            }}
        }
        .into_any())
    })
}

/// What became of the letter that was just decided on.
fn outcome(lang: Lang, query: &Query) -> Option<impl IntoView + use<>> {
    let outcome = LetterOutcome::parse(query.value("letter"))?;
    let good = matches!(outcome, LetterOutcome::Replayed | LetterOutcome::Discarded);
    let text = lang.text(&format!("letter-{}", outcome.as_str()));
    Some(view! { <p class="notice" class:good=good role="status">{text}</p> })
}

fn row(lang: Lang, letter: DeadLetter) -> impl IntoView {
    let id = letter.id.to_string();
    let explained = if letter.can_be_replayed {
        "discard-explained"
    } else {
        "discard-nothing-explained"
    };
    let fields = letter.fields.into_iter().map(|(name, value)| {
        view! { <div><dt><bdi>{name}</bdi></dt><dd><bdi>{value}</bdi></dd></div> }
    });
    view! {
        <tr>
            <th scope="row"><code>{id.clone()}</code></th>
            <td data-label=lang.text("reason")><bdi>{letter.reason}</bdi></td>
            <td class="count" data-label=lang.text("tries")>{letter.tries.to_string()}</td>
            <td data-label=lang.text("fields")><dl class="fields">{fields.collect_view()}</dl></td>
            <td data-label=lang.text("decision")>
                <div class="decision">
                    {letter.can_be_replayed.then(|| view! {
                        <form method="post" action="/api/admin/replay_dead_letter">
                            <input type="hidden" name="letter" value=id.clone()/>
                            <button class="button quiet">{lang.text("replay")}</button>
                        </form>
                    })}
                    <details class="confirm">
                        <summary>{lang.text("discard")}</summary>
                        <p class="small">{lang.text(explained)}</p>
                        <form method="post" action="/api/admin/discard_dead_letter">
                            <input type="hidden" name="letter" value=id/>
                            <button class="button">{lang.text("discard-for-good")}</button>
                        </form>
                    </details>
                </div>
            </td>
        </tr>
    }
}
