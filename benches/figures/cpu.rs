//! Time on the processor, and memory, by process, from `/proc`. On a machine that others use too, the time that a buy
//! costs says more than buys a second.

use std::{fmt, fs};

use crate::Result;

/// Linux counts in hundredths of a second.
const TICKS_A_SECOND: f64 = 100.0;

/// Seconds on the processor so far, by part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub server: f64,
    pub redis: f64,
    pub postgres: f64,
    pub load: f64,
}

/// The processes to watch.
#[derive(Clone, Debug)]
pub struct Watched {
    pub server: u32,
    /// One, or the nodes of a cluster.
    pub redis: Vec<u32>,
    /// PostgreSQL's first process, the parent of its others.
    pub postmaster: u32,
}

impl Watched {
    /// The times so far.
    pub fn times(&self) -> Result<Times> {
        Ok(Times {
            server: seconds(self.server)?,
            redis: self
                .redis
                .iter()
                .map(|pid| seconds(*pid))
                .sum::<Result<f64>>()?,
            postgres: seconds(self.postmaster)?
                + children(self.postmaster)?
                    .into_iter()
                    .filter_map(|pid| seconds(pid).ok())
                    .sum::<f64>(),
            load: seconds(std::process::id())?,
        })
    }
}

impl Times {
    /// What each part used since `before`, in µs for each of `count`.
    pub fn each_since(&self, before: &Self, count: f64) -> Self {
        let each = |now: f64, before: f64| (now - before) * 1e6 / count;
        Self {
            server: each(self.server, before.server),
            redis: each(self.redis, before.redis),
            postgres: each(self.postgres, before.postgres),
            load: each(self.load, before.load),
        }
    }
}

/// As they are said of what each request has cost.
impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "server {:.0} Redis {:.0} PostgreSQL {:.0} load {:.0} µs",
            self.server, self.redis, self.postgres, self.load
        )
    }
}

/// The parent of a process.
pub fn parent(pid: u32) -> Result<u32> {
    Ok(stat(pid)?.get(1).ok_or("no parent")?.parse()?)
}

/// Resident memory in bytes.
pub fn resident(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

/// Its children.
pub fn children(of: u32) -> Result<Vec<u32>> {
    let pids = fs::read_dir("/proc")?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(pids
        .filter(|pid| parent(*pid).is_ok_and(|parent| parent == of))
        .collect())
}

/// User and system time, that of children waited for included.
pub fn seconds(pid: u32) -> Result<f64> {
    let fields = stat(pid)?;
    let ticks = fields
        .get(11..15)
        .ok_or("no times")?
        .iter()
        .map(|ticks| ticks.parse::<f64>());
    Ok(ticks.sum::<std::result::Result<f64, _>>()? / TICKS_A_SECOND)
}

/// The fields of `/proc/<pid>/stat` after the name, which may hold anything: state, parent, …
fn stat(pid: u32) -> Result<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, rest) = stat.rsplit_once(") ").ok_or("no fields")?;
    Ok(rest.split(' ').map(str::to_owned).collect())
}
