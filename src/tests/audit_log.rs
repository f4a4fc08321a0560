//! The audit log as admins read it.

use sqlx::PgPool;

use super::harness::{App, Person, Sale};

/// The entries of a page: each row's number and its words, in order.
async fn entries(admin: &Person, path: &str) -> Vec<(i64, String)> {
    let page = admin.get(path).await;
    assert_eq!(page.status, 200, "{path}: {page:?}");
    let rows = page.body.split("data-entry=\"").skip(1);
    let rows = rows.map(|row| {
        let row = row.split_once("</tr>").unwrap().0;
        let (id, words) = row.split_once('"').unwrap();
        (id.parse().unwrap(), words.replace("<!>", ""))
    });
    rows.collect()
}

async fn note(app: &App, actor: &str, action: &str, subject: &str, detail: &str) {
    let noted = seckill::db::audit_log::insert(&app.database, actor, action, subject, detail);
    noted.await.unwrap();
}

#[sqlx::test]
async fn admins_read_who_did_what_to_what(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script();
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    let id = voucher.to_string();
    let pause = [("voucher_id", id.as_str())];
    admin.post("/api/admin/pause_sale", &pause).await;
    let role = [("name", "amy"), ("role", "clerk"), ("shop_id", "1")];
    admin.post("/api/admin/set_role", &role).await;
    note(
        &app,
        "program",
        "rebuild",
        &format!("voucher {id}"),
        "stock 5 of 5",
    )
    .await;
    note(&app, "command line", "new_deed", "moon", "").await;
    for (language, words) in [
        (
            "en",
            [
                "Command line",
                "The program",
                "Gate rebuilt",
                "Sale paused",
                ">open</",
                ">paused</",
                "Clerk · Shop 1",
                "Sale created",
            ],
        ),
        (
            "zh",
            [
                "命令行",
                "系统",
                "重建闸口数据",
                "暂停秒杀",
                "开放",
                "已暂停",
                "店员 · 1 号商铺",
                "新建秒杀",
            ],
        ),
    ] {
        let shown = entries(&admin.reading(language), "/admin/audit").await;
        assert!(shown.is_sorted_by(|one, next| one.0 > next.0), "{shown:?}");
        let all = shown
            .iter()
            .map(|entry| entry.1.as_str())
            .collect::<String>();
        for words in words {
            assert!(
                all.contains(words.trim_matches(['<', '/'])),
                "{words}: {all}"
            );
        }
        for shown in [
            "new_deed",
            "moon",
            ">admin</bdi>",
            "UTC+0",
            &format!("href=\"/admin/sales/{id}\""),
            "href=\"/admin/shops/1/edit\"",
            &format!("href=\"/admin/audit?user={}\"", amy.id()),
        ] {
            assert!(all.contains(shown), "{shown}: {all}");
        }
    }

    let about = |entries: Vec<(i64, String)>| entries.len();
    let of_sale = entries(&admin, &format!("/admin/audit?sale={id}")).await;
    assert_eq!(of_sale.len(), 3, "created, paused, rebuilt: {of_sale:?}");
    assert_eq!(
        entries(&admin, &format!("/admin/sales/{id}")).await,
        of_sale
    );
    let of_amy = entries(&admin, &format!("/admin/audit?user={}", amy.id())).await;
    assert_eq!(about(of_amy), 1, "what was done to her");
    let by_admin = format!("/admin/audit?user={}", admin.id());
    assert_eq!(about(entries(&admin, &by_admin).await), 4);
    let both = format!("{by_admin}&sale={id}");
    assert_eq!(about(entries(&admin, &both).await), 2);
    for nothing in ["sale=99", "user=99", "before=1"] {
        let path = format!("/admin/audit?{nothing}");
        assert_eq!(about(entries(&admin, &path).await), 0, "{nothing}");
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn what_people_typed_stands_in_the_log_as_text(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script().reading("en");
    let hostile = "<img src=x onerror=alert(1)>\" -> \"\\";
    let rename = "UPDATE users SET name = $1 WHERE id = $2";
    let amy = app.shopper("amy").await;
    sqlx::query(rename)
        .bind(hostile)
        .bind(amy.id().0)
        .execute(&app.database)
        .await
        .unwrap();
    let (actor, detail) = (
        format!("user {}", amy.id()),
        format!("title \"a\" -> {hostile:?}"),
    );
    note(&app, &actor, "edit_sale", "voucher 99", &detail).await;
    note(&app, hostile, hostile, hostile, "\u{202e}<script>").await;
    let page = admin.get("/admin/audit").await.body;
    assert!(
        !page.contains("<img") && !page.contains("<script>\u{202e}"),
        "{page}"
    );
    assert!(!page.contains("\u{202e}<script>"), "{page}");
    let shown = "<bdi>&lt;img src=x onerror=alert(1)&gt;\" -&gt; \"\\</bdi>";
    assert_eq!(page.matches(shown).count(), 5, "{page}");
    assert!(page.contains("<bdi>\u{202e}&lt;script&gt;</bdi>"), "{page}");
    assert!(
        page.contains("href=\"/admin/sales/99\">Voucher 99</a>"),
        "{page}"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn the_log_is_read_page_by_page(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script().reading("en");
    let fill = "INSERT INTO audit_log (actor, action, subject)
         SELECT 'user ' || n % 2, 'pause_sale', 'voucher ' || n % 3 FROM generate_series(1, 330) n";
    sqlx::query(fill).execute(&app.database).await.unwrap();
    for (query, sizes) in [
        ("", vec![50, 50, 50, 50, 50, 50, 30]),
        ("sale=1", vec![50, 50, 10]),
        ("user=1", vec![50, 50, 50, 15]),
        ("sale=1&user=1", vec![50, 5]),
    ] {
        let mut path = format!("/admin/audit?{query}");
        let (mut read, mut found) = (Vec::new(), Vec::new());
        loop {
            let page = entries(&admin, &path).await;
            found.push(page.len());
            read.extend(page.into_iter().map(|entry| entry.0));
            let body = admin.get(&path).await.body;
            let Some((before, _)) = body.split_once("\">Older entries") else {
                break;
            };
            let way = before.rsplit_once("href=\"").unwrap().1;
            path = way.split('"').next().unwrap().replace("&amp;", "&");
            assert!(path.contains(query), "{path}");
        }
        assert_eq!(found, sizes, "{query}");
        assert!(
            read.is_sorted_by(|one, next| one > next),
            "{query}: {read:?}"
        );
    }
    app.check_promises().await;
}
