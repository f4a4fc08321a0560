//! server
pub mod embedded;
