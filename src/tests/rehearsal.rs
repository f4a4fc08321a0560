//! Rehearsals: every promise is judged, nobody else is touched, and nothing is left.

use std::collections::BTreeMap;

use app::model::{Cause, OrderId, RehearsalReport, UserId, VoucherId};
use reqwest::StatusCode;
use sqlx::PgPool;

use super::harness::{App, Person, Program, Sale, eventually};

/// Everything that is stored: rows by table, without the record of rehearsals, and the keys in Redis.
async fn everything(app: &App) -> BTreeMap<String, i64> {
    // What was counted is written at the latest a second later.
    app.first.figures.flush(&app.database).await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT table_name::text FROM information_schema.tables
         WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> 'rehearsals'",
    )
    .fetch_all(&app.database)
    .await
    .unwrap();
    let mut found = BTreeMap::new();
    for table in tables {
        let but = match table.as_str() {
            "audit_log" => "WHERE action <> 'rehearse'",
            // Of real sales they come when they come.
            "sale_figures" => "WHERE voucher_id >= 2000000000",
            _ => "",
        };
        let query = format!("SELECT count(*) FROM {table} {but}");
        let rows = sqlx::query_scalar(sqlx::AssertSqlSafe(query));
        found.insert(table, rows.fetch_one(&app.database).await.unwrap());
    }
    let keys: Vec<String> = app
        .redis(&["KEYS", &format!("{}:*", app.direct.key_prefix)])
        .await;
    found.extend(keys.into_iter().map(|key| (key, 1)));
    found
}

/// `seckill rehearse` at the first instance, with more words.
fn rehearse(app: &App, words: &[&str]) -> Program {
    let base = app.first.base.to_string();
    let common = ["rehearse", "--to", &base, "--seed", "7"];
    let words: Vec<&str> = common.iter().chain(words).copied().collect();
    Program::start_with(app, &words)
}

/// A small one.
const SMALL: [&str; 6] = ["--shoppers", "200", "--units", "50", "--seconds", "2"];

/// An application with people in it, whose consumers are at work.
async fn in_use(database: PgPool) -> (App, VoucherId, Person) {
    let app = App::on(database).with_limits().start().await;
    app.start_consumer();
    let voucher = app.sale(Sale::of(5)).await;
    let shopper = app.shopper("amei").await;
    shopper.buy_one(voucher).await;
    eventually("the order is stored", async || {
        app.live(voucher).await.len() == 1 && app.backlog().await.queued == 0
    })
    .await;
    (app, voucher, shopper)
}

async fn ended_with(program: &mut Program, code: i32) {
    let status = program.ended().await;
    assert_eq!(status.code(), Some(code), "{:#?}", program.said());
}

/// The sale of the rehearsal that is under way.
async fn rehearsed_sale(app: &App) -> VoucherId {
    let query = "SELECT max(voucher_id) FROM sales WHERE voucher_id >= 2000000000";
    let mut found = None;
    eventually("the sale is there", async || {
        found = sqlx::query_scalar(query)
            .fetch_one(&app.database)
            .await
            .unwrap();
        found.is_some()
    })
    .await;
    VoucherId(found.unwrap())
}

#[sqlx::test]
async fn a_rehearsal_keeps_every_promise_and_leaves_nothing_but_its_report(database: PgPool) {
    let (app, voucher, _) = in_use(database).await;
    let like = voucher.to_string();
    let file = app.site().join("report.json");
    let page = app.site().join("report.html");
    let before = everything(&app).await;
    for shape in ["spike", "ramp"] {
        let mut words = vec!["--on-production", "--shape", shape, "--voucher", &like];
        words.extend([
            "--json",
            file.to_str().unwrap(),
            "--html",
            page.to_str().unwrap(),
        ]);
        words.extend(SMALL);
        ended_with(&mut rehearse(&app, &words), 0).await;
        assert_eq!(everything(&app).await, before, "{shape}");
        let report: RehearsalReport =
            serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert!(report.held, "{report:?}");
        assert_eq!(report.persisted.count, 50);
        let told = report.accepted.count + report.unheard;
        assert_eq!(told, 50, "{report:?}");
        let refused = |cause| report.refused.iter().any(|some| some.cause == cause);
        assert!(refused(Cause::SoldOut), "{report:?}");
        assert!(refused(Cause::AlreadyBought), "{report:?}");
        assert_eq!(refused(Cause::NotStarted), shape == "spike", "{report:?}");
        let in_vain = [Cause::OtherAnswer, Cause::NoAnswer, Cause::Unavailable];
        assert!(!in_vain.into_iter().any(refused), "{report:?}");
        assert_eq!(report.looks, report.looks_answered);
        assert!(report.hang_ups > 0 && report.looks > 0, "{report:?}");
        assert!(report.answer_ms.max >= report.service_ms.max, "{report:?}");
        let page = std::fs::read_to_string(&page).unwrap();
        assert!(page.contains("<svg") && page.contains("All promises were kept."));
        assert!(
            !page.contains("http-equiv") && !page.contains("src="),
            "all is in it"
        );
    }
    let kept =
        "SELECT count(*) FROM rehearsals WHERE state = 'ended' AND report ->> 'held' = 'true'";
    let kept: i64 = sqlx::query_scalar(kept)
        .fetch_one(&app.database)
        .await
        .unwrap();
    assert_eq!(kept, 2);
    app.check_promises().await;
}

#[sqlx::test]
async fn real_people_see_nothing_of_a_rehearsal_and_its_shoppers_buy_nothing_real(
    database: PgPool,
) {
    let (app, voucher, shopper) = in_use(database).await;
    let admin = app.admin().await;
    let like = voucher.to_string();
    let mut words = vec!["--on-production", "--voucher", &like];
    words.extend([
        "--shoppers",
        "50",
        "--units",
        "20",
        "--seconds",
        "60",
        "--shape",
        "steady",
    ]);
    let mut program = rehearse(&app, &words);
    let sale = rehearsed_sale(&app).await;
    let made: i64 = sqlx::query_scalar("SELECT min(id) FROM users WHERE id >= 1099511627776")
        .fetch_one(&app.database)
        .await
        .unwrap();
    let made = app.person(UserId(made)).await;

    assert_eq!(shopper.try_buy(sale).await.status, StatusCode::NOT_FOUND);
    assert_eq!(made.try_buy(voucher).await.status, StatusCode::NOT_FOUND);
    let shown = async |person: &Person, path: String| {
        let answer = person.get(&path).await;
        (answer.status, answer.body)
    };
    for path in [
        format!("/vouchers/{sale}"),
        format!("/api/sale_status?voucher_id={sale}"),
        format!("/live/vouchers/{sale}"),
        "/shops/2000000000".to_owned(),
        format!("/admin/sales/{sale}"),
        format!("/admin/sales/{sale}/orders"),
        format!("/admin/sales/{sale}/orders.csv"),
        format!("/admin/sales/{sale}/edit"),
    ] {
        let (status, _) = shown(&admin, path.clone()).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
    let (status, _) = shown(&made, format!("/vouchers/{sale}")).await;
    assert_eq!(status, StatusCode::OK);
    for path in [
        "/",
        "/?words=老城",
        "/?words=满一百",
        "/orders",
        "/admin/sales",
        "/admin/sales?words=满一百",
        "/admin/sales?standing=running",
        "/admin/sales?standing=coming",
        "/admin/shops",
        "/admin/people",
    ] {
        let (status, body) = shown(&admin, path.to_owned()).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert!(!body.contains("20000000"), "{path}: {body}");
    }
    let pause = [
        ("voucher_id", sale.to_string()),
        ("version", "1".to_owned()),
    ];
    let pause = pause
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let paused = admin.post("/api/admin/pause_sale", &pause).await;
    assert_eq!(paused.status, StatusCode::NOT_FOUND, "{paused:?}");
    eventually("somebody has bought", async || {
        !app.live(sale).await.is_empty()
    })
    .await;
    let theirs = app.live(sale).await[0].order;
    let at_desk = admin.get(&format!("/desk?order={theirs}")).await;
    assert!(!at_desk.body.contains("满一百"), "{}", at_desk.body);

    // The last door: neither can be stored with the other's.
    let order = OrderId(uuid::Uuid::from_u128(7));
    let mixed = "INSERT INTO orders (id, voucher_id, user_id, status, accepted_at)
         VALUES ($1, $2, $3, 'confirmed', now())";
    for (user, sale) in [(shopper.id(), sale), (made.id(), voucher)] {
        let insert = sqlx::query(mixed).bind(order.0).bind(sale.0).bind(user.0);
        let refused = insert.execute(&app.database).await.unwrap_err().to_string();
        assert!(refused.contains("orders_rehearsed_apart"), "{refused}");
    }

    // Told to stop, it removes what it has made.
    program.signal("TERM");
    ended_with(&mut program, 1).await;
    program.has_said("it was stopped").await;
    let left = app.rows("users WHERE id >= 1099511627776").await;
    assert_eq!((left, app.orders(sale).await.len()), (0, 0));
    assert_eq!(
        app.keys()
            .await
            .iter()
            .filter(|key| key.contains(&sale.to_string()))
            .count(),
        0
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn what_a_killed_rehearsal_leaves_is_removed_by_the_next(database: PgPool) {
    let (app, _, _) = in_use(database).await;
    let before = everything(&app).await;
    let long = [
        "--on-production",
        "--shoppers",
        "100",
        "--units",
        "20",
        "--seconds",
        "60",
    ];
    let killed = rehearse(&app, &long);
    let sale = rehearsed_sale(&app).await;
    eventually("somebody has bought", async || {
        !app.live(sale).await.is_empty()
    })
    .await;
    killed.kill().await;
    assert_ne!(everything(&app).await, before);

    let mut small = vec!["--on-production"];
    small.extend(SMALL);
    let mut next = rehearse(&app, &small);
    ended_with(&mut next, 1).await;
    next.has_said("another rehearsal is under way").await;
    let mut clean = rehearse(&app, &["--clean"]);
    ended_with(&mut clean, 1).await;

    // Half a minute later.
    let passed = "UPDATE rehearsals SET renewed_at = now() - interval '31 seconds'";
    sqlx::query(passed).execute(&app.database).await.unwrap();
    ended_with(&mut rehearse(&app, &small), 0).await;
    assert_eq!(everything(&app).await, before);
    let states: Vec<String> = sqlx::query_scalar("SELECT state FROM rehearsals ORDER BY id")
        .fetch_all(&app.database)
        .await
        .unwrap();
    assert_eq!(states, ["failed", "ended"]);
    app.check_promises().await;
}

#[sqlx::test]
async fn what_a_killed_rehearsal_leaves_is_removed_when_that_is_all_that_is_wanted(
    database: PgPool,
) {
    let (app, _, _) = in_use(database).await;
    let before = everything(&app).await;
    let long = [
        "--on-production",
        "--shoppers",
        "100",
        "--units",
        "20",
        "--seconds",
        "60",
    ];
    let killed = rehearse(&app, &long);
    rehearsed_sale(&app).await;
    killed.kill().await;
    let passed = "UPDATE rehearsals SET renewed_at = now() - interval '31 seconds'";
    sqlx::query(passed).execute(&app.database).await.unwrap();
    let mut clean = rehearse(&app, &["--clean"]);
    ended_with(&mut clean, 0).await;
    clean.has_said("Removed: 100 shoppers, 1 sales").await;
    assert_eq!(everything(&app).await, before);
    app.check_promises().await;
}

#[sqlx::test]
async fn where_people_are_nothing_is_rehearsed_unless_that_is_wanted(database: PgPool) {
    let app = App::on(database).start().await;
    let mut fresh = rehearse(&app, &["--voucher", "99"]);
    ended_with(&mut fresh, 1).await;
    fresh.has_said("there is no such sale to copy").await;

    app.guest()
        .post(
            "/api/sign_up",
            &[("name", "amei"), ("password", "correct horse battery")],
        )
        .await;
    let mut refused = rehearse(&app, &SMALL);
    ended_with(&mut refused, 1).await;
    refused
        .has_said(
            "this looks like a place that people use: shoppers have accounts here; --on-production",
        )
        .await;
    sqlx::query("UPDATE users SET password_hash = '!'")
        .execute(&app.database)
        .await
        .unwrap();
    let sale = app.sale(Sale::of(1)).await;
    let mut refused = rehearse(&app, &SMALL);
    ended_with(&mut refused, 1).await;
    let found = format!("sale {sale} runs, or begins within the hour; --on-production");
    refused.has_said(&found).await;
    assert_eq!(app.rows("rehearsals").await, 0);
    assert_eq!(app.rows("users WHERE id >= 1099511627776").await, 0);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_promise_that_is_broken_is_found(database: PgPool) {
    let (app, _, _) = in_use(database).await;
    let lose = "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
             NEW.id := gen_random_uuid();
             RETURN NEW;
         END
         $$";
    sqlx::query(lose).execute(&app.database).await.unwrap();
    let trigger = "CREATE TRIGGER lost BEFORE INSERT ON orders FOR EACH ROW
         WHEN (NEW.voucher_id >= 2000000000) EXECUTE FUNCTION lose()";
    sqlx::query(trigger).execute(&app.database).await.unwrap();
    let file = app.site().join("report.json");
    let mut words = vec!["--on-production", "--json", file.to_str().unwrap()];
    words.extend(SMALL);
    let mut program = rehearse(&app, &words);
    ended_with(&mut program, 2).await;
    program.has_said("A promise was broken.").await;
    let report: RehearsalReport = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert!(!report.held && report.verdicts.broken > 0, "{report:?}");
    let left = app.rows("users WHERE id >= 1099511627776").await;
    assert_eq!(left, 0, "it leaves nothing all the same");
    app.check_promises().await;
}

/// The form of the console.
fn wish<'a>(seconds: &'a str, on_production: &'a str) -> [(&'a str, &'a str); 6] {
    [
        ("shoppers", "100"),
        ("units", "20"),
        ("shape", "steady"),
        ("seconds", seconds),
        ("voucher_id", ""),
        ("on_production", on_production),
    ]
}

#[sqlx::test]
async fn an_admin_starts_a_rehearsal_watches_it_and_reads_its_report(database: PgPool) {
    let (app, _, _) = in_use(database).await;
    let admin = app.admin().await;
    let before = everything(&app).await;

    let refused = admin.post("/api/admin/rehearse", &wish("2", "")).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("on_production"), "{refused:?}");
    let browser = admin.without_script();
    let back = browser.post("/api/admin/rehearse", &wish("2", "")).await;
    let form = back.location().to_owned();
    assert!(form.starts_with("/admin/rehearsals?invalid=on_production.missing"));
    let form = browser.get(&form).await.body;
    assert!(form.contains("People use this place"), "{form}");
    assert!(
        form.contains(r#"value="steady" selected"#),
        "what was typed stands still: {form}"
    );
    let mut missing = wish("2", "yes");
    missing[4].1 = "99";
    let refused = admin.post("/api/admin/rehearse", &missing).await;
    assert!(refused.body.contains("voucher_id"), "{refused:?}");

    let started = browser.post("/api/admin/rehearse", &wish("3", "yes")).await;
    let page = started.location().to_owned();
    assert!(page.starts_with("/admin/rehearsals/"), "{page}");
    let running = browser.get(&page).await.body;
    assert!(running.contains("<progress") && running.contains("http-equiv=\"refresh\""));
    let second = admin.post("/api/admin/rehearse", &wish("2", "yes")).await;
    assert_eq!(second.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(
        browser
            .get("/admin/rehearsals")
            .await
            .body
            .contains("Another rehearsal")
    );

    let number = page.rsplit('/').next().unwrap();
    let parts = format!("/api/admin/rehearsal_parts?rehearsal_id={number}");
    eventually("the report is there", async || {
        admin
            .get(&parts)
            .await
            .body
            .contains("All promises were kept.")
    })
    .await;
    let report = browser.get(&page).await.body;
    assert!(report.contains("<svg") && report.contains("All promises were kept."));
    assert!(!report.contains("leptos-island") && !report.contains("http-equiv=\"refresh\""));
    let list = browser.get("/admin/rehearsals").await.body;
    assert!(
        list.contains(&page) && !list.contains("Another rehearsal"),
        "{list}"
    );
    let log = browser.get("/admin/audit").await.body;
    assert!(
        log.contains("Rehearsal started") && log.contains(&page),
        "{log}"
    );
    assert_eq!(everything(&app).await, before);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_server_that_stops_ends_its_rehearsal_which_leaves_nothing(database: PgPool) {
    let (app, _, _) = in_use(database).await;
    let admin = app.admin().await;
    let before = everything(&app).await;
    let mut program = Program::start(&app, "web");
    let admin = admin.at_base(program.base().await);
    let started = admin.post("/api/admin/rehearse", &wish("60", "yes")).await;
    assert_eq!(started.status, StatusCode::OK, "{started:?}");
    let sale = rehearsed_sale(&app).await;
    eventually("somebody has bought", async || {
        !app.live(sale).await.is_empty()
    })
    .await;
    program.signal("TERM");
    assert!(program.ended().await.success());
    assert_eq!(everything(&app).await, before);
    let failure: String = sqlx::query_scalar("SELECT failure FROM rehearsals")
        .fetch_one(&app.database)
        .await
        .unwrap();
    assert!(failure.contains("it was stopped"), "{failure}");
    app.check_promises().await;
}
