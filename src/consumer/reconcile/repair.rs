//! Repairs proven faults, shard by shard under its lock. Every write compares what it changes with what was found, so
//! that a fault which went away by itself meanwhile is left alone.

use std::collections::{BTreeMap, BTreeSet};

use app::model::{OrderId, UserId, VoucherId};
use sqlx::PgPool;

use super::{super::rebuild, fault::Fault};
use crate::{
    db,
    error::Error,
    gate::{Gate, Release, keys::Shard},
    lock::Lock,
};

/// Faults that are named in a line of the audit log; of more, the number.
const NAMED: usize = 10;

/// Repairs what can be: broken sales and old settings are the keeper's. A shard at which another instance is at work is
/// left to it.
///
/// # Errors
/// When a store is away or the lock was lost; asking again is safe.
pub(super) async fn repair(
    pool: &PgPool,
    gate: &Gate,
    actor: &str,
    faults: &BTreeSet<Fault>,
) -> Result<(), Error> {
    let mut by_shard: BTreeMap<Shard, Vec<&Fault>> = BTreeMap::new();
    for fault in faults {
        let shard = match fault {
            Fault::Broken(_) | Fault::Behind(_) => continue,
            Fault::Orphan(shard, _) => Some(*shard),
            fault => fault.voucher().map(|voucher| gate.keys().shard(voucher)),
        };
        if let Some(shard) = shard {
            by_shard.entry(shard).or_default().push(fault);
        }
    }
    let mut result = Ok(());
    for (shard, faults) in by_shard {
        let repaired = repair_shard(pool, gate, actor, shard, &faults).await;
        result = result.and(repaired);
    }
    result
}

/// Repairs one after another under the shard's lock. One that fails hinders no other, and what was changed is noted all
/// the same; gives the first failure.
async fn repair_shard(
    pool: &PgPool,
    gate: &Gate,
    actor: &str,
    shard: Shard,
    faults: &[&Fault],
) -> Result<(), Error> {
    let Some(lock) = rebuild::lock(gate, shard).await? else {
        return Ok(());
    };
    let mut result = Ok(());
    let mut repaired = Vec::new();
    for fault in faults {
        if lock.is_lost() {
            result = result.and(Err(Error::LockLost));
            break;
        }
        match repair_one(pool, gate, &lock, fault).await {
            Ok(true) => repaired.push(*fault),
            Ok(false) => {}
            Err(error) => result = result.and(Err(error)),
        }
    }
    let noted = note(pool, actor, shard, &repaired).await;
    let released = lock.release().await.map(drop).map_err(Error::from);
    result.and(noted).and(released)
}

/// Repairs one fault; true when something was changed.
async fn repair_one(pool: &PgPool, gate: &Gate, lock: &Lock, fault: &Fault) -> Result<bool, Error> {
    Ok(match fault {
        Fault::Broken(_) | Fault::Behind(_) => false,
        Fault::Drift(voucher, drift) => gate.repair_stock(lock.token(), *voucher, *drift).await?,
        Fault::Sold { voucher, .. } => {
            let voucher = *voucher;
            db::in_transaction(pool, move |connection| {
                Box::pin(db::sales::recount(connection, voucher))
            })
            .await?;
            true
        }
        Fault::Unreleased(voucher, user, order) => {
            release(pool, gate, *voucher, *user, *order).await?
        }
        Fault::Unmarked(voucher, user, order) => gate.confirm(*voucher, &[(*user, *order)]).await?,
        Fault::Lost(voucher, user, order) => {
            gate.enqueue_again(*voucher, &[(*user, *order)]).await? > 0
        }
        Fault::Orphan(shard, entry) => gate.requeue(*shard, std::slice::from_ref(entry)).await? > 0,
    })
}

/// A refused order's mark goes; where its buyer has a live order beside it, it stands for that one.
async fn release(
    pool: &PgPool,
    gate: &Gate,
    voucher: VoucherId,
    user: UserId,
    order: OrderId,
) -> Result<bool, Error> {
    let released = match db::in_time(db::orders::live_of(pool, voucher, user)).await? {
        Some(live) => gate.repoint(user, voucher, order, live).await?,
        None => gate.release(user, voucher, order).await?,
    };
    Ok(released == Release::Released)
}

/// One line of the audit log for each sale, and for the queue.
async fn note(pool: &PgPool, actor: &str, shard: Shard, repaired: &[&Fault]) -> Result<(), Error> {
    let mut by_subject: BTreeMap<String, Vec<&Fault>> = BTreeMap::new();
    for fault in repaired {
        let subject = match fault.voucher() {
            Some(voucher) => format!("voucher {voucher}"),
            None => format!("queue {}", shard.0),
        };
        by_subject.entry(subject).or_default().push(fault);
    }
    let notes: Vec<(String, String)> = by_subject
        .into_iter()
        .map(|(subject, faults)| {
            let mut named: Vec<String> =
                faults.iter().take(NAMED).map(ToString::to_string).collect();
            if faults.len() > NAMED {
                named.push(format!("and {} more", faults.len() - NAMED));
            }
            (subject, named.join("; "))
        })
        .collect();
    Ok(db::in_time(db::audit_log::insert_all(pool, actor, "repair", &notes)).await?)
}
