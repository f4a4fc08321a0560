//! Bodies, addresses and letters of any kind: what is no form is refused, and what is text comes back as it was.

use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{
    bad_input::holdings,
    harness::{Answer, App, Wire},
};

#[sqlx::test]
async fn o29_bodies_that_are_no_form_are_refused(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let before = holdings(&app).await;
    for (path, method) in leptos::server_fn::axum::server_fn_paths() {
        if method == Method::GET {
            continue;
        }
        let huge = admin
            .post_raw(
                path,
                b"name="
                    .iter()
                    .copied()
                    .chain(std::iter::repeat_n(b'x', 200_000))
                    .collect(),
            )
            .await;
        assert_eq!(
            (huge.status.as_u16(), &huge.json::<Value>()["error"]),
            (413, &json!("invalid")),
            "{path}"
        );
        for kind in [
            "application/json",
            "text/plain",
            "multipart/form-data; boundary=x",
            "",
        ] {
            let other = admin
                .with_header("content-type", kind)
                .post_raw(path, br#"{"voucher_id":"1"}"#.to_vec())
                .await;
            assert_eq!(
                (other.status.as_u16(), &other.json::<Value>()["error"]),
                (415, &json!("invalid")),
                "{path} {kind}"
            );
        }
    }
    assert_eq!(holdings(&app).await, before);
    app.check_promises().await;
}

#[sqlx::test]
async fn whatever_bytes_are_sent_no_answer_is_a_fault_of_ours(database: PgPool) {
    let app = App::start(database).await;
    let amy = app.shopper("amy").await;
    let before = holdings(&app).await;
    let mut runner = TestRunner::default();
    let bytes = proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200);
    let text = "[ -~\\PC&=%+\\[\\]]{0,80}";
    for (path, method) in leptos::server_fn::axum::server_fn_paths() {
        for _ in 0..24 {
            let body: Vec<u8> = Strategy::new_tree(&bytes, &mut runner).unwrap().current();
            let query: String = Strategy::new_tree(&text, &mut runner).unwrap().current();
            let answer = match method {
                Method::GET => amy.get(&format!("{path}?{query}")).await,
                _ => amy.post_raw(path, body.clone()).await,
            };
            plain(&answer);
            assert!(
                answer.status.as_u16() < 500,
                "{path} {query:?} {body:?}: {answer:?}"
            );
        }
    }
    let page = "[a-z0-9%/.?=&\\PC-]{0,40}";
    for _ in 0..60 {
        let path: String = Strategy::new_tree(&page, &mut runner).unwrap().current();
        let answer = amy
            .without_script()
            .get(&format!("/x/../{}", path.trim_start_matches('/')))
            .await;
        assert!(answer.status.as_u16() < 500, "{path:?}: {answer:?}");
    }
    assert_eq!(holdings(&app).await, before);
    // Sign-out is among the calls; she may be out by now.
    app.check_promises().await;
}

#[sqlx::test]
async fn a_request_for_no_address_of_ours_is_refused(database: PgPool) {
    let app = App::start(database).await;
    for target in ["foo", "evil.example:80", "*", "x:1"] {
        for method in ["GET", "HEAD", "POST", "OPTIONS"] {
            let mut wire = Wire::to(&app.first.base).await;
            let request = format!(
                "{method} {target} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            wire.send(request).await;
            let answer = wire.rest().await;
            assert!(
                answer.starts_with("HTTP/1.1 400"),
                "{method} {target}: {answer}"
            );
        }
    }
    app.check_promises().await;
}

/// No answer tells of the inside.
fn plain(answer: &Answer) {
    for word in [
        "sqlx",
        "postgres",
        "redis",
        "panicked",
        "stack backtrace",
        "serde",
        "invalid type",
        "127.0.0.1",
    ] {
        assert!(!answer.body.contains(word), "{word}: {answer:?}");
    }
}

#[sqlx::test]
async fn emoji_and_chinese_come_back_exactly_and_lengths_count_letters(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let name = "券".repeat(58) + "👍🏽";
    let fields = [
        ("name", name.as_str()),
        ("category", "café"),
        ("address", "a\u{200B}b <script>alert(1)</script>"),
    ];
    let shop: Value = admin.post("/api/admin/create_shop", &fields).await.ok();
    let stored: (String, String, String) =
        sqlx::query_as("SELECT name, category, address FROM shops WHERE id = $1")
            .bind(i32::try_from(shop["shop_id"].as_i64().unwrap()).unwrap())
            .fetch_one(&app.database)
            .await
            .unwrap();
    assert_eq!(
        (stored.0.as_str(), stored.1.as_str(), stored.2.as_str()),
        (fields[0].1, fields[1].1, fields[2].1)
    );
    let page = admin
        .without_script()
        .get(&format!("/shops/{}", shop["shop_id"]))
        .await;
    assert!(page.body.contains(&name));
    assert!(!page.body.contains("<script>alert"), "shown as text");
    app.check_promises().await;
}
