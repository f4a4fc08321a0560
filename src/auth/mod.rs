//! Who somebody is and what they may do: passwords, login sessions, rights. The login session is the only source of
//! identity; what its owner may do is asked of the database each time.

pub mod common_passwords;
mod hasher;
pub mod login;
pub mod password;
pub mod right;
pub mod session_store;
pub mod tries;
