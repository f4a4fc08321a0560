//! How many may be there at a time, in all and from one address, so that one visitor cannot take the place of all.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use crate::client_address::{TrustedProxies, household};

/// The places: for connections, or to wait for a password to be hashed.
pub struct Places {
    all: u32,
    per_address: Option<u32>,
    proxies: TrustedProxies,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    all: u32,
    by_address: HashMap<IpAddr, u32>,
}

/// A place that is taken until it is dropped.
pub struct Place {
    places: Arc<Places>,
    address: IpAddr,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// All places are taken.
    All,
    /// This address has its share.
    Address,
}

impl Full {
    /// The word, as in the metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Address => "address",
        }
    }
}

impl Places {
    /// So many places in all, and for one address; trusted proxies bring many visitors, and may take all.
    #[must_use]
    pub fn new(all: u32, per_address: Option<u32>, proxies: TrustedProxies) -> Self {
        Self {
            all,
            per_address,
            proxies,
            taken: Mutex::default(),
        }
    }

    /// Takes a place for somebody at `peer`.
    ///
    /// # Errors
    /// When there is none.
    pub fn take(self: &Arc<Self>, peer: IpAddr) -> Result<Place, Full> {
        let share = if self.proxies.contain(peer.to_canonical()) {
            None
        } else {
            self.per_address
        };
        let address = household(peer);
        let taken = &mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.all >= self.all {
            return Err(Full::All);
        }
        let of_address = taken.by_address.get(&address).copied().unwrap_or_default();
        if share.is_some_and(|share| of_address >= share) {
            return Err(Full::Address);
        }
        taken.all += 1;
        taken.by_address.insert(address, of_address + 1);
        Ok(Place {
            places: Arc::clone(self),
            address,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let taken = &mut *self
            .places
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        if let Some(of_address) = taken.by_address.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                taken.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_address::network_of;

    #[test]
    fn an_address_has_its_share_and_a_place_comes_back() {
        let proxy = TrustedProxies::new(&[network_of("127.0.0.1").unwrap()]);
        let places = Arc::new(Places::new(4, Some(2), proxy));
        let take = |text: &str| places.take(text.parse().unwrap());
        let first = take("2001:db8::1").ok();
        let second = take("2001:db8::2").ok();
        assert!(first.is_some() && second.is_some());
        assert_eq!(
            take("2001:db8::3").err(),
            Some(Full::Address),
            "one household"
        );
        let others = (take("127.0.0.1").ok(), take("::ffff:127.0.0.1").ok());
        assert!(others.0.is_some() && others.1.is_some());
        assert_eq!(take("127.0.0.1").err(), Some(Full::All));
        drop(others.0);
        assert!(take("127.0.0.1").is_ok(), "a proxy brings many");
        assert_eq!(take("2001:db8::3").err(), Some(Full::Address));
        drop((first, second, others.1));
        let taken = places.taken.lock().unwrap();
        assert!(
            taken.all == 0 && taken.by_address.is_empty(),
            "nothing is remembered"
        );
    }
}
