//! How much anybody may ask of one instance: rates, sizes, patience, connections.

use std::time::Duration;

use clap::{ArgAction, Args, builder::BoolishValueParser, value_parser};

/// The limits of one instance.
#[derive(Clone, Debug, Args)]
pub struct Limits {
    /// `on`, or `off` for load tests: no limits of buys, of sign-ins and sign-ups, and of connections per address
    #[arg(long = "limits", env = "SECKILL_LIMITS", default_value = "on", action = ArgAction::Set, value_parser = BoolishValueParser::new(), hide_possible_values = true, value_name = "on|off")]
    pub are_on: bool,
    /// Buys a second per user and instance; twice as many in a burst
    #[arg(long, env = "SECKILL_BUY_RATE", default_value_t = 5, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub buy_rate: u32,
    /// Passwords that are hashed at a time
    #[arg(long, env = "SECKILL_HASHING", default_value_t = 2, value_parser = value_parser!(u16).range(1..=256))]
    pub hashing: u16,
    /// Seconds that a sign-in waits for its turn to be hashed
    #[arg(long, env = "SECKILL_HASHING_WAIT_S", default_value_t = 3, value_parser = value_parser!(u16).range(1..=4))]
    pub hashing_wait_s: u16,
    /// Passwords of one address that may wait to be hashed; the further ones are told to come again
    #[arg(long, env = "SECKILL_HASHING_PER_ADDRESS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..))]
    pub hashing_per_address: u32,
    /// Wrong passwords for one name from one address before tries have to wait
    #[arg(long, env = "SECKILL_SIGN_IN_TRIES", default_value_t = 5, value_parser = value_parser!(u32).range(1..))]
    pub sign_in_tries: u32,
    /// Wrong passwords for one name from all addresses together before tries from strange addresses have to wait
    #[arg(long, env = "SECKILL_NAME_FAILURES", default_value_t = 50, value_parser = value_parser!(u32).range(1..))]
    pub name_failures: u32,
    /// Wrong passwords from one address for all names together before its tries have to wait; two a second are forgiven
    #[arg(long, env = "SECKILL_ADDRESS_FAILURES", default_value_t = 300, value_parser = value_parser!(u32).range(1..))]
    pub address_failures: u32,
    /// Sign-ups from one address in a burst; one a second after it
    #[arg(long, env = "SECKILL_SIGN_UPS", default_value_t = 3000, value_parser = value_parser!(u32).range(1..))]
    pub sign_ups: u32,
    /// Pages of one user that are kept up to date at a time; further ones ask by themselves, now and then
    #[arg(long, env = "SECKILL_STREAMS_PER_USER", default_value_t = 16, value_parser = value_parser!(u32).range(1..))]
    pub streams_per_user: u32,
    /// Bytes of the largest body: of the longest form as long as a page lets it be typed, and some more
    #[arg(long, env = "SECKILL_BODY_BYTES", default_value_t = 24_576, value_parser = value_parser!(u32).range(1024..=16_777_216))]
    pub body_bytes: u32,
    /// Bytes of the largest head: the request line and all headers
    #[arg(long, env = "SECKILL_HEAD_BYTES", default_value_t = 32_768, value_parser = value_parser!(u32).range(8192..=1_048_576))]
    pub head_bytes: u32,
    /// Seconds that a client may take to send a head, to send a body, and to go on reading an answer; also how long a
    /// connection may be idle
    #[arg(long, env = "SECKILL_SLOW_CLIENT_S", default_value_t = 10, value_parser = value_parser!(u16).range(1..=3600))]
    pub slow_client_s: u16,
    /// Connections at a time
    #[arg(long, env = "SECKILL_CONNECTIONS", default_value_t = 10_000, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub connections: u32,
    /// Connections at a time from one address, trusted proxies excepted; default: a quarter of all
    #[arg(long, env = "SECKILL_CONNECTIONS_PER_ADDRESS", value_parser = value_parser!(u32).range(1..))]
    pub connections_per_address: Option<u32>,
}

impl Limits {
    /// The limits where nothing is set.
    #[cfg(test)]
    pub(crate) fn standing() -> Self {
        match <super::Cli as clap::Parser>::parse_from(["seckill", "web"]).command {
            super::Command::Web(config) => config.limits,
            _ => unreachable!("that is what was asked for"),
        }
    }

    /// The rate of buys, where there is one.
    #[must_use]
    pub fn buys_a_second(&self) -> Option<u32> {
        self.are_on.then_some(self.buy_rate)
    }

    /// How long a sign-in waits for its turn.
    #[must_use]
    pub fn hashing_wait(&self) -> Duration {
        Duration::from_secs(self.hashing_wait_s.into())
    }

    /// How long a client may be slow.
    #[must_use]
    pub fn slow_client(&self) -> Duration {
        Duration::from_secs(self.slow_client_s.into())
    }
}
