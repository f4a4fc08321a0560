//! Sales and shops that are edited while they sell: an old form undoes nothing, saving unchanged changes nothing, and times mean
//! the same instant everywhere (cases O17, O18, O19, O20).

use std::time::Duration;

use app::{
    model::{Problem, VoucherId, Zone},
    texts::Lang,
};
use seckill::db;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::datetime};

use super::harness::{Answer, App, Person, Program, Sale, eventually};

type Fields = Vec<(&'static str, String)>;

/// The form that edits a sale, as its page shows it.
async fn form(app: &App, voucher: VoucherId) -> Fields {
    let sale = db::vouchers::by_id(&app.database, voucher).await.unwrap();
    let sale = sale.unwrap();
    let zone = Zone::parse(&sale.zone).unwrap();
    vec![
        ("voucher_id", voucher.to_string()),
        ("version", sale.version.to_string()),
        ("title", sale.title),
        ("subtitle", sale.subtitle),
        ("rules", sale.rules),
        ("price", sale.price.to_string()),
        ("face_value", sale.face_value.to_string()),
        ("begins_at", zone.input(sale.begins_at)),
        ("ends_at", zone.input(sale.ends_at)),
        ("zone", sale.zone),
    ]
}

fn with(form: &Fields, field: &'static str, value: &str) -> Fields {
    let mut form = form.clone();
    form.retain(|(name, _)| *name != field);
    form.push((field, value.to_owned()));
    form
}

impl Person {
    async fn sends(&self, call: &str, form: &Fields) -> Answer {
        let fields: Vec<(&str, &str)> = form.iter().map(|(n, v)| (*n, v.as_str())).collect();
        self.post(&format!("/api/admin/{call}"), &fields).await
    }

    async fn edits(&self, form: &Fields) -> String {
        let answer: Value = self.sends("edit_sale", form).await.ok();
        answer["outcome"].as_str().unwrap().to_owned()
    }

    /// The edit is refused for what is wrong with one field.
    async fn cannot_edit(&self, form: &Fields, field: &str, problem: Problem) {
        let answer = self.sends("edit_sale", form).await;
        assert_eq!(answer.status, 422, "{field}: {answer:?}");
        assert_eq!(
            answer.json::<Value>()["fields"],
            json!({ field: Lang::En.problem(problem) }),
            "{field}"
        );
    }
}

/// All that PostgreSQL has of a sale, as text.
async fn stored(app: &App, voucher: VoucherId) -> String {
    let query =
        "SELECT (v, s)::text FROM vouchers v JOIN sales s ON s.voucher_id = v.id WHERE v.id = $1";
    sqlx::query_scalar(query)
        .bind(voucher.0)
        .fetch_one(&app.database)
        .await
        .unwrap()
}

fn coming(stock: i64) -> Sale {
    Sale::of(stock).beginning_in(Duration::from_secs(600))
}

#[sqlx::test]
async fn o19_what_is_changed_while_a_sale_sells_gives_no_unit_back_and_sells_what_it_adds(
    database: PgPool,
) {
    let app = App::start(database).await;
    let (admin, other) = (app.admin().await, app.another_instance().await);
    let voucher = app.sale(Sale::of(100)).await;
    let opened = form(&app, voucher).await;
    let crowd = app.crowd(130).await;
    let at_both = |n: usize| {
        let shopper = &crowd[n];
        if n.is_multiple_of(2) {
            shopper.at(&other)
        } else {
            shopper.clone()
        }
    };
    for n in 0..60 {
        at_both(n).buy_one(voucher).await;
    }
    assert_eq!(admin.edits(&with(&opened, "title", "五折")).await, "done");
    assert_eq!(app.stock(voucher).await, Some(40));
    for n in 60..100 {
        at_both(n).buy_one(voucher).await;
    }
    for n in [100, 101] {
        let outcome = at_both(n).buy(voucher).await.outcome;
        assert_eq!(outcome.as_str(), "sold_out");
    }
    // A form from before the change undoes nothing, and says so.
    let old = with(&opened, "rules", "仅限周末");
    admin.cannot_edit(&old, "version", Problem::OldForm).await;
    let page = format!("/vouchers/{voucher}");
    let shown = crowd[100].at(&other);
    eventually("the other instance shows the title", async || {
        shown.get(&page).await.body.contains("五折")
    })
    .await;
    assert!(!shown.get(&page).await.body.contains("仅限周末"));

    let version = app.version(voucher).await;
    assert_eq!(admin.units("add_units", voucher, 10, version).await, "done");
    let buys = (100..130).map(|n| {
        let shopper = at_both(n);
        async move { shopper.buy(voucher).await.outcome }
    });
    let bought = futures::future::join_all(buys).await;
    let queued = bought.iter().filter(|outcome| outcome.as_str() == "queued");
    assert_eq!(queued.count(), 10, "exactly what was added");
    // Two admins from forms opened earlier: the second is told.
    let version = app.version(voucher).await;
    assert_eq!(admin.units("add_units", voucher, 5, version).await, "done");
    let second = admin
        .at(&other)
        .units("add_units", voucher, 5, version)
        .await;
    assert_eq!(second, "old_form");
    let version = app.version(voucher).await;
    let cut = admin.units("cut_units", voucher, 50, version).await;
    assert_eq!(cut, "stopped", "never below what is sold");
    app.agrees(voucher, 110).await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o19_an_old_form_comes_back_with_what_was_typed_and_what_is_stored(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(10)).await;
    let admin = app.admin().await;
    let opened = form(&app, voucher).await;
    admin
        .edits(&with(&opened, "title", "stored meanwhile"))
        .await;
    let browser = admin.without_script().reading("en");
    let mine = with(&with(&opened, "title", "typed here"), "subtitle", "");
    let back = browser.sends("edit_sale", &mine).await;
    assert!(
        back.location()
            .contains("invalid=version.old-form&version=1&"),
        "{back:?}"
    );
    let page = browser.get(back.location()).await.body.replace("<!>", "");
    for shown in [
        "Nothing was saved",
        "Changed by admin, ",
        r#"value="typed here""#,
        "Stored now: <bdi>stored meanwhile</bdi>",
        // Emptied on purpose, it stays empty; what it was stands beside it.
        "Stored now: <bdi>周末可用</bdi>",
        // Now that it has been shown, it may be overwritten.
        r#"name="version" value="2""#,
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(
        !page.contains("Stored now: <bdi>每人一张"),
        "only what differs"
    );
    let again = with(&mine, "version", "2");
    assert_eq!(admin.edits(&again).await, "done");
    assert_eq!(
        admin.edits(&with(&again, "version", "3")).await,
        "unchanged"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn of_many_edits_from_one_form_one_is_stored(database: PgPool) {
    let app = App::start(database).await;
    let (admin, other) = (app.admin().await, app.another_instance().await);
    let voucher = app.sale(Sale::of(10)).await;
    let opened = form(&app, voucher).await;
    let edits = (0..8).map(|n| {
        let admin = if n % 2 == 0 {
            admin.clone()
        } else {
            admin.at(&other)
        };
        let form = with(&opened, "title", &format!("title {n}"));
        async move { admin.sends("edit_sale", &form).await.status.as_u16() }
    });
    let mut answers = futures::future::join_all(edits).await;
    answers.sort_unstable();
    assert_eq!(answers, [200, 422, 422, 422, 422, 422, 422, 422]);
    let noted = "SELECT count(*) FROM audit_log WHERE action = 'edit_sale'";
    let noted: i64 = sqlx::query_scalar(noted)
        .fetch_one(&app.database)
        .await
        .unwrap();
    assert_eq!(noted, 1);
    assert_eq!(app.look(voucher).await.version, Some(2));
    app.check_promises().await;
}

#[sqlx::test]
async fn what_was_and_what_is_are_in_the_audit_log(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let voucher = app.sale(coming(10)).await;
    let mut edit = form(&app, voucher).await;
    for (field, value) in [
        ("title", "五折 \"!\""),
        ("price", "18"),
        ("zone", "Asia/Hong_Kong"),
    ] {
        edit = with(&edit, field, value);
    }
    assert_eq!(admin.edits(&edit).await, "done");
    let noted = "SELECT detail FROM audit_log WHERE action = 'edit_sale'";
    let noted: String = sqlx::query_scalar(noted)
        .fetch_one(&app.database)
        .await
        .unwrap();
    assert_eq!(
        noted,
        "title \"满一百减五十\" -> \"五折 \\\"!\\\"\"; price 19.99 -> 18.00; zone Asia/Shanghai -> Asia/Hong_Kong"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn what_is_past_cannot_be_edited_and_the_rest_can(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let running = app.sale(Sale::of(10)).await;
    let opened = form(&app, running).await;
    let (earlier, later) = ("2026-01-01T10:00", "2099-01-01T10:00");
    admin
        .cannot_edit(&with(&opened, "price", "1"), "price", Problem::Fixed)
        .await;
    admin
        .cannot_edit(
            &with(&opened, "face_value", "60"),
            "face_value",
            Problem::Fixed,
        )
        .await;
    admin
        .cannot_edit(
            &with(&opened, "begins_at", earlier),
            "begins_at",
            Problem::Fixed,
        )
        .await;
    let ends_now = with(
        &opened,
        "ends_at",
        &shanghai(seckill::clock::system() - time::Duration::seconds(2)),
    );
    admin.cannot_edit(&ends_now, "ends_at", Problem::Past).await;
    assert_eq!(admin.edits(&with(&opened, "ends_at", later)).await, "done");
    let shopper = app.shopper("amy").await;
    shopper.buy_one(running).await;

    // Its begin moves while it lies ahead, and the gate follows at once.
    let coming = app.sale(coming(10)).await;
    let opened = form(&app, coming).await;
    let begun = with(&with(&opened, "price", "12.50"), "begins_at", earlier);
    assert_eq!(shopper.buy(coming).await.outcome.as_str(), "not_started");
    assert_eq!(admin.edits(&begun).await, "done");
    shopper.buy_one(coming).await;

    admin
        .post(
            "/api/admin/end_sale",
            &[("voucher_id", &running.to_string())],
        )
        .await;
    let over = form(&app, running).await;
    admin
        .cannot_edit(&with(&over, "ends_at", later), "ends_at", Problem::Fixed)
        .await;
    assert_eq!(admin.edits(&with(&over, "rules", "过期作废")).await, "done");
    assert_eq!(
        shopper.buy(running).await.outcome.as_str(),
        "already_bought"
    );
    app.check_promises().await;
}

fn shanghai(at: OffsetDateTime) -> String {
    Zone::parse("Asia/Shanghai").unwrap().input(at)
}

/// Stored with a fraction that no form shows, of a zone whose clocks change, and in the hour that they show twice.
#[sqlx::test]
async fn o17_saving_unchanged_changes_nothing(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script();
    for (begins, ends, zone) in [
        (
            "2027-01-15T10:00:00.123456+08:00",
            "2027-01-15T11:00:07Z",
            "Asia/Shanghai",
        ),
        (
            "2027-10-31T02:30:00+02:00",
            "2027-10-31T02:30:00+01:00",
            "Europe/Berlin",
        ),
        (
            "2027-03-14T01:59:59.999-05:00",
            "2027-03-14T03:00:00-04:00",
            "America/New_York",
        ),
    ] {
        let voucher = app.sale(Sale::of(3)).await;
        // Not by the call, which cuts off what is finer than a millisecond.
        let exact =
            "UPDATE sales SET begins_at = $2, ends_at = $3, zone = $4 WHERE voucher_id = $1";
        let instant = |text: &str| OffsetDateTime::parse(text, &Rfc3339).unwrap();
        sqlx::query(exact)
            .bind(voucher.0)
            .bind(instant(begins))
            .bind(instant(ends))
            .bind(zone)
            .execute(&app.database)
            .await
            .unwrap();
        let before = stored(&app, voucher).await;
        let page = admin
            .get(&format!("/admin/sales/{voucher}/edit"))
            .await
            .body;
        let shown = fields_of(&page, "/api/admin/edit_sale");
        let saved = admin.sends("edit_sale", &shown).await;
        assert!(
            saved.location().ends_with("?did=edit.unchanged"),
            "{saved:?} {shown:?}"
        );
        assert_eq!(stored(&app, voucher).await, before);
        // The gate was told of the other window by hand as little.
        sqlx::query("UPDATE sales SET version = version + 1 WHERE voucher_id = $1")
            .bind(voucher.0)
            .execute(&app.database)
            .await
            .unwrap();
    }
    app.keeper_look().await;
    app.check_promises().await;
}

/// What a browser sends of a form, whose fields it leaves as they are.
fn fields_of(page: &str, action: &str) -> Fields {
    let form = page.split(&format!(r#"action="{action}""#)).nth(1).unwrap();
    let form = form.split("</form>").next().unwrap();
    let attribute = |tag: &str, name: &str| {
        let rest = tag.split(&format!(r#" {name}=""#)).nth(1)?;
        let value = rest.split('"').next()?.replace("&quot;", "\"");
        Some(
            value
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&"),
        )
    };
    let mut fields = Fields::new();
    for tag in form.split('<') {
        let name = attribute(tag, "name").map(|name| &*name.leak());
        match (tag.split([' ', '>']).next(), name) {
            (Some("input"), Some(name)) => {
                fields.push((name, attribute(tag, "value").unwrap_or_default()))
            }
            (Some("textarea"), Some(name)) => {
                let text = tag.split_once('>').unwrap().1;
                fields.push((name, text.trim_start_matches('\n').to_owned()));
            }
            (Some("select"), Some(name)) => fields.push((name, String::new())),
            (Some("option"), _) if tag.contains(" selected") => {
                fields.last_mut().unwrap().1 = attribute(tag, "value").unwrap();
            }
            _ => {}
        }
    }
    fields
}

#[sqlx::test]
async fn o17_a_time_is_the_same_instant_whatever_zone_the_server_lives_in(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await;
    let elsewhere = "DO $$ BEGIN
         EXECUTE format('ALTER DATABASE %I SET timezone = %L', current_database(), 'Pacific/Auckland');
     END $$";
    sqlx::query(elsewhere).execute(&app.database).await.unwrap();
    for server in ["UTC", "Asia/Shanghai", "America/New_York"] {
        let program = Program::start_in(&app, server, "web");
        let admin = admin.at_base(program.base().await);
        let mut fields = Sale::of(5).fields(shop);
        for (name, value) in [
            ("begins_at", "2027-07-01T10:00"),
            ("ends_at", "2027-07-01T11:00"),
        ] {
            fields = with(&fields, name, value);
        }
        let created: Value = admin.sends("create_sale", &fields).await.ok();
        let id = VoucherId(i32::try_from(created["voucher_id"].as_i64().unwrap()).unwrap());
        let browser = admin.without_script().reading("en");
        let page = browser.get(&format!("/admin/sales/{id}/edit")).await.body;
        let shown = fields_of(&page, "/api/admin/edit_sale");
        assert!(
            shown.contains(&("begins_at", "2027-07-01T10:00".to_owned())),
            "{shown:?}"
        );
        let saved = browser.sends("edit_sale", &shown).await;
        assert!(
            saved.location().ends_with("?did=edit.unchanged"),
            "{server}: {saved:?}"
        );
        let sale = db::sales::by_id(&app.database, id).await.unwrap().unwrap();
        assert_eq!(
            (sale.begins_at, sale.ends_at),
            (
                datetime!(2027-07-01 02:00 UTC),
                datetime!(2027-07-01 03:00 UTC)
            ),
            "{server}"
        );
        let look = app.look(id).await;
        let begins_ms = sale.begins_at.unix_timestamp() * 1000;
        assert_eq!(look.begins_ms, Some(begins_ms), "{server}");
        let shopper = app.guest().at_base(program.base().await).reading("en");
        let page = shopper
            .without_script()
            .get(&format!("/vouchers/{id}"))
            .await
            .body;
        assert!(
            page.contains("2027-07-01 10:00 UTC+08:00"),
            "{server}: {page}"
        );
        program.kill().await;
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn a_doubled_hour_is_asked_about_and_the_answer_is_taken(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script().reading("en");
    let shop = admin.create_shop_in_browser().await;
    let mut fields = Sale::of(5).fields(shop);
    for (name, value) in [
        ("begins_at", "2027-10-31T02:30"),
        ("ends_at", "2027-10-31T12:00"),
        ("zone", "Europe/Berlin"),
    ] {
        fields = with(&fields, name, value);
    }
    let asked = admin.sends("create_sale", &fields).await;
    assert!(
        asked.location().contains("invalid=begins_at.doubled-time"),
        "{asked:?}"
    );
    let page = admin.get(asked.location()).await.body;
    for shown in [
        "The earlier one, UTC+02:00",
        "The later one, UTC+01:00",
        r#"name="begins_at_offset""#,
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(
        !page.contains(r#"name="ends_at_offset""#),
        "the end is clear"
    );
    for (offset, instant) in [("+02:00", 30), ("+01:00", 90)] {
        let answer = with(&fields, "begins_at_offset", offset);
        let created = admin.sends("create_sale", &answer).await;
        let (_, id) = created.location().rsplit_once('=').unwrap();
        let sale = db::sales::by_id(&app.database, VoucherId::parse(id).unwrap());
        let begins_at = sale.await.unwrap().unwrap().begins_at;
        assert_eq!(
            begins_at,
            datetime!(2027-10-31 00:00 UTC) + time::Duration::minutes(instant)
        );
    }
    let missing = with(&fields, "begins_at", "2027-03-28T02:30");
    let refused = admin.sends("create_sale", &missing).await;
    assert!(
        refused
            .location()
            .contains("invalid=begins_at.no-such-time")
    );
    app.check_promises().await;
}

impl Person {
    async fn create_shop_in_browser(&self) -> i64 {
        let shop = vec![
            ("name", "n".to_owned()),
            ("category", "c".to_owned()),
            ("address", "a".to_owned()),
        ];
        let created = self.sends("create_shop", &shop).await;
        let (_, id) = created.location().rsplit_once('/').unwrap();
        id.parse().unwrap()
    }
}

/// Impossible windows are refused from the form and from a direct post alike, and leave nothing.
#[sqlx::test]
async fn o18_impossible_windows_name_their_field_when_editing_too(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let voucher = app.sale(coming(10)).await;
    let opened = form(&app, voucher).await;
    let before = (stored(&app, voucher).await, app.look(voucher).await.version);
    let at = |field: &str| {
        opened
            .iter()
            .find(|(name, _)| *name == field)
            .unwrap()
            .1
            .clone()
    };
    let begins = at("begins_at");
    for (field, value, named, problem) in [
        (
            "ends_at",
            begins.as_str(),
            "ends_at",
            Problem::EndsBeforeBegins,
        ),
        (
            "begins_at",
            "2098-01-01T10:00",
            "ends_at",
            Problem::EndsBeforeBegins,
        ),
        ("begins_at", "", "begins_at", Problem::Missing),
        (
            "begins_at",
            "0001-01-01T00:00",
            "begins_at",
            Problem::NotATime,
        ),
        ("ends_at", "9999-01-01T00:00", "ends_at", Problem::NotATime),
        ("version", "", "version", Problem::Missing),
        ("version", "x", "version", Problem::NotANumber),
        ("zone", "Mars/Olympus", "zone", Problem::UnknownZone),
    ] {
        let edit = with(&opened, field, value);
        let answer = admin.sends("edit_sale", &edit).await;
        assert_eq!(answer.status, 422, "{field} {value}");
        assert_eq!(
            answer.json::<Value>()["fields"][named],
            json!(Lang::En.problem(problem)),
            "{field} {value}"
        );
        let back = admin.without_script().sends("edit_sale", &edit).await;
        let named = format!("invalid={named}.");
        assert!(back.location().contains(&named), "{back:?}");
    }
    let past = with(
        &with(&opened, "begins_at", "2026-01-01T10:00"),
        "ends_at",
        "2026-01-02T10:00",
    );
    admin.cannot_edit(&past, "ends_at", Problem::Past).await;
    assert_eq!(
        (stored(&app, voucher).await, app.look(voucher).await.version),
        before
    );
    app.check_promises().await;
}

/// Exactly what was typed, or the field is named: never rounded, never a fault.
#[sqlx::test]
async fn o20_prices_are_exact_to_the_cent_when_editing_too(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let voucher = app.sale(coming(10)).await;
    let before = stored(&app, voucher).await;
    let opened = with(&form(&app, voucher).await, "face_value", "9999999.99");
    for (typed, problem) in [
        ("-0.01", Problem::NotMoney),
        ("10.285", Problem::NotMoney),
        ("0.30000000000000004", Problem::NotMoney),
        ("1,5", Problem::NotMoney),
        ("1e3", Problem::NotMoney),
        ("１２", Problem::NotMoney),
        ("99999999999999", Problem::TooLarge(9_999_999)),
        ("", Problem::Missing),
    ] {
        admin
            .cannot_edit(&with(&opened, "price", typed), "price", problem)
            .await;
    }
    assert_eq!(stored(&app, voucher).await, before);
    let guest = app.guest().without_script();
    for (typed, shown) in [
        ("0", "0.00"),
        ("0.1", "0.10"),
        (" 19.99 ", "19.99"),
        ("9999999.99", "9999999.99"),
    ] {
        let now = with(&form(&app, voucher).await, "face_value", "9999999.99");
        assert_eq!(admin.edits(&with(&now, "price", typed)).await, "done");
        let page = guest.get(&format!("/vouchers/{voucher}")).await.body;
        assert!(page.contains(&format!("¥{shown}")), "{typed}: {page}");
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn ids_that_are_none_are_refused_in_every_path_and_call(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let long = "9".repeat(30);
    for id in ["2147483648", &long, "0", "-1", "x", "2147483647"] {
        for path in [
            format!("/admin/sales/{id}/edit"),
            format!("/admin/shops/{id}/edit"),
            format!("/admin/sales/new?like={id}"),
        ] {
            let page = admin.without_script().get(&path).await;
            let known = path.contains("like") && id != "2147483647";
            assert_eq!(page.status, if known { 200 } else { 404 }, "{path}");
        }
        for (call, field) in [("edit_sale", "voucher_id"), ("edit_shop", "shop_id")] {
            let answer = admin.sends(call, &vec![(field, id.to_owned())]).await;
            assert_eq!(answer.status, 422, "{call} {id}: {answer:?}");
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn a_preview_stores_nothing_and_carries_the_form_on(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await;
    let before = super::bad_input::holdings(&app).await;
    let fields = with(&Sale::of(7).fields(shop), "title", "<b>五折</b> & \"more\"");
    let query = reqwest::Url::parse_with_params("http://form", &fields).unwrap();
    let address = format!("/admin/sales/preview?{}", query.query().unwrap());
    let browser = admin.without_script().reading("en");
    let page = browser.get(&address).await;
    assert_eq!(page.status, 200);
    for shown in [
        "&lt;b&gt;五折&lt;/b&gt;",
        "¥19.99",
        "¥30.01",
        "老城咖啡",
        "Buy now",
        "每人一张",
        "disabled",
    ] {
        assert!(page.body.contains(shown), "{shown}: {}", page.body);
    }
    assert_eq!(super::bad_input::holdings(&app).await, before);
    let sent = fields_of(&page.body, "/api/admin/create_sale");
    for (name, value) in &fields {
        assert!(sent.contains(&(*name, value.clone())), "{name}: {sent:?}");
    }
    let back = page
        .body
        .split(r#"href="/admin/sales/new?"#)
        .nth(1)
        .unwrap();
    let back = back.split('"').next().unwrap().replace("&amp;", "&");
    let form = browser.get(&format!("/admin/sales/new?{back}")).await;
    assert!(
        form.body
            .contains("&lt;b&gt;五折&lt;/b&gt; &amp; &quot;more&quot;"),
        "{}",
        form.body
    );
    let wrong = browser.get(&address.replace("stock=7", "stock=0")).await;
    assert!(
        wrong
            .location()
            .starts_with("/admin/sales/new?invalid=stock.too-small.1&shop_id="),
        "{wrong:?}"
    );
    let created = browser.sends("create_sale", &sent).await;
    assert!(
        created.location().starts_with("/admin/sales?created="),
        "{created:?}"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_sale_like_another_has_all_of_it_and_a_window_to_come(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(42)).await;
    let browser = app.admin().await.without_script();
    let page = browser
        .get(&format!("/admin/sales/new?like={voucher}"))
        .await
        .body;
    let mut form = fields_of(&page, "/api/admin/create_sale");
    let at = |form: &Fields, field: &str| {
        form.iter()
            .find(|(name, _)| *name == field)
            .unwrap()
            .1
            .clone()
    };
    for (field, value) in Sale::of(42).fields(1) {
        if field != "begins_at" && field != "ends_at" {
            assert_eq!(at(&form, field), value, "{field}");
        }
    }
    form.retain(|(_, value)| !value.is_empty());
    let created = browser.sends("create_sale", &form).await;
    let (_, id) = created.location().rsplit_once('=').unwrap();
    let sale = |id| db::sales::by_id(&app.database, id);
    let (like, new) = (
        sale(voucher).await,
        sale(VoucherId::parse(id).unwrap()).await,
    );
    let (like, new) = (like.unwrap().unwrap(), new.unwrap().unwrap());
    let moved = new.begins_at - like.begins_at;
    assert!(
        (moved - time::Duration::days(1)).abs() < time::Duration::seconds(1),
        "{moved}"
    );
    assert!(new.begins_at > seckill::clock::system());
    app.check_promises().await;
}

#[sqlx::test]
async fn a_shop_is_edited_and_an_old_form_undoes_nothing(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let voucher = app.sale(Sale::of(5)).await;
    let shop = vec![
        ("shop_id", "1".to_owned()),
        ("version", "1".to_owned()),
        ("name", "新城咖啡".to_owned()),
        ("category", "咖啡".to_owned()),
        ("address", "解放路 2 号".to_owned()),
    ];
    let saved: Value = admin.sends("edit_shop", &shop).await.ok();
    assert_eq!(saved, json!({ "shop_id": 1 }));
    let old = admin.sends("edit_shop", &with(&shop, "name", "旧城")).await;
    assert_eq!(old.status, 422);
    assert_eq!(
        old.json::<Value>()["fields"]["version"],
        json!(Lang::En.problem(Problem::OldForm))
    );
    let same = with(&shop, "version", "2");
    assert_eq!(admin.sends("edit_shop", &same).await.status, 200);
    assert_eq!(
        admin.sends("edit_shop", &same).await.status,
        200,
        "saved unchanged"
    );
    let noted = "SELECT actor || ': ' || detail FROM audit_log WHERE action = 'edit_shop'";
    let noted: Vec<String> = sqlx::query_scalar(noted)
        .fetch_all(&app.database)
        .await
        .unwrap();
    let change = "老城咖啡, 咖啡, 人民路 1 号 -> 新城咖啡, 咖啡, 解放路 2 号";
    assert_eq!(noted, [format!("user {}: {change}", admin.id())]);
    assert_eq!(
        admin
            .sends("edit_shop", &with(&shop, "shop_id", "99"))
            .await
            .status,
        404
    );

    let browser = admin.without_script().reading("en");
    let back = browser
        .sends("edit_shop", &with(&shop, "name", "旧城"))
        .await;
    let page = browser.get(back.location()).await.body.replace("<!>", "");
    for shown in [
        r#"value="旧城""#,
        "Stored now: <bdi>新城咖啡</bdi>",
        r#"name="version" value="2""#,
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(browser.get("/admin/shops").await.body.contains("新城咖啡"));
    let guest = app.guest().without_script();
    eventually("shoppers see the new name", async || {
        guest
            .get(&format!("/vouchers/{voucher}"))
            .await
            .body
            .contains("新城咖啡")
    })
    .await;
    app.check_promises().await;
}
