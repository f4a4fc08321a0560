//! What an operator does with entries that could not be stored: puts them back, or discards them, each once.

use app::model::{
    BuyOutcome, DeadLetterId, LetterOutcome, OrderId, Outcome, Reason, Status, VoucherId,
};
use futures::future::join_all;
use seckill::gate::BuyAnswer;
use sqlx::PgPool;

use super::harness::{App, Person, Sale, eventually};

/// The database refuses the orders of one shopper, whatever is done: their entries are parked.
async fn refuse_orders_of(app: &App, shopper: &Person) {
    let refuse = format!(
        "ALTER TABLE orders ADD CONSTRAINT no_orders_of_one CHECK (user_id <> {})",
        shopper.id()
    );
    execute(app, refuse).await;
}

async fn accept_all_orders(app: &App) {
    execute(
        app,
        "ALTER TABLE orders DROP CONSTRAINT no_orders_of_one".to_owned(),
    )
    .await;
}

async fn execute(app: &App, statement: String) {
    sqlx::query(sqlx::AssertSqlSafe(statement))
        .execute(&app.database)
        .await
        .unwrap();
}

/// A sale of two units, of which the only order of `amy` has become a dead letter.
async fn with_a_parked_order(app: &App, amy: &Person) -> (VoucherId, String, DeadLetterId) {
    let voucher = app.sale(Sale::of(2)).await;
    refuse_orders_of(app, amy).await;
    let order = amy.buy_one(voucher).await;
    app.drain().await;
    accept_all_orders(app).await;
    let letters = app.letters().await;
    assert_eq!((letters.len(), letters[0].tries), (1, 3), "{letters:?}");
    assert!(
        letters[0].reason.contains("no_orders_of_one"),
        "{letters:?}"
    );
    assert_eq!(amy.status(&order).await.status, Status::Queued);
    assert_eq!(app.stock(voucher).await, Some(1), "it holds its unit");
    (voucher, order, letters[0].id.clone())
}

async fn decide(who: &Person, verb: &str, letter: &DeadLetterId) -> LetterOutcome {
    let path = format!("/api/admin/{verb}_dead_letter");
    let reply: serde_json::Value = who
        .post(&path, &[("letter", &letter.to_string())])
        .await
        .ok();
    LetterOutcome::parse(reply["outcome"].as_str().unwrap()).unwrap()
}

#[sqlx::test]
async fn why_a_letter_was_parked_is_said_in_the_readers_language(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script();
    let (voucher, nobody) = (app.sale(Sale::of(2)).await, "7777");
    let id =
        app.operator
            .order_ids
            .make(app::model::UserId(7777), voucher, seckill::clock::system());
    app.enqueue(&[("<b>", "\u{202e}")]).await;
    app.enqueue(&[
        ("order", &id.to_string()),
        ("user", nobody),
        ("voucher", &voucher.to_string()),
    ])
    .await;
    app.drain().await;
    assert_eq!(app.letters().await.len(), 2);
    for (language, words) in [
        ("zh", ["内容无法识别", "没有这个账户"]),
        ("en", ["cannot be read as an order", "no such account"]),
    ] {
        let page = admin
            .reading(language)
            .get("/admin/dead-letters")
            .await
            .body;
        for words in words
            .into_iter()
            .chain(["<dt><bdi>&lt;b&gt;</bdi></dt>", "满一百减五十"])
        {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert!(
            !page.contains("unreadable") && !page.contains("unknown user"),
            "{page}"
        );
    }
    app.check_promises().await;
}

async fn decided(app: &App) -> Vec<String> {
    let query = "SELECT actor || ' ' || action FROM audit_log WHERE subject LIKE 'dead letter %' ORDER BY id";
    sqlx::query_scalar(query)
        .fetch_all(&app.database)
        .await
        .unwrap()
}

#[sqlx::test]
async fn a_replayed_letter_is_stored_once_with_the_unit_that_it_held(database: PgPool) {
    let app = App::start(database).await;
    let (admin, amy) = (app.admin().await, app.shopper("amy").await);
    let (voucher, order, letter) = with_a_parked_order(&app, &amy).await;
    let outcomes = join_all((0..10).map(|_| decide(&admin, "replay", &letter))).await;
    let replayed = outcomes
        .iter()
        .filter(|outcome| **outcome == LetterOutcome::Replayed);
    assert_eq!(replayed.count(), 1, "{outcomes:?}");
    assert_eq!(
        decide(&admin, "discard", &letter).await,
        LetterOutcome::Gone
    );
    app.drain().await;
    assert_eq!(amy.status(&order).await.status, Status::Confirmed);
    assert_eq!(
        (app.stock(voucher).await, app.backlog().await.dead),
        (Some(1), 0)
    );
    let by = app.admin().await.id();
    assert_eq!(
        decided(&app).await,
        [format!("user {by} replay_dead_letter")]
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_discarded_letter_is_a_refusal_that_its_owner_reads_and_its_unit_sells_again(
    database: PgPool,
) {
    let app = App::start(database).await;
    let (admin, amy, bob) = (
        app.admin().await,
        app.shopper("amy").await,
        app.shopper("bob").await,
    );
    let (voucher, order, letter) = with_a_parked_order(&app, &amy).await;
    let outcomes = join_all((0..10).map(|_| decide(&admin, "discard", &letter))).await;
    let discarded = outcomes
        .iter()
        .filter(|outcome| **outcome == LetterOutcome::Discarded);
    assert_eq!(discarded.count(), 1, "{outcomes:?}");
    assert_eq!(decide(&admin, "replay", &letter).await, LetterOutcome::Gone);
    let shown = amy.status(&order).await;
    assert_eq!(
        (shown.status, shown.reason),
        (Status::Refused, Some(Reason::Discarded))
    );
    let page = amy
        .without_script()
        .reading("en")
        .get(&format!("/orders/{order}"))
        .await;
    assert!(
        page.body.contains("cancelled by our staff"),
        "{}",
        page.body
    );
    assert_eq!(app.stock(voucher).await, Some(2), "the unit is back, once");
    bob.buy_one(voucher).await;
    assert_eq!(
        amy.buy(voucher).await.outcome,
        Outcome::Queued,
        "and she may buy again"
    );
    let by = app.admin().await.id();
    assert_eq!(
        decided(&app).await,
        [format!("user {by} discard_dead_letter")]
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_letter_whose_mark_is_gone_takes_a_unit_again_if_there_is_one(database: PgPool) {
    let app = App::start(database).await;
    let (admin, amy) = (app.admin().await, app.shopper("amy").await);
    let (voucher, order, letter) = with_a_parked_order(&app, &amy).await;
    let id = OrderId::parse(&order).unwrap();
    // Taken from it by hand.
    app.operator
        .gate
        .release(amy.id(), voucher, id)
        .await
        .unwrap();
    let crowd = app.crowd(2).await;
    for shopper in &crowd {
        shopper.buy_one(voucher).await;
    }
    assert_eq!(
        decide(&admin, "replay", &letter).await,
        LetterOutcome::SoldOut
    );
    assert_eq!(
        (app.stock(voucher).await, app.backlog().await.dead),
        (Some(0), 1)
    );
    // A unit comes back: one of the two is discarded before it is stored.
    refuse_orders_of(&app, &crowd[0]).await;
    app.drain().await;
    accept_all_orders(&app).await;
    let letters = app.letters().await;
    assert_eq!(
        decide(&admin, "discard", &letters[1].id).await,
        LetterOutcome::Discarded
    );
    assert_eq!(
        decide(&admin, "replay", &letter).await,
        LetterOutcome::Replayed
    );
    assert_eq!(app.stock(voucher).await, Some(0));
    app.drain().await;
    assert_eq!(amy.status(&order).await.status, Status::Confirmed);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_letter_of_an_order_that_is_stored_gives_nothing_back(database: PgPool) {
    let app = App::start(database).await;
    let (admin, amy) = (app.admin().await, app.shopper("amy").await);
    let (voucher, order, letter) = with_a_parked_order(&app, &amy).await;
    // An entry of the same order had stood in the queue a second time.
    app.enqueue(&[
        ("order", &order),
        ("user", &amy.id().to_string()),
        ("voucher", &voucher.to_string()),
    ])
    .await;
    app.drain().await;
    assert_eq!(
        decide(&admin, "discard", &letter).await,
        LetterOutcome::Discarded
    );
    assert_eq!(amy.status(&order).await.status, Status::Confirmed);
    assert_eq!(app.stock(voucher).await, Some(1));
    app.check_promises().await;
}

#[sqlx::test]
async fn while_its_sale_is_rebuilt_a_letter_stays_where_it_is(database: PgPool) {
    let app = App::start(database).await;
    let (admin, amy) = (app.admin().await, app.shopper("amy").await);
    let (voucher, order, letter) = with_a_parked_order(&app, &amy).await;
    let sale = app.sale_key(voucher);
    let _: i64 = app.redis(&["HSET", &sale, "state", "rebuilding"]).await;
    assert_eq!(
        decide(&admin, "replay", &letter).await,
        LetterOutcome::Later
    );
    let _: i64 = app.redis(&["HSET", &sale, "state", "open"]).await;
    let _: i64 = app.redis(&["DEL", &app.stock_key(voucher)]).await;
    assert_eq!(
        decide(&admin, "discard", &letter).await,
        LetterOutcome::Later
    );
    assert_eq!(app.backlog().await.dead, 1);
    // The refusal is stored: it holds, and the rebuild knows of it.
    app.keeper_look().await;
    assert_eq!(app.stock(voucher).await, Some(2));
    assert_eq!(
        decide(&admin, "discard", &letter).await,
        LetterOutcome::Discarded
    );
    assert_eq!(app.stock(voucher).await, Some(2));
    assert_eq!(amy.status(&order).await.reason, Some(Reason::Discarded));
    app.check_promises().await;
}

#[sqlx::test]
async fn what_carries_no_order_can_only_be_discarded(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let voucher = app.sale(Sale::of(2)).await;
    let order = app.operator.order_ids.make(
        app::model::UserId(999_999),
        voucher,
        seckill::clock::system(),
    );
    // A promise to an account that does not exist, as the gate would make it; and a stranger's entry of many fields.
    let buy = app
        .operator
        .gate
        .buy(app::model::UserId(999_999), voucher, order)
        .await;
    assert_eq!(buy.unwrap(), BuyAnswer::Decided(BuyOutcome::Queued(order)));
    let names: Vec<String> = (0..5000).map(|n| format!("f{n}")).collect();
    let fields: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    app.enqueue(&fields).await;
    app.drain().await;
    let letters = app.letters().await;
    let mut decided = Vec::new();
    for letter in letters {
        assert_eq!(
            letter.can_be_replayed,
            letter.reason == "unknown user",
            "{letter:?}"
        );
        if !letter.can_be_replayed {
            assert_eq!(
                decide(&admin, "replay", &letter.id).await,
                LetterOutcome::Unreadable
            );
        }
        decided.push(decide(&admin, "discard", &letter.id).await);
    }
    assert_eq!(decided, [LetterOutcome::Discarded; 2]);
    assert_eq!(
        app.stock(voucher).await,
        Some(2),
        "nobody's unit sells again"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn the_page_decides_without_script_and_asks_before_what_cannot_be_undone(database: PgPool) {
    let app = App::start(database).await;
    let (admin, amy) = (
        app.admin().await.without_script().reading("en"),
        app.shopper("amy").await,
    );
    let (_, order, letter) = with_a_parked_order(&app, &amy).await;
    let page = admin.get("/admin/dead-letters").await.body;
    for words in [
        "no_orders_of_one",
        &order,
        &letter.to_string(),
        "<details",
        "cannot be undone",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let chinese = admin.reading("zh").get("/admin/dead-letters").await.body;
    for words in [
        "数据库拒绝登记：",
        "<dt>订单号</dt>",
        "<dt>买家</dt>",
        "<bdi>amy</bdi>",
        "<bdi>满一百减五十</bdi></a>",
    ] {
        assert!(chinese.contains(words), "{words}: {chinese}");
    }
    let letter = letter.to_string();
    let answer = admin
        .post("/api/admin/replay_dead_letter", &[("letter", &letter)])
        .await;
    assert_eq!(answer.location(), "/admin/dead-letters?letter=replayed");
    let page = admin.get(answer.location()).await.body;
    assert!(
        page.contains("in the queue again") && page.contains("no dead letters"),
        "{page}"
    );
    let answer = admin
        .post("/api/admin/discard_dead_letter", &[("letter", "nonsense")])
        .await;
    assert!(
        answer
            .location()
            .starts_with("/admin/dead-letters?invalid=letter."),
        "{answer:?}"
    );
    eventually("the order is stored", async || {
        app.drain().await;
        amy.status(&order).await.status == Status::Confirmed
    })
    .await;
    app.check_promises().await;
}
