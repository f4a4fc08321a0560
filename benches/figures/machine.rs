//! What was measured on: without it a figure says nothing.

use std::{collections::HashMap, fs};

use redis::InfoDict;
use seckill::stores::Stores;

use crate::Result;

/// Settings of Redis that are told; sizes in bytes.
const REDIS_SETTINGS: [&str; 4] = [
    "appendonly",
    "appendfsync",
    "auto-aof-rewrite-min-size",
    "stream-node-max-entries",
];

/// A line each: processor, memory, system, load, versions, settings.
pub async fn describe(stores: &Stores) -> Result<Vec<(&'static str, String)>> {
    let redis: InfoDict = stores
        .gate
        .connection()
        .query(redis::cmd("INFO").arg("server"))
        .await?;
    let mut get = redis::cmd("CONFIG");
    get.arg("GET").arg(&REDIS_SETTINGS);
    let set: HashMap<String, String> = stores.gate.connection().query(&get).await?;
    let set = |name: &&str| format!("{name} {}", set.get(*name).map_or("", String::as_str));
    let set: Vec<String> = REDIS_SETTINGS.iter().map(set).collect();
    Ok(vec![
        (
            "processor",
            format!(
                "{} cores, {}",
                cores()?,
                field("/proc/cpuinfo", "model name")?
            ),
        ),
        ("memory", field("/proc/meminfo", "MemTotal")?),
        ("system", read("/proc/sys/kernel/osrelease")?),
        ("load before", read("/proc/loadavg")?),
        (
            "Redis",
            format!(
                "{}, {}",
                redis.get::<String>("redis_version").unwrap_or_default(),
                set.join(", ")
            ),
        ),
        (
            "PostgreSQL",
            format!(
                "{}, fsync {}, synchronous_commit {}, shared_buffers {}",
                show(stores, "server_version").await?,
                show(stores, "fsync").await?,
                show(stores, "synchronous_commit").await?,
                show(stores, "shared_buffers").await?
            ),
        ),
    ])
}

async fn show(stores: &Stores, setting: &str) -> Result<String> {
    Ok(sqlx::query_scalar("SELECT current_setting($1)")
        .bind(setting)
        .fetch_one(&stores.pool)
        .await?)
}

fn cores() -> Result<usize> {
    Ok(std::thread::available_parallelism()?.get())
}

fn read(path: &str) -> Result<String> {
    Ok(fs::read_to_string(path)?.trim().to_owned())
}

fn field(path: &str, name: &str) -> Result<String> {
    let text = fs::read_to_string(path)?;
    let value = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(field, _)| field.trim() == name);
    Ok(value
        .map(|(_, value)| value.trim().to_owned())
        .unwrap_or_default())
}
