//! Who serves what, as one node of a cluster sees it.

use std::ops::RangeInclusive;

use redis::{RedisResult, Value};

use super::lines::Node;

/// What a node says.
#[derive(Default)]
pub(super) struct View {
    /// Is the cluster at work, and how many changes of it are known here? Who was cut off has it broken, or is behind.
    pub(super) rank: (bool, u64),
    /// Slots, and the address of the primary that serves them.
    pub(super) owners: Vec<(RangeInclusive<u16>, String)>,
}

/// The view of a node.
pub(super) async fn of(mut node: Node) -> RedisResult<View> {
    let mut pipe = redis::pipe();
    pipe.cmd("CLUSTER").arg("INFO").cmd("CLUSTER").arg("SLOTS");
    let (info, slots): (String, Vec<Vec<Value>>) = pipe.query_async(&mut node.connection).await?;
    let field = |name| info.lines().find_map(|line| line.strip_prefix(name));
    let is_at_work = field("cluster_state:") == Some("ok");
    let epoch = field("cluster_current_epoch:").and_then(|epoch| epoch.parse().ok());
    let host = node.address.rsplit_once(':').map(|(host, _)| host);
    Ok(View {
        rank: (is_at_work, epoch.unwrap_or_default()),
        owners: slots
            .iter()
            .filter_map(|range| owner(range, host.unwrap_or_default()))
            .collect(),
    })
}

/// A range is its first and last slot, the primary, and the replicas. A primary begins with host and port; no host
/// is that of the node that answered, `?` is one that it does not know.
fn owner(range: &[Value], answering: &str) -> Option<(RangeInclusive<u16>, String)> {
    let [first, last, Value::Array(primary), ..] = range else {
        return None;
    };
    let [host, port, ..] = &primary[..] else {
        return None;
    };
    let host = match host {
        Value::BulkString(host) => std::str::from_utf8(host).ok()?,
        _ => "",
    };
    let host = match host {
        "?" => return None,
        "" => answering,
        host => host,
    };
    let slots = number(first)?..=number(last)?;
    Some((slots, format!("{host}:{}", number(port)?)))
}

fn number(value: &Value) -> Option<u16> {
    match value {
        Value::Int(number) => u16::try_from(*number).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(host: Value) -> Vec<Value> {
        let primary = vec![host, Value::Int(7000), Value::BulkString(b"id".to_vec())];
        vec![
            Value::Int(0),
            Value::Int(5460),
            Value::Array(primary),
            Value::Array(vec![]),
        ]
    }

    #[test]
    fn a_primary_without_a_host_is_where_the_answer_came_from() {
        let address = |host| owner(&range(host), "10.0.0.9").map(|(_, address)| address);
        let text = |host: &str| Value::BulkString(host.as_bytes().to_vec());
        assert_eq!(address(text("10.0.0.1")).as_deref(), Some("10.0.0.1:7000"));
        assert_eq!(address(text("")).as_deref(), Some("10.0.0.9:7000"));
        assert_eq!(address(Value::Nil).as_deref(), Some("10.0.0.9:7000"));
        assert_eq!(address(text("?")), None);
        assert_eq!(owner(&[Value::Int(0)], "10.0.0.9"), None);
    }
}
