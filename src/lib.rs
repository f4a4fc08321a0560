//! s
pub mod consumer;
pub mod db;
pub mod error;
pub mod gate;
pub mod lock;
pub mod outage;
