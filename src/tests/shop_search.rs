//! Search over shops: what is found, in which order, page by page, and at what price.

use std::time::{Duration, Instant};

use app::model::{ShopKey, ShopSearch, Words};
use proptest::prelude::*;
use seckill::shop_search;
use sqlx::{PgPool, Row};

use super::harness::{App, Sale, eventually};

const SHOPS: [[&str; 3]; 9] = [
    ["老巷子火锅", "美食", "上海市黄浦区南京东路 18 号"],
    ["一杯山茶", "饮品", "杭州市西湖区文三路 210 号"],
    ["Noodle House 面馆", "美食", "1 Harbour Road, Hong Kong"],
    ["Café Crème", "饮品", "巴黎路 5 号"],
    ["茶", "饮品", "茶城 3 楼"],
    ["海风日料", "美食", "青岛市香港中路 61 号"],
    ["ＢＩＧ　ＢＯＯＫＳ", "文化", "南京市广州路 35 号"],
    ["100% Cotton_Shop", "生活", "C:\\Street 7"],
    ["КОФЕЙНЯ «Ёлка»", "饮品", "Main Street 9"],
];

async fn add(app: &App, [name, category, address]: [&str; 3]) -> i32 {
    let insert = "INSERT INTO shops (name, category, address) VALUES ($1, $2, $3) RETURNING id";
    let insert = sqlx::query_scalar(insert);
    let insert = insert.bind(name).bind(category).bind(address);
    insert.fetch_one(&app.database).await.unwrap()
}

async fn found(app: &App, words: &str) -> Vec<String> {
    found_in(app, words, "").await
}

async fn found_in(app: &App, words: &str, category: &str) -> Vec<String> {
    let search = ShopSearch {
        words: Words::read(words),
        category: category.to_owned(),
        after: None,
    };
    let list = shop_search::find(&app.operator.pool, &search)
        .await
        .unwrap();
    assert!(!list.is_guess, "{words}: {list:?}");
    list.shops.into_iter().map(|shop| shop.name).collect()
}

#[sqlx::test]
async fn every_word_is_found_wherever_it_stands_and_however_it_is_written(database: PgPool) {
    let app = App::start(database).await;
    for shop in SHOPS {
        add(&app, shop).await;
    }
    for (words, shops) in [
        ("火锅", vec!["老巷子火锅"]),
        ("火", vec!["老巷子火锅"]),
        ("茶", vec!["茶", "一杯山茶"]),
        ("南京", vec!["老巷子火锅", "ＢＩＧ　ＢＯＯＫＳ"]),
        ("南京 火锅", vec!["老巷子火锅"]),
        ("火锅 美食 18", vec!["老巷子火锅"]),
        ("noodle", vec!["Noodle House 面馆"]),
        ("HOUSE noodle", vec!["Noodle House 面馆"]),
        ("ｎｏｏｄｌｅ　面馆", vec!["Noodle House 面馆"]),
        ("odle", vec!["Noodle House 面馆"]),
        ("cafe creme", vec!["Café Crème"]),
        ("CAFÉ", vec!["Café Crème"]),
        ("big books", vec!["ＢＩＧ　ＢＯＯＫＳ"]),
        ("кофейня", vec!["КОФЕЙНЯ «Ёлка»"]),
        ("елка", vec!["КОФЕЙНЯ «Ёлка»"]),
        ("street", vec!["100% Cotton_Shop", "КОФЕЙНЯ «Ёлка»"]),
        (
            "饮品",
            vec!["一杯山茶", "Café Crème", "茶", "КОФЕЙНЯ «Ёлка»"],
        ),
        ("100% cotton_shop", vec!["100% Cotton_Shop"]),
        ("c:\\street", vec!["100% Cotton_Shop"]),
        // No wildcards: nothing, or what the other letters find.
        ("%", vec![]),
        ("_", vec![]),
        ("\\", vec![]),
        (
            "n%e",
            vec!["Noodle House 面馆", "100% Cotton_Shop", "КОФЕЙНЯ «Ёлка»"],
        ),
        ("火_锅", vec!["老巷子火锅"]),
        ("火锅 书店", vec![]),
        ("'; DROP TABLE shops; --", vec![]),
    ] {
        let list = ShopSearch {
            words: Words::read(words),
            ..ShopSearch::default()
        };
        let list = shop_search::find(&app.operator.pool, &list).await.unwrap();
        let names: Vec<&str> = list.shops.iter().map(|shop| shop.name.as_str()).collect();
        if list.is_guess {
            assert_eq!(shops, Vec::<&str>::new(), "{words}: {names:?}");
        } else {
            assert_eq!(names, shops, "{words}");
        }
    }
    assert_eq!(found_in(&app, "茶", "饮品").await.len(), 2);
    assert_eq!(found_in(&app, "茶", "美食").await.len(), 0);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_slip_finds_what_was_meant_but_only_when_nothing_matches(database: PgPool) {
    let app = App::start(database).await;
    for shop in SHOPS {
        add(&app, shop).await;
    }
    for (typed, meant) in [
        ("nodle", Some("Noodle House 面馆")),
        ("noodle hause", Some("Noodle House 面馆")),
        ("老港子火锅", Some("老巷子火锅")),
        ("火过", Some("老巷子火锅")),
        ("coton", Some("100% Cotton_Shop")),
        ("zzzzzzz", None),
        ("xq", None),
    ] {
        let page = app.guest().without_script();
        let page = page.get(&format!("/?words={typed}")).await;
        assert_eq!(page.status, 200);
        match meant {
            Some(meant) => {
                assert!(page.body.contains("Did you mean"), "{typed}");
                assert!(page.body.contains(meant), "{typed}: {}", page.body);
            }
            None => assert!(page.body.contains("No shop matches this search"), "{typed}"),
        }
    }
    let exact = app.guest().without_script().get("/?words=noodle").await;
    assert!(!exact.body.contains("Did you mean"));
    app.check_promises().await;
}

#[sqlx::test]
async fn chinese_words_are_found_without_the_space_between_them(database: PgPool) {
    let app = App::start(database).await;
    for shop in SHOPS {
        add(&app, shop).await;
    }
    for n in 0..30 {
        add(&app, [&format!("茶馆 {n}"), "饮品", "重庆市"]).await;
    }
    let guest = app.guest().without_script();
    for (typed, meant) in [
        ("上海火锅", "老巷子火锅"),
        ("火锅南京东路", "老巷子火锅"),
        ("青岛日料", "海风日料"),
    ] {
        let page = guest.get(&format!("/?words={typed}")).await.body;
        assert!(page.contains("No shop matches exactly"), "{typed}: {page}");
        assert!(page.contains(meant), "{typed}: {page}");
        assert_eq!(read_page(&page).0.len(), 1, "{typed}");
    }
    let mut next = Some("/?words=重庆茶馆".to_owned());
    let mut seen = Vec::new();
    while let Some(address) = next {
        let page = guest.get(&address).await.body;
        let is_first = !address.contains("after=");
        assert_eq!(page.contains("rel=\"first\""), !is_first, "{page}");
        let (ids, link) = read_page(&page);
        seen.extend(ids);
        next = link;
    }
    assert_eq!(seen.len(), 30);
    assert!(seen.is_sorted(), "{seen:?}");
    let beyond = guest.get("/?words=火锅&after=2-999").await.body;
    assert!(beyond.contains("No shop matches this search"), "{beyond}");
    app.check_promises().await;
}

#[sqlx::test]
async fn what_is_offered_is_shown_with_the_shop_that_offers_it(database: PgPool) {
    let app = App::start(database).await;
    let (one, other) = (app.sale(Sale::of(5)).await, app.sale(Sale::of(5)).await);
    let rename = "UPDATE vouchers SET title = $1 WHERE id = $2";
    for (voucher, title) in [(one, "奶茶买一送一"), (other, "Ｂig <b>奶茶</b>")] {
        sqlx::query(rename)
            .bind(title)
            .bind(voucher.0)
            .execute(&app.database)
            .await
            .unwrap();
    }
    let guest = app.guest().without_script();
    let link = |voucher| format!("href=\"/vouchers/{voucher}\"");
    for (words, shown) in [
        ("奶茶", [true, true]),
        ("奶茶 big", [false, true]),
        ("咖啡奶茶", [true, true]),
        ("咖啡", [false, false]),
    ] {
        let page = guest.get(&format!("/?words={words}")).await.body;
        for (voucher, is_shown) in [one, other].into_iter().zip(shown) {
            assert_eq!(page.contains(&link(voucher)), is_shown, "{words}: {page}");
        }
        assert!(!page.contains("<b>奶茶"), "{page}");
    }
    let end = "UPDATE sales SET ends_at = now() WHERE voucher_id = $1";
    sqlx::query(end)
        .bind(one.0)
        .execute(&app.database)
        .await
        .unwrap();
    let page = guest.get("/?words=奶茶").await.body;
    assert!(
        !page.contains(&link(one)) && page.contains(&link(other)),
        "{page}"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_category_that_no_shop_has_is_none_to_choose(database: PgPool) {
    let app = App::start(database).await;
    add(&app, SHOPS[0]).await;
    let page = app
        .guest()
        .without_script()
        .get("/?category=none")
        .await
        .body;
    assert!(!page.contains("<option value=\"none\""), "{page}");
    assert!(page.contains("<option value=\"美食\""), "{page}");
    app.check_promises().await;
}

#[sqlx::test]
async fn a_shop_is_found_by_its_vouchers_until_their_sales_are_over(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let shop = "老城咖啡";
    assert_eq!(found(&app, "满一百").await, [shop]);
    assert_eq!(found(&app, "咖啡 减五十").await, [shop]);
    let change = async |change: &str| {
        let change = sqlx::AssertSqlSafe(format!("UPDATE {change} = {voucher}"));
        sqlx::query(change).execute(&app.database).await.unwrap();
    };
    change("vouchers SET title = '双人下午茶' WHERE id").await;
    assert_eq!(found(&app, "下午茶").await, [shop]);
    assert_eq!(found(&app, "满一百").await, [""; 0]);
    change("sales SET state = 'withdrawn' WHERE voucher_id").await;
    assert_eq!(found(&app, "下午茶").await, [""; 0]);
    change("sales SET state = 'open' WHERE voucher_id").await;
    assert_eq!(found(&app, "下午茶").await, [shop]);

    change("sales SET ends_at = clock_timestamp() + interval '300 ms' WHERE voucher_id").await;
    assert_eq!(found(&app, "下午茶").await, [shop]);
    eventually("its sale is over", async || {
        found(&app, "下午茶").await.is_empty()
    })
    .await;
    assert_eq!(found(&app, "咖啡").await, [shop]);

    sqlx::query("UPDATE shops SET name = 'Old Town Coffee'")
        .execute(&app.database)
        .await
        .unwrap();
    assert_eq!(found(&app, "town").await, ["Old Town Coffee"]);
    app.check_promises().await;
}

#[sqlx::test]
async fn units_that_are_sold_make_no_work_for_the_search(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    assert_eq!(found(&app, "咖啡").await.len(), 1);
    let due = async || {
        sqlx::query_scalar::<_, i64>(
            "SELECT count(*) FROM shops WHERE search_due_at <= clock_timestamp()",
        )
        .fetch_one(&app.database)
        .await
        .unwrap()
    };
    assert_eq!(due().await, 0);
    app.shopper("amy").await.buy_one(voucher).await;
    app.drain().await;
    assert_eq!(due().await, 0);
    app.check_promises().await;
}

/// The ids of shops on a page, and the link to the next.
fn read_page(html: &str) -> (Vec<i32>, Option<String>) {
    let (_, list) = html.split_once("class=\"cards shops\"").unwrap_or_default();
    let ids = list.split("href=\"/shops/").skip(1);
    let ids = ids.map(|rest| rest.split('"').next().unwrap().parse().unwrap());
    let next = list.split("<a ").find(|tag| tag.contains("rel=\"next\""));
    let next = next.map(|tag| {
        let (_, address) = tag.split_once("href=\"").unwrap();
        address.split('"').next().unwrap().replace("&amp;", "&")
    });
    (ids.collect(), next)
}

#[sqlx::test]
async fn pages_have_no_gaps_and_nothing_twice_while_shops_are_added(database: PgPool) {
    let app = App::start(database).await;
    let mut expected = Vec::new();
    for n in 0..70 {
        // Every rank has a part of them.
        let name = match n % 3 {
            0 => format!("茶馆 {n}"),
            1 => format!("好茶 {n}"),
            _ => format!("馆 {n}"),
        };
        let id = add(&app, [&name, "饮品", "茶城"]).await;
        expected.push((n % 3, id));
    }
    expected.sort_unstable();
    let guest = app.guest().without_script();
    for (address, mut wanted) in [
        ("/?words=茶&category=饮品", expected.clone()),
        ("/", expected.iter().map(|(_, id)| (0, *id)).collect()),
    ] {
        wanted.sort_unstable();
        let mut seen = Vec::new();
        let mut next = Some(address.to_owned());
        while let Some(address) = next {
            let page = guest.get(&address).await;
            assert_eq!(page.status, 200);
            let (ids, link) = read_page(&page.body);
            // A link shows the same to whoever is sent it.
            assert_eq!(
                read_page(&app.guest().without_script().get(&address).await.body).0,
                ids
            );
            seen.extend(ids);
            next = link;
            add(&app, ["茶馆 new", "饮品", "茶城"]).await;
        }
        let mut once = seen.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), seen.len(), "nothing is shown twice");
        let old: Vec<i32> = wanted.iter().map(|(_, id)| *id).collect();
        let seen_old: Vec<i32> = seen.into_iter().filter(|id| old.contains(id)).collect();
        assert_eq!(seen_old, old, "no gaps, in order");
    }
    for odd in ["x", "9-1", "1-", "-1", "2147483648"] {
        assert_eq!(
            guest.get(&format!("/?words=茶&after={odd}")).await.status,
            200
        );
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn categories_are_links_with_counts_that_keep_the_words(database: PgPool) {
    let app = App::start(database).await;
    for shop in SHOPS {
        add(&app, shop).await;
    }
    let guest = app.guest().without_script();
    let page = guest.get("/").await.body;
    assert!(page.contains("href=\"/?category=%E9%A5%AE%E5%93%81#all-shops\""));
    let page = guest.get("/?words=street&category=饮品").await.body;
    assert!(page.contains("href=\"/?words=street#all-shops\""), "{page}");
    let link =
        "href=\"/?words=street&amp;category=%E9%A5%AE%E5%93%81#all-shops\" aria-current=\"true\"";
    assert!(page.contains(link), "{page}");
    assert!(page.contains("КОФЕЙНЯ") && !page.contains("Cotton"));
    let counts = page.split("class=\"count\">").skip(1);
    let counts: Vec<&str> = counts.map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(counts, ["2", "1", "1"]);
    app.check_promises().await;
}

#[sqlx::test]
async fn what_is_folded_at_once_by_many_is_folded_right(database: PgPool) {
    let app = App::start(database).await;
    let insert = "INSERT INTO shops (name, category, address) SELECT '茶 ' || n, 'c', 'a' FROM generate_series(1, 3000) n";
    sqlx::query(insert).execute(&app.database).await.unwrap();
    let search = ShopSearch {
        words: Words::read("茶"),
        ..ShopSearch::default()
    };
    let searches = (0..8).map(|_| shop_search::find(&app.operator.pool, &search));
    for list in futures::future::join_all(searches).await {
        list.unwrap();
    }
    shop_search::fold_all(&app.operator.pool).await.unwrap();
    assert_eq!(found(&app, "茶 2999").await, ["茶 2999"]);
    assert_eq!(found(&app, "茶 1").await.len(), 20);
    app.check_promises().await;
}

/// 100,000 shops with names, addresses and a title as they are found in a city, folded.
const MANY: &str = "INSERT INTO shops (name, category, address)
    SELECT (ARRAY['老巷子','一杯','云上','半亩','北岸','小满','Noodle','Star','Green','Happy','山茶','星轨'])[1 + (n * 7) % 12]
           || (ARRAY['火锅','奶茶','健身','咖啡','书店','日料',' House',' Coffee',' Garden','影城','面馆'])[1 + (n / 16) % 11]
           || ' ' || n,
           (ARRAY['美食','饮品','运动','丽人','文化','生活'])[1 + (n * 31) % 6],
           (ARRAY['上海市','杭州市','北京市','成都市','南京市'])[1 + (n * 13) % 5]
           || (ARRAY['南京东路','文三路','建国路','Harbour Road','Main Street'])[1 + (n / 3) % 5] || ' ' || n % 999 || ' 号'
    FROM generate_series(1, $1::integer) n";

#[sqlx::test]
async fn a_search_uses_its_index(database: PgPool) {
    let app = App::start(database).await;
    sqlx::query(MANY)
        .bind(5_000)
        .execute(&app.database)
        .await
        .unwrap();
    shop_search::fold_all(&app.operator.pool).await.unwrap();
    sqlx::query("ANALYZE shops")
        .execute(&app.database)
        .await
        .unwrap();
    // The statement of `db::shop_search::find`, with a planner that may read the table as a whole.
    let plan =
        "EXPLAIN SELECT id, CASE WHEN starts_with(search_name, '火锅') THEN 0 ELSE 1 END AS rank
        FROM shops
        WHERE shop_grams(search_text) @> '{火锅}' AND search_text LIKE ALL ('{%火锅%}')
        ORDER BY rank, id LIMIT 21";
    let plan = sqlx::query(plan).fetch_all(&app.database).await.unwrap();
    let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
    let plan = plan.join("\n");
    assert!(plan.contains("Bitmap Index Scan on shops_search"), "{plan}");
    app.check_promises().await;
}

/// A measurement, not a test: `cargo nextest run --run-ignored only --no-capture measure_search`.
#[sqlx::test]
#[ignore = "takes a minute"]
async fn measure_search_among_100_000_shops(database: PgPool) {
    let app = App::start(database).await;
    let pool = &app.operator.pool;
    sqlx::query(MANY)
        .bind(100_000)
        .execute(&app.database)
        .await
        .unwrap();
    let started = Instant::now();
    shop_search::fold_all(pool).await.unwrap();
    println!("folded in {:?}", started.elapsed());
    sqlx::query("VACUUM ANALYZE shops")
        .execute(&app.database)
        .await
        .unwrap();
    let typical = [
        "火锅",
        "茶",
        "noodle house",
        "star coffee 上海市",
        "杭州 奶茶",
        "书店",
        "harbour",
        "99999",
        "nodle huse",
        "火过",
        "影城 南京东路",
        "上海火锅",
        "成都奶茶健身",
        "重庆火锅咖啡日料书店",
        "",
    ];
    // A letter of every address finds every shop.
    let worst = ["号", "市"];
    for mix in [&typical[..], &worst] {
        let mut all = Vec::new();
        for typed in mix {
            let times = times_of(pool, typed).await;
            println!("{typed:20} median {:?}, p95 {:?}", times[10], times[18]);
            all.extend(times);
        }
        all.sort_unstable();
        let (half, most) = (all[all.len() / 2], all[all.len() * 95 / 100]);
        println!("together: median {half:?}, p95 {most:?}");
    }
    let deep = ShopSearch {
        words: Words::read("茶"),
        after: ShopKey::parse("2-90000").ok(),
        ..ShopSearch::default()
    };
    let started = Instant::now();
    shop_search::find(pool, &deep).await.unwrap();
    println!("a late page {:?}", started.elapsed());
    app.check_promises().await;
}

/// What twenty searches took, sorted.
async fn times_of(pool: &PgPool, typed: &str) -> Vec<Duration> {
    let search = ShopSearch {
        words: Words::read(typed),
        ..ShopSearch::default()
    };
    let mut times = Vec::new();
    for _ in 0..20 {
        let started = Instant::now();
        shop_search::find(pool, &search).await.unwrap();
        times.push(started.elapsed());
    }
    times.sort_unstable();
    times
}

proptest! {
    #[test]
    fn folding_is_stable_and_what_is_typed_is_found_in_itself(text in "\\PC{0,40}") {
        let folded = app::model::folded(&text);
        prop_assert_eq!(app::model::folded(&folded), folded.clone());
        prop_assert!(!folded.contains(['%', '_', '\\']), "{}", folded);
        prop_assert!(!folded.contains("  ") && folded.trim() == folded);
        let words = Words::read(&text);
        prop_assert!(words.slips_in(&folded) == Some(0));
        prop_assert_eq!(app::model::folded(&text.to_uppercase()).chars().count() > 0, !folded.is_empty());
        for gram in words.grams() {
            prop_assert!(folded.contains(&gram));
            prop_assert!((1..=2).contains(&gram.chars().count()));
        }
    }
}
