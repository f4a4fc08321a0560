//! Does to the deployment what a plan says.

use std::time::Duration;

use futures::future::try_join_all;
use seckill::gate::keys::{GROUP, Shard};
use tokio::time::{Instant, interval, sleep, sleep_until};

use crate::{
    Result,
    deployment::Deployment,
    line::Line,
    member::Member,
    plan::{Fault, Kind, Plan},
};

/// Redis takes a command again within so long after its start.
const PATIENCE: Duration = Duration::from_secs(20);

/// Does all of it, from `start` on; gives the instant when the last fault was over.
pub async fn inflict(deployment: &Deployment, plan: &Plan, start: Instant) -> Result<Instant> {
    let faults = plan.faults.iter().map(|fault| async move {
        sleep_until(start + fault.at).await;
        let name = || format!("{fault}");
        inflict_one(deployment, fault)
            .await
            .map_err(|error| format!("{}: {error}", name()))
    });
    try_join_all(faults).await?;
    Ok(Instant::now())
}

async fn inflict_one(deployment: &Deployment, fault: &Fault) -> Result<()> {
    let Fault { kind, lasts, .. } = *fault;
    let one = fault.whose.unwrap_or_default();
    match kind {
        Kind::KillWeb => deployment.webs()[one].kill(lasts).await,
        Kind::KillConsumer => deployment.consumers()[one].kill(lasts).await,
        Kind::StopConsumer => deployment.consumers()[one].stand_still(lasts).await,
        Kind::KillRedis => {
            let mut redis = deployment.redis.lock().await;
            redis.kill().await;
            sleep(lasts).await;
            redis.start_again().await;
        }
        Kind::KillPostgres => {
            let mut postgres = deployment.postgres.lock().await;
            postgres.kill().await?;
            sleep(lasts).await;
            postgres.start_again().await?;
        }
        Kind::CutRedis | Kind::SilenceRedis | Kind::SwallowRedis => {
            break_lines(deployment, fault, |member| &member.to_redis).await;
        }
        Kind::CutPostgres | Kind::SilencePostgres | Kind::SwallowPostgres => {
            break_lines(deployment, fault, |member| &member.to_postgres).await;
        }
        Kind::FlushAll => command(deployment, &["FLUSHALL"]).await?,
        Kind::ScriptFlush => command(deployment, &["SCRIPT", "FLUSH"]).await?,
        Kind::DestroyGroup => {
            let stream = deployment.stores.gate.keys().orders(Shard(0));
            command(deployment, &["XGROUP", "DESTROY", &stream, GROUP]).await?;
        }
    }
    Ok(())
}

/// A command to a Redis that may be away just now, in which case it is given when it is back.
async fn command(deployment: &Deployment, words: &[&str]) -> Result<()> {
    let redis = deployment.redis.lock().await;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match deployment.redis_says(words).await {
            // The connection of before its death, or a stream that is gone.
            Err(_) if Instant::now() < deadline => sleep(Duration::from_millis(50)).await,
            said => {
                drop(redis);
                return said;
            }
        }
    }
}

async fn break_lines(deployment: &Deployment, fault: &Fault, line: fn(&Member) -> &Line) {
    let members = match fault.whose {
        Some(one) => &deployment.members[one..=one],
        None => &deployment.members[..],
    };
    let lines: Vec<&Line> = members.iter().map(line).collect();
    match fault.kind {
        Kind::CutRedis | Kind::CutPostgres => lines.iter().for_each(|line| line.cut()),
        Kind::SilenceRedis | Kind::SilencePostgres => lines.iter().for_each(|line| line.silence()),
        _ => return swallow(&lines, fault).await,
    }
    sleep(fault.lasts).await;
    lines.iter().for_each(|line| line.mend());
}

/// The answer to one such request after another is lost.
async fn swallow(lines: &[&Line], fault: &Fault) {
    let mut ticks = interval(Duration::from_millis(100));
    let until = Instant::now() + fault.lasts;
    while Instant::now() < until {
        ticks.tick().await;
        for line in lines.iter().filter(|line| line.has_lost()) {
            line.lose_the_answer_to(fault.request);
        }
    }
    lines.iter().for_each(|line| line.mend());
}
