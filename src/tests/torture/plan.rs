//! What is done to the program in a round, and when: all of it out of the round's seed.

use std::{fmt, time::Duration};

use clap::ValueEnum;
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

/// Web parts, and consumers, at work.
pub const WEBS: usize = 2;
pub const CONSUMERS: usize = 3;

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
pub enum Kind {
    KillWeb,
    KillConsumer,
    KillRedis,
    KillPostgres,
    /// SIGSTOP for longer than the idle limit, then SIGCONT.
    StopConsumer,
    CutRedis,
    CutPostgres,
    SilenceRedis,
    SilencePostgres,
    SwallowRedis,
    SwallowPostgres,
    FlushAll,
    ScriptFlush,
    DestroyGroup,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::KillWeb => "kill -9 of a web",
            Self::KillConsumer => "kill -9 of a consumer",
            Self::KillRedis => "kill -9 of Redis",
            Self::KillPostgres => "kill -9 of PostgreSQL",
            Self::StopConsumer => "SIGSTOP of a consumer",
            Self::CutRedis => "line to Redis cut",
            Self::CutPostgres => "line to PostgreSQL cut",
            Self::SilenceRedis => "line to Redis silent",
            Self::SilencePostgres => "line to PostgreSQL silent",
            Self::SwallowRedis => "answers of Redis swallowed",
            Self::SwallowPostgres => "answers of PostgreSQL swallowed",
            Self::FlushAll => "FLUSHALL",
            Self::ScriptFlush => "SCRIPT FLUSH",
            Self::DestroyGroup => "XGROUP DESTROY",
        }
    }

    /// The span of its length in ms: of the outage, or of the pause before a new start.
    fn span(self) -> (u64, u64) {
        match self {
            Self::KillWeb | Self::KillConsumer | Self::KillRedis | Self::KillPostgres => (0, 5000),
            // The idle limit is 15 s.
            Self::StopConsumer => (15_500, 20_000),
            Self::CutRedis | Self::CutPostgres => (200, 8000),
            Self::SilenceRedis | Self::SilencePostgres => (500, 8000),
            Self::SwallowRedis | Self::SwallowPostgres => (500, 5000),
            Self::FlushAll | Self::ScriptFlush | Self::DestroyGroup => (0, 0),
        }
    }

    /// Requests whose answers are lost.
    fn requests(self) -> &'static [&'static str] {
        match self {
            Self::SwallowRedis => &["EVALSHA", "XREADGROUP", "XACK", "XAUTOCLAIM", "GET"],
            Self::SwallowPostgres => &["COMMIT", "BEGIN", "sqlx_s_"],
            _ => &[""],
        }
    }
}

/// One fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub kind: Kind,
    /// After the beginning of the load.
    pub at: Duration,
    pub lasts: Duration,
    /// Which process, counted over webs and consumers as the kind wants it; `None`: all of them.
    pub whose: Option<usize>,
    /// The request whose answers are swallowed.
    pub request: &'static str,
}

/// A round.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    /// When Redis writes to the disk: `always` or `everysec`.
    pub appendfsync: &'static str,
    pub faults: Vec<Fault>,
}

impl Plan {
    /// The plan of a seed; of these kinds alone, where any are given.
    pub fn of(seed: u64, only: &[Kind]) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let kinds = if only.is_empty() {
            Kind::value_variants()
        } else {
            only
        };
        let appendfsync = if rng.random() { "always" } else { "everysec" };
        let number = rng.random_range(1..=3);
        let mut faults: Vec<Fault> = (0..number).map(|_| fault(&mut rng, kinds)).collect();
        faults.sort_by_key(|fault| fault.at);
        Self {
            seed,
            appendfsync,
            faults,
        }
    }

    /// May Redis have forgotten promises? Then, and only then, an order may end as refused.
    pub fn forgets(&self) -> bool {
        self.faults.iter().any(|fault| match fault.kind {
            Kind::FlushAll => true,
            Kind::KillRedis => self.appendfsync == "everysec",
            _ => false,
        })
    }
}

fn fault(rng: &mut StdRng, kinds: &[Kind]) -> Fault {
    let kind = *kinds.choose(rng).expect("there are kinds");
    let (least, most) = kind.span();
    let processes = match kind {
        Kind::KillWeb => WEBS,
        Kind::KillConsumer | Kind::StopConsumer => CONSUMERS,
        _ => WEBS + CONSUMERS,
    };
    let is_of_one = !kind.is_of_a_line() || rng.random_bool(0.6);
    let process = rng.random_range(0..processes);
    Fault {
        kind,
        at: Duration::from_millis(rng.random_range(500..5000)),
        lasts: Duration::from_millis(rng.random_range(least..=most)),
        whose: is_of_one.then_some(process),
        request: kind.requests().choose(rng).copied().unwrap_or_default(),
    }
}

impl Kind {
    fn is_of_a_line(self) -> bool {
        matches!(
            self,
            Self::CutRedis
                | Self::CutPostgres
                | Self::SilenceRedis
                | Self::SilencePostgres
                | Self::SwallowRedis
                | Self::SwallowPostgres
        )
    }

    fn is_of_a_process(self) -> bool {
        matches!(
            self,
            Self::KillWeb | Self::KillConsumer | Self::StopConsumer
        )
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}  {:8}  ", self.seed, self.appendfsync)?;
        for (place, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if place == 0 { "" } else { " + " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.name())?;
        match self.whose {
            Some(which) if self.kind.is_of_a_process() => write!(f, " {}", which + 1)?,
            Some(_) if !self.kind.is_of_a_line() => {}
            Some(which) if which < WEBS => write!(f, " (web {})", which + 1)?,
            Some(which) => write!(f, " (consumer {})", which - WEBS + 1)?,
            None => write!(f, " (all)")?,
        }
        if !self.request.is_empty() {
            write!(f, " to {}", self.request)?;
        }
        write!(f, " at {:.1} s", self.at.as_secs_f64())?;
        if !self.lasts.is_zero() {
            write!(f, " for {:.1} s", self.lasts.as_secs_f64())?;
        }
        Ok(())
    }
}
