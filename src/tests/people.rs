//! Who has which role: given and taken away by admins, in the pages' calls and on the command line.

use app::{
    model::{Problem, Role},
    texts::Lang,
};
use futures::future::{join, join_all};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::harness::{Answer, App, Person, Program, Sale, eventually};

async fn give(admin: &Person, name: &str, role: &str, shop: &str) -> Answer {
    let fields = [("name", name), ("role", role), ("shop_id", shop)];
    admin.post("/api/admin/set_role", &fields).await
}

async fn role_of(app: &App, name: &str) -> (String, Option<i32>) {
    sqlx::query_as("SELECT role, shop_id FROM users WHERE name = $1")
        .bind(name)
        .fetch_one(&app.database)
        .await
        .unwrap()
}

async fn audited(app: &App) -> Vec<(String, String, String)> {
    sqlx::query_as(
        "SELECT actor, subject, detail FROM audit_log WHERE action = 'set_role' ORDER BY id",
    )
    .fetch_all(&app.database)
    .await
    .unwrap()
}

#[sqlx::test]
async fn a_role_is_given_and_taken_away_and_holds_at_once(database: PgPool) {
    let app = App::start(database).await;
    let (admin, amy) = (app.admin().await, app.shopper("Amy").await);
    let shop = admin.create_shop().await.to_string();
    let (by, about) = (format!("user {}", admin.id()), format!("user {}", amy.id()));
    let given: Value = give(&admin, " aMy ", "admin", "").await.ok();
    assert_eq!(given, json!({"name": "Amy", "role": "admin"}));
    assert_eq!(
        amy.get("/api/my_orders").await.status,
        401,
        "under a new session only"
    );
    let amy = app.shopper("Amy").await;
    assert_eq!(amy.without_script().get("/admin/sales").await.status, 200);
    let given: Value = give(&admin, "Amy", "clerk", &shop).await.ok();
    assert_eq!(
        given,
        json!({"name": "Amy", "role": "clerk", "shop_id": shop.parse::<i32>().unwrap()})
    );
    let amy = app.shopper("Amy").await;
    assert_eq!(amy.without_script().get("/admin/sales").await.status, 403);
    assert_eq!(amy.without_script().get("/desk").await.status, 200);
    give(&admin, "Amy", "shopper", &shop).await.ok::<Value>();
    assert_eq!(role_of(&app, "Amy").await, ("shopper".to_owned(), None));
    let amy = app.shopper("Amy").await;
    assert_eq!(amy.without_script().get("/desk").await.status, 403);
    let details: Vec<String> = audited(&app)
        .await
        .into_iter()
        .map(|entry| entry.2)
        .collect();
    assert_eq!(
        details,
        [
            "shopper → admin".to_owned(),
            format!("admin → clerk of shop {shop}"),
            format!("clerk of shop {shop} → shopper"),
        ]
    );
    assert!(
        audited(&app)
            .await
            .iter()
            .all(|(actor, subject, _)| *actor == by && *subject == about)
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_name_that_is_nobodys_is_said_beside_a_shop_that_is_missing(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let answer = give(&admin, "nobody", "clerk", "").await;
    assert_eq!(
        answer.json::<Value>()["fields"],
        json!({
            "name": Lang::En.problem(Problem::NoSuchAccount),
            "shop_id": Lang::En.problem(Problem::Missing)
        })
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn what_went_wrong_with_a_withdrawal_stands_with_it(database: PgPool) {
    let app = App::start(database).await;
    let browser = app.admin().await.without_script().reading("en");
    let back = give(&browser, "admin", "shopper", "").await;
    let page = browser.get(back.location()).await.body;
    let last = Lang::En.problem(Problem::LastAdmin);
    let (row, form) = page.split_once("</table>").unwrap();
    let details = row.split("<details").nth(1).unwrap();
    let (details, words) = details.split_once('>').unwrap();
    assert!(details.contains("open") && words.contains(&last), "{row}");
    assert!(
        !form.contains(&last) && form.contains(r#"name="name" value="""#),
        "{form}"
    );
    assert!(!page.contains("Some fields need a change"), "{page}");
    app.check_promises().await;
}

#[sqlx::test]
async fn shops_of_the_same_name_are_told_apart(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    for address in ["人民路 1 号", "人民路 1 号", "北街"] {
        let shop = [
            ("name", "老城咖啡"),
            ("category", "咖啡"),
            ("address", address),
        ];
        admin
            .post("/api/admin/create_shop", &shop)
            .await
            .ok::<Value>();
    }
    let other = [("name", "茶馆"), ("category", "茶"), ("address", "北街")];
    admin
        .post("/api/admin/create_shop", &other)
        .await
        .ok::<Value>();
    for page in ["/admin/people", "/admin/sales/new"] {
        let page = admin.without_script().get(page).await.body;
        for shown in [
            ">老城咖啡 · 人民路 1 号 · 1</option>",
            ">老城咖啡 · 人民路 1 号 · 2</option>",
            ">老城咖啡 · 北街</option>",
            ">茶馆</option>",
        ] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn what_names_nobody_no_role_or_no_shop_changes_nothing(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    app.shopper("amy").await;
    for (name, role, shop, field) in [
        ("nobody", "admin", "", "name"),
        ("", "admin", "", "name"),
        ("amy", "root", "", "role"),
        ("amy", "", "", "role"),
        ("amy", "clerk", "", "shop_id"),
        ("amy", "clerk", "999", "shop_id"),
        ("amy", "clerk", "x", "shop_id"),
        ("admin", "shopper", "", "role"),
    ] {
        let answer = give(&admin, name, role, shop).await;
        assert_eq!(answer.status, 422, "{name} {role} {shop}");
        assert!(
            !answer.json::<Value>()["fields"][field].is_null(),
            "{answer:?}"
        );
        let form = give(&admin.without_script(), name, role, shop).await;
        assert!(
            form.location().starts_with("/admin/people?invalid="),
            "{form:?}"
        );
        assert_eq!(
            admin.without_script().get(form.location()).await.status,
            200
        );
    }
    assert!(audited(&app).await.is_empty());
    app.check_promises().await;
}

#[sqlx::test]
async fn somebody_is_always_left_to_run_the_place(database: PgPool) {
    let app = App::start(database).await;
    for round in 0..8 {
        sqlx::query("UPDATE users SET role = 'shopper', shop_id = NULL")
            .execute(&app.database)
            .await
            .unwrap();
        let mut admins = Vec::new();
        for place in 0..3 {
            let name = format!("admin-{round}-{place}");
            admins.push((app.account_of(&name, Role::Admin).await, name));
        }
        // Everybody withdraws everybody else at once.
        let calls = admins.iter().flat_map(|(admin, own)| {
            let others = admins.iter().filter(move |(_, name)| name != own);
            others.map(move |(_, name)| give(admin, name, "shopper", ""))
        });
        for answer in join_all(calls).await {
            let status = answer.status.as_u16();
            assert!([200, 401, 403, 422].contains(&status), "{answer:?}");
        }
        let left: i64 = sqlx::query_scalar("SELECT count(*) FROM users WHERE role = 'admin'")
            .fetch_one(&app.database)
            .await
            .unwrap();
        assert_eq!(left, 1);
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn an_account_that_is_deleted_meanwhile_gets_no_role(database: PgPool) {
    let app = App::start(database).await;
    let (admin, amy) = (app.admin().await, app.shopper("amy").await);
    // Her deletion is under way, and holds her row.
    let mut leaving = app.database.acquire().await.unwrap();
    sqlx::query("BEGIN").execute(&mut *leaving).await.unwrap();
    let delete = "UPDATE users SET name = '', name_key = NULL, deleted_at = now() WHERE id = $1";
    sqlx::query(delete)
        .bind(amy.id().0)
        .execute(&mut *leaving)
        .await
        .unwrap();
    let giving = give(&admin, "amy", "admin", "");
    let end = async {
        eventually("the grant waits for her row", async || {
            app.waiting_for_locks().await == 1
        })
        .await;
        sqlx::query("COMMIT").execute(&mut *leaving).await.unwrap();
    };
    let (given, ()) = join(giving, end).await;
    assert_eq!(given.status, 422, "{given:?}");
    assert!(given.body.contains("Nobody has this name"), "{given:?}");
    let admins: i64 = sqlx::query_scalar("SELECT count(*) FROM users WHERE role = 'admin'")
        .fetch_one(&app.database)
        .await
        .unwrap();
    assert_eq!(admins, 1);
    app.check_promises().await;
}

#[sqlx::test]
async fn the_last_admin_cannot_leave(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.guest();
    let fields = [("name", "admin"), ("password", "correct horse")];
    admin.post("/api/sign_up", &fields).await.ok::<Value>();
    sqlx::query("UPDATE users SET role = 'admin'")
        .execute(&app.database)
        .await
        .unwrap();
    let leaving = admin
        .post("/api/delete_account", &[("password", "correct horse")])
        .await;
    assert_eq!(leaving.status, 422);
    assert!(leaving.body.contains("last admin"), "{leaving:?}");
    app.account_of("ann", Role::Admin).await;
    admin
        .post("/api/delete_account", &[("password", "correct horse")])
        .await
        .ok::<Value>();
    app.check_promises().await;
}

#[sqlx::test]
async fn o23_a_clerk_sees_the_orders_of_their_own_shop_only(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let (ours, theirs) = (app.sale(Sale::of(5)).await, app.sale(Sale::of(5)).await);
    let shop_of = |voucher: app::model::VoucherId| {
        sqlx::query_scalar::<_, i32>("SELECT shop_id FROM vouchers WHERE id = $1").bind(voucher.0)
    };
    let shop = shop_of(ours).fetch_one(&app.database).await.unwrap();
    app.shopper("cleo").await;
    give(&admin, "cleo", "clerk", &shop.to_string())
        .await
        .ok::<Value>();
    let (clerk, amy) = (
        app.shopper("cleo").await.without_script(),
        app.shopper("amy").await,
    );
    let (own, foreign) = (amy.buy_one(ours).await, amy.buy_one(theirs).await);
    let queued = clerk.get(&format!("/desk?order={own}")).await;
    assert!(
        queued.body.contains("no stored order of this number"),
        "not stored yet"
    );
    app.drain().await;
    let found = clerk.get(&format!("/desk?order={own}")).await;
    assert!(
        found.body.contains("满一百减五十") && found.body.contains(">Bought<"),
        "{found:?}"
    );
    let mut forged = own.clone();
    forged.replace_range(30..36, "000000");
    let refused = clerk.get(&format!("/desk?order={foreign}")).await;
    let missing = clerk.get(&format!("/desk?order={forged}")).await;
    assert_eq!(
        (refused.status.as_u16(), missing.status.as_u16()),
        (200, 200)
    );
    // The page repeats what was typed; but for that, a foreign order and a missing one are one answer.
    assert_eq!(
        without_nonce(&refused.body.replace(&foreign, "")),
        without_nonce(&missing.body.replace(&forged, ""))
    );
    let all = admin
        .without_script()
        .get(&format!("/desk?order={foreign}"))
        .await;
    assert!(all.body.contains(">Bought<"), "an admin sees all: {all:?}");
    app.check_promises().await;
}

/// A page without what differs each time.
fn without_nonce(page: &str) -> String {
    let mut parts = page.split("nonce=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |page, part| {
        page + part.split_once('"').map_or(part, |(_, rest)| rest)
    })
}

#[sqlx::test]
async fn roles_are_given_and_taken_away_on_the_command_line(database: PgPool) {
    let app = App::start(database).await;
    let shop = app.admin().await.create_shop().await.to_string();
    let amy = app.shopper("Amy").await;
    let run = async |words: &[&str]| {
        let mut program = Program::start_with(&app, &[&["admin"], words].concat());
        let ended = program.ended().await;
        // What it wrote last may still be on its way.
        eventually("it says what it did", async || !program.said().is_empty()).await;
        (ended.success(), program.said().join("\n"))
    };
    let (good, said) = run(&["grant", "amy", "--role", "clerk", "--shop", &shop]).await;
    assert!(
        good && said.contains("clerk") && said.contains("Amy"),
        "{said}"
    );
    assert_eq!(
        role_of(&app, "Amy").await,
        ("clerk".to_owned(), Some(shop.parse().unwrap()))
    );
    assert_eq!(amy.get("/api/my_orders").await.status, 401);
    let (good, said) = run(&["list"]).await;
    assert!(
        good && said.contains("Amy") && said.contains("admin"),
        "{said}"
    );
    assert!(run(&["withdraw", "AMY"]).await.0);
    assert_eq!(role_of(&app, "Amy").await.0, "shopper");
    for (words, reason) in [
        (&["withdraw", "admin"][..], "last admin"),
        (&["withdraw", "nobody"][..], "no account of this name"),
        (
            &["grant", "amy", "--role", "clerk"][..],
            "the shop is not accepted",
        ),
        (
            &["grant", "amy", "--role", "clerk", "--shop", "99"][..],
            "the shop is not accepted",
        ),
        (
            &["grant", "p\u{430}y", "--role", "admin"][..],
            "the name is not accepted",
        ),
    ] {
        let (good, said) = run(words).await;
        assert!(!good && said.contains(reason), "{words:?}: {said}");
    }
    let actors: Vec<String> = audited(&app)
        .await
        .into_iter()
        .map(|entry| entry.0)
        .collect();
    assert_eq!(actors, ["command line", "command line"]);
    app.check_promises().await;
}
