//! The server of Seckill. ARCHITECTURE.md is the map.

pub mod admin;
pub mod auth;
pub mod backend;
pub mod buy_limit;
pub mod carry;
pub mod client_address;
pub mod clock;
pub mod config;
pub mod consumer;
pub mod db;
pub mod embedded;
pub mod error;
pub mod figures;
pub mod gate;
pub mod live;
pub mod lock;
pub mod outage;
pub mod picture;
pub mod places;
pub mod rehearsal;
pub mod router;
pub mod seed;
pub mod serve;
pub mod shop_search;
pub mod stores;
pub mod web_server;
