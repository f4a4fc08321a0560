//! What people see of Seckill: pages, islands, server functions and texts.
//!
//! Two builds of one crate. With `ssr` it is part of the server: pages are rendered, server functions run, and
//! everything goes through the one trait [`backend::Backend`]. With `hydrate` it is the browser's part: the
//! islands and the client side of the server functions, nothing else.

pub mod api;
pub mod error;
pub mod islands;
pub mod model;

#[cfg(feature = "ssr")]
pub mod app;
#[cfg(feature = "ssr")]
pub mod backend;
#[cfg(feature = "ssr")]
mod components;
#[cfg(feature = "ssr")]
mod pages;
#[cfg(feature = "ssr")]
pub mod rehearsal_page;
#[cfg(feature = "ssr")]
pub mod texts;

/// Starts the islands of a page; called by the page's script.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_islands();
}
