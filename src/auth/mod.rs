//! Who somebody is: passwords, login sessions, the current user. The login session is the only source of identity.

pub mod current_user;
mod hasher;
pub mod password;
pub mod session_store;
pub mod tries;
