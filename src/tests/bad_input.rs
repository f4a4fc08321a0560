//! Bad input: every field of every call, in every way. Refused with the field named in the visitor's language; nothing
//! is stored, and nothing reaches Redis.

use app::{
    model::Problem::{self, *},
    texts::Lang,
};
use serde_json::{Value, json};
use sqlx::PgPool;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::harness::{App, Person, Sale};

/// The tables that a call could write.
const TABLES: [&str; 7] = [
    "users",
    "shops",
    "vouchers",
    "sales",
    "orders",
    "audit_log",
    "settings",
];

type Fields = Vec<(&'static str, String)>;

/// A call with fields that would be accepted.
struct Call {
    path: &'static str,
    good: Fields,
}

/// All that the stores hold.
pub async fn holdings(app: &App) -> (Vec<i64>, Vec<String>) {
    let mut rows = Vec::new();
    for table in TABLES {
        rows.push(app.rows(table).await);
    }
    (rows, app.keys().await)
}

impl Call {
    /// The form with another value of one field; `None`: without the field.
    fn form(&self, field: &str, value: Option<&str>) -> Vec<u8> {
        let kept = self.good.iter().filter(|(name, _)| *name != field);
        let mut url = reqwest::Url::parse("http://form").unwrap();
        {
            let mut pairs = url.query_pairs_mut();
            pairs.extend_pairs(kept);
            if let Some(value) = value {
                pairs.append_pair(field, value);
            }
        }
        url.query().unwrap().as_bytes().to_vec()
    }

    /// Each bad value is refused for its problem, in both languages.
    async fn refuses(&self, who: &Person, field: &'static str, bad: &[(&str, Problem)]) {
        for (value, problem) in bad {
            self.refuses_form(who, self.form(field, Some(value)), field, *problem)
                .await;
        }
        let mut bytes = self.form(field, None);
        bytes.extend(format!("&{field}=%FF%FE").into_bytes());
        self.refuses_form(who, bytes, field, BadLetter).await;
        let mut raw = self.form(field, None);
        raw.extend(format!("&{field}=").into_bytes());
        raw.extend([0xC3, 0x28]);
        self.refuses_form(who, raw, field, BadLetter).await;
        let mut doubled = self.form(field, Some("1"));
        doubled.extend(format!("&{field}=2").into_bytes());
        self.refuses_form(who, doubled, field, Doubled).await;
    }

    async fn requires(&self, who: &Person, field: &'static str) {
        self.refuses_form(who, self.form(field, None), field, Missing)
            .await;
        for empty in ["", "   "] {
            self.refuses_form(who, self.form(field, Some(empty)), field, Missing)
                .await;
        }
    }

    async fn refuses_form(&self, who: &Person, form: Vec<u8>, field: &str, problem: Problem) {
        let shown = String::from_utf8_lossy(&form)
            .chars()
            .take(300)
            .collect::<String>();
        for (lang, header) in [(Lang::Zh, "zh-CN,zh;q=0.9,en;q=0.8"), (Lang::En, "en-GB")] {
            let answer = who.reading(header).post_raw(self.path, form.clone()).await;
            assert_eq!(
                answer.status, 422,
                "{} {field} {shown}: {answer:?}",
                self.path
            );
            let body = answer.json::<Value>();
            assert_eq!(body["error"], "invalid");
            assert_eq!(
                body["fields"][field],
                json!(lang.problem(problem)),
                "{} {field} {shown}",
                self.path
            );
        }
    }
}

/// What no line of text of at most `max` letters may be.
fn bad_lines(max: usize) -> Vec<(String, Problem)> {
    let limit = TooLong(i64::try_from(max).unwrap());
    vec![
        ("x".repeat(max + 1), limit),
        ("券".repeat(max + 1), limit),
        ("x".repeat(10_000), limit),
        ("a\0b".to_owned(), BadLetter),
        ("a\u{202E}b".to_owned(), BadLetter),
        ("a\nb".to_owned(), BadLetter),
        ("a\u{7}b".to_owned(), BadLetter),
    ]
}

fn borrowed(bad: &[(String, Problem)]) -> Vec<(&str, Problem)> {
    bad.iter()
        .map(|(value, problem)| (value.as_str(), *problem))
        .collect()
}

fn rfc3339(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap()
}

#[sqlx::test]
async fn no_field_of_a_shop_takes_bad_input(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let before = holdings(&app).await;
    let good = [
        ("name", "老城咖啡"),
        ("category", "咖啡"),
        ("address", "人民路 1 号"),
    ];
    let good = good.map(|(name, value)| (name, value.to_owned())).to_vec();
    let call = Call {
        path: "/api/admin/create_shop",
        good,
    };
    for (field, max) in [("name", 60), ("category", 20), ("address", 120)] {
        call.requires(&admin, field).await;
        call.refuses(&admin, field, &borrowed(&bad_lines(max)))
            .await;
    }
    let all = admin.reading("en").post(call.path, &[]).await;
    assert_eq!(
        all.json::<Value>()["fields"].as_object().unwrap().len(),
        3,
        "all problems at once"
    );
    assert_eq!(holdings(&app).await, before);
    app.check_promises().await;
}

#[sqlx::test]
async fn no_field_of_a_sale_takes_bad_input(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await;
    let before = holdings(&app).await;
    let sale = Sale::of(10);
    let call = Call {
        path: "/api/admin/create_sale",
        good: sale.fields(shop),
    };
    for field in [
        "shop_id",
        "title",
        "price",
        "face_value",
        "stock",
        "begins_at",
        "ends_at",
    ] {
        call.requires(&admin, field).await;
    }
    let no_id = [
        "x",
        "-1",
        "0",
        "1.5",
        "1e3",
        "１２",
        "2147483648",
        "a\0b",
        "999999999999999999999999999999",
    ];
    let mut ids: Vec<(&str, Problem)> = no_id.into_iter().map(|id| (id, NotANumber)).collect();
    ids.push(("999999", Unknown));
    call.refuses(&admin, "shop_id", &ids).await;
    call.refuses(&admin, "title", &borrowed(&bad_lines(60)))
        .await;
    call.refuses(&admin, "subtitle", &borrowed(&bad_lines(100)))
        .await;
    let long = "券".repeat(1001);
    call.refuses(
        &admin,
        "rules",
        &[
            (&long, TooLong(1000)),
            ("a\0b", BadLetter),
            ("\u{2066}", BadLetter),
        ],
    )
    .await;
    for field in ["price", "face_value"] {
        let no_money = [
            "-0.01",
            "10.285",
            "0.30000000000000004",
            "1,5",
            "abc",
            "1e3",
            "+1",
            "1,00",
            "٣",
            "5.",
            "1\0",
        ];
        let mut amounts: Vec<(&str, Problem)> = no_money
            .into_iter()
            .map(|amount| (amount, NotMoney))
            .collect();
        amounts.push(("99999999999999", TooLarge(9_999_999)));
        amounts.push((
            "99999999999999999999999999999999999999999",
            TooLarge(9_999_999),
        ));
        call.refuses(&admin, field, &amounts).await;
    }
    call.refuses(&admin, "face_value", &[("19.98", BelowPrice)])
        .await;
    let stocks = [
        ("-1", TooSmall(1)),
        ("0", TooSmall(1)),
        ("-99999999999999999999", TooSmall(1)),
        ("1.5", NotANumber),
        ("1e3", NotANumber),
        ("10,00", NotANumber),
        ("٣", NotANumber),
        ("ten", NotANumber),
        ("5\0", NotANumber),
        ("10000001", TooLarge(10_000_000)),
        ("2147483648", TooLarge(10_000_000)),
        ("9223372036854775808", TooLarge(10_000_000)),
    ];
    call.refuses(&admin, "stock", &stocks).await;
    let no_times = [
        "tomorrow",
        "0001-01-01T00:00:00Z",
        "9999-12-31T00:00:00Z",
        "-1",
        "2026-13-01T00:00",
        "2026-11-29\0",
        "99999999999999999999",
    ];
    let no_times: Vec<(&str, Problem)> = no_times.into_iter().map(|at| (at, NotATime)).collect();
    call.refuses(&admin, "begins_at", &no_times).await;
    call.refuses(&admin, "ends_at", &no_times).await;
    let (begins, earlier) = (
        rfc3339(sale.begins_at),
        rfc3339(sale.begins_at - time::Duration::seconds(1)),
    );
    call.refuses(
        &admin,
        "ends_at",
        &[(&begins, EndsBeforeBegins), (&earlier, EndsBeforeBegins)],
    )
    .await;
    let just_now = rfc3339(sale.begins_at + time::Duration::seconds(1));
    call.refuses(&admin, "ends_at", &[(&just_now, Past)]).await;
    let far = "x".repeat(10_000);
    call.refuses(
        &admin,
        "zone",
        &[
            ("Mars/Olympus", UnknownZone),
            ("+08:00", UnknownZone),
            ("a\0b", UnknownZone),
            (&far, UnknownZone),
        ],
    )
    .await;
    assert_eq!(holdings(&app).await, before);
    app.check_promises().await;
}

#[sqlx::test]
async fn no_field_of_an_account_takes_bad_input(database: PgPool) {
    let app = App::start(database).await;
    let guest = app.guest();
    let before = holdings(&app).await;
    let good = vec![
        ("name", "amy".to_owned()),
        ("password", "correct horse".to_owned()),
    ];
    let (long, huge) = ("x".repeat(129), "券".repeat(1_500));
    let passwords = [
        ("1234567", TooShort(8)),
        (long.as_str(), TooLong(128)),
        (huge.as_str(), TooLong(128)),
        ("correct\0horse", BadLetter),
    ];
    let call = Call {
        path: "/api/sign_up",
        good: good.clone(),
    };
    call.requires(&guest, "name").await;
    call.refuses(&guest, "name", &[("a", TooShort(2))]).await;
    call.refuses(&guest, "name", &borrowed(&bad_lines(32)))
        .await;
    call.refuses(&guest, "password", &passwords).await;
    call.refuses_form(&guest, call.form("password", None), "password", Missing)
        .await;
    // Who signs in is told no rule of signing up.
    let call = Call {
        path: "/api/sign_in",
        good,
    };
    call.requires(&guest, "name").await;
    let wrong = passwords.map(|(password, _)| (password, WrongCredentials));
    call.refuses(&guest, "password", &wrong).await;
    call.refuses_form(&guest, call.form("password", None), "password", Missing)
        .await;
    for (name, _) in bad_lines(32)
        .iter()
        .filter(|(_, problem)| *problem != Missing)
    {
        let form = call.form("name", Some(name));
        call.refuses_form(&guest, form, "password", WrongCredentials)
            .await;
    }
    let sign_in = Call {
        path: "/api/sign_in",
        good: vec![("name", "nobody".to_owned())],
    };
    sign_in
        .refuses_form(
            &guest,
            sign_in.form("password", Some("correct horse")),
            "password",
            WrongCredentials,
        )
        .await;
    assert_eq!(holdings(&app).await, before);
    assert_eq!(guest.cookies(), None, "nobody is signed in by it");
    app.check_promises().await;
}

#[sqlx::test]
async fn no_voucher_id_takes_bad_input(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    let before = holdings(&app).await;
    let call = Call {
        path: "/api/buy",
        good: vec![("voucher_id", voucher.to_string())],
    };
    call.requires(&amy, "voucher_id").await;
    let no_ids = [
        "x",
        "-1",
        "0",
        "1.5",
        "1e3",
        "１２",
        "2147483648",
        "1\0",
        "999999999999999999999999999999",
        "1;DROP TABLE orders",
    ];
    let no_ids: Vec<(&str, Problem)> = no_ids.into_iter().map(|id| (id, NotANumber)).collect();
    call.refuses(&amy, "voucher_id", &no_ids).await;
    for (id, problem) in [("", Missing)].iter().chain(&no_ids) {
        let query =
            reqwest::Url::parse_with_params("http://x/api/sale_status", [("voucher_id", id)])
                .unwrap();
        let answer = amy
            .reading("en")
            .get(&format!("/api/sale_status?{}", query.query().unwrap()))
            .await;
        assert_eq!(answer.status, 422, "{id}: {answer:?}");
        assert_eq!(
            answer.json::<Value>()["fields"]["voucher_id"],
            Lang::En.problem(*problem),
            "{id}"
        );
    }
    for path in [
        "/api/sale_status?voucher_id=%FF",
        "/api/order_status?order_id=%FF",
    ] {
        let answer = amy.get(path).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json::<Value>()["error"]),
            (422, &json!("invalid")),
            "{path}"
        );
    }
    for path in [
        "/api/sale_status?voucher_id=1&voucher_id=1",
        "/api/order_status?order_id=1&order_id=1",
    ] {
        assert_eq!(amy.get(path).await.status, 422, "{path}");
    }
    // Ids that nobody has.
    for id in ["999", "2147483647"] {
        let bought = amy
            .try_buy(app::model::VoucherId(id.parse().unwrap()))
            .await;
        assert_eq!(
            (bought.status.as_u16(), bought.body.as_str()),
            (404, r#"{"error":"not_found"}"#)
        );
        assert_eq!(
            amy.get(&format!("/api/sale_status?voucher_id={id}"))
                .await
                .status,
            404
        );
    }
    for page in [
        "/vouchers/999",
        "/vouchers/x",
        "/vouchers/2147483648",
        "/shops/999",
        "/shops/-1",
        "/shops/999999999999999999999999999999",
        "/vouchers/%FF",
        "/vouchers/1%00",
        "/no/such/page",
    ] {
        let answer = amy.without_script().get(page).await;
        assert!(
            [404, 400].contains(&answer.status.as_u16()),
            "{page}: {}",
            answer.status
        );
    }
    assert_eq!(holdings(&app).await, before);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_language_that_is_none_is_refused(database: PgPool) {
    let app = App::start(database).await;
    let guest = app.guest();
    let call = Call {
        path: "/api/set_language",
        good: vec![("lang", "zh".to_owned())],
    };
    call.refuses_form(&guest, call.form("lang", None), "lang", Unknown)
        .await;
    call.refuses(
        &guest,
        "lang",
        &[
            ("", Unknown),
            ("xx", Unknown),
            ("zh\r\nSet-Cookie: a=b", Unknown),
            ("z\0", Unknown),
        ],
    )
    .await;
    assert_eq!(guest.cookies(), None);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_field_of_another_shape_is_refused_by_name(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let voucher = app.sale(Sale::of(5)).await;
    let before = holdings(&app).await;
    let calls = [
        (
            "/api/buy",
            "voucher_id",
            vec![("voucher_id", voucher.to_string())],
        ),
        ("/api/admin/create_sale", "stock", Sale::of(1).fields(1)),
        (
            "/api/admin/create_shop",
            "name",
            vec![("category", "c".to_owned()), ("address", "a".to_owned())],
        ),
        (
            "/api/sign_up",
            "name",
            vec![("password", "correct horse".to_owned())],
        ),
    ];
    for (path, field, good) in calls {
        let call = Call { path, good };
        for shape in ["[]", "[0]", "[a]", "[a][b]", "[", "%00"] {
            let mut form = call.form(field, None);
            form.extend(format!("&{field}{shape}=1").into_bytes());
            let answer = admin.reading("en").post_raw(path, form).await;
            assert_eq!(answer.status, 422, "{path} {field}{shape}: {answer:?}");
            let body = answer.json::<Value>();
            let named = body["fields"]
                .as_object()
                .unwrap_or_else(|| panic!("{path} {field}{shape}: {body}"));
            assert!(
                named.keys().any(|name| name.starts_with(field)),
                "{path} {field}{shape}: {body}"
            );
        }
    }
    assert_eq!(holdings(&app).await, before);
    app.check_promises().await;
}
