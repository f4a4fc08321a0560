//! Parts that several pages share.

mod address;
mod chart;
mod field;
mod head;
mod header;
mod live_words;
mod money;
mod notice;
mod page;
mod sale_charts;
mod sale_head;
mod sale_units;
mod sales_rows;
mod times;
mod visitor;
mod voucher_card;

pub(crate) use address::{Query, encode, here, path_id};
pub(crate) use field::{Field, Form, Kind};
pub(crate) use head::Head;
pub(crate) use header::{Footer, Header};
pub(crate) use live_words::live_words;
pub(crate) use money::money;
pub(crate) use notice::{Changed, Notice};
pub(crate) use page::{failure, forbid_storing, page};
pub(crate) use sale_charts::{sale_chart_parts, sale_charts};
pub(crate) use sale_head::sale_head;
pub(crate) use sale_units::sale_units;
pub(crate) use sales_rows::sales_rows;
pub(crate) use times::{Moment, visitor_zone, zone_named};
pub(crate) use visitor::Visitor;
pub(crate) use voucher_card::VoucherCards;
