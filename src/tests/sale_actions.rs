//! What admins do to a sale while it sells: paused, resumed, ended, withdrawn, more units, fewer units. Each holds at the gate
//! when it is answered, and none sells a unit twice (cases O02, O19).

use std::time::Duration;

use app::model::{VoucherId, grouped};
use futures::future::join_all;
use seckill::{carry, db, gate::Applied};
use serde_json::{Value, json};
use sqlx::PgPool;
use time::OffsetDateTime;

use super::harness::{Answer, App, Person, Sale, eventually};

impl Person {
    /// An admin's verb: one of the actions on a sale.
    async fn does(&self, action: &str, voucher: VoucherId, fields: &[(&str, &str)]) -> Answer {
        let id = voucher.to_string();
        let mut form = vec![("voucher_id", id.as_str())];
        form.extend(fields);
        self.post(&format!("/api/admin/{action}"), &form).await
    }

    /// The same, which has to be answered with this outcome.
    async fn does_as(&self, action: &str, voucher: VoucherId, outcome: &str) {
        let answer: Value = self.does(action, voucher, &[]).await.ok();
        assert_eq!(answer, json!({ "outcome": outcome }), "{action}");
    }

    /// Adds or cuts units from a form of this version; gives the outcome.
    pub async fn units(
        &self,
        action: &str,
        voucher: VoucherId,
        units: i64,
        version: i64,
    ) -> String {
        let (units, version) = (units.to_string(), version.to_string());
        let fields = [("units", units.as_str()), ("version", version.as_str())];
        let answer: Value = self.does(action, voucher, &fields).await.ok();
        answer["outcome"].as_str().unwrap().to_owned()
    }
}

impl App {
    async fn stored_sale(&self, voucher: VoucherId) -> db::sales::Sale {
        let sale = db::sales::by_id(&self.database, voucher).await.unwrap();
        sale.unwrap()
    }

    pub async fn version(&self, voucher: VoucherId) -> i64 {
        self.stored_sale(voucher).await.version
    }

    /// Gate and database say the same of a sale, and no cut is under way.
    pub async fn agrees(&self, voucher: VoucherId, granted: i64) {
        let (sale, look) = (self.stored_sale(voucher).await, self.look(voucher).await);
        assert_eq!((sale.granted, sale.cut_to), (granted, None), "{sale:?}");
        assert_eq!(
            (look.granted, look.version, look.drift()),
            (Some(granted), Some(sale.version), Some(0)),
            "{look:?}"
        );
    }

    /// What the audit log says of a voucher: who, what, detail.
    async fn noted(&self, voucher: VoucherId) -> Vec<(String, String, String)> {
        let query = "SELECT actor, action, detail FROM audit_log WHERE subject = $1 ORDER BY id";
        sqlx::query_as(query)
            .bind(format!("voucher {voucher}"))
            .fetch_all(&self.database)
            .await
            .unwrap()
    }
}

async fn outcome(shopper: &Person, voucher: VoucherId) -> String {
    let reply = shopper.buy(voucher).await;
    reply.outcome.as_str().to_owned()
}

#[sqlx::test]
async fn a_paused_sale_sells_nothing_until_it_is_resumed(database: PgPool) {
    let app = App::start(database).await;
    let (admin, other) = (app.admin().await, app.another_instance().await);
    let voucher = app.sale(Sale::of(5)).await;
    let crowd = app.crowd(4).await;
    crowd[0].buy_one(voucher).await;
    admin.does_as("pause_sale", voucher, "done").await;
    admin.does_as("pause_sale", voucher, "unchanged").await;
    assert_eq!(outcome(&crowd[1], voucher).await, "closed");
    assert_eq!(outcome(&crowd[1].at(&other), voucher).await, "closed");
    // Who is in stays in.
    assert_eq!(outcome(&crowd[0], voucher).await, "already_bought");
    app.drain().await;
    admin.does_as("resume_sale", voucher, "done").await;
    admin.does_as("resume_sale", voucher, "unchanged").await;
    crowd[1].at(&other).buy_one(voucher).await;
    app.agrees(voucher, 5).await;
    let admin = format!("user {}", admin.id());
    assert_eq!(
        app.noted(voucher).await[1..],
        [
            (
                admin.clone(),
                "pause_sale".into(),
                "state open -> paused".into()
            ),
            (admin, "resume_sale".into(), "state paused -> open".into()),
        ]
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_sale_ends_the_moment_an_admin_ends_it_and_is_over_for_good(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let voucher = app.sale(Sale::of(5)).await;
    let crowd = app.crowd(2).await;
    crowd[0].buy_one(voucher).await;
    admin.does_as("end_sale", voucher, "done").await;
    assert_eq!(outcome(&crowd[1], voucher).await, "ended");
    let ended = app.stored_sale(voucher).await;
    assert!(ended.ends_at <= app.look(voucher).await.now);
    admin.does_as("end_sale", voucher, "unchanged").await;
    for action in ["pause_sale", "resume_sale", "withdraw_sale"] {
        admin.does_as(action, voucher, "over").await;
    }
    let version = ended.version;
    assert_eq!(admin.units("add_units", voucher, 5, version).await, "over");
    assert_eq!(admin.units("cut_units", voucher, 1, version).await, "over");
    assert_eq!(app.stored_sale(voucher).await, ended);

    let coming = app
        .sale(Sale::of(5).beginning_in(Duration::from_secs(600)))
        .await;
    admin.does_as("end_sale", coming, "not_started").await;
    admin.does_as("withdraw_sale", coming, "done").await;
    admin.does_as("withdraw_sale", coming, "unchanged").await;
    for action in ["pause_sale", "resume_sale", "end_sale"] {
        admin.does_as(action, coming, "over").await;
    }
    assert_eq!(outcome(&crowd[1], coming).await, "closed");
    app.check_promises().await;
}

#[sqlx::test]
async fn o19_two_admins_who_add_units_from_forms_opened_earlier_add_once(database: PgPool) {
    let app = App::start(database).await;
    let (admin, other) = (app.admin().await, app.another_instance().await);
    let voucher = app.sale(Sale::of(3)).await;
    let crowd = app.crowd(30).await;
    for (n, shopper) in crowd[..3].iter().enumerate() {
        let shopper = if n == 0 {
            shopper.at(&other)
        } else {
            shopper.clone()
        };
        shopper.buy_one(voucher).await;
    }
    assert_eq!(outcome(&crowd[3], voucher).await, "sold_out");
    assert_eq!(outcome(&crowd[3].at(&other), voucher).await, "sold_out");
    let form = app.version(voucher).await;
    let adds = [admin.clone(), admin.at(&other)]
        .map(|who| async move { who.units("add_units", voucher, 5, form).await });
    let mut outcomes = join_all(adds).await;
    outcomes.sort_unstable();
    assert_eq!(
        outcomes,
        ["done", "old_form"],
        "the second is told that the form is old"
    );
    app.agrees(voucher, 8).await;
    let buys = crowd.iter().enumerate().map(|(n, shopper)| {
        let shopper = if n % 2 == 0 {
            shopper.at(&other)
        } else {
            shopper.clone()
        };
        async move { outcome(&shopper, voucher).await }
    });
    let bought = join_all(buys).await;
    let queued = bought.iter().filter(|outcome| *outcome == "queued").count();
    assert_eq!(
        queued, 5,
        "exactly the units that were added sell, from either instance"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o19_a_cut_takes_what_is_left_and_stops_at_what_is_promised(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let voucher = app.sale(Sale::of(10)).await;
    let crowd = app.crowd(8).await;
    for shopper in &crowd[..6] {
        shopper.buy_one(voucher).await;
    }
    // Some are stored, some still in the queue: all are promised.
    app.drain().await;
    crowd[6].buy_one(voucher).await;
    let form = app.version(voucher).await;
    assert_eq!(admin.units("cut_units", voucher, 1, form).await, "done");
    app.agrees(voucher, 9).await;
    assert_eq!(admin.units("cut_units", voucher, 1, form).await, "old_form");
    let form = app.version(voucher).await;
    assert_eq!(admin.units("cut_units", voucher, 8, form).await, "stopped");
    app.agrees(voucher, 7).await;
    assert_eq!(app.stock(voucher).await, Some(0));
    assert_eq!(outcome(&crowd[7], voucher).await, "sold_out");
    let form = app.version(voucher).await;
    assert_eq!(admin.units("add_units", voucher, 1, form).await, "done");
    crowd[7].buy_one(voucher).await;
    let admin = format!("user {}", admin.id());
    let note = |action: &str, detail: &str| (admin.clone(), action.to_owned(), detail.to_owned());
    assert_eq!(
        app.noted(voucher).await[1..],
        [
            note("ask_to_cut_units", "cut_to none -> 9"),
            note("cut_units", "granted 10 -> 9"),
            note("ask_to_cut_units", "cut_to none -> 1"),
            note("cut_units", "granted 9 -> 7"),
            note("add_units", "granted 7 -> 8"),
        ]
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn no_more_can_be_cut_than_is_not_sold(database: PgPool) {
    let app = App::start(database).await;
    let (admin, voucher) = (app.admin().await, app.sale(Sale::of(10)).await);
    for name in ["amy", "bob", "cid"] {
        app.shopper(name).await.buy_one(voucher).await;
    }
    app.drain().await;
    let fields = [("units", "10"), ("version", "1")];
    let answer = admin.does("cut_units", voucher, &fields).await;
    assert_eq!(
        answer.json::<Value>()["fields"],
        json!({ "units": "Not more than 7." })
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn units_are_whole_numbers_that_a_sale_can_hold(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let voucher = app.sale(Sale::of(10)).await;
    let before = app.stored_sale(voucher).await;
    for action in ["add_units", "cut_units"] {
        for (units, words) in [
            ("", "Please fill this in."),
            ("0", "Not less than 1."),
            ("-1", "Not less than 1."),
            ("1.5", "A whole number, in the digits 0 to 9."),
            ("1e3", "A whole number, in the digits 0 to 9."),
            ("1,5", "A whole number, in the digits 0 to 9."),
            ("2147483648", "Not more than 10,000,000."),
            ("9223372036854775808", "Not more than 10,000,000."),
        ] {
            let answer = admin
                .does(action, voucher, &[("units", units), ("version", "1")])
                .await;
            assert_eq!(answer.status, 422, "{action} {units}");
            assert_eq!(
                answer.json::<Value>()["fields"],
                json!({ "units": words }),
                "{units}"
            );
        }
        let answer = admin.does(action, voucher, &[("units", "1")]).await;
        assert_eq!(
            answer.json::<Value>()["fields"],
            json!({ "version": "Please fill this in." })
        );
    }
    for (action, units, room) in [("add_units", "9999991", 9_999_990), ("cut_units", "10", 9)] {
        let fields = [("units", units), ("version", "1")];
        let answer = admin.does(action, voucher, &fields).await;
        assert_eq!(
            answer.json::<Value>()["fields"],
            json!({ "units": format!("Not more than {}.", grouped(room)) })
        );
    }
    for id in ["", "0", "x", "2147483648", "999999999999999999999999999999"] {
        for action in ["pause_sale", "resume_sale", "end_sale", "withdraw_sale"] {
            let answer = admin
                .post(&format!("/api/admin/{action}"), &[("voucher_id", id)])
                .await;
            assert_eq!(answer.status, 422, "{action} {id}");
        }
    }
    admin
        .does("pause_sale", VoucherId(i32::MAX), &[])
        .await
        .is(404);
    assert_eq!(app.stored_sale(voucher).await, before);
    app.check_promises().await;
}

impl Answer {
    fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{self:?}");
    }
}

#[sqlx::test]
async fn without_script_an_action_leads_to_the_page_that_says_what_came_of_it(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await.without_script();
    let voucher = app.sale(Sale::of(10)).await;
    let page = format!("/admin/sales/{voucher}");
    let paused = admin.does("pause_sale", voucher, &[]).await;
    assert_eq!(paused.location(), format!("{page}?did=pause.done"));
    let fields = [("units", "x"), ("version", "1")];
    let back = admin.does("cut_units", voucher, &fields).await;
    assert_eq!(
        back.location(),
        format!("{page}?did=cut&invalid=units.not-a-number&units=x")
    );
    for address in [paused.location(), back.location()] {
        assert_eq!(admin.get(address).await.status, 200, "{address}");
    }
    let guest = app.guest().without_script();
    let sent = guest.does("end_sale", voucher, &[]).await;
    assert!(sent.location().starts_with("/sign-in?next="), "{sent:?}");
    app.check_promises().await;
}

#[sqlx::test]
async fn what_the_gate_was_not_told_is_stored_and_told_by_the_keeper(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let admin = app.admin().await;
    let voucher = app.sale(Sale::of(5)).await;
    let shopper = app.shopper("amy").await;
    // The line breaks under the script that carries the change: nobody can know whether it ran.
    app.redis_line().lose_the_answer_to("paused");
    admin.does_as("pause_sale", voucher, "stored").await;
    assert!(app.redis_line().has_lost());
    app.is_back().await;
    app.keeper_look().await;
    assert_eq!(outcome(&shopper, voucher).await, "closed");
    admin.does_as("resume_sale", voucher, "done").await;
    shopper.buy_one(voucher).await;
    app.redis_line().cut();
    assert_eq!(admin.does("end_sale", voucher, &[]).await.status, 503);
    app.redis_line().mend();
    app.is_back().await;
    app.check_promises().await;
}

/// PostgreSQL is the arbiter, also where it has lost its last commits: a fail-over, a backup that was put back.
#[sqlx::test]
async fn a_database_that_has_lost_a_change_counts_all_the_same(database: PgPool) {
    let app = App::start(database).await;
    let admin = app.admin().await;
    let shopper = app.shopper("amy").await;
    for lost in [
        "state = 'open', version = 1",
        "version = 1, granted = 3, state = 'open'",
    ] {
        let voucher = app.sale(Sale::of(5)).await;
        let lose = async || {
            let update = format!("UPDATE sales SET {lost} WHERE voucher_id = {voucher}");
            let update = sqlx::query(sqlx::AssertSqlSafe(update));
            update.execute(&app.database).await.unwrap();
        };
        admin.does_as("pause_sale", voucher, "done").await;
        lose().await;
        // Its version is given again, to another change.
        admin.does_as("withdraw_sale", voucher, "done").await;
        assert_eq!(outcome(&shopper, voucher).await, "closed");
        let sale = app.look(voucher).await;
        assert_eq!(
            (sale.state.as_deref(), sale.version),
            (Some("withdrawn"), Some(2))
        );
        // The gate is ahead of what there is.
        lose().await;
        app.keeper_look().await;
        let granted = app.stored_sale(voucher).await.granted;
        app.agrees(voucher, granted).await;
        assert_eq!(app.version(voucher).await, 3);
        assert_eq!(app.noted(voucher).await.last().unwrap().1, "overtake");
        app.keeper_look().await;
        assert_eq!(app.version(voucher).await, 3, "once");
        shopper.buy_one(voucher).await;
    }
    app.drain().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn an_action_that_was_done_before_is_told_to_a_gate_that_missed_it(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let admin = app.admin().await;
    let voucher = app.sale(Sale::of(5)).await;
    // As if the line had broken between the database and the gate.
    let update = "UPDATE sales SET state = 'paused', version = 2 WHERE voucher_id = $1";
    sqlx::query(update)
        .bind(voucher.0)
        .execute(&app.database)
        .await
        .unwrap();
    admin.does_as("pause_sale", voucher, "unchanged").await;
    assert_eq!(outcome(&app.shopper("amy").await, voucher).await, "closed");
    app.check_promises().await;
}

/// A cut that is stopped after any of its steps is finished by whoever looks next.
#[sqlx::test]
async fn a_cut_that_was_stopped_half_way_is_finished_by_the_keeper(database: PgPool) {
    let app = App::start(database).await;
    let crowd = app.crowd(9).await;
    for told in [false, true] {
        let voucher = app.sale(Sale::of(10)).await;
        for shopper in &crowd[..4] {
            shopper.buy_one(voucher).await;
        }
        let want = "UPDATE sales SET cut_to = 2, version = version + 1 WHERE voucher_id = $1";
        sqlx::query(want)
            .bind(voucher.0)
            .execute(&app.database)
            .await
            .unwrap();
        if told {
            let settings = carry::settings(&app.stored_sale(voucher).await);
            let applied = app.operator.gate.apply(&settings, false).await.unwrap();
            assert_eq!(applied, Applied::Applied(4));
        } else {
            // The gate has not heard of it, and goes on selling what it holds.
            crowd[4].buy_one(voucher).await;
        }
        let promised = if told { 4 } else { 5 };
        app.keeper_look().await;
        app.agrees(voucher, promised).await;
        assert_eq!(outcome(&crowd[8], voucher).await, "sold_out");
        app.drain().await;
    }
    app.check_promises().await;
}

/// The keys are lost in the middle of a cut, and rebuilt by its own rule.
#[sqlx::test]
async fn a_rebuild_in_the_middle_of_a_cut_cuts_as_well(database: PgPool) {
    let app = App::start(database).await;
    let crowd = app.crowd(5).await;
    for (cut_to, granted) in [(2, 4), (7, 7)] {
        let voucher = app.sale(Sale::of(10)).await;
        for shopper in &crowd[..4] {
            shopper.buy_one(voucher).await;
        }
        let want = "UPDATE sales SET cut_to = $2, version = version + 1 WHERE voucher_id = $1";
        sqlx::query(want)
            .bind(voucher.0)
            .bind(cut_to)
            .execute(&app.database)
            .await
            .unwrap();
        let _: i64 = app.redis(&["DEL", &app.stock_key(voucher)]).await;
        app.keeper_look().await;
        assert_eq!(app.look(voucher).await.granted, Some(granted));
        app.keeper_look().await;
        app.agrees(voucher, granted).await;
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn a_change_is_seen_on_every_instance_within_a_second(database: PgPool) {
    let app = App::start(database).await;
    let (admin, other) = (app.admin().await, app.another_instance().await);
    let voucher = app.sale(Sale::of(5)).await;
    let shopper = app.shopper("amy").await.at(&other);
    let page = format!("/vouchers/{voucher}");
    let sees = async |words: &str| {
        let begun = tokio::time::Instant::now();
        eventually(words, async || {
            shopper.get(&page).await.body.contains(words)
        })
        .await;
        let took = begun.elapsed();
        eprintln!("{words:?} is seen after {took:?}");
        assert!(took < Duration::from_secs(1), "{words}: {took:?}");
    };
    // The other instance remembers what it has shown just now.
    sees("On sale").await;
    admin.does_as("pause_sale", voucher, "done").await;
    sees("On hold").await;
    admin.does_as("resume_sale", voucher, "done").await;
    sees("On sale").await;
    let form = app.version(voucher).await;
    assert_eq!(admin.units("add_units", voucher, 6, form).await, "done");
    sees("11").await;
    admin.does_as("end_sale", voucher, "done").await;
    sees("The sale has ended").await;
    app.check_promises().await;
}

#[sqlx::test]
async fn an_action_is_what_it_was_after_a_restart_and_in_an_emptied_gate(database: PgPool) {
    let app = App::on(database).with_own_redis().await.start().await;
    let admin = app.admin().await;
    let (paused, withdrawn, ended) = (
        app.sale(Sale::of(5)).await,
        app.sale(Sale::of(5)).await,
        app.sale(Sale::of(5)).await,
    );
    admin.does_as("pause_sale", paused, "done").await;
    admin.does_as("withdraw_sale", withdrawn, "done").await;
    admin.does_as("end_sale", ended, "done").await;
    let _: String = app.redis(&["FLUSHALL"]).await;
    app.keeper_look().await;
    let shopper = app.shopper("amy").await;
    assert_eq!(outcome(&shopper, paused).await, "closed");
    assert_eq!(outcome(&shopper, withdrawn).await, "closed");
    assert_eq!(outcome(&shopper, ended).await, "ended");
    app.admin()
        .await
        .does_as("resume_sale", paused, "done")
        .await;
    shopper.buy_one(paused).await;
    app.check_promises().await;
}

#[sqlx::test]
async fn a_sale_that_an_admin_ended_has_an_end_to_the_millisecond(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    app.admin().await.does_as("end_sale", voucher, "done").await;
    let ends_at: OffsetDateTime = app.stored_sale(voucher).await.ends_at;
    assert_eq!(ends_at.nanosecond() % 1_000_000, 0);
    app.check_promises().await;
}
