//! Floods against the real program: sign-ins by the hundred, huge bodies, and clients of one byte a second. Others are
//! served meanwhile, and the memory stays what it was.

use std::time::{Duration, Instant};

use futures::{
    StreamExt,
    future::{join, join_all},
    stream,
};
use reqwest::{Method, Url};
use seckill::auth::password;
use sqlx::PgPool;
use tokio::sync::watch;

use super::harness::{Answer, App, Person, Program, Sale, Wire};

/// The program's memory stays under this, whatever is thrown at it (case O28, O29).
const MEMORY_MB: u64 = 300;

const PASSWORD: &str = "correct horse";

/// How often somebody asks who is not part of the flood.
const BEAT: Duration = Duration::from_millis(100);

/// Runs `flood`, and has somebody else ask every 100 ms as long as it lasts, on a thread of his own, so that nothing but
/// the program can hold him up; how long the answers took, in order.
async fn during<T>(
    flood: impl Future<Output = T>,
    ask: impl AsyncFn(usize) + Send + 'static,
) -> (T, Vec<Duration>) {
    let (over, is_over) = watch::channel(false);
    let asking = tokio::task::spawn_blocking(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(ask_until(is_over, ask))
    });
    let result = flood.await;
    over.send(true).unwrap();
    (result, asking.await.unwrap())
}

async fn ask_until(mut is_over: watch::Receiver<bool>, ask: impl AsyncFn(usize)) -> Vec<Duration> {
    let mut beats = tokio::time::interval(BEAT);
    let mut took = Vec::new();
    loop {
        tokio::select! {
            biased;
            _ = is_over.wait_for(|is_over| *is_over) => break,
            _ = beats.tick() => {}
        }
        let began = Instant::now();
        ask(took.len()).await;
        took.push(began.elapsed());
    }
    took.sort_unstable();
    took
}

fn p95(took: &[Duration]) -> Duration {
    took[took.len() * 95 / 100]
}

fn is_over_capacity(answer: &Answer) -> bool {
    [429, 503].contains(&answer.status.as_u16()) && answer.header("retry-after").is_some()
}

/// Accounts with one password, by name.
async fn accounts(app: &App, heads: i64) -> Vec<String> {
    let insert = "INSERT INTO users (name, name_key, password_hash)
         SELECT 'account-' || n, 'account-' || n, $1 FROM generate_series(1, $2::bigint) n RETURNING name";
    sqlx::query_scalar(insert)
        .bind(password::hash(PASSWORD).unwrap())
        .bind(heads)
        .fetch_all(&app.database)
        .await
        .unwrap()
}

async fn sign_in(guest: Person, name: String, password: &str) -> Answer {
    let fields = [("name", name.as_str()), ("password", password)];
    guest.post("/api/sign_in", &fields).await
}

#[sqlx::test]
async fn o28_three_hundred_sign_ins_at_once_do_not_hold_up_the_button(database: PgPool) {
    let app = App::start(database).await;
    let voucher = app.sale(Sale::of(10)).await;
    let names = accounts(&app, 100).await;
    // So slow that most have to be told to come back, on any machine.
    let slow = [
        "web",
        "--limits",
        "on",
        "--hashing",
        "1",
        "--hashing-wait-s",
        "2",
    ];
    let program = Program::start_with(&app, &slow);
    let base = program.base().await;
    let guest = || app.guest().at_base(base.clone());
    let shopper = app.shopper("u1").await.at_base(base.clone());
    let order = shopper.buy_one(voucher).await;

    let crowd = (0..300).map(|n| match (n % 3, names[n / 3].clone()) {
        (0, name) => sign_in(guest(), name, PASSWORD),
        (1, name) => sign_in(guest(), name, "wrong horse"),
        (_, name) => sign_in(guest(), format!("no {name}"), PASSWORD),
    });
    let megabyte = "x".repeat(1 << 20);
    let long = (0..10).map(|n| sign_in(guest(), format!("account-{n}"), &megabyte));
    let letters = "x".repeat(129);
    let longish = (0..10).map(|n| sign_in(guest(), format!("account-{n}"), &letters));
    let flood = join(join_all(crowd), join(join_all(long), join_all(longish)));
    let shopper = shopper.at_address("127.0.0.1");
    let ((answers, (long, longish)), took) = during(flood, async move |n| {
        if n % 2 == 0 {
            shopper.buy(voucher).await;
        } else {
            shopper.status(&order).await;
        }
    })
    .await;
    let (refused, answered): (Vec<_>, Vec<_>) = answers
        .iter()
        .enumerate()
        .partition(|(_, answer)| is_over_capacity(answer));
    eprintln!(
        "p95 {:?} of {} asked; {} of 300 refused; peak {} MB",
        p95(&took),
        took.len(),
        refused.len(),
        program.peak_memory_mb()
    );
    assert!(p95(&took) < Duration::from_secs(1), "{took:?}");
    for (n, answer) in answered {
        let right = if n % 3 == 0 { 200 } else { 422 };
        assert_eq!(answer.status, right, "{n}: {answer:?}");
    }
    assert!(long.iter().all(|answer| answer.status == 413), "{long:?}");
    assert!(
        longish.iter().all(|answer| answer.status == 422),
        "{longish:?}"
    );
    let again = refused.iter().filter(|(n, _)| n % 3 == 0);
    let again = again.map(|(n, _)| sign_in(guest(), names[n / 3].clone(), PASSWORD));
    let again = stream::iter(again).buffered(8);
    let again: Vec<Answer> = again.collect().await;
    assert!(
        !again.is_empty(),
        "there were more than can be hashed in time"
    );
    assert!(again.iter().all(|answer| answer.status == 200), "{again:?}");
    assert!(
        program.peak_memory_mb() < MEMORY_MB,
        "{}",
        program.peak_memory_mb()
    );
    program.kill().await;
    app.check_promises().await;
}

/// Requests with a body, to addresses that take one and to some that do not.
fn requests() -> Vec<String> {
    let calls = leptos::server_fn::axum::server_fn_paths();
    let calls = calls.filter(|(_, method)| *method == Method::POST);
    let others = ["/", "/vouchers/1", "/nowhere", "/api", "/api/nowhere"];
    let posts = calls.map(|(path, _)| path).chain(others).chain(UNREAD);
    let mut requests: Vec<_> = posts.map(|path| format!("POST {path}")).collect();
    requests.extend(["HEAD /api/sale_status", "PUT /api/buy", "OPTIONS /api"].map(str::to_owned));
    requests
}

/// Where a body is not read at all.
const UNREAD: [&str; 2] = ["/healthz", "/pkg/nothing"];

/// The head of a form, which says how it is sent.
fn head(request: &str, cookie: &str, how: &str) -> String {
    format!(
        "{request} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nAccept: application/json\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n{how}\r\n\r\n"
    )
}

/// Was it refused for its body, and by nobody who had not read it?
fn is_refused(request: &str, answer: &str, right: u16) -> bool {
    if UNREAD.iter().any(|path| request.ends_with(path)) {
        return [404, 405].contains(&status(answer));
    }
    status(answer) == right
}

fn status(answer: &str) -> u16 {
    let word = answer.split(' ').nth(1).unwrap_or_default();
    word.parse().unwrap_or_else(|_| panic!("{answer:?}"))
}

/// A mebibyte as a chunk of a body without a length.
const CHUNK: &[u8] = &{
    let mut chunk = [b'x'; (1 << 20) + 10];
    let head = b"100000\r\n";
    let mut at = 0;
    while at < head.len() {
        chunk[at] = head[at];
        at += 1;
    }
    chunk[(1 << 20) + 8] = b'\r';
    chunk[(1 << 20) + 9] = b'\n';
    chunk
};

async fn pour_200_mb(base: &Url, request: &str, cookie: &str, has_length: bool) -> String {
    let mut wire = Wire::to(base).await;
    let (how, part) = if has_length {
        ("Content-Length: 209715200", &CHUNK[8..(1 << 20) + 8])
    } else {
        ("Transfer-Encoding: chunked", CHUNK)
    };
    wire.send(head(request, cookie, how)).await;
    wire.pour(part, 200).await
}

#[sqlx::test]
async fn o29_bodies_of_200_mb_are_refused_and_the_memory_stays_flat(database: PgPool) {
    let app = App::start(database).await;
    let program = Program::start_with(&app, &["web", "--limits", "on"]);
    let base = program.base().await;
    let shopper = app.shopper("amy").await.at_base(base.clone());
    let cookie = shopper.cookies().unwrap();
    let shopper = shopper.at_address("127.0.0.1");
    let pouring = requests().into_iter().flat_map(|request| {
        let ways = [
            ("", true),
            ("", false),
            (cookie.as_str(), true),
            (cookie.as_str(), false),
        ];
        ways.map(|(cookie, has_length)| {
            let (base, request) = (base.clone(), request.clone());
            async move {
                let answer = pour_200_mb(&base, &request, cookie, has_length).await;
                (request, has_length, answer)
            }
        })
    });
    let flood = stream::iter(pouring)
        .buffer_unordered(20)
        .collect::<Vec<_>>();
    let (answers, took) = during(flood, async move |_| {
        shopper.my_orders().await;
    })
    .await;
    for (request, has_length, answer) in &answers {
        assert!(
            is_refused(request, answer, 413),
            "{request} {has_length}: {answer}"
        );
    }
    eprintln!(
        "p95 {:?}; peak {} MB; {} bodies",
        p95(&took),
        program.peak_memory_mb(),
        answers.len()
    );
    assert!(p95(&took) < Duration::from_secs(1), "{took:?}");
    assert!(
        program.peak_memory_mb() < MEMORY_MB,
        "{}",
        program.peak_memory_mb()
    );
    program.kill().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o29_clients_of_one_byte_a_second_are_hung_up_on_and_others_served(database: PgPool) {
    let app = App::start(database).await;
    let words = ["web", "--limits", "on", "--slow-client-s", "3"];
    let program = Program::start_with(&app, &words);
    let base = program.base().await;
    let shopper = app.shopper("amy").await.at_base(base.clone());
    let shopper = shopper.at_address("127.0.0.1");
    let requests = requests();
    let in_head = (0..100).map(|_| async {
        let mut wire = Wire::to(&base).await;
        wire.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            .await;
        wire.drip(b'x').await
    });
    let in_body = (0..100).map(|n| {
        let (base, request) = (&base, &requests[n % requests.len()]);
        let (how, begun) = if n % 2 == 0 {
            ("Content-Length: 1000", "")
        } else {
            ("Transfer-Encoding: chunked", "1000\r\n")
        };
        async move {
            let mut wire = Wire::to(base).await;
            wire.send(head(request, "", how) + begun).await;
            (request, wire.drip(b'x').await)
        }
    });
    let flood = join(join_all(in_head), join_all(in_body));
    let ((in_head, in_body), took) = during(flood, async move |_| {
        shopper.my_orders().await;
    })
    .await;
    assert!(in_head.iter().all(String::is_empty), "{in_head:?}");
    for (request, answer) in &in_body {
        assert!(is_refused(request, answer, 408), "{request}: {answer}");
        if status(answer) == 408 {
            assert!(answer.contains("connection: close"), "{request}: {answer}");
            let body = if request.starts_with("HEAD") {
                ""
            } else {
                r#"{"error":"invalid"}"#
            };
            assert!(
                answer.ends_with(&format!("\r\n\r\n{body}")),
                "{request}: {answer}"
            );
        }
    }
    eprintln!("p95 {:?}; peak {} MB", p95(&took), program.peak_memory_mb());
    assert!(p95(&took) < Duration::from_secs(1), "{took:?}");
    assert!(
        program.peak_memory_mb() < MEMORY_MB,
        "{}",
        program.peak_memory_mb()
    );
    program.kill().await;
    app.check_promises().await;
}

#[sqlx::test]
async fn o29_a_cookie_of_1_mb_and_json_nested_without_end_are_refused(database: PgPool) {
    let app = App::start(database).await;
    let program = Program::start(&app, "web");
    let base = program.base().await;
    let amy = app.shopper("amy").await.at_base(base.clone());
    for request in requests() {
        let mut wire = Wire::to(&base).await;
        wire.send(format!(
            "{request} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: session="
        ))
        .await;
        let answer = wire.pour(&CHUNK[8..(1 << 20) + 8], 1).await;
        assert_eq!(status(&answer), 431, "{request}: {answer}");
    }
    let json = amy.with_header("content-type", "application/json");
    let requests = requests();
    let calls = requests
        .iter()
        .filter_map(|request| request.strip_prefix("POST "));
    for path in calls.filter(|path| path.starts_with("/api")) {
        // An address that is no call reads no further than its size.
        let is_call = seckill::auth::right::of_call(path).is_some();
        for (depth, right) in [(8000, if is_call { 415 } else { 404 }), (100_000, 413)] {
            let nested = "[".repeat(depth) + &"]".repeat(depth);
            let answer = json.post_raw(path, nested.into_bytes()).await;
            assert_eq!(answer.status, right, "{path}: {answer:?}");
        }
    }
    assert!(
        program.peak_memory_mb() < MEMORY_MB,
        "{}",
        program.peak_memory_mb()
    );
    program.kill().await;
    app.check_promises().await;
}
