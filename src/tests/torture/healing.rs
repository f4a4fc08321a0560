//! Waits until the deployment has healed by itself: both webs are ready and sell, then the queue is empty, every order
//! that somebody was told of is shown as confirmed or refused, and gate and database agree on every one.

use std::{sync::Arc, time::Duration};

use app::model::{Outcome, Status, VoucherId};
use futures::{StreamExt, stream};
use reqwest::Url;
use seckill::{
    consumer::reconcile::report::Report,
    gate::{backlog::Backlog, keys::Shard},
};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    Result,
    deployment::Deployment,
    ledger::Told,
    load::{Load, Round},
    member::Member,
    shoppers::Answer,
};

/// A deployment that takes longer has not healed.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Questions at once.
const AT_ONCE: usize = 48;

/// Waits from `since`, the end of the last fault, on; the load goes on until the webs sell again. How long it took, or
/// in words what is still amiss.
pub async fn heal(
    deployment: &Deployment,
    round: &Arc<Round>,
    load: Load,
    since: Instant,
) -> Result<std::result::Result<Duration, String>> {
    let deadline = since + DEADLINE;
    let sells = timeout_at(deadline, serving(deployment, round)).await;
    load.stop().await?;
    if sells.is_err() {
        return Ok(Err("the webs are not ready, or do not sell".to_owned()));
    }
    if timeout_at(deadline, emptied(deployment)).await.is_err() {
        let backlog = backlog(deployment).await;
        return Ok(Err(format!("the queue is not worked off: {backlog:?}")));
    }
    // Asking for thousands of orders takes its time: what counts is when something was last found amiss.
    let mut healed_at = Instant::now();
    match timeout_at(deadline, shown(deployment, round)).await {
        Ok(at) => healed_at = at.unwrap_or(healed_at),
        Err(_) => return Ok(Err("some orders are still not shown as decided".to_owned())),
    }
    Ok(match timeout_at(deadline, agreed(deployment)).await {
        Ok(at) => Ok(healed_at.max(at.unwrap_or(healed_at)) - since),
        Err(_) => Err("gate, queue and database still disagree".to_owned()),
    })
}

async fn serving(deployment: &Deployment, round: &Round) {
    for web in deployment.webs() {
        loop {
            if let Some(base) = web.base()
                && round.shoppers.is_ready(&base).await
                && sells(round, &base, &web.name).await
            {
                break;
            }
            sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Do fresh shoppers get an answer of each open sale?
async fn sells(round: &Round, base: &Url, web: &str) -> bool {
    for voucher in round.sales.open_ones() {
        if !sells_one(round, base, web, voucher).await {
            return false;
        }
    }
    true
}

async fn sells_one(round: &Round, base: &Url, web: &str, voucher: VoucherId) -> bool {
    let user = round.shoppers.next();
    match round.shoppers.buy(base, user, voucher).await {
        Answer::Value(reply) => {
            round.ledger.note_buy(user, voucher, &reply, web);
            reply.outcome != Outcome::Closed
        }
        Answer::Unanswered => false,
        Answer::Wrong(what) => {
            round.ledger.note_wrong(what);
            false
        }
    }
}

async fn emptied(deployment: &Deployment) {
    while backlog(deployment)
        .await
        .is_none_or(|backlog| (backlog.queued, backlog.pending) != (0, 0))
    {
        sleep(Duration::from_millis(50)).await;
    }
}

/// How the queue stands; `None` where Redis does not say.
pub async fn backlog(deployment: &Deployment) -> Option<Backlog> {
    deployment.stores.gate.backlog(Shard(0)).await.ok()
}

/// Asks for each order until it is decided; what is decided stays so. When one was last found undecided.
async fn shown(deployment: &Deployment, round: &Round) -> Option<Instant> {
    let mut orders: Vec<_> = round.ledger.told();
    orders.sort_by_key(|told| told.order);
    orders.dedup_by_key(|told| told.order);
    stream::iter(orders.iter().enumerate())
        .map(async |(place, told)| {
            let web = &deployment.webs()[place % deployment.webs().len()];
            let mut undecided_at = None;
            while !is_shown(round, web, told).await {
                undecided_at = Some(Instant::now());
                sleep(Duration::from_millis(100)).await;
            }
            undecided_at
        })
        .buffer_unordered(AT_ONCE)
        .fold(None, async |last, at| at.max(last))
        .await
}

async fn is_shown(round: &Round, web: &Member, told: &Told) -> bool {
    let Some(base) = web.base() else { return false };
    match round.shoppers.status(&base, told.user, told.order).await {
        Answer::Value(reply) if reply.status != Status::Queued => {
            round.ledger.note_shown(told.order, reply);
            true
        }
        Answer::Value(_) | Answer::Unanswered => false,
        Answer::Wrong(what) => {
            let wrong = format!("{} to the status of {}: {what}", web.name, told.order);
            round.ledger.note_wrong(wrong);
            true
        }
    }
}

/// Waits until every order is where it must be. When one was last found elsewhere.
async fn agreed(deployment: &Deployment) -> Option<Instant> {
    let stores = &deployment.stores;
    let mut amiss_at = None;
    while !Report::make(&stores.pool, &stores.gate)
        .await
        .is_ok_and(|report| report.is_healthy())
    {
        amiss_at = Some(Instant::now());
        sleep(Duration::from_millis(500)).await;
    }
    amiss_at
}
