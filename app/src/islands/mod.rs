//! Islands: the parts of a page that live in the browser. They only add to pages that work without them, are
//! flat and small, and get their words as props.

mod browser;
mod clock;
mod order_status;
mod polling;
mod sale_area;

pub use order_status::{OrderStatus, OrderWords};
pub use sale_area::{SaleArea, SaleWords};
