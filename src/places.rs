//! How many may be there at a time, in all and of one kind, so that one visitor cannot take the place of all.

use std::{
    collections::HashMap,
    hash::Hash,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use app::error::AppError;

use crate::client_address::{TrustedProxies, household};

/// The places: for connections, to wait for a password to be hashed, to watch a sale. `K` is whom one is counted for.
pub struct Places<K> {
    all: u32,
    taken: Mutex<Taken<K>>,
}

struct Taken<K> {
    all: u32,
    by_key: HashMap<K, u32>,
}

/// A place that is taken until it is dropped.
pub struct Place<K: Eq + Hash> {
    places: Arc<Places<K>>,
    key: K,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// All places are taken.
    All,
    /// Whoever asks has their share.
    Share,
}

impl Full {
    /// What whoever asks is told: to come again after so many seconds.
    #[must_use]
    pub fn refusal(self, retry_after_s: u32) -> AppError {
        match self {
            Self::All => AppError::Unavailable { retry_after_s },
            Self::Share => AppError::TooManyRequests { retry_after_s },
        }
    }

    /// The word, as in the metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Share => "share",
        }
    }
}

impl<K: Clone + Eq + Hash> Places<K> {
    /// So many places in all.
    #[must_use]
    pub fn new(all: u32) -> Self {
        let by_key = HashMap::new();
        Self {
            all,
            taken: Mutex::new(Taken { all: 0, by_key }),
        }
    }

    /// Takes a place, of which `key` may have so many.
    ///
    /// # Errors
    /// When there is none.
    pub fn take(self: &Arc<Self>, key: K, share: Option<u32>) -> Result<Place<K>, Full> {
        let taken = &mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.all >= self.all {
            return Err(Full::All);
        }
        let of_key = taken.by_key.get(&key).copied().unwrap_or_default();
        if share.is_some_and(|share| of_key >= share) {
            return Err(Full::Share);
        }
        taken.all += 1;
        taken.by_key.insert(key.clone(), of_key + 1);
        Ok(Place {
            places: Arc::clone(self),
            key,
        })
    }
}

impl<K: Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        let taken = &self.places.taken;
        let taken = &mut *taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        if let Some(of_key) = taken.by_key.get_mut(&self.key) {
            *of_key -= 1;
            if *of_key == 0 {
                taken.by_key.remove(&self.key);
            }
        }
    }
}

/// Places that are shared out by address. Clones share them.
#[derive(Clone)]
pub struct AddressPlaces {
    places: Arc<Places<IpAddr>>,
    per_address: Option<u32>,
    proxies: TrustedProxies,
}

impl AddressPlaces {
    /// So many places in all, and for one address; trusted proxies bring many visitors, and may take all.
    #[must_use]
    pub fn new(all: u32, per_address: Option<u32>, proxies: TrustedProxies) -> Self {
        Self {
            places: Arc::new(Places::new(all)),
            per_address,
            proxies,
        }
    }

    /// The places in all.
    #[must_use]
    pub fn all(&self) -> u32 {
        self.places.all
    }

    /// Takes a place for somebody at `peer`.
    ///
    /// # Errors
    /// When there is none.
    pub fn take(&self, peer: IpAddr) -> Result<Place<IpAddr>, Full> {
        let is_proxy = self.proxies.contain(peer.to_canonical());
        let share = self.per_address.filter(|_| !is_proxy);
        self.places.take(household(peer), share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_address::network_of;

    #[test]
    fn an_address_has_its_share_and_a_place_comes_back() {
        let proxy = TrustedProxies::new(&[network_of("127.0.0.1").unwrap()]);
        let places = AddressPlaces::new(4, Some(2), proxy);
        let take = |text: &str| places.take(text.parse().unwrap());
        let first = take("2001:db8::1").ok();
        let second = take("2001:db8::2").ok();
        assert!(first.is_some() && second.is_some());
        assert_eq!(
            take("2001:db8::3").err(),
            Some(Full::Share),
            "one household"
        );
        let others = (take("127.0.0.1").ok(), take("::ffff:127.0.0.1").ok());
        assert!(others.0.is_some() && others.1.is_some());
        assert_eq!(take("127.0.0.1").err(), Some(Full::All));
        drop(others.0);
        assert!(take("127.0.0.1").is_ok(), "a proxy brings many");
        assert_eq!(take("2001:db8::3").err(), Some(Full::Share));
        drop((first, second, others.1));
        let taken = places.places.taken.lock().unwrap();
        assert!(
            taken.all == 0 && taken.by_key.is_empty(),
            "nothing is remembered"
        );
    }
}
