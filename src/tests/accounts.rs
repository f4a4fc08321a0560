//! Accounts and login sessions, with real passwords.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::harness::{Answer, App, Person, Sale};

const PASSWORD: &str = "correct horse";

async fn enter(who: &Person, call: &str, name: &str, password: &str) -> Answer {
    who.post(call, &[("name", name), ("password", password)])
        .await
}

#[sqlx::test]
async fn who_signs_up_is_signed_in_and_may_come_back(database: PgPool) {
    let app = App::start(database).await;
    let browser = app.guest();
    let answer = enter(&browser, "/api/sign_up", "Amy 小美", PASSWORD).await;
    assert_eq!(
        answer.ok::<Value>(),
        json!({"name": "Amy 小美", "role": "shopper"})
    );
    let cookie = answer.header("set-cookie").unwrap();
    assert!(
        cookie.contains("HttpOnly")
            && cookie.contains("SameSite=Lax")
            && !cookie.contains("Secure"),
        "{cookie}"
    );
    assert_eq!(browser.get("/api/my_orders").await.status, 200);
    assert_eq!(
        browser.post("/api/sign_out", &[]).await.ok::<Value>(),
        json!({})
    );
    assert_eq!(browser.get("/api/my_orders").await.status, 401);
    let answer = enter(&browser, "/api/sign_in", "amy 小美", PASSWORD).await;
    assert_eq!(
        answer.ok::<Value>(),
        json!({"name": "Amy 小美", "role": "shopper"})
    );
    assert_eq!(browser.get("/api/my_orders").await.status, 200);
    app.check_promises().await;
}

#[sqlx::test]
async fn o27_behind_https_the_cookie_goes_over_nothing_else(database: PgPool) {
    let app = App::on(database)
        .with(|config| config.https = true)
        .start()
        .await;
    let answer = enter(&app.guest(), "/api/sign_up", "amy", PASSWORD).await;
    let cookie = answer.header("set-cookie").unwrap();
    let (value, flags) = cookie.split_once("; ").unwrap();
    assert!(value.starts_with("__Host-session="), "{cookie}");
    for flag in ["HttpOnly", "SameSite=Lax", "Secure", "Path=/"] {
        assert!(flags.split("; ").any(|set| set == flag), "{flag}: {cookie}");
    }
    assert!(!flags.contains("Domain"), "{cookie}");
    let answer = app
        .guest()
        .with_header("cookie", value)
        .get("/api/my_orders")
        .await;
    assert_eq!(answer.status, 200);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_name_belongs_to_one_account_whatever_its_case(database: PgPool) {
    let app = App::start(database).await;
    enter(&app.guest(), "/api/sign_up", "Amy", PASSWORD)
        .await
        .ok::<Value>();
    let other = app.guest();
    let taken = enter(&other, "/api/sign_up", " aMY ", "another password").await;
    assert_eq!(taken.status, 422);
    assert_eq!(
        taken.json::<Value>()["fields"],
        json!({"name": "This name is taken."})
    );
    assert_eq!(other.cookies(), None);
    assert_eq!(app.rows("users").await, 1);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_wrong_password_and_an_unknown_name_are_refused_in_the_same_words(database: PgPool) {
    let app = App::start(database).await;
    enter(&app.guest(), "/api/sign_up", "amy", PASSWORD)
        .await
        .ok::<Value>();
    // An account whose stored text is no hash cannot be signed in to either.
    app.shopper("bob").await;
    let answers = [
        enter(&app.guest(), "/api/sign_in", "amy", "wrong horse").await,
        enter(&app.guest(), "/api/sign_in", "nobody", PASSWORD).await,
        enter(&app.guest(), "/api/sign_in", "bob", "!!!!!!!!").await,
    ];
    for answer in &answers {
        assert_eq!(
            (answer.status.as_u16(), &answer.body),
            (422, &answers[0].body)
        );
        assert!(answer.header("set-cookie").is_none());
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn o27_a_session_gets_a_new_id_at_sign_in_and_ends_at_sign_out(database: PgPool) {
    let app = App::start(database).await;
    enter(&app.guest(), "/api/sign_up", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let browser = app.guest();
    enter(&browser, "/api/sign_in", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let first = browser.cookies().unwrap();
    enter(&browser, "/api/sign_in", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let second = browser.cookies().unwrap();
    assert_ne!(first, second);
    let planted = async |cookie: &str| {
        app.guest()
            .with_header("cookie", cookie)
            .get("/api/my_orders")
            .await
            .status
    };
    assert_eq!(
        planted(&first).await,
        401,
        "the one before is worth nothing"
    );
    assert_eq!(planted(&second).await, 200);
    browser.post("/api/sign_out", &[]).await.ok::<Value>();
    assert_eq!(planted(&second).await, 401, "ended on the server");
    for forged in [
        "session=",
        "session=x",
        "session=AAAAAAAAAAAAAAAAAAAAAA",
        "session=%00",
        "lang=zh",
    ] {
        assert_eq!(planted(forged).await, 401, "{forged}");
    }
    let sessions: Vec<String> = app
        .redis(&["KEYS", &format!("{}:session:*", app.direct.key_prefix)])
        .await;
    let id = second.trim_start_matches("session=");
    assert!(
        sessions.iter().all(|key| !key.contains(id)),
        "who reads Redis cannot sign in as somebody"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o26_a_session_that_has_ended_buys_nothing_and_is_told_so(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    let order = amy.buy_one(voucher).await;
    let sessions: Vec<String> = app
        .redis(&["KEYS", &format!("{}:session:*", app.direct.key_prefix)])
        .await;
    for session in sessions {
        let _: i64 = app.redis(&["DEL", &session]).await;
    }
    let other = app.sale(Sale::of(5)).await;
    assert_eq!(amy.try_buy(other).await.status, 401);
    assert_eq!(
        amy.get(&format!("/api/order_status?order_id={order}"))
            .await
            .status,
        401
    );
    let form = amy
        .without_script()
        .post("/api/buy", &[("voucher_id", &other.to_string())])
        .await;
    assert_eq!(
        form.location(),
        format!("/sign-in?next=%2Fvouchers%2F{other}")
    );
    assert_eq!(app.stock(other).await, Some(5));
    app.check_promises().await;
}

#[sqlx::test]
async fn o28_sign_ins_beyond_what_can_be_hashed_do_not_hold_up_the_button(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(100)).await;
    let crowd = app.crowd(20).await;
    let sign_ins = futures::future::join_all(
        (0..100).map(|_| async { enter(&app.guest(), "/api/sign_in", "nobody", PASSWORD).await }),
    );
    let buys = async {
        let mut slowest = std::time::Duration::ZERO;
        for shopper in &crowd {
            let began = std::time::Instant::now();
            shopper.buy_one(voucher).await;
            slowest = slowest.max(began.elapsed());
        }
        slowest
    };
    let (answers, slowest) = tokio::join!(sign_ins, buys);
    assert!(slowest < std::time::Duration::from_secs(2), "{slowest:?}");
    for answer in answers {
        let status = answer.status.as_u16();
        let is_over_capacity =
            [429, 503].contains(&status) && answer.header("retry-after").is_some();
        assert!(status == 422 || is_over_capacity, "{answer:?}");
    }
    app.check_promises().await;
}
