//! Passwords stay where they belong: nothing that the program says has one in it, and it works with none that it came
//! with.

use seckill::config::Config;
use serde_json::Value;
use sqlx::PgPool;

use super::harness::{App, Program, eventually};

const MARKER: &str = "mArKeR";

/// What a program says that is given these addresses, until it ends, or has said that a store fails.
async fn said(app: &App, words: &[&str]) -> String {
    let mut program = Program::start_with(app, words);
    eventually("it ends, or says what is amiss", async || {
        let said = program.said().join("\n");
        program.has_ended() || said.contains(" fails") || said.contains("cannot")
    })
    .await;
    if program.has_ended() {
        assert_eq!(program.ended().await.code(), Some(1), "{words:?}");
        program.has_said("seckill: ").await;
    }
    let said = program.said().join("\n");
    program.kill().await;
    said
}

#[sqlx::test]
async fn no_password_of_a_store_is_said_whatever_is_wrong_with_its_address(database: PgPool) {
    let app = App::start(database).await;
    let known = app.direct.database_url.clone().unwrap();
    let known: reqwest::Url = known.expose().parse().unwrap();
    let mut wrong = known.clone();
    wrong.set_password(Some(MARKER)).unwrap();
    let databases = [
        wrong.to_string(),
        format!("postgres://seckill:{MARKER}@127.0.0.1:1/seckill"),
        format!("postgres://seckill:{MARKER}@127.0.0.1:port/seckill"),
        format!("postgres://seckill:{MARKER}/x@127.0.0.1:1/seckill"),
        format!("postgres://seckill:#{MARKER}@127.0.0.1:1/seckill"),
        format!("postgres://127.0.0.1:1/seckill?user=seckill&pasword={MARKER}"),
        format!("postgres//seckill:{MARKER}@127.0.0.1:1/seckill"),
        format!("seckill:{MARKER}@127.0.0.1:1"),
        MARKER.to_owned(),
    ];
    for url in &databases {
        let said = said(&app, &["web", "--database-url", url]).await;
        assert!(!said.contains(MARKER), "{url}: {said}");
    }
    let caches = [
        format!("redis://:{MARKER}@127.0.0.1:1"),
        format!("redis://:{MARKER}@127.0.0.1:port"),
        format!("redis://:{MARKER}/x@127.0.0.1:1"),
        format!("redis://:a,{MARKER}@127.0.0.1:1"),
        format!("redis://:{MARKER}@127.0.0.1:1,127.0.0.1:2"),
        format!("redis//:{MARKER}@127.0.0.1:1"),
        MARKER.to_owned(),
    ];
    let mut wrong: reqwest::Url = app
        .direct
        .redis_url
        .as_ref()
        .unwrap()
        .expose()
        .parse()
        .unwrap();
    wrong.set_password(Some(MARKER)).unwrap();
    for url in caches.iter().chain([&wrong.to_string()]) {
        let said = said(&app, &["serve", "--redis-url", url]).await;
        assert!(!said.contains(MARKER), "{url}: {said}");
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn the_password_of_the_sample_opens_no_store(database: PgPool) {
    let app = App::start(database).await;
    let sample = "postgres://seckill:change-me@127.0.0.1/seckill";
    let redis_sample = "redis://:change-me@127.0.0.1:6379";
    assert!(include_str!("../../.env.example").contains(sample));
    assert!(include_str!("../../.env.example").contains(redis_sample));
    let commands: [&[&str]; 7] = [
        &["serve"],
        &["web"],
        &["consumer"],
        &["migrate"],
        &["reconcile"],
        &["seed"],
        &["admin", "create", "boss"],
    ];
    for command in commands {
        for (flag, url, setting) in [
            ("--database-url", sample, "DATABASE_URL"),
            ("--redis-url", redis_sample, "REDIS_URL"),
        ] {
            let words = [command, &[flag, url]].concat();
            let mut program = Program::start_with(&app, &words);
            assert_eq!(program.ended().await.code(), Some(1), "{words:?}");
            program
                .has_said(&format!("{setting} has the password of the sample in it"))
                .await;
            let said = program.said().join("\n");
            assert!(!said.contains("change-me"), "{words:?}: {said}");
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn neither_log_nor_metrics_nor_answers_tell_a_secret(database: PgPool) {
    let app = App::start(database).await;
    let program = Program::start(&app, "serve");
    let base = program.base().await;
    let amy = app.guest().at_base(base.clone());
    let fields = [("name", "amy"), ("password", "amy's own mArKeR")];
    amy.post("/api/sign_up", &fields).await.ok::<Value>();
    let cookie = amy.cookies().unwrap();
    let mut heard = vec![format!("{:?}", app.direct)];
    for (name, password) in [
        ("amy", "wrong mArKeR"),
        ("nobody", "wrong mArKeR"),
        ("\0", "mArKeR\0"),
    ] {
        let fields = [("name", name), ("password", password)];
        heard.push(format!(
            "{:?}",
            app.guest()
                .at_base(base.clone())
                .post("/api/sign_in", &fields)
                .await
        ));
        heard.push(format!(
            "{:?}",
            amy.without_script().post("/api/sign_up", &fields).await
        ));
    }
    for path in [
        "/metrics",
        "/readyz",
        "/healthz",
        "/",
        "/orders",
        "/sign-in",
        "/api/my_orders",
        "/nowhere",
    ] {
        heard.push(amy.get(path).await.body);
        heard.push(amy.without_script().get(path).await.body);
    }
    assert!(
        heard.iter().any(|body| body.contains("# TYPE")),
        "the metrics are among them"
    );
    heard.extend(program.said());
    let Config {
        database_url,
        redis_url,
        ..
    } = &app.direct;
    let password_of = |url: &seckill::config::StoreUrl| {
        let url: reqwest::Url = url.expose().parse().unwrap();
        url.password().expect("the store has a password").to_owned()
    };
    let secrets = [
        MARKER.to_owned(),
        cookie.split_once('=').unwrap().1.to_owned(),
        password_of(database_url.as_ref().unwrap()),
        password_of(redis_url.as_ref().unwrap()),
    ];
    for words in &heard {
        for secret in &secrets {
            assert!(!words.contains(secret), "{secret}: {words}");
        }
    }
    program.kill().await;
    app.check_promises().await;
}
