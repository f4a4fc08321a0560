//! Holds the deployment to its promises after a round, by what is stored: rules R1 to R5 of the field cases.

use std::collections::{BTreeMap, HashMap, HashSet};

use app::model::{OrderId, Reason, UserId, VoucherId};
use seckill::consumer::reconcile::report::{Report, SaleRow};
use uuid::Uuid;

use crate::{
    Result,
    deployment::Deployment,
    healing,
    ledger::{Ledger, Told},
    stored::{Stored, stored},
};

/// What the check found.
#[derive(Default)]
pub struct Findings {
    /// Promises broken, a line each, with the order it is about, where it is about one.
    pub broken: Vec<(String, Option<Told>)>,
    /// Orders told, by what became of them.
    pub orders: BTreeMap<String, usize>,
}

impl Findings {
    fn broken(&mut self, what: String) {
        self.broken.push((what, None));
    }
}

/// Checks everything told in a round and every sale. `forgets`: Redis may have forgotten promises, so that orders may
/// have been refused.
pub async fn check(deployment: &Deployment, ledger: &Ledger, forgets: bool) -> Result<Findings> {
    let mut findings = Findings::default();
    for wrong in ledger.wrong() {
        findings.broken(format!("a wrong answer: {wrong}"));
    }
    nothing_is_lost(deployment, ledger, forgets, &mut findings).await?;
    let stores = &deployment.stores;
    let report = Report::make(&stores.pool, &stores.gate).await?;
    for sale in &report.sales {
        nothing_is_oversold(deployment, sale, &mut findings).await?;
    }
    nothing_is_left(deployment, &mut findings).await?;
    Ok(findings)
}

/// R3: every order told is stored once, as what its owner is shown.
async fn nothing_is_lost(
    deployment: &Deployment,
    ledger: &Ledger,
    forgets: bool,
    findings: &mut Findings,
) -> Result<()> {
    let (told, shown) = (ledger.told(), ledger.shown());
    let stored = stored(deployment, &told).await?;
    let mut last: HashMap<(UserId, VoucherId), OrderId> = HashMap::new();
    let mut seen = HashSet::new();
    for told in told {
        let key = (told.user, told.voucher);
        let before = last
            .insert(key, told.order)
            .filter(|before| *before != told.order);
        if let Some(before) = before
            && !stored.get(&before).is_some_and(Stored::is_refused)
            // Where Redis forgot the first, either may be the one that stands.
            && !(forgets && stored.get(&told.order).is_some_and(Stored::is_refused))
        {
            let what = format!("told another order, {before}, which was not refused");
            findings.broken.push((what, Some(told.clone())));
        }
        if !seen.insert(told.order) {
            continue;
        }
        let Some(order) = stored.get(&told.order) else {
            let what = "lost: it is not stored".to_owned();
            findings.broken.push((what, Some(told)));
            continue;
        };
        let end = order.reason.as_ref().unwrap_or(&order.status);
        *findings.orders.entry(end.clone()).or_default() += 1;
        if let Some(what) = amiss(&told, order, &shown, forgets) {
            findings.broken.push((what, Some(told)));
        }
    }
    Ok(())
}

fn amiss(
    told: &Told,
    order: &Stored,
    shown: &HashMap<OrderId, app::model::OrderReply>,
    forgets: bool,
) -> Option<String> {
    if (order.user, order.voucher) != (told.user, told.voucher) {
        return Some(format!("stored for another: {order:?}"));
    }
    if order.is_refused() && !forgets {
        let reason = order.reason.as_deref().unwrap_or_default();
        return Some(format!("refused ({reason}) though Redis forgot nothing"));
    }
    let shown = shown.get(&told.order)?;
    let reason = shown.reason.map(Reason::as_str);
    if (shown.status.as_str(), reason) != (&*order.status, order.reason.as_deref()) {
        return Some(format!("stored as {order:?}, shown as {shown:?}"));
    }
    None
}

/// R1, R2, R4: a sale has as many units as were granted, each in one place.
async fn nothing_is_oversold(
    deployment: &Deployment,
    sale: &SaleRow,
    findings: &mut Findings,
) -> Result<()> {
    let stores = &deployment.stores;
    let query = "SELECT user_id, id FROM orders WHERE voucher_id = $1 AND status = 'confirmed'";
    let rows: Vec<(i64, Uuid)> = sqlx::query_as(query)
        .bind(sale.voucher.0)
        .fetch_all(&stores.pool)
        .await?;
    let count = i64::try_from(rows.len())?;
    let live: HashMap<UserId, OrderId> = rows
        .into_iter()
        .map(|(user, order)| (UserId(user), OrderId(order)))
        .collect();
    let voucher = sale.voucher;
    if count > sale.granted {
        findings.broken(format!(
            "oversold, voucher {voucher}: {count} of {}",
            sale.granted
        ));
    }
    if i64::try_from(live.len())? != count {
        findings.broken(format!("voucher {voucher}: somebody has two live orders"));
    }
    if sale.sold != count {
        findings.broken(format!(
            "voucher {voucher}: sold is {}, live {count}",
            sale.sold
        ));
    }
    let marks = stores.gate.all_marks(voucher).await?;
    let left = "SELECT left_gate_at IS NOT NULL FROM sales WHERE voucher_id = $1";
    let has_left: bool = sqlx::query_scalar(left)
        .bind(voucher.0)
        .fetch_one(&stores.pool)
        .await?;
    // A sale of an early round, settled meanwhile: PostgreSQL alone answers for it.
    if has_left {
        return Ok(());
    }
    if sale.gate.drift() != Some(0) {
        findings.broken(format!("voucher {voucher} drifts: {sale:?}"));
    }
    for (user, order) in &marks {
        if live.get(user) != Some(order) {
            let live = live.get(user);
            findings.broken(format!(
                "voucher {voucher}: mark of {} is {order}, live {live:?}",
                user.0
            ));
        }
    }
    for (user, order) in &live {
        if !marks.contains_key(user) {
            findings.broken(format!(
                "voucher {voucher}: live order {order} of {} has no mark",
                user.0
            ));
        }
    }
    Ok(())
}

/// R5: nothing is pending, nothing is parked, and the operator's view agrees.
async fn nothing_is_left(deployment: &Deployment, findings: &mut Findings) -> Result<()> {
    let backlog = healing::backlog(deployment).await.unwrap_or_default();
    if (backlog.queued, backlog.pending, backlog.dead) != (0, 0, 0) {
        findings.broken(format!("left in the queue: {backlog:?}"));
    }
    let reconciled = deployment.reconcile().await?;
    if !reconciled.status.success() {
        let said = String::from_utf8_lossy(&reconciled.stdout).into_owned();
        let error = String::from_utf8_lossy(&reconciled.stderr).into_owned();
        findings.broken(format!(
            "seckill reconcile: {}\n{error}{said}",
            reconciled.status
        ));
    }
    Ok(())
}
