//! What was measured on: without it a figure says nothing.

use std::{collections::HashMap, fs};

use redis::InfoDict;
use seckill::stores::Stores;

use crate::Result;

/// A line each: processor, memory, system, load, versions, settings.
pub async fn describe(stores: &Stores) -> Result<Vec<(&'static str, String)>> {
    let redis: InfoDict = stores
        .gate
        .connection()
        .query(redis::cmd("INFO").arg("server"))
        .await?;
    let mut get = redis::cmd("CONFIG");
    get.arg("GET").arg("append*");
    let append: HashMap<String, String> = stores.gate.connection().query(&get).await?;
    let append = |name: &str| append.get(name).cloned().unwrap_or_default();
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
                "{}, appendonly {}, appendfsync {}",
                redis.get::<String>("redis_version").unwrap_or_default(),
                append("appendonly"),
                append("appendfsync")
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
