//! Integration tests: the whole program on real stores. `scripts/stores run cargo nextest run` gives it both.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod embedded;
