//! The page of a voucher, which is rendered once for all guests who see the same.

use sqlx::PgPool;

use super::harness::{Answer, App, Person, Sale, eventually};

/// What stands in a page between two words.
fn between<'a>(page: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = page.split_once(before).expect(before);
    rest.split_once(after).expect(after).0
}

fn nonce(answer: &Answer) -> String {
    let policy = answer.header("content-security-policy").unwrap();
    between(policy, "'nonce-", "'").to_owned()
}

fn clock(answer: &Answer) -> i64 {
    let digits = between(&answer.body, "now_ms", ",");
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// The page without what is its own each time.
fn plain(answer: &Answer) -> String {
    let clock = clock(answer).to_string();
    answer
        .body
        .replace(&nonce(answer), "nonce")
        .replace(&clock, "clock")
}

#[sqlx::test]
async fn each_guest_gets_the_same_page_with_a_nonce_and_a_clock_of_its_own(database: PgPool) {
    let app = App::start(database).await;
    let address = format!("/vouchers/{}", app.sale(Sale::of(5)).await);
    let guest = app.guest();
    let (first, second) = (guest.get(&address).await, guest.get(&address).await);
    assert_eq!(first.status, 200);
    assert_eq!(plain(&first), plain(&second));
    for answer in [&first, &second] {
        let scripts = format!("nonce=\"{}\"", nonce(answer));
        assert!(answer.body.contains(&scripts), "{}", answer.body);
    }
    assert_ne!(nonce(&first), nonce(&second));
    eventually("the clock goes on", async || {
        clock(&guest.get(&address).await) > clock(&first)
    })
    .await;
    let english = guest.reading("en").get(&address).await;
    let chinese = guest.reading("zh").get(&address).await;
    assert!(
        english.body.contains("<html lang=\"en\""),
        "{}",
        english.body
    );
    assert!(
        chinese.body.contains("<html lang=\"zh-CN\""),
        "{}",
        chinese.body
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_page_for_guests_shows_what_is_so_now_and_nothing_of_anybody(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(2)).await;
    let address = format!("/vouchers/{voucher}");
    let (guest, amy) = (app.guest(), app.shopper("amy").await);
    let shows = async |who: &Person, words: &str| who.get(&address).await.body.contains(words);
    assert!(shows(&guest, "data-left=\"2\"").await);
    assert!(shows(&amy, "amy").await);
    assert!(!shows(&guest, "amy").await);
    amy.buy_one(voucher).await;
    eventually("guests see that one is sold", async || {
        shows(&guest, "data-left=\"1\"").await
    })
    .await;
    let admin = app.admin().await;
    let id = voucher.to_string();
    let paused = admin
        .post("/api/admin/pause_sale", &[("voucher_id", &id)])
        .await;
    assert_eq!(paused.status, 200, "{}", paused.body);
    assert!(
        shows(&guest, "data-phase=\"paused\"").await,
        "at once, where it was paused"
    );
    let resumed = admin
        .post("/api/admin/resume_sale", &[("voucher_id", &id)])
        .await;
    assert_eq!(resumed.status, 200, "{}", resumed.body);
    assert!(shows(&guest, "data-left=\"1\"").await);
    // What an address says is shown to whoever has that address.
    let said = guest.get(&format!("{address}?outcome=sold_out")).await;
    assert_ne!(plain(&said), plain(&guest.get(&address).await));
    app.check_promises().await;
}
