//! The web server itself, with clients that are slow, rude, or too many.

use std::{
    future::pending,
    net::{IpAddr, SocketAddr},
    time::{Duration, Instant},
};

use axum::{Router, body::Body, response::Response, routing::get};
use clap::Parser;
use seckill::{
    client_address::TrustedProxies,
    config::{Cli, Command, Limits},
    web_server::WebServer,
};
use sqlx::PgPool;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use super::harness::{App, Program, Wire, eventually};

struct Server {
    addr: SocketAddr,
    stop: watch::Sender<bool>,
    /// Somebody asks for what never comes.
    begun: watch::Receiver<bool>,
    serving: JoinHandle<()>,
}

impl Server {
    async fn start(change: impl FnOnce(&mut Limits)) -> Self {
        Self::behind(&[], change).await
    }

    async fn behind(proxies: &[IpAddr], change: impl FnOnce(&mut Limits)) -> Self {
        let Command::Web(mut config) = Cli::parse_from(["seckill", "web"]).command else {
            unreachable!("that is the command");
        };
        config.limits.are_on = true;
        change(&mut config.limits);
        let proxies: Vec<_> = proxies.iter().copied().map(Into::into).collect();
        let server = WebServer::new(&config.limits, &TrustedProxies::new(&proxies));
        let (begin, begun) = watch::channel(false);
        let router = Router::new()
            .route("/", get(|| async { "hello" }))
            .route("/never", get(move || never(begin)))
            .route("/panic", get(|| async { panic!("as asked") as () }))
            .route("/large", get(large));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let serving = tokio::spawn(server.serve(listener, router, stopped));
        Self {
            addr,
            stop,
            begun,
            serving,
        }
    }

    async fn call(&self, from: &str) -> Wire {
        Wire::between(from, self.addr).await
    }

    /// A connection that has a place: it was answered.
    async fn placed(&self, from: &str) -> Wire {
        let mut wire = self.call(from).await;
        assert_eq!(status(&said(&mut wire).await), 200);
        wire
    }

    /// Somebody who calls now is served, once all is as it was.
    async fn serves_again(&self, from: &str) {
        eventually("a place is free", async || {
            status(&said(&mut self.call(from).await).await) == 200
        })
        .await;
    }
}

async fn never(begin: watch::Sender<bool>) {
    let _ = begin.send(true);
    pending().await
}

/// More than the buffers between two ends hold.
async fn large() -> Response {
    Response::new(Body::from(vec![0; 64 << 20]))
}

async fn said(wire: &mut Wire) -> String {
    wire.get("/").await;
    wire.answer().await
}

fn status(answer: &str) -> u16 {
    let word = answer.split(' ').nth(1).unwrap_or_default();
    word.parse().unwrap_or_else(|_| panic!("{answer:?}"))
}

fn says(answer: &str, header: &str) -> bool {
    answer.lines().any(|line| line.eq_ignore_ascii_case(header))
}

#[tokio::test]
async fn one_address_has_its_share_of_the_connections_and_the_others_are_served() {
    let server = Server::start(|limits| limits.connections_per_address = Some(2)).await;
    let held = (
        server.placed("127.0.0.2").await,
        server.placed("127.0.0.2").await,
    );
    let answer = said(&mut server.call("127.0.0.2").await).await;
    assert_eq!(status(&answer), 429, "{answer}");
    assert!(
        says(&answer, "retry-after: 1") && says(&answer, "connection: close"),
        "{answer}"
    );
    assert!(
        answer.ends_with(r#"{"error":"too_many_requests"}"#),
        "{answer}"
    );
    server.placed("127.0.0.3").await;
    drop(held);
    server.serves_again("127.0.0.2").await;
}

#[tokio::test]
async fn a_trusted_proxy_may_have_all_connections_and_without_limits_so_may_anybody() {
    let proxy = [IpAddr::from([127, 0, 0, 2])];
    let server = Server::behind(&proxy, |limits| limits.connections_per_address = Some(1)).await;
    let _held = (
        server.placed("127.0.0.2").await,
        server.placed("127.0.0.2").await,
    );
    let server = Server::start(|limits| {
        limits.connections_per_address = Some(1);
        limits.are_on = false;
    })
    .await;
    let _held = (
        server.placed("127.0.0.2").await,
        server.placed("127.0.0.2").await,
    );
}

#[tokio::test]
async fn beyond_all_connections_callers_are_told_to_come_back() {
    let server = Server::start(|limits| {
        limits.connections = 3;
        limits.connections_per_address = Some(3);
    })
    .await;
    let mut held = Vec::new();
    for from in ["127.0.0.2", "127.0.0.3", "127.0.0.4"] {
        held.push(server.placed(from).await);
    }
    // More than can be told at a time: the others are hung up on, and none is kept.
    let mut callers = Vec::new();
    for _ in 0..400 {
        callers.push(server.call("127.0.0.5").await);
    }
    for wire in &mut callers {
        wire.get("/").await;
    }
    let mut told = 0;
    for wire in &mut callers {
        let answer = wire.rest().await;
        if !answer.is_empty() {
            assert_eq!(status(&answer), 503, "{answer}");
            assert!(
                says(&answer, "retry-after: 1") && says(&answer, "connection: close"),
                "{answer}"
            );
            told += 1;
        }
    }
    assert!(told >= 200, "{told} of 400");
    drop(callers);
    assert_eq!(
        status(&said(&mut held[0]).await),
        200,
        "who has a place keeps it"
    );
    held.pop();
    server.serves_again("127.0.0.5").await;
}

#[tokio::test]
async fn who_sends_no_head_in_time_is_hung_up_on() {
    let server = Server::start(|limits| limits.slow_client_s = 1).await;
    let began = Instant::now();
    let mut silent = server.call("127.0.0.1").await;
    let mut halfway = server.call("127.0.0.1").await;
    halfway.send("GET / HTTP/1.1\r\nHost: ").await;
    let mut dripping = server.call("127.0.0.1").await;
    dripping.send("GET / HTTP/1.1\r\nX: ").await;
    let mut idle = server.placed("127.0.0.1").await;
    let said = tokio::join!(
        silent.rest(),
        halfway.rest(),
        dripping.drip(b'x'),
        idle.rest()
    );
    assert_eq!(said, Default::default(), "nothing is said to them");
    let took = began.elapsed();
    assert!((900..5000).contains(&took.as_millis()), "{took:?}");
}

#[tokio::test]
async fn who_does_not_read_on_is_hung_up_on() {
    let server = Server::start(|limits| {
        limits.slow_client_s = 1;
        limits.connections = 1;
        limits.connections_per_address = Some(1);
    })
    .await;
    let mut deaf = server.call("127.0.0.1").await;
    deaf.get("/large").await;
    server.serves_again("127.0.0.2").await;
    assert!(deaf.rest().await.len() < 64 << 20, "the answer was cut off");
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused_before_it_is_read() {
    let server = Server::start(|limits| limits.head_bytes = 16_384).await;
    let mut fits = server.call("127.0.0.1").await;
    fits.send(format!(
        "GET / HTTP/1.1\r\nHost: x\r\nCookie: {}\r\n\r\n",
        "c".repeat(16_000)
    ))
    .await;
    assert_eq!(status(&fits.answer().await), 200);
    let mut huge = server.call("127.0.0.1").await;
    huge.send("GET / HTTP/1.1\r\nHost: x\r\nCookie: ").await;
    let answer = huge.pour(&[b'c'; 1 << 20], 1).await;
    assert_eq!(status(&answer), 431, "{answer}");
}

#[tokio::test]
async fn a_panic_ends_its_connection_and_no_other() {
    let server = Server::start(|_| {}).await;
    let mut other = server.placed("127.0.0.1").await;
    let mut wire = server.call("127.0.0.1").await;
    wire.get("/panic").await;
    assert_eq!(wire.rest().await, "");
    assert_eq!(status(&said(&mut other).await), 200);
    server.placed("127.0.0.1").await;
}

#[tokio::test]
async fn told_to_stop_it_accepts_no_more_and_idle_connections_do_not_hold_it_up() {
    let server = Server::start(|_| {}).await;
    let mut idle = server.placed("127.0.0.1").await;
    let mut halfway = server.call("127.0.0.1").await;
    halfway.send("GET / HTTP/1.1\r\n").await;
    let began = Instant::now();
    server.stop.send(true).unwrap();
    assert_eq!(idle.rest().await, "");
    drop((idle, halfway));
    server.serving.await.unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    assert!(
        tokio::net::TcpStream::connect(server.addr).await.is_err(),
        "nobody listens"
    );
}

#[tokio::test]
async fn told_to_stop_it_cuts_off_after_ten_seconds_what_does_not_end() {
    let mut server = Server::start(|_| {}).await;
    let mut never = server.placed("127.0.0.1").await;
    never.get("/never").await;
    server.begun.wait_for(|begun| *begun).await.unwrap();
    let began = Instant::now();
    server.stop.send(true).unwrap();
    server.serving.await.unwrap();
    let took = began.elapsed();
    assert!((9..13).contains(&took.as_secs()), "{took:?}");
    assert_eq!(never.rest().await, "");
}

#[sqlx::test]
async fn a_program_that_may_open_no_more_files_says_so_once_and_serves_again_when_it_may(
    database: PgPool,
) {
    let app = App::start(database).await;
    let program = Program::start(&app, "web");
    let base = program.base().await;
    let guest = app.guest().at_base(base.clone());
    assert_eq!(guest.get("/healthz").await.status, 200);
    let may_open = |files: &str| {
        let pid = program.pid().to_string();
        let set = std::process::Command::new("prlimit")
            .args(["--pid", &pid, &format!("--nofile={files}:")])
            .status();
        assert!(set.unwrap().success());
    };
    may_open("3");
    let mut waiting = Wire::to(&base).await;
    waiting.get("/healthz").await;
    program.has_said("accepting connections fails").await;
    may_open("1000");
    assert_eq!(
        status(&waiting.answer().await),
        200,
        "it waited in the queue"
    );
    program.has_said("accepting connections works again").await;
    let words = program.said();
    let fails = words
        .iter()
        .filter(|line| line.contains("accepting connections fails"));
    assert_eq!(fails.count(), 1, "{words:?}");
    program.kill().await;
    app.check_promises().await;
}
