//! When a sale is open, as forms say it: the same instant in every zone, hours that clocks show twice or never, windows
//! that cannot be (cases O17, O18).

use app::{
    model::{Problem, VoucherId, Zone},
    texts::Lang,
};
use seckill::db;
use serde_json::{Value, json};
use sqlx::PgPool;
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::datetime};

use super::{
    harness::{App, Person, Program, Sale},
    sale_edit::{coming, fields_of, form, stored, with},
};

pub fn shanghai(at: OffsetDateTime) -> String {
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
