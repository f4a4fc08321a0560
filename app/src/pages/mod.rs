//! The pages, one file each; compiled for the server only.

mod home;
mod not_found;

pub(crate) use home::Home;
pub(crate) use not_found::NotFound;
