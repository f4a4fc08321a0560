//! What answers tell the browser about themselves: pages run our own script alone, everything else nothing at all.

use std::collections::BTreeSet;

use reqwest::Method;
use sqlx::PgPool;

use super::harness::{Answer, App, Person, Sale};

const NOTHING: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The addresses of every page, with all that is needed to fill them.
async fn pages(app: &App, amy: &Person) -> Vec<(&'static str, String)> {
    let voucher = app.sale(Sale::of(5)).await;
    let order = amy.buy_one(voucher).await;
    [
        ("/", "/?words=x".to_owned()),
        ("/shops/{id}", "/shops/1".to_owned()),
        ("/vouchers/{id}", format!("/vouchers/{voucher}")),
        ("/sign-in", "/sign-in?next=%2Forders".to_owned()),
        ("/sign-up", "/sign-up?invalid=name.missing".to_owned()),
        (
            "/account",
            "/account?invalid=password.wrong-password".to_owned(),
        ),
        ("/desk", format!("/desk?order={order}")),
        ("/admin/people", "/admin/people?changed=role".to_owned()),
        ("/orders", "/orders".to_owned()),
        ("/orders/{id}", format!("/orders/{order}")),
        ("/admin", "/admin".to_owned()),
        ("/admin/sales", "/admin/sales".to_owned()),
        (
            "/admin/sales/new",
            "/admin/sales/new?invalid=stock.missing".to_owned(),
        ),
        ("/admin/sales/{id}", format!("/admin/sales/{voucher}")),
        (
            "/admin/sales/{id}/orders",
            format!("/admin/sales/{voucher}/orders?status=refused"),
        ),
        (
            "/admin/shops/{id}/picture",
            "/admin/shops/1/picture?invalid=picture.not-a-picture".to_owned(),
        ),
        (
            "/admin/sales/preview",
            "/admin/sales/preview?title=x".to_owned(),
        ),
        (
            "/admin/sales/{id}/edit",
            format!("/admin/sales/{voucher}/edit?invalid=version.old-form&title=x"),
        ),
        ("/admin/shops", "/admin/shops".to_owned()),
        ("/admin/shops/new", "/admin/shops/new".to_owned()),
        (
            "/admin/shops/{id}/edit",
            "/admin/shops/1/edit?invalid=version.old-form&name=x".to_owned(),
        ),
        ("/admin/audit", format!("/admin/audit?sale={voucher}")),
        ("/admin/dead-letters", "/admin/dead-letters".to_owned()),
        (
            "/admin/rehearsals",
            "/admin/rehearsals?invalid=on_production.missing".to_owned(),
        ),
        (
            "/admin/rehearsals/{id}",
            format!("/admin/rehearsals/{}", app.a_rehearsal().await),
        ),
    ]
    .into()
}

#[sqlx::test]
async fn a_page_runs_our_own_script_alone(database: PgPool) {
    let app = App::start(database).await;
    let amy = app.shopper("amy").await;
    let pages = pages(&app, &amy).await;
    let visited: BTreeSet<&str> = pages.iter().map(|(route, _)| *route).collect();
    let routes: BTreeSet<&str> = app::app::PAGES.map(|(path, _)| path).into();
    assert_eq!(visited, routes, "every page is visited");

    let mut nonces = BTreeSet::new();
    let mut answers = 0;
    let admin = app.admin().await;
    for who in [&app.guest(), &amy, &admin, &admin.reading("zh")] {
        let nowhere = ("", "/no-such-page".to_owned());
        for (_, address) in pages.iter().chain([&nowhere]) {
            let page = who.without_script().get(address).await;
            assert!(
                [200, 303, 403, 404].contains(&page.status.as_u16()),
                "{address}: {page:?}"
            );
            standing(&page);
            nonces.insert(own_script_alone(&page));
            answers += 1;
        }
    }
    assert_eq!(nonces.len(), answers, "no nonce is used twice");
    app.check_promises().await;
}

/// The nonce of a page, after a look at its policy and at everything in it that could be script or style.
fn own_script_alone(page: &Answer) -> String {
    let policy = page.header("content-security-policy").unwrap();
    let (_, rest) = policy.split_once("'nonce-").unwrap();
    let (nonce, _) = rest.split_once('\'').unwrap();
    assert!(nonce.len() >= 22, "128 bits: {nonce}");
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'nonce-{nonce}'; style-src 'self'; \
             img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        )
    );
    let mut scripts = 0;
    for Tag { name, attributes } in tags(&page.body) {
        let value = |wanted: &str| {
            let found = attributes.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.as_str())
        };
        if name == "script" {
            assert_eq!(value("nonce"), Some(nonce), "{attributes:?}");
            scripts += 1;
        }
        let forbidden = ["style", "iframe", "object", "embed", "base"];
        assert!(!forbidden.contains(&name.as_str()), "{name}");
        for (attribute, value) in &attributes {
            assert!(
                attribute != "style" && !attribute.starts_with("on"),
                "{name} {attribute}={value}"
            );
            let foreign = ["http:", "https:", "//", "data:", "javascript:"];
            let loads = ["src", "href", "action"].contains(&attribute.as_str());
            let leaves = foreign.iter().any(|way| value.starts_with(way));
            assert!(!(loads && leaves), "{name} {attribute}={value}");
        }
    }
    // Leptos closes every page with two, and starts the islands with one.
    let islands = page.body.contains("<leptos-island");
    assert_eq!(scripts, 2 + usize::from(islands), "{}", page.body);
    nonce.to_owned()
}

struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

/// The opening tags of a document that closes every tag and quotes every value, as ours do.
fn tags(html: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some((_, tag)) = rest.split_once('<') {
        rest = tag;
        if !tag.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            continue;
        }
        let cut = tag.find([' ', '>']).unwrap();
        let name = tag[..cut].to_owned();
        rest = &tag[cut..];
        let mut attributes = Vec::new();
        while let Some(attribute) = rest.strip_prefix(' ') {
            let cut = attribute.find(['=', ' ', '>', '/']).unwrap();
            let name = attribute[..cut].to_owned();
            rest = &attribute[cut..];
            let mut value = "";
            if let Some(quoted) = rest.strip_prefix("=\"") {
                (value, rest) = quoted.split_once('"').unwrap();
            }
            attributes.push((name, value.to_owned()));
        }
        tags.push(Tag { name, attributes });
    }
    tags
}

/// What every answer says.
fn standing(answer: &Answer) {
    for (name, value) in [
        ("x-content-type-options", Some("nosniff")),
        ("referrer-policy", Some("same-origin")),
        ("cross-origin-opener-policy", Some("same-origin")),
        ("cross-origin-resource-policy", Some("same-origin")),
        (
            "permissions-policy",
            Some("camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
        ),
        ("strict-transport-security", None),
    ] {
        assert_eq!(answer.header(name), value, "{answer:?}");
    }
}

#[sqlx::test]
async fn the_id_of_a_request_is_ours_or_that_of_a_trusted_proxy(database: PgPool) {
    let app = App::on(database)
        .with(|config| config.trusted_proxies = vec!["127.0.0.7/32".parse().unwrap()])
        .start()
        .await;
    let guest = app.guest();
    let proxy = guest.at_address("127.0.0.7");
    let id = |answer: Answer| answer.header("x-request-id").unwrap().to_owned();
    let spoofed = id(guest
        .with_header("x-request-id", "spoofed")
        .get("/healthz")
        .await);
    assert!(uuid::Uuid::parse_str(&spoofed).is_ok(), "{spoofed}");
    let passed_on = id(proxy
        .with_header("x-request-id", "f00-1")
        .get("/healthz")
        .await);
    assert_eq!(passed_on, "f00-1");
    for odd in ["", "a b", "<b>", &"a".repeat(65)] {
        let id = id(proxy.with_header("x-request-id", odd).get("/healthz").await);
        assert!(uuid::Uuid::parse_str(&id).is_ok(), "{odd}: {id}");
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn what_is_no_text_names_nothing(database: PgPool) {
    let app = App::start(database).await;
    let (guest, admin) = (app.guest(), app.admin().await);
    for (path, to_guests, to_admins) in [
        ("/live/orders/%ff", 401, 404),
        ("/live/vouchers/%ff", 404, 404),
        ("/admin/sales/%ff/orders.csv", 401, 404),
        ("/pictures/%ff", 404, 404),
    ] {
        for (who, status) in [(&guest, to_guests), (&admin, to_admins)] {
            let answer = who.get(path).await;
            assert_eq!(answer.status, status, "{path}: {answer:?}");
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn another_site_fills_in_no_form(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let admin = app.admin().await.without_script();
    let foreign = admin.with_header("sec-fetch-site", "cross-site");
    let own = admin.with_header("sec-fetch-site", "same-origin");
    for (path, typed) in [
        (
            "/admin/people?name=zora&role=admin".to_owned(),
            "value=\"zora\"",
        ),
        (
            format!("/admin/sales/{voucher}?did=add&units=123456"),
            "value=\"123456\"",
        ),
        (
            format!("/admin/sales/{voucher}?did=pause.done"),
            "The sale is paused: nothing is sold",
        ),
        ("/admin/sales/new?title=zora".to_owned(), "value=\"zora\""),
        (
            format!("/admin/sales/{voucher}/edit?title=zora"),
            "value=\"zora\"",
        ),
        ("/admin/shops/new?name=zora".to_owned(), "value=\"zora\""),
    ] {
        for (who, is_shown) in [(&own, true), (&foreign, false)] {
            let page = who.get(&path).await;
            assert_eq!(page.status, 200, "{path}");
            assert_eq!(page.body.contains(typed), is_shown, "{path}");
        }
    }
    let preview = "/admin/sales/preview?shop_id=1&stock=5&title=zora&price=1";
    assert!(!foreign.get(preview).await.location().contains("zora"));
    app.check_promises().await;
}

#[sqlx::test]
async fn what_is_no_page_may_do_nothing(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    let foreign = amy.with_header("origin", "https://evil.example");
    let id = [("voucher_id", "x")];
    let answers = [
        (200, amy.get("/healthz").await),
        (200, amy.get("/readyz").await),
        (404, amy.get("/metrics").await),
        (404, amy.get("/pkg/none.js").await),
        (404, amy.get("/api/none").await),
        (405, amy.get("/api/buy").await),
        (405, amy.send(Method::POST, "/orders", None).await),
        (405, amy.send(Method::DELETE, "/healthz", None).await),
        (200, amy.get("/api/my_orders").await),
        (
            200,
            amy.get(&format!("/api/sale_status?voucher_id={voucher}"))
                .await,
        ),
        (422, amy.post("/api/buy", &id).await),
        (303, amy.without_script().post("/api/buy", &id).await),
        (401, app.guest().post("/api/buy", &id).await),
        (403, foreign.post("/api/buy", &id).await),
        (403, amy.post("/api/admin/create_shop", &[]).await),
        (413, amy.post_raw("/api/buy", vec![b'x'; 100_000]).await),
    ];
    for (status, answer) in answers {
        assert_eq!(answer.status, status, "{answer:?}");
        let policy = answer.header("content-security-policy");
        assert_eq!(policy, Some(NOTHING), "{answer:?}");
        standing(&answer);
    }
    app.check_promises().await;
}
