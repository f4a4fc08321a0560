//! The orders of a sale as a file: who may have it, what is in it, and that nobody who reads it slowly holds anything up.

use app::model::{Role, VoucherId};
use sqlx::PgPool;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::harness::{App, Person, Sale, eventually};

fn path(voucher: VoucherId) -> String {
    format!("/admin/sales/{voucher}/orders.csv")
}

/// The rows of a file, by the reader of a library.
fn rows(file: &str) -> Vec<Vec<String>> {
    let file = file.strip_prefix('\u{feff}').expect("a byte order mark");
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(file.as_bytes());
    let rows = reader
        .records()
        .map(|row| row.unwrap().iter().map(str::to_owned).collect());
    rows.collect()
}

/// So many stored refusals of one sale, past everything.
async fn fill(app: &App, voucher: VoucherId, user: i64, orders: i64) {
    let insert = "INSERT INTO orders (id, voucher_id, user_id, status, reason, accepted_at)
         SELECT ('019f0000-0000-8000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, 'refused', 'sold_out', now()
         FROM generate_series(1, $3::bigint) n";
    sqlx::query(insert)
        .bind(voucher.0)
        .bind(user)
        .bind(orders)
        .execute(&app.database)
        .await
        .unwrap();
}

#[sqlx::test]
async fn a_file_of_orders_is_for_admins_alone(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let path = path(voucher);
    let (guest, admin) = (app.guest(), app.admin().await);
    assert_eq!(guest.get(&path).await.status, 401);
    let answer = guest.without_script().get(&path).await;
    assert_eq!(answer.location(), format!("/sign-in?next={path}"));
    for stranger in [
        app.shopper("bob").await,
        app.account_of("cleo", Role::Clerk).await,
    ] {
        for stranger in [&stranger, &stranger.without_script()] {
            let answer = stranger.get(&path).await;
            assert_eq!(
                (answer.status.as_u16(), answer.body.as_str()),
                (403, r#"{"error":"forbidden"}"#)
            );
        }
    }
    let answer = admin.get(&path).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("text/csv; charset=utf-8")
    );
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    let kept = answer.header("content-disposition").unwrap();
    let today = seckill::clock::system().date();
    assert_eq!(
        kept,
        format!("attachment; filename=\"orders-{voucher}-{today}.csv\"")
    );
    assert_eq!(
        rows(&answer.body).len(),
        1,
        "no order, but the names of the columns"
    );
    for nothing in [
        "/admin/sales/999999/orders.csv",
        "/admin/sales/x/orders.csv",
    ] {
        assert_eq!(admin.get(nothing).await.status, 404);
    }
    assert_eq!(admin.post(&path, &[]).await.status, 405);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_spreadsheet_reads_every_text_as_it_is_and_none_as_a_formula(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shop = admin.create_shop().await;
    let mut fields = Sale::of(20).fields(shop);
    fields.retain(|(name, _)| *name != "title");
    fields.push(("title", "=HYPERLINK(\"http://evil\";\"券, 🎉\")".to_owned()));
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let sale: serde_json::Value = admin.post("/api/admin/create_sale", &fields).await.ok();
    let voucher = VoucherId(i32::try_from(sale["voucher_id"].as_i64().unwrap()).unwrap());
    let names = [
        "阿杰", "@SUM(A1)", "+49", "-1", "=1+1", "a\"b,c;d", "\tx", "🎉", "plain",
    ];
    let mut orders = Vec::new();
    for (n, name) in names.iter().enumerate() {
        let shopper = app.shopper(&format!("shopper{n}")).await;
        // Whatever the rules for names are, or were.
        sqlx::query("UPDATE users SET name = $2 WHERE id = $1")
            .bind(shopper.id().0)
            .bind(name)
            .execute(&app.database)
            .await
            .unwrap();
        orders.push((
            shopper.buy_one(voucher).await,
            shopper.id().to_string(),
            *name,
        ));
    }
    app.drain().await;
    let answer = admin.get(&path(voucher)).await;
    assert!(
        answer
            .body
            .as_bytes()
            .starts_with(b"\xEF\xBB\xBF\"order_id\",\"status\"")
    );
    let rows = rows(&answer.body);
    assert_eq!(rows.len(), 1 + names.len());
    orders.sort_unstable();
    for (row, (order, user, name)) in rows[1..].iter().zip(orders) {
        let right = if name.starts_with(['@', '+', '-', '=', '\t']) {
            format!("'{name}")
        } else {
            name.to_owned()
        };
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        assert_eq!(cells[..5], [order.as_str(), "confirmed", "", &user, &right]);
        assert_eq!(cells[6], "'=HYPERLINK(\"http://evil\";\"券, 🎉\")");
        assert_eq!(cells[7..9], ["老城咖啡", "19.99"]);
        assert!(
            cells[9].ends_with("+08:00") && cells[10] >= cells[9],
            "{cells:?}"
        );
    }
    for row in &rows {
        for cell in row {
            assert!(
                !cell.starts_with(['=', '+', '-', '@', '\t', '\r']),
                "{cell:?}"
            );
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn a_file_of_many_statements_has_every_order_once(database: PgPool) {
    let app = App::start(database).await;
    let (admin, amy) = (app.admin().await, app.shopper("amy").await);
    let (voucher, other) = (app.sale(Sale::of(5)).await, app.sale(Sale::of(5)).await);
    let bought = amy.buy_one(voucher).await;
    amy.buy_one(other).await;
    app.drain().await;
    // Exactly full statements, and the one live order among them.
    fill(&app, voucher, amy.id().0, 14_999).await;
    let rows = rows(&admin.get(&path(voucher)).await.body);
    let ids: Vec<&str> = rows[1..].iter().map(|row| row[0].as_str()).collect();
    assert_eq!(ids.len(), 15_000);
    assert!(ids.is_sorted() && ids.contains(&bought.as_str()));
    app.check_promises().await;
}

/// Asks for a file and reads no more of it than its beginning.
async fn reads_slowly(admin: &Person, voucher: VoucherId) -> tokio::net::TcpStream {
    let host = format!("127.0.0.1:{}", admin.base().port().unwrap());
    let mut stream = tokio::net::TcpStream::connect(&host).await.unwrap();
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {host}\r\nCookie: {}\r\n\r\n",
        path(voucher),
        admin.cookies().unwrap()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 512];
    stream.read_exact(&mut head).await.unwrap();
    assert!(head.starts_with(b"HTTP/1.1 200 OK"));
    stream
}

#[sqlx::test]
async fn who_reads_slowly_or_hangs_up_holds_no_connection(database: PgPool) {
    // One connection for everybody.
    let app = App::on(database)
        .with(|config| config.database_pool = 1)
        .start()
        .await;
    let (admin, amy) = (app.admin().await, app.shopper("amy").await);
    let voucher = app.sale(Sale::of(5)).await;
    // More than the sockets take.
    fill(&app, voucher, amy.id().0, 100_000).await;
    let mut slow = Vec::new();
    for _ in 0..3 {
        slow.push(reads_slowly(&admin, voucher).await);
    }
    let pool = &app.first.stores.pool;
    eventually("they wait, and the connection is free", async || {
        pool.num_idle() == pool.size() as usize
    })
    .await;
    let page = admin.without_script().get("/admin/sales").await;
    assert_eq!(page.status, 200, "{page:?}");
    let open = "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
    let open: i64 = sqlx::query_scalar(open)
        .fetch_one(&app.database)
        .await
        .unwrap();
    assert_eq!(open, 0);
    drop(slow);
    assert_eq!(rows(&admin.get(&path(voucher)).await.body).len(), 100_001);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_file_that_cannot_be_read_on_does_not_pass_for_the_whole(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let (admin, amy) = (app.admin().await, app.shopper("amy").await);
    let voucher = app.sale(Sale::of(5)).await;
    fill(&app, voucher, amy.id().0, 100_000).await;
    let mut slow = reads_slowly(&admin, voucher).await;
    app.database_line().cut();
    let mut rest = Vec::new();
    // Torn down, or closed: either way without the chunk that ends an answer.
    let _ = slow.read_to_end(&mut rest).await;
    assert!(!rest.ends_with(b"0\r\n\r\n"), "{} bytes", rest.len());
    app.database_line().mend();
    eventually("the database is back", async || {
        admin.get(&path(voucher)).await.status == 200
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn a_file_is_read_on_only_for_an_admin_who_is_signed_in_still(database: PgPool) {
    let app = App::start(database).await;
    let (admin, amy) = (app.admin().await, app.shopper("amy").await);
    let voucher = app.sale(Sale::of(5)).await;
    fill(&app, voucher, amy.id().0, 100_000).await;
    let mut signed_out = reads_slowly(&admin, voucher).await;
    admin.post("/api/sign_out", &[]).await;
    let other = app.account_of("olga", Role::Admin).await;
    let mut withdrawn = reads_slowly(&other, voucher).await;
    sqlx::query("UPDATE users SET role = 'shopper' WHERE id = $1")
        .bind(other.id().0)
        .execute(&app.database)
        .await
        .unwrap();
    for stream in [&mut signed_out, &mut withdrawn] {
        let mut rest = Vec::new();
        // Torn down, or closed.
        let _ = stream.read_to_end(&mut rest).await;
        assert!(!rest.ends_with(b"0\r\n\r\n"), "{} bytes", rest.len());
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn so_many_files_at_a_time_and_no_more(database: PgPool) {
    let app = App::start(database).await;
    let (admin, amy) = (app.admin().await, app.shopper("amy").await);
    let voucher = app.sale(Sale::of(5)).await;
    fill(&app, voucher, amy.id().0, 100_000).await;
    let admins = [
        app.account_of("olga", Role::Admin).await,
        app.account_of("otto", Role::Admin).await,
    ];
    let mut slow = Vec::new();
    for _ in 0..3 {
        slow.push(reads_slowly(&admin, voucher).await);
    }
    let answer = admin.get(&path(voucher)).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("retry-after")),
        (429, Some("30"))
    );
    for admin in &admins {
        for _ in 0..if admin.id() == admins[0].id() { 3 } else { 2 } {
            slow.push(reads_slowly(admin, voucher).await);
        }
    }
    let answer = admins[1].get(&path(voucher)).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("retry-after")),
        (503, Some("30"))
    );
    drop(slow);
    eventually("their places are free", async || {
        admins[1].get(&path(voucher)).await.status == 200
    })
    .await;
    app.check_promises().await;
}
