//! The private stores of embedded mode, with real programs on a folder of each test's own.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use seckill::embedded::{Stores, StoresError};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection};

const DEADLINE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn what_is_stored_survives_a_stop_and_a_kill_of_the_stores() {
    let data = Data::new("");
    let stores = Stores::start(&data.0).await.unwrap();
    remember(&data.0, 7).await;
    stores.stop().await;

    let stores = Stores::start(&data.0).await.unwrap();
    assert_eq!(recall(&data.0).await.unwrap(), (7, 7));
    for process in processes(&data.0) {
        signal(process, "KILL");
        wait_until_gone(&[process]).await;
    }
    let begun = Instant::now();
    let mut look = tokio::time::interval(Duration::from_millis(20));
    while recall(&data.0).await.ok() != Some((7, 7)) {
        assert!(begun.elapsed() < DEADLINE, "the stores stayed away");
        look.tick().await;
    }

    let without_owner = processes(&data.0);
    drop(stores);
    wait_until_gone(&without_owner).await;
}

#[tokio::test]
async fn a_program_killed_at_any_moment_takes_its_stores_along_and_starts_again() {
    let data = Data::new("");
    let mut program = serve(&data.0);
    wait_for(&data.0.join("postgres.new/base")).await;
    kill(&mut program);

    let mut program = serve(&data.0);
    wait_until_ready(&mut program);
    let left_alone = processes(&data.0);
    kill(&mut program);
    wait_until_gone(&left_alone).await;

    let mut program = serve(&data.0);
    wait_until_ready(&mut program);
    let taken_over = processes(&data.0);
    remember(&data.0, 7).await;
    kill(&mut program);
    let stores = Stores::start(&data.0).await.unwrap();
    wait_until_gone(&taken_over).await;
    assert_eq!(recall(&data.0).await.unwrap(), (7, 7));
    stores.stop().await;
}

#[tokio::test]
async fn a_second_program_on_the_folder_is_refused_in_one_line() {
    let data = Data::new("");
    fs::create_dir(&data.0).unwrap();
    let mut first = File::create_new(data.0.join("seckill.lock")).unwrap();
    first.lock().unwrap();
    write!(first, "123").unwrap();
    let refusal = Stores::start(&data.0).await.unwrap_err().to_string();
    let folder = data.0.display();
    let expected = format!("another Seckill (process 123) is using the data folder {folder}");
    assert_eq!(refusal, expected);
}

#[tokio::test]
async fn a_long_or_odd_path_gets_its_sockets_elsewhere_and_private() {
    let data = Data::new(&format!("/数据 a,b%20+/{}", "x".repeat(100)));
    let stores = Stores::start(&data.0).await.unwrap();
    remember(&data.0, 7).await;
    let sockets = fs::read_link(data.0.join("run")).unwrap();
    assert_eq!(sockets.metadata().unwrap().mode() & 0o777, 0o700);
    stores.stop().await;
    assert!(!sockets.exists());
}

#[tokio::test]
async fn a_folder_with_other_files_is_left_untouched() {
    let data = Data::new("");
    fs::create_dir(&data.0).unwrap();
    fs::write(data.0.join("thesis.txt"), "years").unwrap();
    let refusal = Stores::start(&data.0).await.unwrap_err();
    assert!(matches!(refusal, StoresError::Foreign { .. }), "{refusal}");
    assert_eq!(fs::read_dir(&data.0).unwrap().count(), 1);
}

#[tokio::test]
async fn a_store_that_cannot_start_is_quoted_in_one_line() {
    let data = Data::new("");
    fs::create_dir_all(data.0.join("postgres")).unwrap();
    fs::write(data.0.join("postgres/PG_VERSION"), "15\n").unwrap();
    fs::write(data.0.join("seckill.lock"), "").unwrap();
    let refusal = Stores::start(&data.0).await.unwrap_err().to_string();
    assert!(
        refusal.starts_with("PostgreSQL did not start: "),
        "{refusal}"
    );
    assert!(refusal.contains("postgresql.conf"), "{refusal}");
    assert_eq!(refusal.lines().count(), 1);
}

#[tokio::test]
async fn data_that_vanish_under_the_program_are_not_made_afresh() {
    let data = Data::new("");
    let mut stores = Stores::start(&data.0).await.unwrap();
    let processes = processes(&data.0);
    fs::rename(data.0.join("postgres"), data.0.join("elsewhere")).unwrap();
    signal(processes[0], "KILL");
    let failure = tokio::time::timeout(DEADLINE, stores.failed())
        .await
        .unwrap();
    assert!(matches!(failure, StoresError::Gone { .. }), "{failure}");
    wait_until_gone(&processes).await;
}

/// The program itself, with private stores on `data`.
fn serve(data: &Path) -> Child {
    let site = data.with_extension("site");
    fs::create_dir_all(site.join("pkg")).unwrap();
    fs::write(site.join("hash.txt"), "js: a\nwasm: b\ncss: c\n").unwrap();
    Command::new(env!("CARGO_BIN_EXE_seckill"))
        .args(["serve", "--addr", "127.0.0.1:0", "--data"])
        .arg(data)
        .arg("--site")
        .arg(&site)
        .env_remove("DATABASE_URL")
        .env_remove("REDIS_URL")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn wait_until_ready(program: &mut Child) {
    let output = BufReader::new(program.stdout.take().unwrap());
    let is_ready = output
        .lines()
        .map_while(Result::ok)
        .any(|line| line.starts_with("Seckill is ready"));
    assert!(is_ready, "the program ended before it was ready");
}

fn kill(program: &mut Child) {
    program.kill().unwrap();
    program.wait().unwrap();
}

async fn remember(data: &Path, number: i32) {
    let mut database = connect(data).await.unwrap();
    let table = "CREATE TABLE IF NOT EXISTS memory (number int)";
    sqlx::query(table).execute(&mut database).await.unwrap();
    sqlx::query("DELETE FROM memory")
        .execute(&mut database)
        .await
        .unwrap();
    let insert = sqlx::query("INSERT INTO memory VALUES ($1)").bind(number);
    insert.execute(&mut database).await.unwrap();
    let client = redis::Client::open(redis_url(data)).unwrap();
    let mut redis = client.get_multiplexed_async_connection().await.unwrap();
    let set = redis::cmd("SET").arg("memory").arg(number).to_owned();
    set.query_async::<()>(&mut redis).await.unwrap();
}

/// The number as PostgreSQL and as Redis remember it.
async fn recall(data: &Path) -> Result<(i32, i32), Box<dyn std::error::Error>> {
    let select = sqlx::query_scalar("SELECT number FROM memory");
    let in_database = select.fetch_one(&mut connect(data).await?).await?;
    let client = redis::Client::open(redis_url(data))?;
    let mut redis = client.get_multiplexed_async_connection().await?;
    let in_redis = redis::cmd("GET")
        .arg("memory")
        .query_async(&mut redis)
        .await?;
    Ok((in_database, in_redis))
}

async fn connect(data: &Path) -> Result<PgConnection, sqlx::Error> {
    PgConnectOptions::new()
        .socket(sockets(data))
        .username("seckill")
        .database("seckill")
        .connect()
        .await
}

fn redis_url(data: &Path) -> String {
    format!("redis+unix://{}/redis.sock", sockets(data).display())
}

/// Where the sockets are: in the folder, or where a link in it leads.
fn sockets(data: &Path) -> PathBuf {
    data.join("run").canonicalize().unwrap()
}

/// The processes that have one of the folder's locks as standard input: PostgreSQL's first one, Redis.
fn processes(data: &Path) -> [u32; 2] {
    let postmaster = fs::read_to_string(data.join("postgres/postmaster.pid")).unwrap();
    let postmaster = postmaster.lines().next().unwrap().parse().unwrap();
    let lock = data.canonicalize().unwrap().join("redis.lock");
    let of_redis = fs::read_dir("/proc").unwrap().find_map(|entry| {
        let entry = entry.ok()?;
        let input = fs::read_link(entry.path().join("fd/0")).ok()?;
        (input == lock)
            .then(|| entry.file_name().to_str()?.parse().ok())
            .flatten()
    });
    [postmaster, of_redis.expect("Redis runs")]
}

async fn wait_until_gone(processes: &[u32]) {
    // A killed one may wait for its new parent to notice: then its command line is empty.
    let is_there = |process: &u32| {
        fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| !line.is_empty())
    };
    until("the stores are gone", || !processes.iter().any(is_there)).await;
}

async fn wait_for(path: &Path) {
    until("the file appears", || path.exists()).await;
}

/// Waits for a condition, with a deadline.
async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    let mut look = tokio::time::interval(Duration::from_millis(5));
    while !is_so() {
        assert!(
            begun.elapsed() < DEADLINE,
            "not within {DEADLINE:?}: {what}"
        );
        look.tick().await;
    }
}

fn signal(process: u32, signal: &str) {
    let kill = format!("kill -s {signal} {process}");
    assert!(
        Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
}

/// A data folder that goes with the test.
struct Data(PathBuf);

impl Data {
    fn new(below: &str) -> Self {
        let name = format!("seckill-test-{:08x}{below}", rand::random::<u32>());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        let below = self
            .0
            .strip_prefix(std::env::temp_dir())
            .expect("it was made there");
        let top = below.components().next().expect("it has a name");
        let _ = fs::remove_dir_all(std::env::temp_dir().join(top));
    }
}
