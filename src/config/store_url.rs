//! The address of a store, with a password in it that nobody is to see.

use std::fmt;

/// The password of the samples in README and `.env.example`, with which no store is opened.
const SAMPLE_PASSWORD: &str = "change-me";

/// The address of a store. Shown, it is only said to be there. Any text is one: an error of the command line would quote
/// what cannot be read.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// The address, password and all: for the clients of the stores alone.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Was the sample copied as it stands?
    #[must_use]
    pub fn has_sample_password(&self) -> bool {
        [":", "password="].iter().any(|before| {
            let sample = format!("{before}{SAMPLE_PASSWORD}");
            let mut after = self.0.split(&sample).skip(1);
            after.any(|after| after.is_empty() || after.starts_with(['@', '&']))
        })
    }
}

impl From<String> for StoreUrl {
    fn from(url: String) -> Self {
        Self(url)
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreUrl(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_password_is_known_wherever_it_stands() {
        let is_sample = |url: &str| StoreUrl::from(url.to_owned()).has_sample_password();
        for url in [
            "postgres://seckill:change-me@127.0.0.1/seckill",
            "redis://:change-me@127.0.0.1:6379",
            "redis://:change-me@10.0.0.1:6379,10.0.0.2:6379",
            "postgres://127.0.0.1/seckill?user=seckill&password=change-me",
        ] {
            assert!(is_sample(url), "{url}");
        }
        for url in [
            "postgres://seckill:change-me-1@127.0.0.1/seckill",
            "postgres://change-me:secret@change-me/change-me",
            "redis://127.0.0.1:6379",
        ] {
            assert!(!is_sample(url), "{url}");
        }
    }

    #[test]
    fn it_is_not_shown() {
        let url = StoreUrl::from("postgres://seckill:secret@host/seckill".to_owned());
        assert_eq!(format!("{url:?}"), "StoreUrl(…)");
    }
}
