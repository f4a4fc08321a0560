//! `seckill rehearse`: made-up shoppers, signed in, buy a copy of a sale at the running instances over HTTP, and what they were
//! told is compared with what is there in the end. What it makes has numbers of its own (migration 0009), and is removed
//! again; the report stays.

pub mod arrivals;
pub mod client;
pub mod command;
mod load;
mod print;
pub mod rehearser;
mod stage;
mod tally;
mod verdict;
pub mod watch;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use app::model::{OrderId, RehearsalId, RehearsalPhase, RehearsalPlan, RehearsalReport, VoucherId};
use sqlx::PgPool;
use tokio::time::{Instant, sleep};

use self::{arrivals::Schedule, client::Instance, load::Load, tally::Findings, watch::Watch};
use crate::{
    clock,
    db::{self, rehearsals::ONE_AT_A_TIME},
    error::Error,
    stores::{Stores, StoresError},
};

/// Between the moment when the sale is made and the first arrival: time for every instance to have heard of it.
const LEAD: Duration = Duration::from_secs(1);

/// How often a rehearsal says that it goes on; after half a minute of silence it counts as gone.
const RENEWED_EVERY: Duration = Duration::from_secs(2);

/// How often it is looked whether all is stored.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// Looks at which nothing may have changed: people who hung up may have left something that is still under way.
const QUIET_LOOKS: u32 = 3;

/// When nothing more is stored for so long, nothing will be.
const STILL_FOR: Duration = Duration::from_secs(20);

/// Why a rehearsal was not carried through; one line each.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    /// The stores.
    #[error(transparent)]
    Stores(#[from] StoresError),
    /// A store fails.
    #[error(transparent)]
    Store(#[from] Error),
    /// One at a time.
    #[error("another rehearsal is under way")]
    Busy,
    /// There is no such rehearsal that waits to be run.
    #[error("there is no such rehearsal under way")]
    NoSuchRehearsal,
    /// People use this database.
    #[error("this looks like a place that people use: {0}; --on-production rehearses all the same")]
    Production(String),
    /// There is nothing to copy.
    #[error("there is no such sale to copy")]
    NoSuchSale,
    /// An address that cannot be read.
    #[error("{0} is no address of the form http://host:port")]
    Address(String),
    /// An instance does not answer.
    #[error("no instance at http://{0}: {1}")]
    NoInstance(SocketAddr, io::Error),
    /// An instance knows nothing of what was made.
    #[error("the instance at http://{0} does not show the sale: does it work on other stores? {1}")]
    OtherStores(SocketAddr, io::Error),
    /// Somebody wanted it to stop, or it was taken for dead.
    #[error("it was stopped; what it had made is removed")]
    Stopped,
    /// A file cannot be written.
    #[error("{0} cannot be written: {1}")]
    File(String, io::Error),
}

impl From<sqlx::Error> for RehearsalError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<redis::RedisError> for RehearsalError {
    fn from(error: redis::RedisError) -> Self {
        Self::Store(error.into())
    }
}

/// Notes a rehearsal that begins now, in the audit log too.
///
/// # Errors
/// `Busy` while another is under way, `Production` where people use the database and the plan does not say that this is
/// wanted, `NoSuchSale`.
pub async fn begin(
    pool: &PgPool,
    plan: &RehearsalPlan,
    actor: &str,
) -> Result<RehearsalId, RehearsalError> {
    if let Some(voucher) = plan.voucher
        && (voucher.is_rehearsal() || db::sales::by_id(pool, voucher).await?.is_none())
    {
        return Err(RehearsalError::NoSuchSale);
    }
    if !plan.on_production
        && let Some(found) = in_use(pool).await?
    {
        return Err(RehearsalError::Production(found));
    }
    let id = match db::rehearsals::begin(pool, plan, actor).await {
        Err(error) if db::broken_constraint(&error) == Some(ONE_AT_A_TIME) => {
            return Err(RehearsalError::Busy);
        }
        begun => begun?,
    };
    let detail = format!(
        "{} shoppers, {} units, {} of {} s",
        plan.shoppers,
        plan.units,
        plan.shape.as_str(),
        plan.seconds
    );
    db::audit_log::insert(pool, actor, "rehearse", &format!("rehearsal {id}"), &detail).await?;
    Ok(id)
}

/// What tells that people use this database; `None` where demo data and rehearsals alone are in it.
async fn in_use(pool: &PgPool) -> Result<Option<String>, RehearsalError> {
    let found = db::rehearsals::in_use(pool).await?;
    let shoppers = found
        .has_shoppers
        .then(|| "shoppers have accounts here".to_owned());
    let sale = found
        .sale
        .map(|sale| format!("sale {sale} runs, or begins within the hour"));
    let found: Vec<String> = shoppers.into_iter().chain(sale).collect();
    Ok((!found.is_empty()).then(|| found.join(", and ")))
}

/// Carries a rehearsal through that has begun, removes what it has made, and notes what it has found.
///
/// # Errors
/// When a store or an instance is away, or it was stopped. What was made is removed all the same, or by the next.
pub async fn carry_through(
    stores: &Stores,
    instances: &[Arc<Instance>],
    id: RehearsalId,
    plan: &RehearsalPlan,
    watch: &Watch,
) -> Result<RehearsalReport, RehearsalError> {
    let renewal = tokio::spawn(renew(stores.clone(), id, watch.clone()));
    let found = rehearse(stores, instances, plan, watch).await;
    let cleared = async {
        watch.begins(RehearsalPhase::Removing, count(plan.shoppers));
        // Whoever was given up for dead leaves everything to the one who has begun since.
        if db::in_time(db::rehearsals::renew(&stores.pool, id, watch.progress())).await? {
            stage::clear(stores, |removed| watch.done(removed)).await?;
        }
        Ok::<_, Error>(())
    };
    let cleared = cleared.await;
    renewal.abort();
    let result = match (found, cleared) {
        // What could not be removed is the next one's to remove, and not to be passed over.
        (_, Err(failure)) => Err(failure.into()),
        (Err(failure), Ok(())) => Err(failure),
        (Ok(found), Ok(())) => Ok(found.report()),
    };
    match &result {
        Ok(report) => db::rehearsals::end(&stores.pool, id, report).await?,
        Err(failure) => db::rehearsals::fail(&stores.pool, id, &failure.to_string()).await?,
    }
    result
}

/// Removes what rehearsals have left that were killed; gives how many shoppers and sales there were.
///
/// # Errors
/// `Busy` while one is under way.
pub async fn clear(stores: &Stores) -> Result<(usize, usize), RehearsalError> {
    db::rehearsals::give_up_dead(&stores.pool).await?;
    if db::rehearsals::any_running(&stores.pool).await? {
        return Err(RehearsalError::Busy);
    }
    Ok(stage::clear(stores, |_| {}).await?)
}

/// Says that the rehearsal goes on, until it does not: whoever was given up for dead must stop.
async fn renew(stores: Stores, id: RehearsalId, watch: Watch) {
    let mut outage = crate::outage::Outage::of("noting how a rehearsal goes on");
    loop {
        match db::in_time(db::rehearsals::renew(&stores.pool, id, watch.progress())).await {
            Ok(true) => outage.worked(),
            Ok(false) => return watch.stop(),
            Err(error) => outage.failed(&error),
        }
        sleep(RENEWED_EVERY).await;
    }
}

async fn rehearse(
    stores: &Stores,
    instances: &[Arc<Instance>],
    plan: &RehearsalPlan,
    watch: &Watch,
) -> Result<Findings, RehearsalError> {
    watch.begins(RehearsalPhase::Shoppers, count(plan.shoppers));
    for instance in instances {
        let addr = instance.addr();
        let alive = instance.is_alive().await;
        alive.map_err(|error| RehearsalError::NoInstance(addr, error))?;
    }
    stage::clear(stores, |_| {}).await?;
    let schedule = Schedule::of(plan);
    let shoppers = Arc::new(stage::make_shoppers(stores, plan, watch).await?);

    let clock = stores.gate.look(&[VoucherId(0)]).await?.pop();
    let gate_now = clock.map_or_else(clock::system, |look| look.now);
    let (begin, begun_at) = (Instant::now() + LEAD, clock::system() + LEAD);
    let voucher = stage::open_sale(stores, plan, gate_now + LEAD + schedule.opens).await?;
    let cookie = shoppers.first().map_or("", |shopper| &shopper.cookie);
    for instance in instances {
        let addr = instance.addr();
        let shown = instance.shows(voucher, cookie).await;
        shown.map_err(|error| RehearsalError::OtherStores(addr, error))?;
    }

    let load = Load {
        instances: instances.to_vec(),
        voucher,
        shoppers: Arc::clone(&shoppers),
        done: load::Done::default(),
    };
    watch.begins(RehearsalPhase::Arrivals, schedule.arrivals.len());
    watch.counts(&load.done);
    let seen = load.run(&schedule, begin, watch.stopped()).await;
    watch.go_on()?;
    let drift = all_is_stored(stores, voucher, watch).await?;
    let orders = db::in_time(db::rehearsals::orders(&stores.pool, voucher)).await?;
    let stored = orders.iter().map(|order| OrderId(order.id)).collect();
    Ok(Findings {
        plan: plan.clone(),
        instances: instances.iter().map(|i| i.addr().to_string()).collect(),
        held: held(stores, voucher, &stored).await?,
        shoppers: shoppers.to_vec(),
        begun_at,
        seen,
        orders,
        drift,
    })
}

fn count(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Waits until every mark at the gate is a live order, or nothing moves any more; gives the drift then.
async fn all_is_stored(
    stores: &Stores,
    voucher: VoucherId,
    watch: &Watch,
) -> Result<Option<i64>, RehearsalError> {
    watch.begins(RehearsalPhase::Storing, 0);
    let (mut before, mut quiet, mut moved_at) = (None, 0, Instant::now());
    loop {
        watch.go_on()?;
        let look = stores.gate.look(&[voucher]).await?.pop();
        let (live, refused) = db::in_time(db::rehearsals::stored(&stores.pool, voucher)).await?;
        let marks = look.as_ref().and_then(|look| look.marks);
        watch.begins(
            RehearsalPhase::Storing,
            usize::try_from(marks.unwrap_or_default() + refused).unwrap_or_default(),
        );
        watch.done(usize::try_from(live + refused).unwrap_or_default());
        let now = Some((marks, live, refused));
        if before != now {
            (before, quiet, moved_at) = (now, 0, Instant::now());
        }
        quiet += 1;
        let is_over = marks == Some(live) && quiet >= QUIET_LOOKS;
        if is_over || moved_at.elapsed() > STILL_FOR {
            return Ok(look.and_then(|look| look.drift()));
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Orders of a sale that are in the queue or among the dead letters, and not stored.
async fn held(
    stores: &Stores,
    voucher: VoucherId,
    stored: &std::collections::HashSet<OrderId>,
) -> Result<u64, RehearsalError> {
    let gate = &stores.gate;
    let shard = gate.keys().shard(voucher);
    let mut held = std::collections::HashSet::new();
    let queued = gate.queued_promises(shard).await?;
    for promise in queued.into_iter().chain(gate.dead_promises(shard).await?) {
        if promise.voucher == voucher && !stored.contains(&promise.order) {
            held.insert(promise.order);
        }
    }
    Ok(u64::try_from(held.len()).unwrap_or(u64::MAX))
}
