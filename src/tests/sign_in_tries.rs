//! Wrong passwords, again and again: whoever guesses waits, and nobody else does.

use futures::future::join_all;
use serde_json::Value;
use sqlx::PgPool;

use super::harness::{Answer, App, Person};

const PASSWORD: &str = "correct horse";

async fn sign_in(who: &Person, name: &str, password: &str) -> Answer {
    let fields = [("name", name), ("password", password)];
    who.post("/api/sign_in", &fields).await
}

async fn sign_up(who: &Person, name: &str) -> Answer {
    let fields = [("name", name), ("password", PASSWORD)];
    who.post("/api/sign_up", &fields).await
}

fn is_refused(answer: &Answer) -> bool {
    if answer.status != 429 {
        return false;
    }
    assert_eq!(answer.body, r#"{"error":"too_many_requests"}"#);
    let wait: u32 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!(wait >= 1, "{answer:?}");
    true
}

#[sqlx::test]
async fn after_five_wrong_passwords_one_waits_whether_the_name_is_known_or_not(database: PgPool) {
    let app = App::on(database).with_limits().start().await;
    sign_up(&app.guest().at_address("127.0.0.9"), "amy")
        .await
        .ok::<Value>();
    for name in ["amy", "nobody"] {
        for _ in 0..5 {
            let answer = sign_in(&app.guest(), name, "wrong horse").await;
            assert_eq!(answer.status, 422, "{name}: {answer:?}");
        }
        assert!(
            is_refused(&sign_in(&app.guest(), name, PASSWORD).await),
            "{name}"
        );
        assert!(
            is_refused(&sign_in(&app.guest(), &name.to_uppercase(), PASSWORD).await),
            "{name}"
        );
    }
    // Somebody else here, and the same name elsewhere.
    sign_up(&app.guest(), "bob").await.ok::<Value>();
    sign_in(&app.guest(), "bob", PASSWORD).await.ok::<Value>();
    sign_in(&app.guest().at_address("127.0.0.2"), "amy", PASSWORD)
        .await
        .ok::<Value>();
    app.check_promises().await;
}

#[sqlx::test]
async fn tries_at_the_same_time_do_not_slip_past_the_limit(database: PgPool) {
    let app = App::on(database).with_limits().start().await;
    let guess = |n: usize| {
        let guest = app.guest();
        async move { sign_in(&guest, "amy", &format!("wrong horse {n}")).await }
    };
    let answers = join_all((0..20).map(guess)).await;
    let refused = answers.iter().filter(|answer| is_refused(answer)).count();
    assert!(
        (15..=18).contains(&refused),
        "a second may have passed: {refused}"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn strangers_cannot_lock_the_owner_out_nor_a_guesser_his_colleagues(database: PgPool) {
    let limited = |config: &mut seckill::config::Config| {
        config.limits.name_failures = 5;
        config.limits.address_failures = 8;
    };
    let app = App::on(database).with_limits().with(limited).start().await;
    let office = app.guest().at_address("127.0.0.2");
    for name in ["amy", "bob"] {
        sign_up(&office, name).await.ok::<Value>();
    }
    for stranger in 10..15 {
        let stranger = app.guest().at_address(&format!("127.0.0.{stranger}"));
        assert_eq!(sign_in(&stranger, "amy", "wrong horse").await.status, 422);
    }
    let stranger = app.guest().at_address("127.0.0.99");
    assert!(is_refused(&sign_in(&stranger, "amy", PASSWORD).await));
    sign_in(&office, "amy", PASSWORD).await.ok::<Value>();
    let answers = join_all((0..20).map(|guess| {
        let office = office.clone();
        async move { sign_in(&office, &format!("guess {guess}"), "wrong horse").await }
    }));
    let refused = answers
        .await
        .iter()
        .filter(|answer| is_refused(answer))
        .count();
    assert!(
        (8..=12).contains(&refused),
        "two a second are forgiven: {refused}"
    );
    sign_in(&office, "bob", PASSWORD).await.ok::<Value>();
    app.check_promises().await;
}

#[sqlx::test]
async fn behind_a_trusted_proxy_visitors_count_each_for_himself_and_elsewhere_a_header_is_no_address(
    database: PgPool,
) {
    let app = App::on(database).with_limits().start().await;
    let behind = |config: &mut seckill::config::Config| {
        config.trusted_proxies = vec!["127.0.0.7/32".parse().unwrap()];
    };
    let mut config = app.config.clone();
    behind(&mut config);
    let proxied = super::harness::Instance::start(&config, app.site()).await;
    let visitor = |from: &str, said: String| {
        let visitor = app.guest().at(&proxied).at_address(from);
        visitor.with_header("x-forwarded-for", &said)
    };
    for visitor_at in 1..=8 {
        let visitor = visitor("127.0.0.7", format!("6.6.6.6, 9.9.9.{visitor_at}"));
        assert_eq!(sign_in(&visitor, "amy", "wrong horse").await.status, 422);
    }
    for fake in 1..=5 {
        let visitor = visitor("127.0.0.8", format!("9.9.9.{fake}"));
        assert_eq!(sign_in(&visitor, "amy", "wrong horse").await.status, 422);
    }
    let faker = visitor("127.0.0.8", "9.9.9.77".to_owned());
    assert!(is_refused(&sign_in(&faker, "amy", "wrong horse").await));
    app.check_promises().await;
}

#[sqlx::test]
async fn sign_ups_of_one_address_have_a_rate(database: PgPool) {
    let limited = |config: &mut seckill::config::Config| config.limits.sign_ups = 3;
    let app = App::on(database).with_limits().with(limited).start().await;
    let answers = join_all((0..8).map(|n| {
        let guest = app.guest();
        async move { sign_up(&guest, &format!("shopper {n}")).await }
    }));
    let refused = answers
        .await
        .iter()
        .filter(|answer| is_refused(answer))
        .count();
    assert!((3..=5).contains(&refused), "one more a second: {refused}");
    sign_up(&app.guest().at_address("127.0.0.2"), "elsewhere")
        .await
        .ok::<Value>();
    app.check_promises().await;
}

#[sqlx::test]
async fn a_browser_without_script_is_told_in_words_and_keeps_what_it_typed(database: PgPool) {
    let limited = |config: &mut seckill::config::Config| config.limits.sign_in_tries = 1;
    let app = App::on(database).with_limits().with(limited).start().await;
    let browser = app.guest().without_script();
    let fields = [
        ("name", "amy"),
        ("password", "wrong horse"),
        ("next", "/vouchers/7"),
    ];
    browser.post("/api/sign_in", &fields).await.location();
    let refused = browser.post("/api/sign_in", &fields).await;
    let location = refused.location().to_owned();
    let said = location.strip_prefix("/sign-in?error=too_many_requests&wait=");
    let (wait, typed) = said.unwrap().split_once('&').unwrap();
    assert!(wait.parse::<u32>().unwrap() >= 1, "{location}");
    assert_eq!(typed, "name=amy&next=%2Fvouchers%2F7");
    for (language, words) in [
        ("en", "That was too often. Please try again in "),
        ("zh", "操作太频繁了，请过 "),
    ] {
        let page = browser.reading(language).get(&location).await;
        assert!(page.body.contains(words), "{language}: {}", page.body);
        assert!(
            page.body.contains(r#"value="/vouchers/7""#),
            "{}",
            page.body
        );
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn strangers_do_not_hold_up_who_changes_their_own_password(database: PgPool) {
    let app = App::on(database).with_limits().start().await;
    let amy = app.guest();
    sign_up(&amy, "amy").await.ok::<Value>();
    let id: i64 = sqlx::query_scalar("SELECT id FROM users WHERE name = 'amy'")
        .fetch_one(&app.database)
        .await
        .unwrap();
    // Both as the name that she has, and as one that looks like her number.
    for name in ["amy".to_owned(), format!("user {id}")] {
        let guess = |n: u8| {
            let stranger = app.guest().at_address(&format!("127.0.1.{}", n + 1));
            let name = &name;
            async move { sign_in(&stranger, name, "wrong horse").await }
        };
        for n in 0..55 {
            guess(n).await;
        }
        let stranger = app.guest().at_address("127.0.2.1");
        assert!(
            is_refused(&sign_in(&stranger, &name, PASSWORD).await),
            "{name}"
        );
    }
    let change = [
        ("current_password", PASSWORD),
        ("new_password", "a better horse"),
    ];
    amy.post("/api/change_password", &change)
        .await
        .ok::<Value>();
    app.check_promises().await;
}
