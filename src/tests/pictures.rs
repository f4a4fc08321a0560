//! Pictures of shops: who may set one; how one is kept and served.

use image::ImageFormat;
use reqwest::StatusCode;
use seckill::picture::{self};
use serde_json::Value;
use sqlx::PgPool;

use super::{
    harness::{Answer, App, Person, Wire},
    picture_files::{crc, file, flag, noise},
};

const CALL: &str = "/api/admin/set_shop_picture";

/// A form as a browser sends it.
fn form(fields: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        let file = if *name == "picture" {
            "; filename=\"x.gif\"\r\nContent-Type: text/plain"
        } else {
            ""
        };
        body.extend(
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n").bytes(),
        );
        body.extend_from_slice(value);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--b--\r\n");
    body
}

async fn send(who: &Person, fields: &[(&str, &[u8])]) -> Answer {
    post(who, form(fields)).await
}

async fn post(who: &Person, body: Vec<u8>) -> Answer {
    let who = who.with_header("content-type", "multipart/form-data; boundary=b");
    who.post_raw(CALL, body).await
}

async fn set(who: &Person, shop: i64, file: &[u8]) -> Answer {
    send(
        who,
        &[("shop_id", shop.to_string().as_bytes()), ("picture", file)],
    )
    .await
}

/// The addresses of a shop's pictures.
fn addresses(answer: &Answer) -> [String; 2] {
    let set: Value = answer.ok();
    ["picture", "tile"].map(|name| set[name].as_str().unwrap().to_owned())
}

#[sqlx::test]
async fn a_picture_is_set_shown_served_and_removed(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let (shop, other) = (admin.create_shop().await, admin.create_shop().await);
    let page = format!("/shops/{shop}");
    let guest = app.guest().without_script();
    assert!(!guest.get(&page).await.body.contains("/pictures/"));

    let first = file(flag(3000, 2000), ImageFormat::Png);
    let [large, tile] = addresses(&set(&admin, shop, &first).await);
    let shown = guest.get(&page).await.body;
    assert!(
        shown.contains(&large) && shown.contains("width=\"1200\" height=\"800\""),
        "{shown}"
    );
    let front = guest.get("/").await.body;
    assert!(
        front.contains(&tile) && front.contains("alt=\"Picture of 老城咖啡\""),
        "{front}"
    );
    assert_eq!(
        addresses(&set(&admin, other, &first).await),
        [large.clone(), tile.clone()]
    );
    assert_eq!(
        app.rows("pictures").await,
        2,
        "the same picture is kept once"
    );

    let second = app.another_instance().await;
    for who in [&app.guest(), &app.guest().at(&second)] {
        let answer = who.get(&large).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.header("content-type"), Some("image/jpeg"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        let kept = Some("public, max-age=31536000, immutable");
        assert_eq!(answer.header("cache-control"), kept);
        let tag = answer.header("etag").unwrap();
        let again = who.with_header("if-none-match", tag).get(&large).await;
        assert_eq!((again.status.as_u16(), again.body.as_str()), (304, ""));
        assert_eq!(again.header("cache-control"), kept);
    }

    let new = addresses(&set(&admin, shop, &file(noise(50, 50), ImageFormat::WebP)).await);
    assert_ne!(new[0], large);
    assert_eq!(
        app.rows("pictures").await,
        4,
        "the other shop still shows the first"
    );
    set(&admin, other, &file(noise(50, 50), ImageFormat::WebP)).await;
    assert_eq!(app.rows("pictures").await, 2, "what nobody shows is gone");

    let removal = [("shop_id", shop.to_string())];
    let removal: Vec<(&str, &str)> = removal
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    for _ in 0..2 {
        assert_eq!(
            admin
                .post("/api/admin/remove_shop_picture", &removal)
                .await
                .status,
            200
        );
    }
    assert!(!guest.get(&page).await.body.contains("/pictures/"));
    admin
        .post(
            "/api/admin/remove_shop_picture",
            &[("shop_id", &other.to_string())],
        )
        .await;
    assert_eq!(app.rows("pictures").await, 0);
    // Also where it has been served, and would still be in memory.
    for who in [app.guest(), app.guest().at(&app.another_instance().await)] {
        assert_eq!(who.get(&large).await.status, 404);
    }

    let noted: Vec<String> = sqlx::query_scalar(
        "SELECT action || ' by ' || actor FROM audit_log WHERE action LIKE '%picture' ORDER BY id",
    )
    .fetch_all(&app.database)
    .await
    .unwrap();
    let set = format!("set_shop_picture by user {}", admin.id());
    let removed = format!("remove_shop_picture by user {}", admin.id());
    assert_eq!(
        (&noted[..4], &noted[4..]),
        (
            &[set.clone(), set.clone(), set.clone(), set][..],
            &[removed.clone(), removed][..]
        )
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn who_may_is_asked_before_the_file_is_read(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await;
    let picture = file(flag(30, 20), ImageFormat::Png);
    let (guest, amy) = (app.guest(), app.shopper("amy").await);
    let before = app.rows("audit_log").await;
    for (who, status) in [(&guest, 401), (&amy, 403)] {
        assert_eq!(set(who, shop, &picture).await.status, status);
        assert_eq!(post(who, b"no form".to_vec()).await.status, status);
    }
    let answer = set(&guest.without_script(), shop, &picture).await;
    assert!(
        answer.location().starts_with("/sign-in?next="),
        "{answer:?}"
    );
    let answer = set(&amy.without_script(), shop, &picture).await;
    assert!(answer.location().contains("error=forbidden"), "{answer:?}");
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let foreign = admin.with_header(name, value);
        assert_eq!(set(&foreign, shop, &picture).await.status, 403);
    }
    for method in [
        reqwest::Method::GET,
        reqwest::Method::PUT,
        reqwest::Method::DELETE,
    ] {
        let answer = admin.send(method, CALL, None).await;
        assert!([404, 405].contains(&answer.status.as_u16()), "{answer:?}");
    }
    assert_eq!(
        (app.rows("pictures").await, app.rows("audit_log").await),
        (0, before)
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn what_is_wrong_with_a_form_is_named(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await.to_string();
    let (id, picture) = (shop.as_bytes(), file(flag(30, 20), ImageFormat::Png));
    let picture = picture.as_slice();
    let large = vec![b'x'; picture::FILE + 1];
    let mut bomb = file(flag(1, 1), ImageFormat::Png);
    bomb[16..24].copy_from_slice(&[0, 0, 0x4E, 0x20, 0, 0, 0x4E, 0x20]);
    let sum = crc(&bomb[12..29]).to_be_bytes();
    bomb[29..33].copy_from_slice(&sum);
    for (fields, field, problem) in [
        (vec![("shop_id", id)], "picture", "missing"),
        (
            vec![("shop_id", id), ("picture", b"")],
            "picture",
            "missing",
        ),
        (
            vec![("shop_id", id), ("picture", b"GIF89a")],
            "picture",
            "not-a-picture",
        ),
        (
            vec![("shop_id", id), ("picture", &bomb)],
            "picture",
            "too-many-pixels.30",
        ),
        (
            vec![("shop_id", id), ("picture", &large)],
            "picture",
            "file-too-large.5",
        ),
        (
            vec![("shop_id", id), ("picture", picture), ("picture", picture)],
            "picture",
            "doubled",
        ),
        (vec![("picture", picture)], "shop_id", "missing"),
        (
            vec![("shop_id", b"x"), ("picture", picture)],
            "shop_id",
            "not-a-number",
        ),
        (
            vec![("shop_id", b"\xFF"), ("picture", picture)],
            "shop_id",
            "bad-letter",
        ),
    ] {
        let answer = send(&admin, &fields).await;
        let is_large = problem.starts_with("file-too-large");
        let status = if is_large { 413 } else { 422 };
        assert_eq!(answer.status, status, "{problem}: {answer:?}");
        assert!(
            answer.json::<Value>()["fields"][field].is_string(),
            "{problem}: {answer:?}"
        );
        let browser = send(&admin.without_script(), &fields).await;
        let wanted = format!("invalid={field}.{problem}");
        assert!(
            browser.location().contains(&wanted),
            "{wanted}: {browser:?}"
        );
        let page = admin.without_script().get(browser.location()).await;
        assert_eq!(page.status, 200, "{wanted}");
    }
    let nowhere = send(&admin, &[("shop_id", b"999"), ("picture", picture)]).await;
    assert_eq!(nowhere.status, 404);
    assert_eq!(
        post(&admin, b"--b\r\nContent-Dis".to_vec()).await.status,
        400
    );
    let plain = admin.with_header("content-type", "text/plain");
    assert_eq!(plain.post_raw(CALL, picture.to_vec()).await.status, 415);
    assert_eq!(app.rows("pictures").await, 0);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_body_that_is_too_large_is_refused_in_words_and_other_calls_take_no_more_than_before(
    database: PgPool,
) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await.to_string();
    let body = form(&[
        ("shop_id", shop.as_bytes()),
        ("picture", &vec![b'x'; 6_000_000]),
    ]);
    let answer = post(&admin, body.clone()).await;
    assert_eq!(answer.status, 413);
    let said = answer.json::<Value>()["fields"]["picture"].to_string();
    assert!(said.contains("5 MB"), "{said}");
    let browser = admin
        .without_script()
        .with_header("content-type", "multipart/form-data; boundary=b");
    let answer = browser.post_raw(&format!("{CALL}?shop={shop}"), body).await;
    assert_eq!(
        answer.location(),
        format!("/admin/shops/{shop}/picture?invalid=picture.file-too-large.5")
    );
    assert!(
        browser
            .get(answer.location())
            .await
            .body
            .contains("at most 5 MB")
    );
    let other = admin
        .post_raw("/api/admin/remove_shop_picture", vec![b'x'; 30_000])
        .await;
    assert_eq!(other.status, 413);
    app.check_promises().await;
}

#[sqlx::test]
async fn pictures_are_changed_by_many_at_once_and_none_is_lost(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shops = [admin.create_shop().await, admin.create_shop().await];
    let files = [
        file(flag(40, 30), ImageFormat::Png),
        file(noise(40, 30), ImageFormat::Png),
    ];
    let changes = (0..16_usize).map(|n| {
        let (admin, files) = (admin.clone(), &files);
        async move {
            let shop = shops[n % 2];
            if n % 5 == 4 {
                admin
                    .post(
                        "/api/admin/remove_shop_picture",
                        &[("shop_id", &shop.to_string())],
                    )
                    .await
            } else {
                set(&admin, shop, &files[(n / 2) % 2]).await
            }
        }
    });
    for answer in futures::future::join_all(changes).await {
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let unshown = "SELECT count(*) FROM pictures p
        WHERE NOT EXISTS (SELECT FROM shops s WHERE p.hash IN (s.picture, s.tile))";
    let unshown: i64 = sqlx::query_scalar(unshown)
        .fetch_one(&app.database)
        .await
        .unwrap();
    assert_eq!(unshown, 0);
    app.check_promises().await;
}

#[sqlx::test]
async fn addresses_of_no_picture_are_none(database: PgPool) {
    let app = App::start(database).await;
    for path in [
        format!("/pictures/{}.jpg", "a".repeat(64)),
        format!("/pictures/{}.png", "a".repeat(64)),
        "/pictures/x.jpg".to_owned(),
        "/pictures/%2e%2e%2fetc%2fpasswd.jpg".to_owned(),
        "/pictures/%FF.jpg".to_owned(),
    ] {
        let answer = app.guest().get(&path).await;
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        let kept = answer.header("cache-control").unwrap_or_default();
        assert!(!kept.contains("immutable"), "{path}");
    }
    app.check_promises().await;
}

/// Sends the head of an upload and a part of its body, and then nothing.
async fn stall(who: &Person) -> Wire {
    let mut wire = Wire::to(who.base()).await;
    wire.send(format!(
        "POST {CALL} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nCookie: {}\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b",
        who.cookies().unwrap()
    ))
    .await;
    wire
}

#[sqlx::test]
async fn who_stalls_an_upload_is_hung_up_on_and_the_next_gets_the_place(database: PgPool) {
    let app = App::on(database)
        .with(|config| config.limits.slow_client_s = 1)
        .start()
        .await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await;
    let mut stalled = Vec::new();
    // As many as are read at a time.
    for _ in 0..4 {
        stalled.push(stall(&admin).await);
    }
    let answer = set(&admin, shop, &file(flag(30, 20), ImageFormat::Png)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    for mut wire in stalled {
        let answer = wire.rest().await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
    app.check_promises().await;
}
