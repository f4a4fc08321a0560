//! The shell around every page, and which address shows which page.

use futures::StreamExt;
use leptos::prelude::*;
use leptos_meta::HashedStylesheet;
use leptos_router::{
    SsrMode,
    components::{FlatRoutes, Route, Router},
    path,
};

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Footer, Head, Header, Query, Visitor, failure, forbid_storing},
    pages,
};

/// The HTML document around the pages. Its body is rendered first: what a page finds decides about the head.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    let lang = visitor_lang();
    let head = Head::provide();
    forbid_storing();
    Suspend::new(async move {
        let visitor = Visitor::provide().await;
        let body = view! {
            <a class="skip" href="#main">{lang.text("skip")}</a>
            <Header lang=lang visitor=visitor/>
            <main id="main" tabindex="-1">
                {match backend().permitted() {
                    Ok(()) => view! { <App/> }.into_any(),
                    Err(error) => failure(&error),
                }}
            </main>
            <Footer lang=lang/>
        };
        let body: String = body.to_html_stream_in_order().collect().await;
        let notes = head.notes();
        // A page without islands has nothing to start; tests see in both cases when a page is ready.
        let islands = body.contains("<leptos-island");
        let brand = lang.text("brand");
        let mut title = if notes.title.is_empty() {
            brand
        } else {
            format!("{} · {brand}", notes.title)
        };
        if Query::here().problems().next().is_some() {
            title = lang.text_with("title-wrong", [("title", title.into())]);
        }
        let refresh = notes
            .refresh
            .map(|(seconds, address)| format!("{seconds};url={address}"));
        view! {
            <!DOCTYPE html>
            <html lang=lang.html() data-hydrated=(!islands).then_some("")>
                <head>
                    <meta charset="utf-8"/>
                    <meta name="viewport" content="width=device-width, initial-scale=1"/>
                    <meta name="color-scheme" content="light dark"/>
                    <title>{title}</title>
                    <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                    <HashedStylesheet options=options.clone() id="leptos"/>
                    {refresh.map(|content| view! {
                        <noscript><meta http-equiv="refresh" content=content/></noscript>
                    })}
                    {islands.then(|| view! { <HydrationScripts options=options islands=true/> })}
                </head>
                <body inner_html=body></body>
            </html>
        }
    })
}

/// The pages by address. All render in one piece, so that status and headers are set before anything is sent.
#[component]
pub fn App() -> impl IntoView {
    view! {
        <Router>
            <FlatRoutes fallback=pages::NotFound>
                <Route path=path!("/") view=pages::Home ssr=SsrMode::Async/>
                <Route path=path!("/shops/:id") view=pages::ShopPage ssr=SsrMode::Async/>
                <Route path=path!("/vouchers/:id") view=pages::VoucherPage ssr=SsrMode::Async/>
                <Route path=path!("/sign-in") view=pages::SignIn ssr=SsrMode::Async/>
                <Route path=path!("/sign-up") view=pages::SignUp ssr=SsrMode::Async/>
                <Route path=path!("/account") view=pages::Account ssr=SsrMode::Async/>
                <Route path=path!("/orders") view=pages::Orders ssr=SsrMode::Async/>
                <Route path=path!("/orders/:id") view=pages::OrderPage ssr=SsrMode::Async/>
                <Route path=path!("/desk") view=pages::Desk ssr=SsrMode::Async/>
                <Route path=path!("/admin") view=pages::AdminHome ssr=SsrMode::Async/>
                <Route path=path!("/admin/sales") view=pages::Sales ssr=SsrMode::Async/>
                <Route path=path!("/admin/sales/new") view=pages::NewSale ssr=SsrMode::Async/>
                <Route path=path!("/admin/sales/preview") view=pages::PreviewSale ssr=SsrMode::Async/>
                <Route path=path!("/admin/sales/:id") view=pages::SalePage ssr=SsrMode::Async/>
                <Route path=path!("/admin/sales/:id/orders") view=pages::SaleOrders ssr=SsrMode::Async/>
                <Route path=path!("/admin/sales/:id/edit") view=pages::EditSale ssr=SsrMode::Async/>
                <Route path=path!("/admin/shops") view=pages::AdminShops ssr=SsrMode::Async/>
                <Route path=path!("/admin/shops/:id/edit") view=pages::EditShop ssr=SsrMode::Async/>
                <Route path=path!("/admin/shops/new") view=pages::NewShop ssr=SsrMode::Async/>
                <Route path=path!("/admin/shops/:id/picture") view=pages::ShopPicture ssr=SsrMode::Async/>
                <Route path=path!("/admin/people") view=pages::People ssr=SsrMode::Async/>
                <Route path=path!("/admin/audit") view=pages::AuditLog ssr=SsrMode::Async/>
                <Route path=path!("/admin/dead-letters") view=pages::DeadLetters ssr=SsrMode::Async/>
                <Route path=path!("/admin/rehearsals") view=pages::Rehearsals ssr=SsrMode::Async/>
                <Route path=path!("/admin/rehearsals/:id") view=pages::RehearsalPage ssr=SsrMode::Async/>
            </FlatRoutes>
        </Router>
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Cause, Problem, SaleChange, Shape, Verdicts};
    use std::{collections::BTreeSet, fs, path::Path};

    fn sources(folder: &Path) -> String {
        let files = fs::read_dir(folder).unwrap();
        let files = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        files.collect()
    }

    /// The keys that the sources name in full, as in `lang.text("sign-in")`.
    fn named(source: &str) -> BTreeSet<&str> {
        let calls = ["text(", "text_with(", "kept("];
        let after = calls.iter().flat_map(|call| source.split(call).skip(1));
        let quoted = after.filter_map(|rest| rest.trim_start().strip_prefix('"'));
        quoted.filter_map(|rest| rest.split('"').next()).collect()
    }

    const FIELDS: &[&str] = &[
        "name",
        "name-hint",
        "password",
        "password-hint",
        "current-password",
        "new-password",
        "new-password-hint",
        "role",
        "order-hint",
        "category",
        "category-hint",
        "address",
        "shop-id",
        "shop-id-hint",
        "title-hint",
        "rules",
        "face-value",
        "stock-hint",
        "begins-at",
        "begins-at-offset",
        "ends-at",
        "ends-at-offset",
        "zone-hint",
        "shoppers-hint",
        "units",
        "shape-hint",
        "seconds",
        "voucher-id-hint",
    ];

    /// Actions that the audit log may hold.
    const ACTIONS: [&str; 23] = [
        "create-shop",
        "edit-shop",
        "set-shop-picture",
        "remove-shop-picture",
        "create-sale",
        "edit-sale",
        "pause-sale",
        "resume-sale",
        "end-sale",
        "withdraw-sale",
        "add-units",
        "ask-to-cut-units",
        "cut-units",
        "overtake",
        "create-admin",
        "set-role",
        "change-password",
        "delete-account",
        "replay-dead-letter",
        "discard-dead-letter",
        "rebuild",
        "repair",
        "rehearse",
    ];

    const REHEARSAL: &[&str] = &[
        "held",
        "broken",
        "running",
        "failed-short",
        "presses",
        "hang-ups",
        "looks",
        "refused-in-the-end",
        "unheard",
        "waiting",
        "count",
        "per-second",
        "busiest",
        "p50",
        "p99",
        "p999",
        "max",
        "answer",
        "service",
        "late",
        "page",
        "lag",
        "persisted",
        "due",
        "refused-at-gate",
        "failed",
        "place",
        "rates",
        "times",
        "chart-orders",
        "chart-refused",
        "chart-answers",
        "chart-lag",
    ];

    const CAUSES: [&str; 5] = [
        "sold_out",
        "not_started",
        "ended",
        "closed",
        "already_bought",
    ];

    const UNITS: [&str; 8] = [
        "left",
        "queued",
        "confirmed",
        "dead",
        "moving",
        "drift",
        "granted",
        "refused",
    ];

    /// The keys that are put together from a kind and a word.
    fn composed() -> Vec<String> {
        let phases = ["not_started", "running", "sold_out", "ended", "closed"];
        let statuses = ["queued", "confirmed", "refused"];
        let reasons = [
            "already_bought",
            "sold_out",
            "discarded",
            "lost",
            "id_clash",
        ];
        let errors = [
            "invalid",
            "sign_in_required",
            "forbidden",
            "not_found",
            "too_many_requests",
            "unavailable",
            "internal",
        ];
        let of = |kind: &str, words: &[&str], end: &str| -> Vec<String> {
            words
                .iter()
                .map(|word| format!("{kind}-{word}{end}"))
                .collect()
        };
        let problems = Problem::all(1).map(|problem| problem.code().0);
        [
            of("problem", &problems, ""),
            of("phase", &phases, ""),
            of("button", &phases, ""),
            of("change", &phases, ""),
            of("status", &statuses, ""),
            of("status", &statuses, "-hint"),
            of("reason", &reasons, ""),
            of("error", &errors, ""),
            of("error", &errors, "-hint"),
            of("step", &statuses, ""),
            of("step", &statuses, "-hint"),
            of("step", &["asked", "accepted"], ""),
            of("step", &["asked", "accepted"], "-hint"),
            of(
                "outcome",
                &["sold_out", "not_started", "ended", "closed"],
                "",
            ),
            of(
                "did",
                &["edit", "pause", "resume", "end", "withdraw", "add", "cut"],
                "",
            ),
            of(
                "sale-change",
                &SaleChange::ALL.map(SaleChange::as_str)[1..],
                "",
            ),
            ["pause-sale", "resume-sale", "add-units", "cut-units"]
                .map(str::to_owned)
                .into(),
            of("add-units", &["label"], ""),
            of("cut-units", &["label", "explained"], ""),
            of("end-sale", &["explained", "for-good"], ""),
            of("withdraw-sale", &["explained", "for-good"], ""),
            ["end-sale", "withdraw-sale", "first-of-two", "second-of-two"]
                .map(str::to_owned)
                .into(),
            of("state", &["open", "paused", "withdrawn"], ""),
            of(
                "standing",
                &["running", "coming", "over", "paused", "withdrawn"],
                "",
            ),
            of("span", &["minutes", "hours", "whole"], ""),
            of("shape", &Shape::ALL.map(Shape::as_str), ""),
            of(
                "verdict",
                &Verdicts::default().all().map(|(word, _)| word),
                "",
            ),
            of("refused", &Cause::ALL.map(Cause::as_str), ""),
            of(
                "rehearsal-phase",
                &["shoppers", "arrivals", "storing", "removing"],
                "",
            ),
            of(
                "rehearsals",
                &["number", "at", "who", "what-for", "result"],
                "",
            ),
            of("rehearsal", REHEARSAL, ""),
            of("cause", &reasons, ""),
            of("chart", &["accepted", "confirmed", "refused"], ""),
            of("refused", &CAUSES, ""),
            of("unit", &UNITS, ""),
            of("sign", &["in", "up"], ""),
            of("role", &["shopper", "clerk", "admin"], ""),
            of("changed", &["password", "role", "picture", "shop"], ""),
            of("field", FIELDS, ""),
            of("action", &ACTIONS, ""),
            of(
                "audit",
                &["at", "actor", "action", "subject", "changes"],
                "",
            ),
            of("actor", &["program", "command-line", "seed"], ""),
            of("letter", &["number"], ""),
            of("queue", &["number"], ""),
            [
                "shops",
                "my-orders",
                "desk",
                "admin",
                "no-account",
                "has-account",
            ]
            .map(str::to_owned)
            .into(),
            [
                "sale-state",
                "sold-of-granted",
                "sale-left",
                "unit-unsold",
                "sale-rate",
                "sale-backlog",
                "drift",
                "ended-at",
            ]
            .map(str::to_owned)
            .into(),
            ["entry", "reason", "tries", "fields", "check-fields"]
                .map(str::to_owned)
                .into(),
        ]
        .concat()
    }

    #[test]
    fn every_key_that_a_page_asks_for_has_words() {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let source = sources(&src.join("pages")) + &sources(&src.join("components"));
        let asked = named(&source)
            .into_iter()
            .map(str::to_owned)
            .chain(composed());
        let texts = include_str!("../texts/zh/main.ftl");
        let missing: Vec<String> = asked
            .filter(|key| !texts.contains(&format!("\n{key} = ")))
            .collect();
        assert_eq!(missing, Vec::<String>::new());
        assert!(named(&source).len() > 50);
    }
}
