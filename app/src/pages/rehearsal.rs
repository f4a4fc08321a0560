//! One rehearsal: how far it has come, and what it found.

use leptos::prelude::*;

use crate::{
    api::{REHEARSAL_NOW, rehearsal_address, visitor_lang},
    backend::backend,
    components::{Head, live_words, page, path_id, rehearsal_now, rehearsal_plan, visitor_zone},
    islands::LiveParts,
    model::{Rehearsal, RehearsalId, RehearsalState},
    texts::Lang,
};

/// Without script the page loads again this often while it is under way, in seconds.
const AGAIN_S: i64 = 3;

/// One rehearsal. Admins only.
#[component]
pub(crate) fn RehearsalPage() -> impl IntoView {
    let lang = visitor_lang();
    let id = path_id::<RehearsalId>();
    page(async move {
        let id = id?;
        let rehearsal = backend().rehearsal(id).await?;
        let title = lang.text_with("rehearsal-number", [("id", id.to_string().into())]);
        Head::title(title.clone());
        let here = format!("/admin/rehearsals/{id}");
        let is_running = matches!(rehearsal.state, RehearsalState::Running(_));
        if is_running {
            Head::refresh(AGAIN_S, here.clone());
        }
        let live = is_running.then(|| {
            view! {
                <div class="live-ways">
                    <a href=here>{lang.text("refresh")}</a>
                    <LiveParts words=live_words(lang, rehearsal_address(id))/>
                </div>
            }
        });
        Ok(view! {
            <p class="back"><a href="/admin/rehearsals">{lang.text("rehearsals")}</a></p>
            <h1>{title}</h1>
            <p>{rehearsal_plan(lang, &rehearsal.plan)}</p>
            <p class="muted">{origin(lang, &rehearsal)}</p>
            {copied(lang, &rehearsal)}
            {live}
            <div id=REHEARSAL_NOW class="stack">{rehearsal_now(lang, &rehearsal)}</div>
        }
        .into_any())
    })
}

/// Who asked for it, and when.
fn origin(lang: Lang, rehearsal: &Rehearsal) -> String {
    let name = match rehearsal.asked_by.as_str() {
        "command line" => lang.text("actor-command-line"),
        name => name.to_owned(),
    };
    let at = visitor_zone(lang).show_seconds(rehearsal.asked_at);
    lang.text_with("rehearsal-by", [("name", name.into()), ("at", at.into())])
}

/// The sale that was copied, or that there was none.
fn copied(lang: Lang, rehearsal: &Rehearsal) -> impl IntoView + use<> {
    match rehearsal.plan.voucher {
        Some(id) => {
            let words = lang.text_with("rehearsal-copy-of", [("id", id.to_string().into())]);
            let way = format!("/admin/sales/{id}");
            view! { <p><a href=way>{words}</a></p> }.into_any()
        }
        None => view! { <p class="muted">{lang.text("rehearsal-made-up")}</p> }.into_any(),
    }
}
