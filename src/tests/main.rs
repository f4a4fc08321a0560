//! t

mod embedded;
