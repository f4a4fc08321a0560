//! One round: new sales, a steady load, faults, healing, and the check.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::{
    Result,
    deployment::Deployment,
    faults, healing,
    ledger::{Ledger, Told},
    load::{Load, Round},
    plan::Plan,
    promises,
    sales::Sales,
    shoppers::Shoppers,
    stored,
};

/// A process that takes a core for so long is pinned.
const WINDOW: Duration = Duration::from_secs(3);

/// How a round went.
pub struct Course {
    pub plan: Plan,
    pub answers: BTreeMap<&'static str, usize>,
    pub orders: BTreeMap<String, usize>,
    /// From the end of the last fault on; or what is still amiss.
    pub healed: std::result::Result<Duration, String>,
    pub broken: Vec<String>,
    /// Lines of the log within a minute, of the process with the most.
    pub log: (usize, String),
    /// Share of a core, of the process with the greatest.
    pub share: (f64, String),
}

/// Makes a round of a plan; the sales it made are given back with how it went.
pub async fn make(
    deployment: &Deployment,
    shoppers: &Arc<Shoppers>,
    plan: Plan,
    rate: u32,
) -> Result<(Course, Arc<Round>)> {
    deployment.set_appendfsync(plan.appendfsync).await?;
    let round = Arc::new(Round {
        shoppers: Arc::clone(shoppers),
        members: Arc::clone(&deployment.members),
        ledger: Ledger::default(),
        sales: Sales::open(&deployment.stores).await?,
    });
    let start = Instant::now();
    let load = Load::start(Arc::clone(&round), plan.seed, rate);
    let over = faults::inflict(deployment, &plan, start).await?;
    let healed = healing::heal(deployment, &round, load, over).await?;
    let findings = promises::check(deployment, &round.ledger, plan.forgets()).await?;
    let mut broken = Vec::new();
    for (what, about) in findings.broken {
        broken.push(match about {
            Some(told) => format!("{what}\n{}", about_order(deployment, &told, start).await?),
            None => what,
        });
    }
    for member in deployment.members.iter() {
        let said = member.said(start);
        let panics = said.iter().filter(|line| line.contains("panicked"));
        broken.extend(panics.map(|line| format!("{} panicked: {line}", member.name)));
    }
    let course = Course {
        plan,
        answers: round.ledger.counts(),
        orders: findings.orders,
        healed,
        broken,
        log: worst(deployment, |member| member.worst_minute(start)),
        share: worst(deployment, |member| member.worst_share(start, WINDOW)),
    };
    if !course.is_good() {
        last_words(deployment, start);
    }
    Ok((course, round))
}

async fn about_order(deployment: &Deployment, told: &Told, start: Instant) -> Result<String> {
    Ok(format!(
        "    order {} of user {}, voucher {}: {} by {} at {:.1} s\n    {}",
        told.order,
        told.user.0,
        told.voucher,
        told.outcome.as_str(),
        told.web,
        (told.at - start).as_secs_f64(),
        stored::whereabouts(deployment, told).await?
    ))
}

fn worst<T: PartialOrd + Default>(
    deployment: &Deployment,
    of: impl Fn(&crate::member::Member) -> T,
) -> (T, String) {
    let mut worst = (T::default(), String::new());
    for member in deployment.members.iter() {
        let value = of(member);
        if value > worst.0 {
            worst = (value, member.name.clone());
        }
    }
    worst
}

/// What the processes said in the round.
fn last_words(deployment: &Deployment, start: Instant) {
    for member in deployment.members.iter() {
        println!("--- {} said:", member.name);
        let said = member.said(start);
        for line in &said[said.len().saturating_sub(40)..] {
            println!("{line}");
        }
    }
}
