//! The same calls from a browser without script: a redirect to a page that shows the stored result.

use sqlx::PgPool;

use super::{
    harness::{App, Sale},
    sale_edit::with,
};

#[sqlx::test]
async fn a_pressed_button_leads_to_the_order(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(1)).await;
    let (amy, bob) = (
        app.shopper("amy").await.without_script(),
        app.shopper("bob").await.without_script(),
    );
    let form = [("voucher_id", voucher.to_string())];
    let form: Vec<(&str, &str)> = form
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let bought = amy.post("/api/buy", &form).await;
    let page = bought.location().to_owned();
    assert!(page.starts_with("/orders/"), "{page}");
    assert!(amy.get(&page).await.body.contains("In the queue"));
    assert_eq!(
        amy.post("/api/buy", &form).await.location(),
        page,
        "pressed again, the same order"
    );

    let sold_out = bob.post("/api/buy", &form).await;
    assert_eq!(
        sold_out.location(),
        format!("/vouchers/{voucher}?outcome=sold_out")
    );
    let shown = bob.get(sold_out.location()).await;
    assert_eq!(shown.status, 200);
    assert!(shown.body.contains("Sold out: no unit was left"));

    let guest = app.guest().without_script().post("/api/buy", &form).await;
    assert_eq!(
        guest.location(),
        format!("/sign-in?next=%2Fvouchers%2F{voucher}")
    );
    let unknown = bob.post("/api/buy", &[("voucher_id", "999")]).await;
    assert_eq!(unknown.location(), "/vouchers/999?error=not_found");
    let bad = bob.post("/api/buy", &[("voucher_id", "x")]).await;
    assert_eq!(bad.location(), "/?invalid=voucher_id.not-a-number");
    app.drain().await;
    assert!(amy.get(&page).await.body.contains("Bought"));
    app.check_promises().await;
}

#[sqlx::test]
async fn a_form_that_is_refused_comes_back_with_what_was_typed_but_no_password(database: PgPool) {
    let app = App::start(database).await;
    let browser = app.guest().without_script();
    let fields = [
        ("name", "Amy & 小美"),
        ("password", "short"),
        ("next", "/vouchers/1"),
    ];
    let back = browser.post("/api/sign_up", &fields).await;
    let location = back.location();
    assert!(
        location.starts_with("/sign-up?invalid=password.too-short.8&name="),
        "{location}"
    );
    assert!(
        !location.contains("short&") && !location.contains("password=short"),
        "{location}"
    );
    let page = browser.reading("zh").get(location).await;
    assert_eq!(page.status, 200);
    assert!(
        page.body.contains("至少要 8 个字。"),
        "the field's problem is shown"
    );
    assert!(page.body.contains("Amy &amp; 小美"), "{}", page.body);
    assert!(page.body.contains("/vouchers/1"), "and where to go on");

    let fields = [
        ("name", "Amy"),
        ("password", "correct horse"),
        ("next", "/vouchers/1"),
    ];
    assert_eq!(
        browser.post("/api/sign_up", &fields).await.location(),
        "/vouchers/1"
    );
    assert_eq!(browser.post("/api/sign_out", &[]).await.location(), "/");
    let wrong = browser
        .post(
            "/api/sign_in",
            &[("name", "Amy"), ("password", "wrong horse")],
        )
        .await;
    assert!(
        wrong
            .location()
            .starts_with("/sign-in?invalid=password.wrong-credentials&"),
        "{}",
        wrong.location()
    );
    for next in [
        "//evil.example",
        "https://evil.example/",
        "/\\evil.example",
        "/..//evil.example",
        "javascript:alert(1)",
        "/api/buy",
        "/orders/../api/sign_out",
    ] {
        let fields = [
            ("name", "Amy"),
            ("password", "correct horse"),
            ("next", next),
        ];
        assert_eq!(
            browser.post("/api/sign_in", &fields).await.location(),
            "/",
            "{next}"
        );
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn whoever_signs_in_begins_where_their_role_does_unless_they_were_going_somewhere(
    database: PgPool,
) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await.to_string();
    let password = ("password", "correct horse");
    for (name, role) in [("amy", "shopper"), ("bob", "clerk"), ("cid", "admin")] {
        let account = [("name", name), password];
        let joined = app.guest().post("/api/sign_up", &account).await;
        assert_eq!(joined.status, 200);
        let grant = [("name", name), ("role", role), ("shop_id", &shop)];
        let given = admin.post("/api/admin/set_role", &grant).await;
        assert_eq!(given.status, 200);
    }
    for (name, home) in [("amy", "/"), ("bob", "/desk"), ("cid", "/admin")] {
        let browser = app.guest().without_script().reading("en");
        let page = browser.get("/").await.body;
        assert!(page.contains(r#"href="/sign-in""#), "{page}");
        for (next, leads) in [("", home), ("/orders", "/orders"), ("//evil", home)] {
            let fields = [("name", name), password, ("next", next)];
            let signed_in = browser.post("/api/sign_in", &fields).await;
            assert_eq!(signed_in.location(), leads, "{name} {next}");
        }
        for (page, way) in [("/sign-in", home), ("/sign-up?next=/orders", "/orders")] {
            let page = browser.get(page).await.body;
            assert!(page.contains(&format!("You are signed in as {name}.")));
            assert!(
                page.contains(&format!(r#"<a href="{way}">Go on"#)),
                "{page}"
            );
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn an_admins_forms_lead_to_what_was_created_or_back(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script();
    let shop = [
        ("name", "老城咖啡"),
        ("category", "咖啡"),
        ("address", "人民路"),
    ];
    assert_eq!(
        admin.post("/api/admin/create_shop", &shop).await.location(),
        "/shops/1"
    );
    assert!(admin.get("/shops/1").await.body.contains("老城咖啡"));
    let back = admin
        .post("/api/admin/create_shop", &[("name", "n"), ("address", "a")])
        .await;
    assert_eq!(
        back.location(),
        "/admin/shops/new?invalid=category.missing&name=n&category=&address=a"
    );
    assert_eq!(admin.get(back.location()).await.status, 200);

    let fields = Sale::of(10).fields(1);
    let good: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    assert_eq!(
        admin.post("/api/admin/create_sale", &good).await.location(),
        "/admin/sales?created=1"
    );
    let sales = admin.get("/admin/sales?created=1").await;
    assert!(
        sales.body.contains("满一百减五十") && sales.body.contains("The sale has been created.")
    );
    let bad: Vec<(&str, &str)> = good
        .iter()
        .map(|(name, value)| (*name, if *name == "stock" { "0" } else { *value }))
        .collect();
    let back = admin.post("/api/admin/create_sale", &bad).await;
    assert!(
        back.location()
            .starts_with("/admin/sales/new?invalid=stock.too-small.1&"),
        "{}",
        back.location()
    );
    let form = admin.get(back.location()).await;
    assert!(form.body.contains("Not less than 1.") && form.body.contains("满一百减五十"));
    app.check_promises().await;
}

#[sqlx::test]
async fn a_form_that_is_too_large_leads_a_browser_back_to_it(database: PgPool) {
    let app = App::start(database).await;
    let browser = app.admin().await.without_script().reading("zh");
    let at = |page: &str| browser.with_header("referer", &format!("{}{page}", browser.base()));
    // One that fits into what is read at once, one that says its size, and one that says too much.
    for letters in [2_900, 20_000, 400_000] {
        let rules = "券".repeat(letters);
        let back = at("admin/sales/new?title=x")
            .post("/api/admin/create_sale", &[("rules", &rules)])
            .await;
        assert_eq!(
            back.location(),
            "/admin/sales/new?invalid=body.too-many-bytes.24576"
        );
        let form = browser.get(back.location()).await;
        assert!(form.body.contains("提交的内容太长"), "{}", form.body);
    }
    let rules = "券".repeat(2_900);
    for page in ["", "/evil", "api/buy"] {
        let shown = at(page)
            .post("/api/admin/create_sale", &[("rules", &rules)])
            .await;
        assert_eq!(shown.status, 413, "{page}");
        assert!(shown.body.contains("提交的内容太长") && shown.body.contains(r#"href="/""#));
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn the_longest_texts_are_taken_and_longer_ones_come_back_whole(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await;
    let browser = admin.without_script();
    let sale = |title: &str, rules: &str| {
        let fields = with(&Sale::of(3).fields(shop), "title", &title.repeat(60));
        let fields = with(&fields, "subtitle", &title.repeat(100));
        with(&fields, "rules", rules)
    };
    for letter in ["券", "🍜"] {
        let longest = sale(letter, &letter.repeat(1000));
        let created = browser.sends("create_sale", &longest).await;
        assert!(
            created.location().starts_with("/admin/sales?created="),
            "{created:?}"
        );
    }
    // As much as the page lets be typed.
    let typed = "券".repeat(2000);
    let back = browser.sends("create_sale", &sale("券", &typed)).await;
    assert!(
        back.location()
            .starts_with("/admin/sales/new?invalid=rules.too-long.1000&"),
        "{back:?}"
    );
    let form = browser.get(back.location()).await;
    assert_eq!(form.status, 200);
    assert!(form.body.contains(&typed) && form.body.contains(r#"maxlength="2000""#));
    app.check_promises().await;
}

#[sqlx::test]
async fn local_times_are_times_of_the_zone_that_is_named(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await;
    for zone in ["Asia/Shanghai", "America/New_York", "UTC"] {
        let mut fields = Sale::of(10).fields(shop);
        for (name, value) in &mut fields {
            match *name {
                "begins_at" => *value = "2027-01-15T10:00".to_owned(),
                "ends_at" => *value = "2027-01-15T11:00".to_owned(),
                "zone" => *value = zone.to_owned(),
                _ => {}
            }
        }
        let fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let sale: serde_json::Value = admin.post("/api/admin/create_sale", &fields).await.ok();
        let id = i32::try_from(sale["voucher_id"].as_i64().unwrap()).unwrap();
        let local: String = sqlx::query_scalar(
            "SELECT to_char(begins_at AT TIME ZONE zone, 'YYYY-MM-DD HH24:MI') || ' ' || zone FROM sales WHERE voucher_id = $1",
        )
        .bind(id)
        .fetch_one(&app.database)
        .await
        .unwrap();
        assert_eq!(local, format!("2027-01-15 10:00 {zone}"));
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn a_chosen_language_is_remembered_and_leads_back(database: PgPool) {
    let app = App::start(database).await;
    let browser = app.guest().without_script().reading("en");
    assert!(browser.get("/").await.body.contains("Flash sales"));
    let chosen = browser
        .post("/api/set_language", &[("lang", "zh"), ("next", "/sign-in")])
        .await;
    assert_eq!(chosen.location(), "/sign-in");
    assert!(chosen.header("set-cookie").unwrap().contains("HttpOnly"));
    let page = browser.get("/sign-in").await;
    assert!(page.body.contains("登录") && page.body.contains(r#"lang="zh-CN""#));
    app.check_promises().await;
}

#[sqlx::test]
async fn a_call_that_only_reads_is_no_fault_in_a_browsers_address_bar(database: PgPool) {
    let app = App::start(database).await;
    let (guest, amy) = (
        app.guest().without_script(),
        app.shopper("amy").await.without_script(),
    );
    for path in [
        "/api/my_orders",
        "/api/order_status?order_id=x",
        "/api/sale_status?voucher_id=x",
        "/api/sale_status",
    ] {
        for who in [&guest, &amy] {
            let answer = who.get(path).await;
            assert!(answer.status.as_u16() < 500, "{path}: {answer:?}");
        }
    }
    app.check_promises().await;
}
