//! Queue entries that could not be persisted, with the reason, for the operator.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Head, page},
    model::DeadLetter,
};

/// The parked queue entries. Admins only.
#[component]
pub(crate) fn DeadLetters() -> impl IntoView {
    let lang = visitor_lang();
    page(async move {
        let letters = backend().dead_letters().await?;
        Head::title(lang.text("dead-letters"));
        let heads = ["entry", "reason", "tries", "fields"]
            .map(|key| view! { <th scope="col">{lang.text(key)}</th> });
        let heads = heads.into_iter().collect_view();
        Ok(view! {
            <p class="back"><a href="/admin/sales">{lang.text("sales")}</a></p>
            <h1>{lang.text("dead-letters")}</h1>
            <p class="muted">{lang.text("dead-letters-explained")}</p>
            {if letters.is_empty() {
                view! { <p class="empty">{lang.text("no-dead-letters")}</p> }.into_any()
            } else {
                view! {
                    <div class="scroll" role="region" tabindex="0" aria-label=lang.text("dead-letters")>
                        <table>
                            <thead><tr>{heads}</tr></thead>
                            <tbody>{letters.into_iter().map(row).collect_view()}</tbody>
                        </table>
                    </div>
                }
                .into_any()
            }}
        }
        .into_any())
    })
}

fn row(letter: DeadLetter) -> impl IntoView {
    let fields = letter.fields.into_iter().map(|(name, value)| {
        view! { <div><dt><bdi>{name}</bdi></dt><dd><bdi>{value}</bdi></dd></div> }
    });
    view! {
        <tr>
            <th scope="row"><code>{format!("{{{}}} {}", letter.shard, letter.id)}</code></th>
            <td><bdi>{letter.reason}</bdi></td>
            <td class="count">{letter.tries.to_string()}</td>
            <td><dl class="fields">{fields.collect_view()}</dl></td>
        </tr>
    }
}
