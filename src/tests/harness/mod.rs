//! What tests are written with: the application in process, people by role with the verbs of the domain, faults, and
//! the promises that must hold at the end of every test.

mod app;
mod child;
mod eventually;
mod folder;
mod instance;
mod ledger;
mod line;
mod operator;
mod people;
mod person;
mod program;
mod promises;
mod redis_cluster;
mod redis_server;
mod sale;
mod setup;
mod stream;
mod wire;

pub use app::App;
pub use eventually::{eventually, within};
pub use instance::Instance;
pub use line::Line;
pub use person::{Answer, Person};
pub use program::Program;
pub use redis_cluster::RedisCluster;
pub use redis_server::RedisServer;
pub use sale::Sale;
pub use stream::EventStream;
pub use wire::Wire;
