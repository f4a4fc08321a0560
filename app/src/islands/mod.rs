//! Islands: the parts of a page that live in the browser. They only add to pages that work without them, are
//! flat and small, and get their words as props.
//!
//! The browser loads every byte of them before they live, so they spare code: state is one plain struct in one
//! signal, texts and attributes are of few types, and answers are read by the code that reads the props.

mod browser;
mod clock;
mod live_parts;
mod order_status;
mod pace;
mod sale_area;
mod words;

pub use live_parts::LiveParts;
pub use order_status::OrderStatus;
pub use sale_area::SaleArea;
pub use words::Words;
