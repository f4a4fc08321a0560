//! The parts of a measurement, one file each.

pub mod buys;
pub mod consumer;
pub mod guard;
pub mod limits;
pub mod pages;
pub mod scaling;
pub mod sign_in;
pub mod size;
pub mod steady;
pub mod watchers;
