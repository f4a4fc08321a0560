//! Rebuilds sales whose keys in the gate are missing, malformed, or in a Redis that is not the one last seen.
//! Under the shard's lock: stop the sale; read the marks, the whole queue and the dead letters, and PostgreSQL last;
//! unite by order id; a promise that PostgreSQL does not know is kept, and enqueued again where no entry is left.
//! Never from PostgreSQL's count alone: it lags behind the queue, and units would be sold twice (case O03).

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use app::model::{OrderId, UserId, VoucherId};
use sqlx::PgPool;

use crate::{
    carry::settings,
    clock,
    db::{self, orders::StoredOrder, sales::Sale},
    error::Error,
    gate::{Gate, keys::Shard, rebuild::Finding},
    lock::Lock,
};

/// The lease of the shard's lock: what a holder that died costs the others, who must be at work again within 10 s of a
/// store's return (case O12).
const LEASE: Duration = Duration::from_secs(5);

/// Takes the lock of a shard; `None` when another instance is at work there.
///
/// # Errors
/// When Redis is away.
pub async fn lock(gate: &Gate, shard: Shard) -> Result<Option<Lock>, Error> {
    Ok(Lock::acquire(gate.connection(), gate.keys().lock(shard), LEASE).await?)
}

/// Rebuilds sales of one shard under its lock; those that sell now are open again first.
///
/// # Errors
/// When a store is away or the lock was lost; the sales stay closed, and the next who looks goes on.
pub async fn rebuild(
    pool: &PgPool,
    gate: &Gate,
    lock: &Lock,
    shard: Shard,
    mut sales: Vec<Sale>,
) -> Result<(), Error> {
    for sale in &sales {
        held(lock, gate.rebuild_begin(lock.token(), sale.voucher).await?)?;
    }
    let mut remembered: HashMap<VoucherId, Remembered> = HashMap::new();
    for sale in &sales {
        let marks = gate.all_marks(sale.voucher).await?;
        remembered.entry(sale.voucher).or_default().marks = marks;
    }
    for promise in gate.queued_promises(shard).await? {
        if let Some(of_sale) = remembered.get_mut(&promise.voucher) {
            of_sale.queued.insert(promise.order, promise.user);
        }
    }
    for promise in gate.dead_promises(shard).await? {
        if let Some(of_sale) = remembered.get_mut(&promise.voucher) {
            of_sale.dead.insert(promise.order, promise.user);
        }
    }
    let now = clock::system();
    sales.sort_by_key(|sale| (sale.ends_at <= now, sale.begins_at));
    let mut notes = Vec::new();
    let mut result = Ok(());
    for sale in sales {
        let remembered = remembered.remove(&sale.voucher).unwrap_or_default();
        match rebuild_one(pool, gate, lock, sale, remembered).await {
            Ok(note) => notes.push(note),
            Err(error) => {
                result = Err(error);
                break;
            }
        }
    }
    // At once, since each statement waits for the disk; also for those before one that failed.
    db::in_time(db::audit_log::insert_all(
        pool, "program", "rebuild", &notes,
    ))
    .await?;
    result
}

/// Reads PostgreSQL, last of all, and opens a sale again. Gives what the audit log says of it.
async fn rebuild_one(
    pool: &PgPool,
    gate: &Gate,
    lock: &Lock,
    sale: Sale,
    remembered: Remembered,
) -> Result<(String, String), Error> {
    let voucher = sale.voucher;
    let stored = db::in_time(db::orders::of_voucher(pool, voucher, &remembered.ids())).await?;
    let findings = findings(&remembered, &stored);
    held(
        lock,
        gate.rebuild_mark(lock.token(), voucher, &findings).await?,
    )?;
    // The settings are read again: they may have changed since the sale was stopped.
    let sale = db::in_time(db::sales::by_id(pool, voucher))
        .await?
        .unwrap_or(sale);
    let dropped = |finding: &&Finding| matches!(finding, Finding::Drop(..));
    let standing = findings.len() - findings.iter().filter(dropped).count();
    let stock = gate
        .rebuild_end(lock.token(), &settings(&sale), standing)
        .await?
        .ok_or(Error::LockLost)?;
    metrics::counter!("seckill_rebuilds_total").increment(1);
    let again = findings
        .iter()
        .filter(|finding| matches!(finding, Finding::Enqueue(..)));
    let detail = format!(
        "stock {stock} of {}, {} promises enqueued again",
        sale.granted,
        again.count()
    );
    Ok((format!("voucher {voucher}"), detail))
}

/// Goes on only while the lock is held.
fn held(lock: &Lock, wrote: bool) -> Result<(), Error> {
    if wrote && !lock.is_lost() {
        Ok(())
    } else {
        Err(Error::LockLost)
    }
}

/// Enqueues promises of sound sales again that stand by their marks alone, since the queue of their shard was lost. The
/// sales go on selling: marks are read first and PostgreSQL last, and a promise goes from the queue only to the dead
/// letters or to PostgreSQL, so that one found nowhere is lost indeed. Were one enqueued twice, it would be stored once.
///
/// # Errors
/// When a store is away; asking again is safe.
pub async fn enqueue_lost(
    pool: &PgPool,
    gate: &Gate,
    shard: Shard,
    sales: &[Sale],
) -> Result<(), Error> {
    let mut marks = Vec::new();
    for sale in sales {
        marks.push(gate.all_marks(sale.voucher).await?);
    }
    let queued = gate.queued_promises(shard).await?;
    let dead = gate.dead_promises(shard).await?;
    let mut found: HashSet<OrderId> = queued
        .iter()
        .chain(&dead)
        .map(|promise| promise.order)
        .collect();
    for (sale, marks) in sales.iter().zip(marks) {
        let live = db::in_time(db::orders::of_voucher(pool, sale.voucher, &[])).await?;
        found.extend(live.iter().map(|order| order.id));
        let lost: Vec<(UserId, OrderId)> = marks
            .into_iter()
            .filter(|(_, order)| !found.contains(order))
            .collect();
        let again = gate.enqueue_again(sale.voucher, &lost).await?;
        if again > 0 {
            tracing::warn!(
                voucher.id = sale.voucher.0,
                promises = again,
                "promises without an entry enqueued again"
            );
        }
    }
    Ok(())
}

/// What Redis still knows of a sale's promises.
#[derive(Debug, Default)]
struct Remembered {
    marks: HashMap<UserId, OrderId>,
    queued: HashMap<OrderId, UserId>,
    dead: HashMap<OrderId, UserId>,
}

impl Remembered {
    fn ids(&self) -> Vec<OrderId> {
        let ids = self
            .marks
            .values()
            .chain(self.queued.keys())
            .chain(self.dead.keys());
        ids.copied().collect::<HashSet<_>>().into_iter().collect()
    }
}

/// Unites what Redis and PostgreSQL know. One mark a user: a stored live order first, then the mark that stands,
/// then an entry of the queue, then a dead letter.
fn findings(remembered: &Remembered, stored: &[StoredOrder]) -> Vec<Finding> {
    let refused: HashSet<OrderId> = stored
        .iter()
        .filter(|order| !order.is_live)
        .map(|order| order.id)
        .collect();
    let live: HashMap<UserId, OrderId> = stored
        .iter()
        .filter(|order| order.is_live)
        .map(|order| (order.user, order.id))
        .collect();
    let mut holders: HashMap<UserId, OrderId> = HashMap::new();
    let mut findings = Vec::new();
    for (user, order) in &remembered.marks {
        if refused.contains(order) {
            findings.push(Finding::Drop(*user, *order));
        } else {
            holders.insert(*user, *order);
        }
    }
    for (order, user) in remembered.queued.iter().chain(&remembered.dead) {
        if !refused.contains(order) {
            holders.entry(*user).or_insert(*order);
        }
    }
    for (user, order) in &live {
        holders.entry(*user).or_insert(*order);
    }
    findings.extend(holders.into_iter().map(|(user, order)| {
        let has_entry =
            remembered.queued.contains_key(&order) || remembered.dead.contains_key(&order);
        match live.get(&user) {
            // A promise beside a live order ends as refused, and its mark then points to the live one.
            Some(stored) if *stored == order || !has_entry => Finding::Keep(user, *stored),
            None if !has_entry => Finding::Enqueue(user, order),
            _ => Finding::Keep(user, order),
        }
    }));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(n: u128) -> OrderId {
        OrderId(uuid::Uuid::from_u128(n))
    }

    #[test]
    fn every_promise_is_kept_and_every_refusal_dropped() {
        let remembered = Remembered {
            marks: HashMap::from([
                (UserId(1), order(1)), // stored as live
                (UserId(2), order(2)), // stored as refused
                (UserId(3), order(3)), // in the queue
                (UserId(4), order(4)), // known by its mark alone
            ]),
            queued: HashMap::from([
                (order(3), UserId(3)),
                (order(5), UserId(5)),
                (order(2), UserId(2)),
            ]),
            dead: HashMap::from([(order(6), UserId(6))]),
        };
        let stored = [
            StoredOrder {
                id: order(1),
                user: UserId(1),
                is_live: true,
            },
            StoredOrder {
                id: order(2),
                user: UserId(2),
                is_live: false,
            },
            StoredOrder {
                id: order(7),
                user: UserId(7),
                is_live: true,
            },
        ];
        let found = findings(&remembered, &stored);
        let expected = [
            Finding::Keep(UserId(1), order(1)),
            Finding::Drop(UserId(2), order(2)),
            Finding::Keep(UserId(3), order(3)),
            Finding::Enqueue(UserId(4), order(4)),
            Finding::Keep(UserId(5), order(5)),
            Finding::Keep(UserId(6), order(6)),
            Finding::Keep(UserId(7), order(7)),
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(
            expected.iter().all(|finding| found.contains(finding)),
            "{found:?}"
        );
    }
}
