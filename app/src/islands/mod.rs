//! Islands: the parts of a page that live in the browser. They only add to pages that work without them, are
//! flat and small, and get their words as props.

mod order_status;

pub use order_status::OrderStatus;
