//! `seckill rehearse` at the command line: a progress bar, a table, files.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use app::{
    model::{
        Rehearsal, RehearsalId, RehearsalPhase, RehearsalPlan, RehearsalReport, RehearsalState,
        Shape, VoucherId,
    },
    rehearsal_page::rehearsal_page,
    texts::Lang,
};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::sleep;

use super::{
    RehearsalError, carry_through,
    client::{Instance, is_spread},
    print::Table,
    watch::Watch,
};
use crate::{
    config::{Config, RehearseArgs},
    db, serve,
    stores::Stores,
    web_server::{open_files, stopped},
};

/// Who did it, in the audit log.
const ACTOR: &str = "command line";

/// Connections to one instance; a browser keeps its own for seconds, this generator passes them on at once.
const CONNECTIONS: u32 = 2000;

/// How often the progress bar moves.
const SHOWN_EVERY: Duration = Duration::from_millis(100);

/// The style of the report's page, in the order of its layers.
const STYLE: [(&str, &str); 6] = [
    ("tokens", include_str!("../../style/tokens.css")),
    ("base", include_str!("../../style/base.css")),
    ("frame", include_str!("../../style/frame.css")),
    ("parts", include_str!("../../style/parts.css")),
    ("tables", include_str!("../../style/tables.css")),
    ("pages", include_str!("../../style/console.css")),
];

/// Rehearses as the arguments say; true when all promises were kept.
///
/// # Errors
/// When it is refused, cannot be carried through, or its report cannot be written.
pub async fn run(args: &RehearseArgs) -> Result<bool, RehearsalError> {
    let stores = Stores::open(&args.config).await?;
    if args.clean {
        let (shoppers, sales) = super::clear(&stores).await?;
        println!("Removed: {shoppers} shoppers, {sales} sales");
        return Ok(true);
    }
    let instances = instances(args).await?;
    let (id, plan) = match args.id {
        Some(id) => asked_for(&stores, RehearsalId(id)).await?,
        None => {
            let plan = plan(args);
            (super::begin(&stores.pool, &plan, ACTOR).await?, plan)
        }
    };
    let watch = Watch::default();
    let stopping = tokio::spawn(stop_when_told(watch.clone()));
    let bar = ProgressBar::new(0);
    let drawing = tokio::spawn(show(bar.clone(), watch.clone()));
    let report = carry_through(&stores, &instances, id, &plan, &watch).await;
    drawing.abort();
    stopping.abort();
    // A task that is aborted ends at its next pause; only then nothing more is drawn.
    let _ = drawing.await;
    bar.finish_and_clear();
    let report = report?;
    print!("{}", Table::of(id, &report));
    if let Some(path) = &args.json {
        let json = serde_json::to_string_pretty(&report).unwrap_or_default();
        write(path, &json).await?;
    }
    if let Some(path) = &args.html {
        write(path, &page(&stores, id, &report).await?).await?;
    }
    Ok(report.held)
}

fn plan(args: &RehearseArgs) -> RehearsalPlan {
    RehearsalPlan {
        shoppers: args.shoppers,
        units: args.units,
        shape: Shape::parse(&args.shape).unwrap_or_default(),
        seconds: args.seconds,
        voucher: args.voucher.map(VoucherId),
        seed: args.seed.unwrap_or_else(rand::random),
        on_production: args.on_production,
    }
}

/// The plan of a rehearsal that was asked for in the console.
async fn asked_for(
    stores: &Stores,
    id: RehearsalId,
) -> Result<(RehearsalId, RehearsalPlan), RehearsalError> {
    match db::rehearsals::by_id(&stores.pool, id).await? {
        Some(Rehearsal {
            plan,
            state: RehearsalState::Running(_),
            ..
        }) => Ok((id, plan)),
        _ => Err(RehearsalError::NoSuchRehearsal),
    }
}

async fn instances(args: &RehearseArgs) -> Result<Vec<Arc<Instance>>, RehearsalError> {
    let mut addrs = Vec::new();
    for address in &args.to {
        addrs.push(resolved(address).await?);
    }
    if addrs.is_empty() {
        addrs.push(own(args.config.addr));
    }
    let connections = connections(&args.config, addrs.iter().all(|addr| is_spread(addr.ip())));
    let fit = open_files::connections(connections.saturating_mul(count(addrs.len())));
    let each = (fit / count(addrs.len())).min(connections).max(1);
    let instances = addrs.into_iter().map(|addr| Instance::at(addr, each));
    Ok(instances.map(Arc::new).collect())
}

/// Connections to one instance, so that it neither runs out of them nor takes this machine for one that wants too many.
/// The limits are those that the instances have, if they are set alike.
fn connections(config: &Config, are_spread: bool) -> u32 {
    let limits = &config.limits;
    let wanted = CONNECTIONS.min(limits.connections / 2).max(1);
    if are_spread || !limits.are_on {
        return wanted;
    }
    let of_one = limits.connections_per_address;
    let of_one = of_one.unwrap_or(limits.connections / 4);
    let fit = wanted.min(of_one - of_one / 10).max(1);
    eprintln!(
        "All connections come from one address: {fit} at a time to each instance (SECKILL_CONNECTIONS_PER_ADDRESS)"
    );
    fit
}

/// Where an instance with this setting is reached from its own machine.
#[must_use]
pub fn own(addr: SocketAddr) -> SocketAddr {
    match addr {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => {
            (std::net::Ipv4Addr::LOCALHOST, v4.port()).into()
        }
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => {
            (std::net::Ipv6Addr::LOCALHOST, v6.port()).into()
        }
        addr => addr,
    }
}

async fn resolved(address: &str) -> Result<SocketAddr, RehearsalError> {
    let wrong = || RehearsalError::Address(address.to_owned());
    let host = address.strip_prefix("http://").ok_or_else(wrong)?;
    let host = host.trim_end_matches('/');
    let host = if host.rsplit(']').next().is_some_and(|end| end.contains(':')) {
        host.to_owned()
    } else {
        format!("{host}:80")
    };
    let mut found: Vec<SocketAddr> = tokio::net::lookup_host(host)
        .await
        .map_err(|_| wrong())?
        .collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    found.first().copied().ok_or_else(wrong)
}

async fn stop_when_told(watch: Watch) {
    match serve::stop_signal() {
        Ok(stop) => {
            stopped(stop).await;
            watch.stop();
        }
        Err(error) => tracing::warn!(error = %error, "cannot be told to stop"),
    }
}

/// Draws how far it has come, where somebody looks.
async fn show(bar: ProgressBar, watch: Watch) {
    if let Ok(style) = ProgressStyle::with_template("{msg:22} {wide_bar} {pos}/{len}") {
        bar.set_style(style);
    }
    loop {
        let progress = watch.progress();
        bar.set_message(match progress.phase {
            RehearsalPhase::Shoppers => "making shoppers",
            RehearsalPhase::Arrivals => "they arrive",
            RehearsalPhase::Storing => "orders are stored",
            RehearsalPhase::Removing => "removing what was made",
        });
        bar.set_length(progress.of);
        bar.set_position(progress.done);
        sleep(SHOWN_EVERY).await;
    }
}

/// The report as a page that needs nothing beside it.
async fn page(
    stores: &Stores,
    id: RehearsalId,
    report: &RehearsalReport,
) -> Result<String, RehearsalError> {
    let rehearsal = db::rehearsals::by_id(&stores.pool, id).await?;
    let rehearsal = rehearsal.ok_or(RehearsalError::NoSuchRehearsal)?;
    let mut style = String::new();
    for (layer, rules) in STYLE {
        style += &format!("@layer {layer} {{\n{rules}\n}}\n");
    }
    Ok(rehearsal_page(Lang::En, &rehearsal, report, &style))
}

async fn write(path: &Path, text: &str) -> Result<(), RehearsalError> {
    let written = tokio::fs::write(path, text).await;
    written.map_err(|error| RehearsalError::File(path.display().to_string(), error))
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_instance_is_named_by_host_and_port() {
        for (typed, read) in [
            ("http://127.0.0.1:3000", Some("127.0.0.1:3000")),
            ("http://127.0.0.1:3000/", Some("127.0.0.1:3000")),
            ("http://127.0.0.1", Some("127.0.0.1:80")),
            ("http://[::1]:3000", Some("[::1]:3000")),
            ("https://127.0.0.1:3000", None),
            ("127.0.0.1:3000", None),
            ("http://127.0.0.1:port", None),
        ] {
            let addr = resolved(typed).await.ok().map(|addr| addr.to_string());
            assert_eq!(addr.as_deref(), read, "{typed}");
        }
        assert_eq!(own(([0, 0, 0, 0], 80).into()), ([127, 0, 0, 1], 80).into());
    }
}
