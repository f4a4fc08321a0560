//! How often anybody may try to sign in or up, so that passwords cannot be guessed: in the memory of one instance, since
//! Redis is the gate's, and a flood of names must not fill it. What is remembered is bounded, and names are kept as hashes.
//!
//! A wrong password counts three times over: for the name from this address, for the name, and for the address. Who has
//! to wait is refused before any hashing, and the refused try counts nothing. An unknown name is counted as a known one.
//! A name cannot be locked by strangers: an address from which it has signed in answers for itself alone.

mod allowance;
mod waits;

use std::{
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    time::Duration,
};

use app::model::UserId;
use moka::{policy::EvictionPolicy, sync::Cache};
use tokio::time::Instant;

use self::{allowance::Allowance, waits::Waits};
use crate::{client_address::household, config::Limits};

/// The longest wait for one name from one address.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// The longest wait for one name from strange addresses: long for who guesses, bearable for its owner on a new line.
const LONGEST_OF_NAME: Duration = Duration::from_secs(60);

/// Wrong passwords of one address that are forgiven a second.
const FORGIVEN_A_SECOND: f64 = 2.0;

/// Sign-ups a second of one address, after a burst.
const SIGN_UPS_A_SECOND: f64 = 1.0;

/// Entries that each count keeps at most, about 10 MB; beyond them those go that were not asked for longest. (By default
/// the cache would rather not take new ones in.)
const CAPACITY: u64 = 50_000;

/// An address that has signed in to a name is known for so long after the last time.
const KNOWN_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// The limits of sign-ins and sign-ups; without them everybody may.
pub struct SignInTries(Option<Counts>);

struct Counts {
    hashes: RandomState,
    of_pair: Waits,
    of_name: Waits,
    of_address: Allowance,
    known: Cache<u64, ()>,
    sign_ups: Allowance,
}

/// A try to sign in that has begun. It counts as failed, unless it is said otherwise: so tries at the same time do not slip
/// past the limit, and who hangs up has not tried for nothing.
#[must_use = "a try counts as failed until it is said otherwise"]
pub struct Try<'a>(Option<Counted<'a>>);

struct Counted<'a> {
    counts: &'a Counts,
    who: Who,
    is_known: bool,
}

/// Whose password is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Whom<'a> {
    /// That of a folded name, to sign in.
    Name(&'a str),
    /// That of somebody who is signed in.
    Own(UserId),
}

/// Whom a try counts for, as hashes.
#[derive(Clone, Copy)]
struct Who {
    pair: u64,
    name: u64,
    address: u64,
}

impl SignInTries {
    /// With these limits, where they are on.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self(limits.are_on.then(|| {
            Counts {
                hashes: RandomState::new(),
                of_pair: Waits::new(limits.sign_in_tries, LONGEST),
                of_name: Waits::new(limits.name_failures, LONGEST_OF_NAME),
                of_address: Allowance::new(limits.address_failures, FORGIVEN_A_SECOND),
                known: Cache::builder()
                    .max_capacity(CAPACITY)
                    .eviction_policy(EvictionPolicy::lru())
                    .time_to_idle(KNOWN_FOR)
                    .build(),
                sign_ups: Allowance::new(limits.sign_ups, SIGN_UPS_A_SECOND),
            }
        }))
    }

    /// May a password be tried at `whom` from `address`?
    ///
    /// # Errors
    /// The seconds to wait.
    pub fn begin(&self, whom: Whom<'_>, address: IpAddr, now: Instant) -> Result<Try<'_>, u32> {
        let Some(counts) = &self.0 else {
            return Ok(Try(None));
        };
        counts
            .begin(whom, address, now)
            .map(|counted| Try(Some(counted)))
            .map_err(seconds)
    }

    /// May somebody sign up from `address`? It counts, whatever comes of it.
    ///
    /// # Errors
    /// The seconds to wait.
    pub fn sign_up(&self, address: IpAddr, now: Instant) -> Result<(), u32> {
        let Some(counts) = &self.0 else { return Ok(()) };
        let address = counts.hashes.hash_one(household(address));
        counts.sign_ups.take(address, now).map_err(seconds)
    }

    /// `name` has signed up, and so in, from `address`.
    pub fn signed_up(&self, name: &str, address: IpAddr) {
        if let Some(counts) = &self.0 {
            let who = counts.who(Whom::Name(name), address);
            counts.known.insert(who.pair, ());
        }
    }
}

impl Counts {
    fn begin(
        &self,
        whom: Whom<'_>,
        address: IpAddr,
        now: Instant,
    ) -> Result<Counted<'_>, Duration> {
        let who = self.who(whom, address);
        // Who is signed in is no stranger, and nobody else's failures are theirs.
        let is_known = matches!(whom, Whom::Own(_)) || self.known.get(&who.pair).is_some();
        self.of_pair.begin(who.pair, now)?;
        if !is_known {
            let of_name = self.of_name.begin(who.name, now);
            let of_address = of_name.and_then(|()| {
                let taken = self.of_address.take(who.address, now);
                taken.inspect_err(|_| self.of_name.undo(who.name, now))
            });
            of_address.inspect_err(|_| self.of_pair.undo(who.pair, now))?;
        }
        Ok(Counted {
            counts: self,
            who,
            is_known,
        })
    }

    fn who(&self, whom: Whom<'_>, address: IpAddr) -> Who {
        let address = household(address);
        Who {
            pair: self.hashes.hash_one((whom, address)),
            name: self.hashes.hash_one(whom),
            address: self.hashes.hash_one(address),
        }
    }
}

impl Try<'_> {
    /// The password was right: the failures from here are forgotten, and this address is known from now on.
    pub fn succeeded(self, now: Instant) {
        if let Some(counted) = self.0 {
            counted.take_back(now);
            counted.counts.of_pair.forget(counted.who.pair);
            counted.counts.known.insert(counted.who.pair, ());
        }
    }

    /// The password was not looked at: a store was away, or too many were being hashed.
    pub fn not_made(self, now: Instant) {
        if let Some(counted) = self.0 {
            counted.take_back(now);
            counted.counts.of_pair.undo(counted.who.pair, now);
        }
    }
}

impl Counted<'_> {
    /// What counts for others too is taken back.
    fn take_back(&self, now: Instant) {
        if !self.is_known {
            self.counts.of_name.undo(self.who.name, now);
            self.counts.of_address.give_back(self.who.address);
        }
    }
}

/// Whole seconds, at least one: before them a repeat is refused again.
fn seconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis().div_ceil(1000).max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([9, 9, 9, last])
    }

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn after_five_wrong_passwords_each_wait_is_twice_the_last_up_to_a_quarter_of_an_hour() {
        let tries = SignInTries::new(&Limits::standing());
        let mut now = Instant::now();
        for _ in 0..5 {
            assert!(tries.begin(Whom::Name("amy"), address(1), now).is_ok());
        }
        for wait in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
            let early = now + S * (wait - 1);
            assert_eq!(
                tries.begin(Whom::Name("amy"), address(1), early).err(),
                Some(1),
                "{wait}"
            );
            assert_eq!(
                tries.begin(Whom::Name("amy"), address(1), now).err(),
                Some(wait)
            );
            now += S * wait;
            assert!(
                tries.begin(Whom::Name("amy"), address(1), now).is_ok(),
                "{wait}"
            );
        }
        assert!(
            tries.begin(Whom::Name("bob"), address(1), now).is_ok(),
            "another name"
        );
        assert!(
            tries.begin(Whom::Name("amy"), address(2), now).is_ok(),
            "another address"
        );
    }

    #[test]
    fn success_forgets_and_what_was_not_tried_does_not_count() {
        let tries = SignInTries::new(&Limits::standing());
        let now = Instant::now();
        for _ in 0..4 {
            assert!(tries.begin(Whom::Name("amy"), address(1), now).is_ok());
        }
        for _ in 0..10 {
            tries
                .begin(Whom::Name("amy"), address(1), now)
                .unwrap()
                .not_made(now);
        }
        tries
            .begin(Whom::Name("amy"), address(1), now)
            .unwrap()
            .succeeded(now);
        for _ in 0..5 {
            assert!(tries.begin(Whom::Name("amy"), address(1), now).is_ok());
        }
        assert_eq!(
            tries.begin(Whom::Name("amy"), address(1), now).err(),
            Some(1)
        );
        let now = now + S;
        tries
            .begin(Whom::Name("amy"), address(1), now)
            .unwrap()
            .not_made(now);
        assert!(
            tries.begin(Whom::Name("amy"), address(1), now).is_ok(),
            "it had waited already"
        );
    }

    #[test]
    fn tries_at_the_same_time_do_not_slip_past_the_limit() {
        let tries = SignInTries::new(&Limits::standing());
        let now = Instant::now();
        let begun = std::thread::scope(|scope| {
            let one = || scope.spawn(|| tries.begin(Whom::Name("amy"), address(1), now).is_ok());
            let all: Vec<_> = (0..20).map(|_| one()).collect();
            let begun = all.into_iter().map(|one| one.join().unwrap());
            begun.filter(|begun| *begun).count()
        });
        assert_eq!(begun, 5);
    }

    #[test]
    fn strangers_from_many_addresses_wait_and_the_owner_does_not() {
        let tries = SignInTries::new(&Limits::standing());
        let now = Instant::now();
        tries
            .begin(Whom::Name("amy"), address(1), now)
            .unwrap()
            .succeeded(now);
        tries.signed_up("amy", address(2));
        for guess in 0..50 {
            assert!(
                tries
                    .begin(Whom::Name("amy"), address(100 + guess), now)
                    .is_ok()
            );
        }
        assert_eq!(
            tries.begin(Whom::Name("amy"), address(99), now).err(),
            Some(1)
        );
        let mut late = now;
        for _ in 0..10 {
            late += LONGEST_OF_NAME;
            assert!(tries.begin(Whom::Name("amy"), address(98), late).is_ok());
        }
        assert_eq!(
            tries.begin(Whom::Name("amy"), address(96), late).err(),
            Some(60),
            "no longer than that"
        );
        for owner in [1, 2] {
            tries
                .begin(Whom::Name("amy"), address(owner), late)
                .unwrap()
                .succeeded(late);
        }
        assert!(
            tries.begin(Whom::Name("bob"), address(99), late).is_ok(),
            "another name"
        );
    }

    #[test]
    fn an_address_may_fail_so_often_for_all_names_and_its_successes_do_not_count() {
        let tries = SignInTries::new(&Limits::standing());
        let now = Instant::now();
        for colleague in 0..1000 {
            let name = format!("colleague {colleague}");
            tries
                .begin(Whom::Name(&name), address(1), now)
                .unwrap()
                .succeeded(now);
        }
        for guess in 0..300 {
            assert!(
                tries
                    .begin(Whom::Name(&format!("guess {guess}")), address(1), now)
                    .is_ok()
            );
        }
        assert_eq!(
            tries.begin(Whom::Name("another"), address(1), now).err(),
            Some(1)
        );
        assert!(
            tries.begin(Whom::Name("another"), address(2), now).is_ok(),
            "another address"
        );
        assert!(
            tries
                .begin(Whom::Name("colleague 7"), address(1), now)
                .is_ok(),
            "who has signed in here before"
        );
        let later = now + S * 10;
        let begun = (0..30).filter(|guess| {
            tries
                .begin(Whom::Name(&format!("late {guess}")), address(1), later)
                .is_ok()
        });
        assert_eq!(begun.count(), 20, "two a second are forgiven");
    }

    #[test]
    fn sign_ups_have_a_rate() {
        let tries = SignInTries::new(&Limits::standing());
        let now = Instant::now();
        assert_eq!(
            (0..4000)
                .filter(|_| tries.sign_up(address(1), now).is_ok())
                .count(),
            3000
        );
        assert_eq!(tries.sign_up(address(1), now), Err(1));
        assert!(tries.sign_up(address(2), now).is_ok());
        assert!(tries.sign_up(address(1), now + S).is_ok());
    }

    #[test]
    fn without_limits_everybody_may() {
        let tries = SignInTries::new(&Limits {
            are_on: false,
            ..Limits::standing()
        });
        let now = Instant::now();
        assert!((0..1000).all(|_| tries.begin(Whom::Name("amy"), address(1), now).is_ok()));
        assert!((0..1000).all(|_| tries.sign_up(address(1), now).is_ok()));
    }

    #[test]
    fn a_flood_of_names_is_not_remembered_without_end() {
        let waits = Waits::new(5, LONGEST);
        let now = Instant::now();
        for key in 0..CAPACITY + CAPACITY / 10 {
            assert!(waits.begin(key, now).is_ok());
        }
        assert!(waits.entries() <= CAPACITY, "{}", waits.entries());
    }
}
