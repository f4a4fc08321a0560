//! Login sessions: when they begin and end, and what is written when.

use app::model::UserId;
use seckill::auth::login::{Lifetimes, Logins, current_user};
use serde_json::Value;
use sqlx::PgPool;
use time::Duration;
use tower_sessions::Session;

use super::harness::{Answer, App, Person, Sale, eventually};

const PASSWORD: &str = "correct horse";

async fn enter(who: &Person, call: &str, name: &str, password: &str) -> Answer {
    who.post(call, &[("name", name), ("password", password)])
        .await
}

/// Login sessions that last as long as the test wants.
struct Shelf {
    logins: Logins,
}

impl Shelf {
    fn of(app: &App, idle: Duration, absolute: Duration) -> Self {
        let gate = &app.operator.gate;
        let (connection, keys) = (gate.connection().clone(), gate.keys().clone());
        let lifetimes = Lifetimes { idle, absolute };
        Self {
            logins: Logins::new(connection, keys, lifetimes, seckill::clock::system),
        }
    }

    /// A session as the next request finds it.
    fn open(&self, session: &Session) -> Session {
        Session::new(session.id(), self.logins.store(), None)
    }

    async fn sign_in(&self) -> Session {
        let session = Session::new(None, self.logins.store(), None);
        self.logins.sign_in(&session, UserId(7)).await.unwrap();
        session
    }

    async fn user(&self, session: &Session) -> Option<UserId> {
        current_user(&self.open(session)).await.unwrap()
    }
}

/// Milliseconds that the only session of the application has left.
async fn left(app: &App) -> i64 {
    let sessions = app.sessions().await;
    assert_eq!(sessions.len(), 1);
    app.redis(&["PTTL", &sessions[0]]).await
}

#[sqlx::test]
async fn o27_a_session_gets_a_new_id_at_sign_in_and_ends_at_sign_out(database: PgPool) {
    let app = App::start(database).await;
    enter(&app.guest(), "/api/sign_up", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let browser = app.guest();
    enter(&browser, "/api/sign_in", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let first = browser.cookies().unwrap();
    enter(&browser, "/api/sign_in", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let second = browser.cookies().unwrap();
    assert_ne!(first, second);
    let planted = async |cookie: &str| {
        app.guest()
            .with_header("cookie", cookie)
            .get("/api/my_orders")
            .await
            .status
    };
    assert_eq!(
        planted(&first).await,
        401,
        "the one before is worth nothing"
    );
    assert_eq!(planted(&second).await, 200);
    browser.post("/api/sign_out", &[]).await.ok::<Value>();
    assert_eq!(planted(&second).await, 401, "ended on the server");
    for forged in [
        "session=",
        "session=x",
        "session=AAAAAAAAAAAAAAAAAAAAAA",
        "session=%00",
        "lang=zh",
    ] {
        assert_eq!(planted(forged).await, 401, "{forged}");
    }
    let third = app.guest();
    enter(&third, "/api/sign_in", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let id: tower_sessions::session::Id = third.cookies().unwrap()["session=".len()..]
        .parse()
        .unwrap();
    let sessions = app.sessions().await;
    let record: String = app.redis(&["GET", &sessions[0]]).await;
    assert!(
        !record.contains(&id.0.to_string()) && !record.contains(&id.to_string()),
        "{record}"
    );
    let id = third.cookies().unwrap()["session=".len()..].to_owned();
    assert!(
        sessions.iter().all(|key| !key.contains(&id)),
        "who reads Redis cannot sign in as somebody"
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn o26_a_session_that_has_ended_buys_nothing_and_is_told_so(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    let order = amy.buy_one(voucher).await;
    app.end_sessions().await;
    let other = app.sale(Sale::of(5)).await;
    assert_eq!(amy.try_buy(other).await.status, 401);
    assert_eq!(
        amy.get(&format!("/api/order_status?order_id={order}"))
            .await
            .status,
        401
    );
    let form = amy
        .without_script()
        .post("/api/buy", &[("voucher_id", &other.to_string())])
        .await;
    assert_eq!(
        form.location(),
        format!("/sign-in?next=%2Fvouchers%2F{other}")
    );
    assert_eq!(app.stock(other).await, Some(5));
    app.check_promises().await;
}

#[sqlx::test]
async fn a_request_from_before_a_sign_out_does_not_bring_the_session_back(database: PgPool) {
    let app = App::start(database).await;
    let shelf = Shelf::of(&app, Duration::seconds(1), Duration::days(1));
    let session = shelf.sign_in().await;
    let slow = shelf.open(&session);
    assert_eq!(current_user(&slow).await.unwrap(), Some(UserId(7)));
    shelf.logins.sign_out(&shelf.open(&session)).await.unwrap();
    // What the layer does at the end of a request that has changed something, and what a change does by itself.
    slow.insert("renewed", 0).await.unwrap();
    slow.save().await.unwrap();
    shelf.logins.renew(&slow).await.unwrap();
    assert_eq!(shelf.user(&session).await, None);
    assert!(app.sessions().await.is_empty());
    app.check_promises().await;
}

#[sqlx::test]
async fn o27_an_answer_that_is_late_does_not_take_the_new_cookie_away(database: PgPool) {
    let app = App::start(database).await;
    let browser = app.guest();
    enter(&browser, "/api/sign_up", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let old = browser.cookies().unwrap();
    enter(&browser, "/api/sign_in", "amy", PASSWORD)
        .await
        .ok::<Value>();
    let late = app.guest().with_header("cookie", &old);
    for path in [
        "/api/my_orders",
        "/",
        "/orders",
        "/api/sale_status?voucher_id=1",
    ] {
        assert!(
            late.get(path).await.header("set-cookie").is_none(),
            "{path}"
        );
    }
    assert!(
        late.post("/api/buy", &[("voucher_id", "1")])
            .await
            .header("set-cookie")
            .is_none()
    );
    let language = late.post("/api/set_language", &[("lang", "zh")]).await;
    assert!(
        language
            .header("set-cookie")
            .unwrap()
            .starts_with("lang=zh")
    );
    app.check_promises().await;
}

#[sqlx::test]
async fn a_session_ends_when_it_is_idle(database: PgPool) {
    let app = App::start(database).await;
    let shelf = Shelf::of(&app, Duration::seconds(3), Duration::days(1));
    let session = shelf.sign_in().await;
    // A change made with it begins its idle time anew, and none too often.
    let record = async || {
        let key = app.sessions().await.remove(0);
        app.redis::<String>(&["GET", &key]).await
    };
    let before = record().await;
    shelf.logins.renew(&shelf.open(&session)).await.unwrap();
    assert_eq!(record().await, before, "it has only just begun");
    eventually("some of its time is over", async || {
        left(&app).await < 2_000
    })
    .await;
    shelf.logins.renew(&shelf.open(&session)).await.unwrap();
    assert!(left(&app).await > 2_000);
    eventually("it ends", async || shelf.user(&session).await.is_none()).await;
    app.check_promises().await;
}

#[sqlx::test]
async fn a_session_ends_some_time_after_its_sign_in_whatever_is_done(database: PgPool) {
    let app = App::start(database).await;
    let shelf = Shelf::of(&app, Duration::seconds(3), Duration::seconds(4));
    let session = shelf.sign_in().await;
    eventually("it ends", async || {
        shelf.logins.renew(&shelf.open(&session)).await.unwrap();
        shelf.user(&session).await.is_none()
    })
    .await;
    app.check_promises().await;
}

#[sqlx::test]
async fn reading_writes_nothing(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    app.end_sessions().await;
    let amy = app.shopper("amy").await;
    let session = app.sessions().await.remove(0);
    let record: String = app.redis(&["GET", &session]).await;
    let mut left = left(&app).await;
    for path in [
        "/",
        "/orders",
        "/account",
        "/api/my_orders",
        &format!("/vouchers/{voucher}"),
    ] {
        for _ in 0..5 {
            let answer = amy.get(path).await;
            assert_eq!(answer.status, 200, "{path}");
            assert!(answer.header("set-cookie").is_none(), "{path}");
        }
        let now = self::left(&app).await;
        assert!(now <= left, "{path} has lengthened the session");
        left = now;
    }
    assert_eq!(app.redis::<String>(&["GET", &session]).await, record);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_thousand_anonymous_visits_store_nothing(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let before = (app.keys().await, app.sessions().await);
    let users = app.rows("users").await;
    let paths = [
        "/".to_owned(),
        format!("/vouchers/{voucher}"),
        "/sign-in".to_owned(),
        format!("/api/sale_status?voucher_id={voucher}"),
    ];
    for visit in 0..250 {
        for path in &paths {
            let guest = match visit % 2 {
                0 => app.guest(),
                _ => app
                    .guest()
                    .with_header("cookie", "session=AAAAAAAAAAAAAAAAAAAAAA"),
            };
            let answer = guest.get(path).await;
            assert_eq!(answer.status, 200, "{path}");
            assert!(answer.header("set-cookie").is_none(), "{path}");
        }
    }
    assert_eq!((app.keys().await, app.sessions().await), before);
    assert_eq!(app.rows("users").await, users);
    app.check_promises().await;
}

#[sqlx::test]
async fn what_one_visitor_sees_is_kept_by_no_cache(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(5)).await;
    let amy = app.shopper("amy").await;
    let order = amy.buy_one(voucher).await;
    for path in [
        "/",
        "/account",
        "/orders",
        &format!("/orders/{order}"),
        &format!("/vouchers/{voucher}"),
        "/sign-in",
        "/no-such-page",
        "/api/my_orders",
        &format!("/api/order_status?order_id={order}"),
        &format!("/api/sale_status?voucher_id={voucher}"),
    ] {
        for who in [&amy, &amy.without_script()] {
            let answer = who.get(path).await;
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        }
    }
    app.check_promises().await;
}

#[sqlx::test]
async fn a_session_that_was_not_made_yet_when_all_were_ended_is_ended_the_next_time(
    database: PgPool,
) {
    let app = App::start(database).await;
    let shelf = Shelf::of(&app, Duration::days(1), Duration::days(1));
    let user = UserId(7);
    let end_all = async || {
        let nothing = async { Ok::<_, sqlx::Error>(()) };
        shelf
            .logins
            .end_after(user, nothing, |()| true)
            .await
            .unwrap();
    };
    // A sign-in that has listed its session and not made it: it is made after all were ended.
    let session = shelf.sign_in().await;
    let key = app.sessions().await.remove(0);
    let record: Vec<u8> = app.redis(&["GET", &key]).await;
    let _: i64 = app.redis(&["DEL", &key]).await;
    end_all().await;
    let mut make = redis::cmd("SET");
    make.arg(&key).arg(record);
    let gate = &app.operator.gate;
    gate.connection().query::<()>(&make).await.unwrap();
    assert_eq!(shelf.user(&session).await, Some(user));
    end_all().await;
    assert_eq!(shelf.user(&session).await, None);
    app.check_promises().await;
}

#[sqlx::test]
async fn signing_in_and_out_again_and_again_pushes_no_other_session_out(database: PgPool) {
    let app = App::start(database).await;
    let shelf = Shelf::of(&app, Duration::days(1), Duration::days(1));
    let phone = shelf.sign_in().await;
    for _ in 0..60 {
        let desk = shelf.sign_in().await;
        let again = shelf.open(&desk);
        shelf.logins.sign_in(&again, UserId(7)).await.unwrap();
        assert_eq!(shelf.user(&desk).await, None, "the one of before is gone");
        shelf.logins.sign_out(&shelf.open(&again)).await.unwrap();
    }
    assert_eq!(shelf.user(&phone).await, Some(UserId(7)));
    app.check_promises().await;
}

#[sqlx::test]
async fn a_session_without_an_end_is_nobodys(database: PgPool) {
    let app = App::start(database).await;
    let amy = app.shopper("amy").await;
    let key = app.sessions().await.remove(0);
    let record: String = app.redis(&["GET", &key]).await;
    let _: () = app
        .redis(&["SET", &key, &record.replace("until", "since")])
        .await;
    assert_eq!(amy.get("/api/my_orders").await.status, 401);
    app.check_promises().await;
}

#[sqlx::test]
async fn behind_https_the_cookie_comes_and_goes_with_all_that_its_name_asks_for(database: PgPool) {
    let app = App::on(database)
        .with(|config| config.https = true)
        .start()
        .await;
    let browser = app.guest();
    let answer = enter(&browser, "/api/sign_up", "amy", PASSWORD).await;
    let set = answer.header("set-cookie").unwrap().to_owned();
    let (cookie, flags) = set.split_once(';').unwrap();
    assert!(cookie.starts_with("__Host-session="), "{set}");
    for flag in ["HttpOnly", "SameSite=Lax", "Secure", "Path=/"] {
        assert!(flags.contains(flag), "{set}");
    }
    let signed_in = app.guest().with_header("cookie", cookie);
    assert_eq!(signed_in.get("/api/my_orders").await.status, 200);
    let out = signed_in.post("/api/sign_out", &[]).await;
    let taken = out.header("set-cookie").unwrap();
    assert!(taken.starts_with("__Host-session=;"), "{taken}");
    for flag in ["Secure", "Path=/", "Max-Age=0"] {
        assert!(taken.contains(flag), "{taken}");
    }
    assert_eq!(signed_in.get("/api/my_orders").await.status, 401);
    app.check_promises().await;
}

#[sqlx::test]
async fn a_user_has_so_many_sessions_and_the_oldest_make_room(database: PgPool) {
    let app = App::start(database).await;
    let amy = app.shopper("amy").await;
    let first = amy.clone();
    for _ in 0..60 {
        app.shopper("amy").await;
    }
    assert_eq!(app.sessions().await.len(), 50);
    assert_eq!(first.get("/api/my_orders").await.status, 401);
    assert_eq!(
        app.shopper("amy").await.get("/api/my_orders").await.status,
        200
    );
    app.check_promises().await;
}
