//! The program's settings for stores that are the run's own.

use clap::Parser;
use seckill::config::{Cli, Command, Config};

use crate::Result;

/// The settings on these stores, all else by default.
pub fn on(database_url: &str, redis_url: &str) -> Result<Config> {
    let cli = [
        "seckill",
        "migrate",
        "--database-url",
        database_url,
        "--redis-url",
        redis_url,
    ];
    match Cli::try_parse_from(cli)?.command {
        Command::Migrate(config) => Ok(config),
        _ => Err("another command".into()),
    }
}
