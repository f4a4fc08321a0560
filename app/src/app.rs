//! The shell around every page, and which address shows which page.

use std::sync::Arc;

use futures::StreamExt;
use leptos::{
    nonce::{provide_nonce, use_nonce},
    prelude::*,
    tachys::html::InertElement,
};
use leptos_meta::HashedStylesheet;

use crate::{
    api::visitor_lang,
    backend::backend,
    components::{Footer, Head, Header, InPath, Query, Visitor, failure, forbid_storing},
    error::AppError,
    pages,
};

/// What the head of a page says of the site's files. Their names, which a build makes anew, are read once a process: to read
/// them for every page took 7 % of its time.
pub struct Files {
    style: String,
    /// The script, cut where the nonce of a page stands in it.
    script: Vec<String>,
}

impl Files {
    /// Those of the site.
    #[must_use]
    pub fn of(site: &LeptosOptions) -> Self {
        Owner::new().with(|| {
            provide_nonce();
            let nonce = use_nonce().map(|nonce| nonce.to_string());
            let nonce = nonce.unwrap_or_default();
            let (of_style, of_script) = (site.clone(), site.clone());
            let style = view! { <HashedStylesheet options=of_style id="leptos"/> };
            let script = view! { <HydrationScripts options=of_script islands=true/> }.to_html();
            let parts = script.split(&nonce);
            Self {
                style: style.to_html(),
                script: parts.map(str::to_owned).collect(),
            }
        })
    }

    fn style(&self) -> impl IntoView + use<> {
        InertElement::new(self.style.clone())
    }

    /// The script, with the nonce of this page.
    fn script(&self) -> impl IntoView + use<> {
        let nonce = use_nonce().map(|nonce| nonce.to_string());
        InertElement::new(self.script.join(&nonce.unwrap_or_default()))
    }
}

/// The HTML document around a page; `None` is an address that leads nowhere. `id` is what stands in the address in the place
/// of `{id}`. The body is rendered first: what a page finds decides about the head.
pub fn shell(files: Arc<Files>, page: Option<View>, id: String) -> impl IntoView {
    let lang = visitor_lang();
    provide_context(InPath(id));
    let head = Head::provide();
    forbid_storing();
    Suspend::new(async move {
        let visitor = Visitor::provide().await;
        let body = view! {
            <a class="skip" href="#main">{lang.text("skip")}</a>
            <Header lang=lang visitor=visitor/>
            <main id="main" tabindex="-1">
                {match (backend().permitted(), page) {
                    (Ok(()), Some(page)) => page(),
                    (Ok(()), None) => failure(&AppError::NotFound),
                    (Err(error), _) => failure(&error),
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
                    {files.style()}
                    {refresh.map(|content| view! {
                        <noscript><meta http-equiv="refresh" content=content/></noscript>
                    })}
                    {islands.then(|| files.script())}
                </head>
                <body inner_html=body></body>
            </html>
        }
    })
}

/// Shows a page.
pub type View = fn() -> AnyView;

/// The pages by address, as the server's router has it.
pub const PAGES: [(&str, View); 25] = [
    ("/", || pages::Home().into_any()),
    ("/shops/{id}", || pages::ShopPage().into_any()),
    ("/vouchers/{id}", || pages::VoucherPage().into_any()),
    ("/sign-in", || pages::SignIn().into_any()),
    ("/sign-up", || pages::SignUp().into_any()),
    ("/account", || pages::Account().into_any()),
    ("/orders", || pages::Orders().into_any()),
    ("/orders/{id}", || pages::OrderPage().into_any()),
    ("/desk", || pages::Desk().into_any()),
    ("/admin", || pages::AdminHome().into_any()),
    ("/admin/sales", || pages::Sales().into_any()),
    ("/admin/sales/new", || pages::NewSale().into_any()),
    ("/admin/sales/preview", || pages::PreviewSale().into_any()),
    ("/admin/sales/{id}", || pages::SalePage().into_any()),
    ("/admin/sales/{id}/orders", || {
        pages::SaleOrders().into_any()
    }),
    ("/admin/sales/{id}/edit", || pages::EditSale().into_any()),
    ("/admin/shops", || pages::AdminShops().into_any()),
    ("/admin/shops/{id}/edit", || pages::EditShop().into_any()),
    ("/admin/shops/new", || pages::NewShop().into_any()),
    ("/admin/shops/{id}/picture", || {
        pages::ShopPicture().into_any()
    }),
    ("/admin/people", || pages::People().into_any()),
    ("/admin/audit", || pages::AuditLog().into_any()),
    ("/admin/dead-letters", || pages::DeadLetters().into_any()),
    ("/admin/rehearsals", || pages::Rehearsals().into_any()),
    ("/admin/rehearsals/{id}", || {
        pages::RehearsalPage().into_any()
    }),
];

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
