//! The rehearsals, and the form that starts one.

use leptos::prelude::*;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{
        Empty, Field, Form, Head, Kind, Moment, Notice, Query, page, rehearsal_plan, said,
        visitor_zone,
    },
    model::{Rehearsal, RehearsalState, Shape},
    texts::Lang,
};

/// What the form says before anything is typed.
const SHOPPERS: &str = "1000";
const UNITS: &str = "100";
const SECONDS: &str = "10";

/// The rehearsals, the newest first. Admins only.
#[component]
pub(crate) fn Rehearsals() -> impl IntoView {
    let lang = visitor_lang();
    let query = Query::typed_here();
    page(async move {
        let rehearsals = backend().rehearsals().await?;
        Head::title(lang.text("rehearsals"));
        let form = Form {
            lang,
            query: query.clone(),
        };
        let is_running = |one: &Rehearsal| matches!(one.state, RehearsalState::Running(_));
        let is_busy = rehearsals.iter().any(is_running);
        let busy = is_busy
            .then(|| view! { <p class="notice" role="note">{lang.text("rehearsal-busy")}</p> });
        Ok(view! {
            <p class="back"><a href="/admin/sales">{lang.text("sales")}</a></p>
            <h1>{lang.text("rehearsals")}</h1>
            <p class="muted">{lang.text("rehearsals-explained")}</p>
            <section aria-labelledby="rehearsal-new">
                <h2 id="rehearsal-new">{lang.text("rehearsal-new")}</h2>
                <Notice lang=lang query=query/>
                {busy}
                <div class="narrow">{start(form)}</div>
            </section>
            <section aria-labelledby="rehearsals">
                <h2 id="rehearsals">{lang.text("rehearsals-so-far")}</h2>
                {list(lang, rehearsals)}
            </section>
        }
        .into_any())
    })
}

fn start(form: Form) -> impl IntoView {
    let lang = form.lang;
    let shapes = Shape::ALL.map(|shape| {
        let word = shape.as_str();
        (word.to_owned(), lang.text(&format!("shape-{word}")))
    });
    view! {
        <form class="stack" method="post" action="/api/admin/rehearse" novalidate>
            <Field form=form.clone() name="shoppers" kind=Kind::Number hinted=true initial=SHOPPERS/>
            <Field form=form.clone() name="units" kind=Kind::Number initial=UNITS/>
            <Field form=form.clone() name="shape" kind=Kind::Choice(shapes.into()) hinted=true initial="spike"/>
            <Field form=form.clone() name="seconds" kind=Kind::Number initial=SECONDS/>
            <Field form=form.clone() name="voucher_id" kind=Kind::Number optional=true hinted=true/>
            {although(&form)}
            <button class="button wide">{lang.text("rehearse")}</button>
        </form>
    }
}

/// The box that has to be ticked where people use the place.
fn although(form: &Form) -> impl IntoView + use<> {
    let Form { lang, query } = form;
    let wrong = query.problem("on_production");
    let described = match wrong {
        Some(_) => "on_production-hint on_production-error",
        None => "on_production-hint",
    };
    let checked = query.value("on_production") == "yes";
    view! {
        <div class="field">
            <label class="tick">
                <input
                    type="checkbox" id="on_production" name="on_production" value="yes" checked=checked
                    aria-describedby=described aria-invalid=wrong.map(|_| "true")
                />
                <span>{lang.text("field-on-production")}</span>
            </label>
            <p class="hint" id="on_production-hint">{lang.text("field-on-production-hint")}</p>
            {wrong.map(|_| view! {
                <p class="error" id="on_production-error">{lang.text("rehearsal-in-use")}</p>
            })}
        </div>
    }
}

fn list(lang: Lang, rehearsals: Vec<Rehearsal>) -> AnyView {
    if rehearsals.is_empty() {
        return view! {
            <Empty words=lang.text("no-rehearsals") hint=lang.text("no-rehearsals-hint")/>
        }
        .into_any();
    }
    let heads = ["number", "at", "who", "what-for", "result"]
        .map(|key| view! { <th scope="col">{lang.text(&format!("rehearsals-{key}"))}</th> });
    let rows = rehearsals.into_iter().map(|one| row(lang, one));
    view! {
        <div class="scroll" role="region" tabindex="0" aria-label=lang.text("rehearsals")>
            <table class="stacks">
                <thead><tr>{heads.into_iter().collect_view()}</tr></thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn row(lang: Lang, rehearsal: Rehearsal) -> impl IntoView {
    let (number, way) = (
        rehearsal.id.to_string(),
        format!("/admin/rehearsals/{}", rehearsal.id),
    );
    let number = lang.text_with("rehearsal-number", [("id", number.into())]);
    let label = |key: &str| lang.text(&format!("rehearsals-{key}"));
    let (phase, result) = match &rehearsal.state {
        RehearsalState::Running(_) => ("not_started", "rehearsal-running"),
        RehearsalState::Failed(_) => ("ended", "rehearsal-failed-short"),
        RehearsalState::Ended(report) if report.held => ("running", "rehearsal-held"),
        RehearsalState::Ended(_) => ("sold_out", "rehearsal-broken"),
    };
    let asked_by = match rehearsal.asked_by.as_str() {
        "command line" => lang.text("actor-command-line"),
        name => name.to_owned(),
    };
    view! {
        <tr>
            <th scope="row"><a href=way>{number}</a></th>
            <td data-label=label("at")><Moment at=rehearsal.asked_at zone=visitor_zone(lang) seconds=true/></td>
            <td data-label=label("who")>{said(lang, asked_by)}</td>
            <td data-label=label("what-for")>{rehearsal_plan(lang, &rehearsal.plan)}</td>
            <td data-label=label("result")><span class="badge" data-phase=phase>{lang.text(result)}</span></td>
        </tr>
    }
}
