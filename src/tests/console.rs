//! The sales console: the list of all sales, a sale's page, its orders, and dead letters sale by sale.

use std::collections::{BTreeMap, BTreeSet};

use app::{
    api::{ID_END, PART_END},
    model::{Status, VoucherId},
};
use seckill::db;
use sqlx::PgPool;

use super::harness::{App, Person, Sale};

/// The texts between two marks.
fn between<'a>(page: &'a str, from: &str, until: &str) -> Vec<&'a str> {
    let parts = page.split(from).skip(1);
    parts
        .filter_map(|part| Some(part.split_once(until)?.0))
        .collect()
}

/// Where the next page begins, by the link that says so.
fn next(page: &str, words: &str) -> Option<String> {
    let end = format!(">{words}");
    let mut links = between(page, "<a ", "</a>").into_iter();
    let link = links.find(|link| link.ends_with(&end))?;
    between(link, "after=", "\"")
        .first()
        .map(|after| (*after).to_owned())
}

/// The parts of an answer, by their elements.
fn parts_of(answer: &str) -> Vec<(String, String)> {
    let parts = answer.split_terminator(PART_END);
    let parts = parts.map(|part| part.split_once(ID_END).unwrap());
    parts
        .map(|(id, html)| (id.to_owned(), html.to_owned()))
        .collect()
}

/// Where each unit is, as the page of a sale says.
async fn units(admin: &Person, voucher: VoucherId) -> BTreeMap<String, i64> {
    let page = admin.get(&format!("/admin/sales/{voucher}")).await;
    assert_eq!(page.status, 200, "{page:?}");
    let rows = between(&page.body, "data-unit=\"", "</tr>").into_iter();
    let units = rows.map(|row| {
        let (name, rest) = row.split_once('"').unwrap();
        let count = rest.rsplit_once("</td>").unwrap().0;
        let count = count.rsplit_once('>').unwrap().1;
        (name.to_owned(), count.parse().unwrap())
    });
    units.collect()
}

fn sum(units: &BTreeMap<String, i64>) -> i64 {
    let places = ["left", "queued", "confirmed", "dead", "moving", "drift"];
    places.iter().filter_map(|place| units.get(*place)).sum()
}

/// The database refuses the orders of a sale while something is done.
async fn refusing(app: &App, voucher: VoucherId, work: impl Future<Output = ()>) {
    let add = format!(
        "ALTER TABLE orders ADD CONSTRAINT none_of_one CHECK (voucher_id <> {voucher}) NOT VALID"
    );
    let drop = "ALTER TABLE orders DROP CONSTRAINT none_of_one".to_owned();
    sqlx::query(sqlx::AssertSqlSafe(add))
        .execute(&app.database)
        .await
        .unwrap();
    work.await;
    sqlx::query(sqlx::AssertSqlSafe(drop))
        .execute(&app.database)
        .await
        .unwrap();
}

#[sqlx::test]
async fn every_unit_is_in_one_place_wherever_its_order_is(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script().reading("en");
    let (voucher, other) = (app.sale(Sale::of(10)).await, app.sale(Sale::of(3)).await);
    let places = |left, queued, confirmed, dead, refused| {
        let places = [
            ("left", left),
            ("queued", queued),
            ("confirmed", confirmed),
            ("dead", dead),
            ("drift", 0),
            ("granted", 10),
            ("refused", refused),
        ];
        BTreeMap::from(places.map(|(name, count)| (name.to_owned(), count)))
    };
    assert_eq!(units(&admin, voucher).await, places(10, 0, 0, 0, 0));
    let crowd = app.crowd(4).await;
    for shopper in &crowd {
        shopper.buy_one(voucher).await;
    }
    app.crowd(1).await[0].buy_one(other).await;
    // Nobody consumes: what was promised is in the queue, and another sale's is not counted.
    assert_eq!(units(&admin, voucher).await, places(6, 4, 0, 0, 0));
    app.drain().await;
    assert_eq!(units(&admin, voucher).await, places(6, 0, 4, 0, 0));

    let late = app.crowd(2).await;
    refusing(&app, voucher, async {
        for shopper in &late {
            shopper.buy_one(voucher).await;
        }
        app.drain().await;
    })
    .await;
    assert_eq!(units(&admin, voucher).await, places(4, 0, 4, 2, 0));
    let letter = app.letters().await[0].id.to_string();
    let form = [("letter", letter.as_str()), ("sale", &voucher.to_string())];
    let answer = admin.post("/api/admin/discard_dead_letter", &form).await;
    assert_eq!(
        answer.location(),
        format!("/admin/dead-letters?letter=discarded&sale={voucher}"),
        "back to the letters of the sale"
    );
    assert_eq!(units(&admin, voucher).await, places(5, 0, 4, 1, 1));

    let letter = app.letters().await[0].id.to_string();
    admin
        .post("/api/admin/replay_dead_letter", &[("letter", &letter)])
        .await;
    app.drain().await;
    assert_eq!(units(&admin, voucher).await, places(5, 0, 5, 0, 1));

    // A unit that is nowhere shows, and so do they that move while they are counted.
    let stock = app.stock_key(voucher);
    let _: i64 = app.redis(&["DECR", &stock]).await;
    let odd = units(&admin, voucher).await;
    assert_eq!((odd["left"], odd["drift"], sum(&odd)), (4, 1, 10));
    let _: i64 = app.redis(&["INCR", &stock]).await;
    app.check_promises().await;
}

#[sqlx::test]
async fn while_the_gate_is_away_or_the_sale_has_left_it_the_rest_is_shown(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let voucher = app.sale(Sale::of(5)).await;
    app.shopper("amy").await.buy_one(voucher).await;
    app.drain().await;
    let admin = app.admin().await.without_script().reading("en");
    let path = format!("/admin/sales/{voucher}");
    let leave = "UPDATE sales SET left_gate_at = now(), begins_at = now() - interval '9 days',
                                  ends_at = now() - interval '8 days'";
    sqlx::query(leave).execute(&app.database).await.unwrap();
    let page = admin.get(&path).await.body;
    assert!(page.contains("has left the gate"), "{page}");
    let back = "UPDATE sales SET left_gate_at = NULL, ends_at = now() + interval '1 day'";
    sqlx::query(back).execute(&app.database).await.unwrap();
    let _: i64 = app.redis(&["DEL", &app.stock_key(voucher)]).await;
    let page = admin.get(&path).await.body;
    assert!(page.contains("being rebuilt"), "{page}");
    app.keeper_look().await;
    assert_eq!(units(&admin, voucher).await["left"], 4);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_thousand_sales_are_listed_page_by_page_with_running_ones_first(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script().reading("en");
    // Past the gate, which is not asked for sales that have left it.
    let insert = "WITH shop AS (
             INSERT INTO shops (name, category, address) VALUES ('s', 'c', 'a') RETURNING id
         ), made AS (
             INSERT INTO vouchers (shop_id, title, subtitle, rules, price_cents, face_value_cents)
             SELECT shop.id, 'sale ' || n, '', '', 1, 2
             FROM shop, generate_series(1, 1000) n
             RETURNING id
         )
         INSERT INTO sales (voucher_id, granted, begins_at, ends_at, zone, left_gate_at)
         SELECT id, 10, now() + (id % 30 - 20) * interval '1 day', now() + (id % 30 - 9) * interval '1 day', 'UTC', now()
         FROM made";
    sqlx::query(insert).execute(&app.database).await.unwrap();
    let mut path = "/admin/sales".to_owned();
    let (mut seen, mut pages, mut longest) = (Vec::new(), 0, std::time::Duration::ZERO);
    loop {
        let started = std::time::Instant::now();
        let page = admin.get(&path).await;
        longest = longest.max(started.elapsed());
        pages += 1;
        let ids = between(&page.body, "data-voucher=\"", "\"");
        seen.extend(ids.iter().map(|id| id.parse::<i32>().unwrap()));
        match next(&page.body, "More sales") {
            Some(after) => path = format!("/admin/sales?after={after}"),
            None => break,
        }
    }
    eprintln!("{pages} pages, the longest took {longest:?}");
    let distinct: BTreeSet<i32> = seen.iter().copied().collect();
    assert_eq!((pages, seen.len(), distinct.len()), (20, 1000, 1000));
    let right = "SELECT voucher_id
         FROM sales
         ORDER BY ends_at <= now(), begins_at > now(),
                  CASE WHEN ends_at <= now() THEN ends_at WHEN begins_at <= now() THEN begins_at END DESC,
                  begins_at, voucher_id";
    let right: Vec<i32> = sqlx::query_scalar(right)
        .fetch_all(&app.database)
        .await
        .unwrap();
    assert_eq!(seen, right);
    for nonsense in [
        "x",
        "0.1",
        "2.-9223372036854775808.1",
        "2.9223372036854775807.1",
        "1.0.0",
    ] {
        let page = admin.get(&format!("/admin/sales?after={nonsense}")).await;
        assert_eq!(page.status, 200, "{nonsense}");
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn a_page_and_what_refreshes_it_say_the_same_of_what_has_happened(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.reading("en");
    let voucher = app.sale(Sale::of(3)).await;
    for shopper in app.crowd(5).await {
        shopper.buy(voucher).await;
    }
    app.keeper_look().await;
    app.drain().await;
    app.first.figures.flush(&app.database).await.unwrap();
    let parts = format!("/api/admin/sale_parts?voucher_id={voucher}&span=minutes");
    let parts = parts_of(&admin.get(&parts).await.ok::<String>());
    let page = admin
        .without_script()
        .get(&format!("/admin/sales/{voucher}"))
        .await
        .body;
    for (id, html) in &parts {
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        assert!(
            !html.contains("style=") && !html.contains("<script"),
            "{html}"
        );
    }
    let part = |wanted: &str| &parts.iter().find(|(id, _)| id == wanted).unwrap().1;
    for html in [part("chart-orders-plot"), &page] {
        for words in [
            "<span>Accepted</span> <b>3</b>",
            "<span>Bought</span> <b>3</b>",
            "role=\"img\"",
            "<title id=\"chart-orders-title\">",
        ] {
            assert!(html.contains(words), "{words}: {html}");
        }
    }
    assert!(
        part("chart-refused-at-gate-plot").contains("<span>Sold out</span> <b>2</b>"),
        "{parts:?}"
    );
    assert!(
        part("chart-backlog-plot").contains("<span>At most</span> <b>3</b>"),
        "{parts:?}"
    );
    assert!(part("sale-head").contains("3 / 3"), "{parts:?}");
    for span in ["hours", "whole", "nonsense"] {
        let page = admin
            .without_script()
            .get(&format!("/admin/sales/{voucher}?span={span}"))
            .await;
        assert!(
            page.body.contains("<span>Accepted</span> <b>3</b>"),
            "{span}: {page:?}"
        );
    }
    let rows = parts_of(&admin.get("/api/admin/sales_parts").await.ok::<String>());
    assert!(rows[0].1.contains("3 / 3"), "{rows:?}");
    assert_eq!(
        admin
            .get("/api/admin/sale_parts?voucher_id=999999")
            .await
            .status,
        404
    );
    assert_eq!(
        admin.get("/api/admin/sale_parts?voucher_id=x").await.status,
        422
    );
    assert_eq!(
        admin
            .without_script()
            .get("/admin/sales/999999")
            .await
            .status,
        404
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn the_orders_of_a_sale_are_listed_with_their_buyers_page_by_page(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script().reading("en");
    let (voucher, other) = (app.sale(Sale::of(200)).await, app.sale(Sale::of(200)).await);
    let crowd = app.crowd(60).await;
    let mut bought = Vec::new();
    for shopper in &crowd {
        bought.push(shopper.buy_one(voucher).await);
        shopper.buy_one(other).await;
    }
    app.drain().await;
    let amy = app.shopper("amy=1+1").await;
    let mut refused = String::new();
    refusing(&app, voucher, async {
        refused = amy.buy_one(voucher).await;
        app.drain().await;
    })
    .await;
    let letter = app.letters().await[0].id.to_string();
    admin
        .post("/api/admin/discard_dead_letter", &[("letter", &letter)])
        .await;
    assert_eq!(amy.status(&refused).await.status, Status::Refused);
    bought.push(refused.clone());
    bought.sort_unstable();

    let numbers = |page: &str| -> Vec<String> {
        let numbers = between(page, "<code>", "</code>").into_iter();
        numbers.map(str::to_owned).collect()
    };
    let path = format!("/admin/sales/{voucher}/orders");
    let page = admin.get(&path).await.body;
    let mut seen = numbers(&page);
    assert_eq!(seen.len(), 50);
    let more = next(&page, "More orders").unwrap();
    seen.extend(numbers(
        &admin.get(&format!("{path}?after={more}")).await.body,
    ));
    assert_eq!(seen, bought);
    let page = admin.get(&format!("{path}?status=refused")).await.body;
    assert_eq!(numbers(&page), [refused]);
    assert!(
        page.contains("amy=1+1") && page.contains("discarded by staff"),
        "{page}"
    );
    let page = admin.get(&format!("{path}?status=confirmed")).await.body;
    assert!(!page.contains("amy=1+1"));
    assert_eq!(
        db::sale_orders::refused(&app.database, voucher)
            .await
            .unwrap(),
        1
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn dead_letters_are_shown_sale_by_sale_and_page_by_page(database: PgPool) {
    let app = App::on(database).with_shards(3).start().await;
    let admin = app.admin().await.without_script().reading("en");
    let (voucher, other) = (app.sale(Sale::of(5)).await, app.sale(Sale::of(5)).await);
    let keys = app.operator.gate.keys();
    let order = app
        .operator
        .order_ids
        .make(admin.id(), voucher, seckill::clock::system())
        .to_string();
    for n in 0..250 {
        for sale in [voucher, other] {
            let dead = keys.dead(keys.shard(sale));
            let (sale, tries) = (sale.to_string(), n.to_string());
            let user = admin.id().to_string();
            let fields = ["order", &order, "user", &user, "voucher", &sale];
            let head = ["XADD", &dead, "*", "reason", "by hand", "tries", &tries];
            let _: String = app.redis(&[head.as_slice(), &fields].concat()).await;
        }
    }
    for (filter, all, pages) in [
        (String::new(), 500, 5),
        (format!("sale={voucher}&"), 250, 3),
    ] {
        let mut path = format!("/admin/dead-letters?{filter}");
        let (mut seen, mut count) = (BTreeSet::new(), 0);
        loop {
            let page = admin.get(&path).await.body;
            count += 1;
            seen.extend(
                between(&page, "<code>", "</code>")
                    .into_iter()
                    .map(str::to_owned),
            );
            if !filter.is_empty() {
                assert!(
                    !page.contains(&format!("<bdi>{other}</bdi>")),
                    "only of one sale"
                );
            }
            match next(&page, "More dead letters") {
                Some(after) => path = format!("/admin/dead-letters?{filter}after={after}"),
                None => break,
            }
        }
        assert_eq!((seen.len(), count), (all, pages), "{filter}");
    }
    assert_eq!(
        units(&admin, voucher).await["dead"],
        0,
        "without a mark they hold no unit"
    );
    for sale in [voucher, other] {
        let _: i64 = app.redis(&["DEL", &keys.dead(keys.shard(sale))]).await;
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn a_sale_that_is_over_is_neither_open_nor_on_sale(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script().reading("en");
    let (ended, withdrawn) = (app.sale(Sale::of(5)).await, app.sale(Sale::of(5)).await);
    let (of_ended, of_withdrawn) = (
        format!("/admin/sales/{ended}"),
        format!("/admin/sales/{withdrawn}"),
    );
    let page = admin.get(&of_ended).await.body;
    for words in [">On sale<", "On sale, in the gate"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    for (call, voucher) in [("end_sale", ended), ("withdraw_sale", withdrawn)] {
        let fields = [("voucher_id", &*voucher.to_string())];
        admin.post(&format!("/api/admin/{call}"), &fields).await;
    }
    let page = admin.get(&of_ended).await.body;
    assert!(page.contains(">Over<"), "{page}");
    assert_eq!(page.matches("Not sold").count(), 2, "{page}");
    let list = admin.get("/admin/sales").await.body;
    for (page, words) in [
        (&page, "On sale, in the gate"),
        (&page, ">On sale<"),
        (&list, ">On sale<"),
        (&list, ">On hold<"),
    ] {
        assert!(!page.contains(words), "{words}: {page}");
    }
    let page = admin.get(&of_withdrawn).await.body;
    for page in [&page, &list] {
        assert!(page.contains(">Withdrawn<"), "{page}");
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn sales_are_found_by_words_and_by_how_they_stand(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script().reading("en");
    let insert = "WITH shop AS (
             INSERT INTO shops (name, category, address)
             VALUES ('Café 100%', 'c', 'a'), ('老巷子火锅', 'c', 'a')
             RETURNING id
         ), made AS (
             INSERT INTO vouchers (shop_id, title, subtitle, rules, price_cents, face_value_cents)
             SELECT shop.id, 'Sale_' || n % 5 || ' 奶茶', '', '', 1, 2
             FROM shop, generate_series(1, 300) n
             RETURNING id
         )
         INSERT INTO sales (voucher_id, granted, begins_at, ends_at, zone, left_gate_at, state)
         SELECT id, 10, now() + (id % 30 - 20) * interval '1 day', now() + (id % 30 - 9) * interval '1 day', 'UTC', now(),
                (ARRAY['open', 'open', 'paused', 'withdrawn'])[1 + id % 4]
         FROM made";
    sqlx::query(insert).execute(&app.database).await.unwrap();
    for (query, right) in [
        ("words=sale_1", "title LIKE 'Sale\\_1%'"),
        ("words=奶茶 SALE_2", "title LIKE 'Sale\\_2%'"),
        ("words=cafe", "name = 'Café 100%'"),
        ("words=100%25", "name = 'Café 100%'"),
        ("words=火锅", "name <> 'Café 100%'"),
        ("words=sale%25", "false"),
        ("words=%25", "false"),
        (
            "standing=running",
            "state = 'open' AND begins_at <= now() AND ends_at > now()",
        ),
        ("standing=coming", "state = 'open' AND begins_at > now()"),
        ("standing=over", "ends_at <= now()"),
        ("standing=paused", "state = 'paused' AND ends_at > now()"),
        ("standing=withdrawn", "state = 'withdrawn'"),
        (
            "words=火锅&standing=over",
            "name <> 'Café 100%' AND ends_at <= now()",
        ),
        ("standing=nonsense", "true"),
    ] {
        let right = format!(
            "SELECT voucher_id
             FROM sales
             JOIN vouchers ON vouchers.id = voucher_id
             JOIN shops ON shops.id = shop_id
             WHERE {right}
             ORDER BY ends_at <= now(), begins_at > now(),
                      CASE WHEN ends_at <= now() THEN ends_at WHEN begins_at <= now() THEN begins_at END DESC,
                      begins_at, voucher_id"
        );
        let right: Vec<i32> = sqlx::query_scalar(sqlx::AssertSqlSafe(right))
            .fetch_all(&app.database)
            .await
            .unwrap();
        let mut seen = Vec::new();
        let mut path = format!("/admin/sales?{query}");
        loop {
            let page = admin.get(&path).await;
            assert_eq!(page.status, 200, "{path}");
            let ids = between(&page.body, "data-voucher=\"", "\"");
            seen.extend(ids.iter().map(|id| id.parse::<i32>().unwrap()));
            match next(&page.body, "More sales") {
                Some(after) => path = format!("/admin/sales?{query}&after={after}"),
                None => break,
            }
        }
        assert_eq!(seen, right, "{query}");
    }
    let page = admin.get("/admin/sales?words=<b>&standing=over").await.body;
    for shown in [
        "No sale matches.",
        "value=\"&lt;b&gt;\"",
        "<option value=\"over\" selected",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let page = admin
        .get("/admin/sales?words=火锅&standing=over")
        .await
        .body;
    let live = "address=/api/admin/sales_parts?words=%E7%81%AB%E9%94%85&amp;standing=over";
    assert!(page.contains(live), "{page}");
    let parts = "/api/admin/sales_parts?words=火锅&standing=over";
    let parts = parts_of(&admin.reading("en").get(parts).await.json::<String>());
    assert_eq!(parts[0].1.matches("data-voucher").count(), 50);
    app.check_promises().await;
}
