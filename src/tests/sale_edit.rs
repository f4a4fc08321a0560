//! Sales that are edited while they sell: an old form undoes nothing, and prices are exact (cases O19, O20).

use std::time::Duration;

use app::{
    model::{Problem, VoucherId, Zone},
    texts::Lang,
};
use seckill::db;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{
    harness::{Answer, App, Person, Sale, eventually},
    sale_times::shanghai,
};

pub type Fields = Vec<(&'static str, String)>;

/// The form that edits a sale, as its page shows it.
pub async fn form(app: &App, voucher: VoucherId) -> Fields {
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

pub fn with(form: &Fields, field: &'static str, value: &str) -> Fields {
    let mut form = form.clone();
    form.retain(|(name, _)| *name != field);
    form.push((field, value.to_owned()));
    form
}

impl Person {
    pub async fn sends(&self, call: &str, form: &Fields) -> Answer {
        let fields: Vec<(&str, &str)> = form.iter().map(|(n, v)| (*n, v.as_str())).collect();
        self.post(&format!("/api/admin/{call}"), &fields).await
    }

    pub async fn edits(&self, form: &Fields) -> String {
        let answer: Value = self.sends("edit_sale", form).await.ok();
        answer["outcome"].as_str().unwrap().to_owned()
    }

    /// The edit is refused for what is wrong with one field.
    pub async fn cannot_edit(&self, form: &Fields, field: &str, problem: Problem) {
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
pub async fn stored(app: &App, voucher: VoucherId) -> String {
    let query =
        "SELECT (v, s)::text FROM vouchers v JOIN sales s ON s.voucher_id = v.id WHERE v.id = $1";
    sqlx::query_scalar(query)
        .bind(voucher.0)
        .fetch_one(&app.database)
        .await
        .unwrap()
}

pub fn coming(stock: i64) -> Sale {
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
async fn an_old_form_that_differs_only_in_how_it_is_written_shows_no_difference(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(10)).await;
    let admin = app.admin().await;
    let opened = form(&app, voucher).await;
    let lines = with(&opened, "rules", "one\ntwo");
    assert_eq!(admin.edits(&lines).await, "done");
    sqlx::query("UPDATE sales SET ends_at = date_trunc('second', ends_at) + interval '100 milliseconds' WHERE voucher_id = $1")
        .bind(voucher.0)
        .execute(&app.database)
        .await
        .unwrap();
    let stored = form(&app, voucher).await;
    // As a browser sends what it was shown.
    let sent = with(&with(&stored, "rules", "one\r\ntwo"), "price", " 19.99");
    let (_, ends_at) = stored.iter().find(|(name, _)| *name == "ends_at").unwrap();
    let shortest = ends_at.strip_suffix("00").unwrap();
    let sent = with(&with(&sent, "ends_at", shortest), "version", "1");
    let browser = admin.without_script().reading("en");
    let back = browser.sends("edit_sale", &sent).await;
    let page = browser.get(back.location()).await.body;
    assert!(page.contains("This was changed after the form was opened"));
    assert!(!page.contains("Stored now:"), "{page}");
    app.check_promises().await;
}

#[sqlx::test]
async fn a_face_value_that_saves_nothing_is_not_struck_out(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(coming(10)).await;
    let (admin, guest) = (app.admin().await, app.guest().without_script());
    for (price, face_value, is_struck) in [("0", "0", false), ("5", "5", false), ("0", "5", true)] {
        let now = with(&form(&app, voucher).await, "price", price);
        assert_eq!(
            admin.edits(&with(&now, "face_value", face_value)).await,
            "done"
        );
        for page in ["/".to_owned(), format!("/vouchers/{voucher}")] {
            let page = guest.get(&page).await.body;
            assert!(page.contains(&format!("¥{price}.00")), "{page}");
            assert_eq!(page.contains("<s>"), is_struck, "{page}");
        }
    }
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

/// What a browser sends of a form, whose fields it leaves as they are.
pub fn fields_of(page: &str, action: &str) -> Fields {
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
        ("1,00", Problem::NotMoney),
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
        ("9999999.99", "9,999,999.99"),
        ("１，２３４．５", "1,234.50"),
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
