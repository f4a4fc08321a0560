//! What an admin does to a sale besides editing its texts: plain forms, each of which leads back to the sale's page. What
//! cannot be undone is asked twice, without script too.

use leptos::prelude::*;
use time::OffsetDateTime;

use super::Query;
use crate::{
    model::{SaleChange, SaleState, Voucher},
    texts::Lang,
};

const ACTIONS: [&str; 7] = ["edit", "pause", "resume", "end", "withdraw", "add", "cut"];

/// What came of the action that has just been done, if the address says so and it is one of ours.
#[component]
pub(crate) fn SaleChanged(
    /// The visitor's language.
    lang: Lang,
    /// The request's query.
    query: Query,
) -> impl IntoView {
    let (action, outcome) = query.value("did").split_once('.').unwrap_or_default();
    let action = ACTIONS.into_iter().find(|known| *known == action);
    let outcome = SaleChange::parse(outcome);
    action.zip(outcome).map(|(action, outcome)| {
        let good = matches!(outcome, SaleChange::Done | SaleChange::Unchanged);
        let words = match outcome {
            SaleChange::Done => lang.text(&format!("did-{action}")),
            other => lang.text(&format!("sale-change-{}", other.as_str())),
        };
        view! { <p class="notice" class:good=good role="status">{words}</p> }
    })
}

/// The actions that a sale can take at `now` by the gate's clock; what was typed, and what is wrong with it, is in the query.
pub(crate) fn sale_actions(
    lang: Lang,
    query: &Query,
    voucher: &Voucher,
    now: OffsetDateTime,
) -> AnyView {
    if voucher.is_over(now) {
        let why = match voucher.state {
            SaleState::Withdrawn => "sale-is-withdrawn",
            _ => "sale-is-over",
        };
        return view! { <p class="empty">{lang.text(why)}</p> }.into_any();
    }
    let actions = Actions {
        lang,
        query,
        voucher,
    };
    view! {
        <p class="muted small">{lang.text("sale-actions-explained")}</p>
        <div class="sale-actions">
            {actions.switch()}
            {actions.units("add")}
            <details class="confirm" open=actions.is_asked("cut")>
                <summary>{lang.text("cut-units")}"…"</summary>
                <p class="small">{lang.text("cut-units-explained")}</p>
                {actions.units("cut")}
            </details>
            {voucher.has_begun(now).then(|| actions.for_good("end"))}
            {actions.for_good("withdraw")}
        </div>
    }
    .into_any()
}

struct Actions<'a> {
    lang: Lang,
    query: &'a Query,
    voucher: &'a Voucher,
}

impl Actions<'_> {
    /// Is this the action whose form is shown again?
    fn is_asked(&self, action: &str) -> bool {
        self.query.value("did") == action
    }

    fn id(&self) -> impl IntoView + use<> {
        view! { <input type="hidden" name="voucher_id" value=self.voucher.id.to_string()/> }
    }

    /// Pause, or resume what is paused.
    fn switch(&self) -> impl IntoView + use<> {
        let action = match self.voucher.state {
            SaleState::Paused => "resume",
            _ => "pause",
        };
        view! {
            <form method="post" action=format!("/api/admin/{action}_sale")>
                {self.id()}
                <button class="button quiet">{self.lang.text(&format!("{action}-sale"))}</button>
            </form>
        }
    }

    /// More or fewer units, once for this form.
    fn units(&self, action: &'static str) -> impl IntoView + use<> {
        let lang = self.lang;
        let is_asked = self.is_asked(action);
        let problem = self.query.problem("units").filter(|_| is_asked);
        let typed = if is_asked {
            self.query.value("units")
        } else {
            ""
        };
        let (id, error_id) = (format!("{action}-units"), format!("{action}-units-error"));
        view! {
            <form class="units-form" method="post" action=format!("/api/admin/{action}_units") novalidate>
                {self.id()}
                <input type="hidden" name="version" value=self.voucher.version.to_string()/>
                <div class="field">
                    <label for=id.clone()>{lang.text(&format!("{action}-units-label"))}</label>
                    <input
                        type="text"
                        inputmode="numeric"
                        autocomplete="off"
                        required
                        id=id
                        name="units"
                        value=typed.to_owned()
                        autofocus=problem.is_some()
                        aria-invalid=problem.map(|_| "true")
                        aria-describedby=problem.map(|_| error_id.clone())
                    />
                    {problem.map(|problem| view! { <p class="error" id=error_id>{lang.problem(problem)}</p> })}
                </div>
                <button class="button quiet">{lang.text(&format!("{action}-units"))}</button>
            </form>
        }
    }

    /// What cannot be undone, with what it means.
    fn for_good(&self, action: &'static str) -> impl IntoView + use<> {
        let lang = self.lang;
        view! {
            <details class="confirm">
                <summary>{lang.text(&format!("{action}-sale"))}"…"</summary>
                <p class="small">{lang.text(&format!("{action}-sale-explained"))}</p>
                <form method="post" action=format!("/api/admin/{action}_sale")>
                    {self.id()}
                    <button class="button">{lang.text(&format!("{action}-sale-for-good"))}</button>
                </form>
            </details>
        }
    }
}
