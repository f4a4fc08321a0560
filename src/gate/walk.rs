//! Reads a whole stream of a shard.

use redis::{RedisResult, cmd};

use super::{
    connection::Connection,
    entry::{Entry, RawEntry, parse},
};

/// Reads a stream from its beginning up to the id `last` (`+`: its end), a page at a time, so that no call is long.
///
/// # Errors
/// When Redis is away.
pub(super) async fn walk(
    calls: &Connection,
    stream: &str,
    last: &str,
    mut each: impl FnMut(Entry),
) -> RedisResult<()> {
    const PAGE: usize = 1000;
    let mut from = "-".to_owned();
    loop {
        let mut range = cmd("XRANGE");
        range
            .arg(stream)
            .arg(&from)
            .arg(last)
            .arg("COUNT")
            .arg(PAGE);
        let entries: Vec<RawEntry> = calls.query(&range).await?;
        let Some((read, _)) = entries.last() else {
            return Ok(());
        };
        from = format!("({read}");
        let through = entries.len() < PAGE;
        entries.into_iter().map(parse).for_each(&mut each);
        if through {
            return Ok(());
        }
    }
}
