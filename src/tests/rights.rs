//! Who may call what; and that nobody calls it in another's name.

use std::collections::BTreeSet;

use app::model::Role;
use reqwest::Method;
use seckill::auth::right::{self, Right};
use sqlx::PgPool;

use super::harness::{App, Person, Sale, Wire};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Everybody,
    SignedIn,
    Staff,
    Admins,
}
use Who::{Admins, Everybody, SignedIn, Staff};

/// Every call of the product. A new one has to say here who may call it.
const CALLS: &[(&str, Method, Who)] = &[
    ("/api/sign_up", Method::POST, Everybody),
    ("/api/sign_in", Method::POST, Everybody),
    ("/api/sign_out", Method::POST, Everybody),
    ("/api/set_language", Method::POST, Everybody),
    ("/api/sale_status", Method::GET, Everybody),
    ("/api/change_password", Method::POST, SignedIn),
    ("/api/delete_account", Method::POST, SignedIn),
    ("/api/buy", Method::POST, SignedIn),
    ("/api/order_status", Method::GET, SignedIn),
    ("/api/my_orders", Method::GET, SignedIn),
    ("/api/admin/create_shop", Method::POST, Admins),
    ("/api/admin/edit_shop", Method::POST, Admins),
    ("/api/admin/create_sale", Method::POST, Admins),
    ("/api/admin/remove_shop_picture", Method::POST, Admins),
    ("/api/admin/edit_sale", Method::POST, Admins),
    ("/api/admin/pause_sale", Method::POST, Admins),
    ("/api/admin/resume_sale", Method::POST, Admins),
    ("/api/admin/end_sale", Method::POST, Admins),
    ("/api/admin/withdraw_sale", Method::POST, Admins),
    ("/api/admin/add_units", Method::POST, Admins),
    ("/api/admin/cut_units", Method::POST, Admins),
    ("/api/admin/set_role", Method::POST, Admins),
    ("/api/admin/sales_parts", Method::GET, Admins),
    ("/api/admin/sale_parts", Method::GET, Admins),
    ("/api/admin/replay_dead_letter", Method::POST, Admins),
    ("/api/admin/discard_dead_letter", Method::POST, Admins),
    ("/api/admin/rehearse", Method::POST, Admins),
    ("/api/admin/rehearsal_parts", Method::GET, Admins),
];

/// Fields that every call would accept.
async fn form(app: &App) -> Vec<u8> {
    let voucher = app.sale(Sale::of(5)).await.to_string();
    let mut fields = Sale::of(5).fields(1);
    for (name, value) in [
        ("name", "amy"),
        ("password", "correct horse"),
        ("category", "c"),
        ("address", "a"),
        ("current_password", "correct horse"),
        ("new_password", "another horse"),
        ("role", "admin"),
        ("units", "1"),
        ("version", "1"),
        ("shoppers", "1"),
        ("shape", "spike"),
        ("seconds", "1"),
        ("on_production", "yes"),
        ("rehearsal_id", "1"),
    ] {
        fields.push((name, value.to_owned()));
    }
    fields.extend([
        ("voucher_id", voucher),
        ("lang", "zh".to_owned()),
        ("order_id", "x".to_owned()),
        ("letter", "0:1-0".to_owned()),
    ]);
    let url = reqwest::Url::parse_with_params("http://form", fields).unwrap();
    url.query().unwrap().as_bytes().to_vec()
}

async fn call(who: &Person, method: &Method, path: &str, form: &[u8]) -> super::harness::Answer {
    if *method == Method::GET {
        who.get(&format!(
            "{path}?{}",
            String::from_utf8(form.to_vec()).unwrap()
        ))
        .await
    } else {
        who.send(method.clone(), path, Some(form.to_vec())).await
    }
}

async fn rows(app: &App) -> [i64; 4] {
    [
        app.rows("users").await,
        app.rows("shops").await,
        app.rows("sales").await,
        app.rows("audit_log").await,
    ]
}

#[test]
fn every_call_says_who_may_call_it() {
    let registered: BTreeSet<(String, String)> = leptos::server_fn::axum::server_fn_paths()
        .map(|(path, method)| (path.to_owned(), method.to_string()))
        .collect();
    let declared = CALLS
        .iter()
        .map(|(path, method, _)| ((*path).to_owned(), method.to_string()))
        .collect();
    assert_eq!(registered, declared);
}

/// Every page of the product. A new one has to say here who may see it.
const PAGES: &[(&str, Who)] = &[
    ("/", Everybody),
    ("/shops/{id}", Everybody),
    ("/vouchers/{id}", Everybody),
    ("/sign-in", Everybody),
    ("/sign-up", Everybody),
    ("/account", SignedIn),
    ("/orders", SignedIn),
    ("/orders/{id}", SignedIn),
    ("/desk", Staff),
    ("/admin", Admins),
    ("/admin/sales", Admins),
    ("/admin/sales/new", Admins),
    ("/admin/sales/{id}", Admins),
    ("/admin/sales/{id}/orders", Admins),
    ("/admin/shops/new", Admins),
    ("/admin/shops/{id}/picture", Admins),
    ("/admin/sales/preview", Admins),
    ("/admin/sales/{id}/edit", Admins),
    ("/admin/shops", Admins),
    ("/admin/shops/{id}/edit", Admins),
    ("/admin/people", Admins),
    ("/admin/audit", Admins),
    ("/admin/dead-letters", Admins),
    ("/admin/rehearsals", Admins),
    ("/admin/rehearsals/{id}", Admins),
];

fn who_may(right: Right) -> Who {
    match right {
        Right::Everybody => Everybody,
        Right::SignedIn => SignedIn,
        Right::Staff => Staff,
        Right::Admin => Admins,
    }
}

#[test]
fn every_page_says_who_may_see_it() {
    let routed: BTreeSet<String> = app::app::PAGES.map(|(path, _)| path.to_owned()).into();
    let listed = PAGES.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(routed, listed);
}

#[test]
fn what_is_declared_is_what_is_wanted() {
    for (path, _, who) in CALLS {
        assert_eq!(right::of_call(path).map(who_may), Some(*who), "{path}");
    }
    for (path, who) in PAGES {
        assert_eq!(right::of_page(path).map(who_may), Some(*who), "{path}");
    }
    assert_eq!(
        (right::CALLS.len(), right::PAGES.len()),
        (CALLS.len(), PAGES.len())
    );
    assert_eq!(right::of_call("/api/new"), None);
    assert_eq!(right::of_page("/new"), None);
}

#[sqlx::test]
async fn o23_nobody_sees_a_page_that_is_not_theirs(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(7)).await;
    let order = app.shopper("bob").await.buy_one(voucher).await;
    let (guest, admin) = (app.guest(), app.admin().await);
    app.a_rehearsal().await;
    let (shopper, clerk) = (
        app.shopper("bob").await,
        app.account_of("cleo", Role::Clerk).await,
    );
    let people = [(guest, 0), (shopper, 1), (clerk, 2), (admin, 3)];
    for (pattern, who) in PAGES {
        let id = if pattern.starts_with("/orders") {
            order.clone()
        } else {
            voucher.to_string()
        };
        let path = pattern.replace("{id}", &id);
        let needed = match who {
            Everybody => 0,
            SignedIn => 1,
            Staff => 2,
            Admins => 3,
        };
        for (person, rank) in &people {
            let answer = person.without_script().get(&path).await;
            let case = format!("{path} for {rank}: {answer:?}");
            if *rank >= needed {
                let not_theirs = path.starts_with("/orders/") && *rank != 1;
                let right = if not_theirs {
                    404
                } else if ["/admin", "/admin/sales/preview"].contains(&&*path) {
                    // The one leads to the list, the other without a form to the form.
                    303
                } else {
                    200
                };
                assert_eq!(answer.status, right, "{case}");
            } else if *rank == 0 {
                assert!(answer.location().starts_with("/sign-in?next="), "{case}");
            } else {
                assert_eq!(answer.status, 403, "{case}");
                assert!(!answer.body.contains("满一百减五十"), "{case}");
            }
        }
    }
    app.check_promises().await;
}

/// Asks for an address as it is written, which clients would tidy.
async fn as_it_is(who: &Person, path: &str) -> String {
    let mut wire = Wire::to(who.base()).await;
    wire.send(format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nCookie: {}\r\nConnection: close\r\n\r\n",
        who.cookies().unwrap()
    ))
    .await;
    wire.rest().await
}

#[sqlx::test]
async fn addresses_that_only_look_like_pages_are_none(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script();
    for (path, page) in [("/admin/people/", "/admin/people"), ("/orders/", "/orders")] {
        let answer = admin.get(path).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("location")),
            (308, Some(page))
        );
    }
    for path in ["//evil.example/", "/\\evil.example/", "/api//"] {
        let answer = as_it_is(&admin, path).await;
        assert!(!answer.contains("location: "), "{path}: {answer}");
    }
    for path in [
        "/x/../admin/people",
        "/./admin/people",
        "//admin/people",
        "/admin%2Fpeople",
    ] {
        let answer = as_it_is(&admin, path).await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn o26_a_call_sends_nobody_back_to_the_page_of_another_site(database: PgPool) {
    let app = App::start(database).await;
    let amy = app.shopper("amy").await.without_script();
    for who in [&amy, &app.guest().without_script()] {
        let who = who.with_header("referer", "https://evil.example/page");
        for path in [
            "/api/my_orders",
            "/api/sale_status?voucher_id=1",
            "/api/order_status?order_id=1",
        ] {
            let answer = who.get(path).await;
            let location = answer.header("location").unwrap_or("/");
            assert!(
                location.starts_with('/') && !location.starts_with("//"),
                "{path}: {answer:?}"
            );
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn o23_nobody_calls_what_is_not_theirs(database: PgPool) {
    let app = App::start(database).await;
    let form = form(&app).await;
    let (guest, shopper) = (app.guest(), app.shopper("bob").await);
    let clerk = app.account_of("cleo", Role::Clerk).await;
    let before = rows(&app).await;
    for (path, method, who) in CALLS {
        if *who != Everybody {
            let answer = call(&guest, method, path, &form).await;
            assert_eq!(
                (answer.status.as_u16(), answer.body.as_str()),
                (401, r#"{"error":"sign_in_required"}"#),
                "{path}"
            );
            if *method == Method::POST {
                let answer = call(&guest.without_script(), method, path, &form).await;
                assert!(
                    answer.location().starts_with("/sign-in?next="),
                    "{path}: {answer:?}"
                );
            }
        }
        for stranger in [&shopper, &clerk] {
            if *who == Admins {
                let answer = call(stranger, method, path, &form).await;
                assert_eq!(
                    (answer.status.as_u16(), answer.body.as_str()),
                    (403, r#"{"error":"forbidden"}"#),
                    "{path}"
                );
                // A browser without script gets a page in its place; nothing is done either.
                let answer = call(&stranger.without_script(), method, path, &form).await;
                if *method == Method::POST {
                    assert!(answer.location().contains("error=forbidden"), "{answer:?}");
                } else {
                    assert_eq!(answer.body, r#"{"error":"forbidden"}"#, "{path}");
                }
            }
        }
        if *who == SignedIn {
            let answer = call(&shopper, method, path, &form).await;
            assert!(
                ![401, 403].contains(&answer.status.as_u16()),
                "{path}: {answer:?}"
            );
        }
    }
    assert_eq!(rows(&app).await, before);
    app.check_promises().await;
}

#[sqlx::test]
async fn who_may_is_asked_before_the_fields_are_read(database: PgPool) {
    let app = App::start(database).await;
    let (guest, shopper) = (app.guest(), app.shopper("bob").await);
    for (path, method, who) in CALLS {
        if *who != Everybody {
            assert_eq!(call(&guest, method, path, b"").await.status, 401, "{path}");
        }
        if *who == Admins {
            assert_eq!(
                call(&shopper, method, path, b"stock=x").await.status,
                403,
                "{path}"
            );
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn an_admin_who_is_none_any_more_is_refused_at_once(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    admin.create_shop().await;
    sqlx::query("UPDATE users SET role = 'shopper'")
        .execute(&app.database)
        .await
        .unwrap();
    let shop = [("name", "n"), ("category", "c"), ("address", "a")];
    assert_eq!(
        admin.post("/api/admin/create_shop", &shop).await.status,
        403
    );
    sqlx::query("DELETE FROM users")
        .execute(&app.database)
        .await
        .unwrap();
    assert_eq!(
        admin.post("/api/admin/create_shop", &shop).await.status,
        401
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o24_nothing_changes_by_get_or_any_other_method(database: PgPool) {
    let app = App::start(database).await;
    let form = form(&app).await;
    let admin = app.admin().await;
    let before = (rows(&app).await, app.keys().await);
    for (path, method, _) in CALLS {
        for other in [
            Method::GET,
            Method::HEAD,
            Method::PUT,
            Method::DELETE,
            Method::PATCH,
            Method::POST,
            Method::OPTIONS,
        ] {
            if other == *method || (*method == Method::GET && other == Method::HEAD) {
                continue;
            }
            for who in [&admin, &admin.without_script()] {
                let answer = call(who, &other, path, &form).await;
                assert!(
                    [404, 405].contains(&answer.status.as_u16()),
                    "{other} {path}: {answer:?}"
                );
            }
        }
    }
    assert_eq!((rows(&app).await, app.keys().await), before);
    assert_eq!(
        admin.get("/api/my_orders").await.status,
        200,
        "and nobody was signed out"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o24_a_foreign_page_can_do_nothing_in_my_name(database: PgPool) {
    let app = App::start(database).await;
    let form = form(&app).await;
    let admin = app.admin().await;
    let before = (rows(&app).await, app.keys().await);
    let foreign = [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:1"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ];
    for (path, method, _) in CALLS
        .iter()
        .filter(|(_, method, _)| *method == Method::POST)
    {
        for (name, value) in foreign {
            for who in [&admin, &admin.without_script()] {
                let answer = call(&who.with_header(name, value), method, path, &form).await;
                assert_eq!(answer.status, 403, "{path} {name}: {value}");
                assert!(answer.header("set-cookie").is_none());
            }
        }
        let both = admin
            .with_header("origin", "https://evil.example")
            .with_header("sec-fetch-site", "cross-site");
        assert_eq!(call(&both, method, path, &form).await.status, 403, "{path}");
    }
    assert_eq!((rows(&app).await, app.keys().await), before);

    // The product's own pages, of this and of older browsers, and a link from elsewhere.
    let own = app.first.base.origin().ascii_serialization();
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, bob, eve) = (
        app.shopper("amy").await,
        app.shopper("bob").await,
        app.shopper("eve").await,
    );
    amy.with_header("origin", &own)
        .with_header("sec-fetch-site", "same-origin")
        .buy_one(voucher)
        .await;
    bob.with_header("origin", &own).buy_one(voucher).await;
    eve.buy_one(voucher).await;
    let visitor = app
        .guest()
        .without_script()
        .with_header("sec-fetch-site", "cross-site");
    assert_eq!(
        visitor.get(&format!("/vouchers/{voucher}")).await.status,
        200
    );
    app.check_promises().await;
}
