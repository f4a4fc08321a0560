//! Accounts, with real passwords: sign-up, sign-in, another password, the end.

use seckill::stores::{Stores, StoresError};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::harness::{Answer, App, Person, Sale, eventually};

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
async fn twenty_sign_ups_at_once_make_one_account_however_its_name_is_written(database: PgPool) {
    let app = App::start(database).await;
    let written = ["José", "Jose\u{301}", " JOSÉ ", "ｊｏｓé", "josÉ\u{3000}"];
    let guests: Vec<Person> = (0..20).map(|_| app.guest()).collect();
    let sign_ups = guests.iter().zip(written.iter().cycle());
    let sign_ups = sign_ups.map(|(guest, name)| enter(guest, "/api/sign_up", name, PASSWORD));
    let answers = futures::future::join_all(sign_ups).await;
    let made = answers.iter().filter(|answer| answer.status == 200);
    assert_eq!(made.count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        let is_taken = answer.status == 422 && answer.body.contains("taken");
        assert!(is_taken || answer.status == 429, "{answer:?}");
        assert!(answer.header("set-cookie").is_none());
    }
    assert_eq!(app.rows("users").await, 1);
    for name in written {
        let answer = enter(&app.guest(), "/api/sign_in", name, PASSWORD).await;
        assert_eq!(answer.status, 200, "{name}: {answer:?}");
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn names_that_pass_for_others_and_passwords_that_all_try_are_refused(database: PgPool) {
    let app = App::start(database).await;
    for (name, password, field, words) in [
        (
            "p\u{430}ypal",
            PASSWORD,
            "name",
            "alphabets that look alike",
        ),
        ("am\u{200B}y", PASSWORD, "name", "cannot be shown"),
        ("amy", "password1", "password", "among the first"),
        ("amy", "amyamyamy", "password", "among the first"),
        ("amy", "1234567", "password", "At least 8"),
        ("amy", &"x".repeat(129), "password", "At most 128"),
    ] {
        let answer = enter(&app.guest(), "/api/sign_up", name, password).await;
        assert_eq!(answer.status, 422, "{name} {password}");
        let said = answer.json::<Value>()["fields"][field].to_string();
        assert!(said.contains(words), "{name} {password}: {answer:?}");
    }
    assert_eq!(app.rows("users").await, 0);
    app.check_promises().await;
}

/// A wrong password costs a known name what it costs an unknown one: nobody learns by the time who is here.
#[sqlx::test]
async fn how_long_a_refusal_takes_does_not_tell_who_is_here(database: PgPool) {
    let app = App::start(database).await;
    enter(&app.guest(), "/api/sign_up", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let guest = app.guest();
    let mut ratios = Vec::new();
    for round in 0..100 {
        let mut times = [0.0; 2];
        for turn in 0..2 {
            // Taking turns, so that what else the machine does falls on both.
            let place = (round + turn) % 2;
            let name = ["amy", "nobody"][place];
            let began = std::time::Instant::now();
            let answer = enter(
                &guest,
                "/api/sign_in",
                name,
                &format!("wrong horse {round}"),
            )
            .await;
            assert_eq!(answer.status, 422);
            times[place] = began.elapsed().as_secs_f64();
        }
        ratios.push(times[0] / times[1]);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    eprintln!("a known name takes {median:.3} of an unknown one's time");
    assert!((0.9..1.1).contains(&median), "{median}");
    app.check_promises().await;
}

async fn change(who: &Person, current: &str, new: &str) -> Answer {
    let fields = [("current_password", current), ("new_password", new)];
    who.post("/api/change_password", &fields).await
}

#[sqlx::test]
async fn another_password_ends_all_other_login_sessions(database: PgPool) {
    let app = App::start(database).await;
    let (here, there) = (app.guest(), app.guest());
    enter(&here, "/api/sign_up", "amy", PASSWORD)
        .await
        .ok::<Value>();
    enter(&there, "/api/sign_in", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let bob = app.shopper("bob").await;
    let before = here.cookies().unwrap();
    for (current, new, field) in [
        ("wrong horse", "a better horse", "current_password"),
        (PASSWORD, "password1", "new_password"),
        (PASSWORD, "short", "new_password"),
        ("", "a better horse", "current_password"),
    ] {
        let answer = change(&here, current, new).await;
        assert_eq!(answer.status, 422, "{current} {new}");
        let fields = answer.json::<Value>()["fields"].clone();
        assert_eq!(
            fields.as_object().unwrap().keys().collect::<Vec<_>>(),
            [field]
        );
    }
    assert_eq!(
        there.get("/api/my_orders").await.status,
        200,
        "nothing has changed yet"
    );
    change(&here, PASSWORD, "a better horse")
        .await
        .ok::<Value>();
    assert_ne!(here.cookies().unwrap(), before, "a new session id");
    assert_eq!(here.get("/api/my_orders").await.status, 200);
    assert_eq!(there.get("/api/my_orders").await.status, 401);
    let planted = app.guest().with_header("cookie", &before);
    assert_eq!(planted.get("/api/my_orders").await.status, 401);
    assert_eq!(bob.get("/api/my_orders").await.status, 200, "others stay");
    assert_eq!(
        enter(&there, "/api/sign_in", "amy", PASSWORD).await.status,
        422
    );
    assert_eq!(
        enter(&there, "/api/sign_in", "amy", "a better horse")
            .await
            .status,
        200
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn no_session_survives_that_was_begun_with_a_password_of_before(database: PgPool) {
    let app = App::start(database).await;
    let here = app.guest();
    enter(&here, "/api/sign_up", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let others: Vec<Person> = (0..8).map(|_| app.guest()).collect();
    let sign_ins = others
        .iter()
        .map(|other| enter(other, "/api/sign_in", "amy", PASSWORD));
    // Whose turn to be hashed does not come in time is told to come again.
    let changing = eventually("the password is changed", async || {
        let changed = change(&here, PASSWORD, "a better horse").await;
        assert!([200, 429].contains(&changed.status.as_u16()), "{changed:?}");
        changed.status == 200
    });
    tokio::join!(changing, futures::future::join_all(sign_ins));
    for other in &others {
        assert_eq!(other.get("/api/my_orders").await.status, 401);
    }
    assert_eq!(here.get("/api/my_orders").await.status, 200);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_deleted_account_is_nobodys_and_its_orders_stay(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let (amy, elsewhere) = (app.guest(), app.guest());
    enter(&amy, "/api/sign_up", "Amy", PASSWORD)
        .await
        .ok::<Value>();
    enter(&elsewhere, "/api/sign_in", "Amy", PASSWORD)
        .await
        .ok::<Value>();
    let id: i64 = sqlx::query_scalar("SELECT id FROM users WHERE name_key = 'amy'")
        .fetch_one(&app.database)
        .await
        .unwrap();
    let amy = amy.known_as(id);
    let order = amy.buy_one(voucher).await;
    let wrong = amy
        .post("/api/delete_account", &[("password", "wrong horse")])
        .await;
    assert_eq!(wrong.status, 422);
    amy.post("/api/delete_account", &[("password", PASSWORD)])
        .await
        .ok::<Value>();
    assert_eq!(amy.get("/api/my_orders").await.status, 401);
    assert_eq!(elsewhere.get("/api/my_orders").await.status, 401);
    assert_eq!(
        elsewhere
            .post("/api/buy", &[("voucher_id", "1")])
            .await
            .status,
        401
    );
    // What was in the queue is stored all the same.
    app.drain().await;
    assert_eq!(app.live(voucher).await.len(), 1);
    assert_eq!(app.live(voucher).await[0].order.to_string(), order);
    let row: (String, Option<String>, String) =
        sqlx::query_as("SELECT name, name_key, password_hash FROM users WHERE id = $1")
            .bind(id)
            .fetch_one(&app.database)
            .await
            .unwrap();
    assert_eq!(row, (String::new(), None, "!".to_owned()));
    assert_eq!(
        enter(&elsewhere, "/api/sign_in", "Amy", PASSWORD)
            .await
            .status,
        422
    );
    // The name is free again, for somebody who is somebody else.
    let next = app.guest();
    enter(&next, "/api/sign_up", "amy", PASSWORD)
        .await
        .ok::<Value>();
    assert!(next.my_orders().await.is_empty());
    let foreign = next
        .get(&format!("/api/order_status?order_id={order}"))
        .await;
    assert_eq!(foreign.status, 404);
    app.check_promises().await;
}

#[sqlx::test]
async fn names_of_a_time_before_they_were_folded_are_folded_by_migrate(database: PgPool) {
    let app = App::start(database).await;
    let hash = seckill::auth::password::hash(PASSWORD).unwrap();
    for name in ["Straße", "ＡＭＹ", "amy"] {
        sqlx::query("INSERT INTO users (name, password_hash) VALUES ($1, $2)")
            .bind(name)
            .bind(&hash)
            .execute(&app.database)
            .await
            .unwrap();
    }
    let unfolded = Stores::open(&app.direct).await;
    assert!(
        matches!(unfolded, Err(StoresError::NotMigrated)),
        "nobody takes their names now"
    );
    seckill::stores::migrate(&app.direct).await.unwrap();
    seckill::stores::migrate(&app.direct).await.unwrap();
    assert_eq!(
        enter(&app.guest(), "/api/sign_in", "STRASSE", PASSWORD)
            .await
            .status,
        200
    );
    let amy: Value = enter(&app.guest(), "/api/sign_in", "amy", PASSWORD)
        .await
        .ok();
    assert_eq!(amy["name"], "ＡＭＹ", "the older one keeps the name");
    let query = "SELECT name FROM users WHERE name LIKE 'amy#%'";
    let renamed: String = sqlx::query_scalar(query)
        .fetch_one(&app.database)
        .await
        .unwrap();
    assert_eq!(
        enter(&app.guest(), "/api/sign_in", &renamed, PASSWORD)
            .await
            .status,
        200
    );
    Stores::open(&app.direct).await.unwrap();
    app.check_promises().await;
}
