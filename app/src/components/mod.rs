//! Parts that several pages share.

mod address;
mod empty;
mod field;
mod head;
mod header;
mod money;
mod notice;
mod page;
mod picture;
mod said;
mod timeline;
mod times;
mod visitor;
mod voucher_card;

pub(crate) use address::{Query, encode, here, path_id};
pub(crate) use empty::Empty;
pub(crate) use field::{Field, Form, Kind};
pub(crate) use head::Head;
pub(crate) use header::{Footer, Header};
pub(crate) use money::{money, saved_percent};
pub(crate) use notice::{Changed, Notice};
pub(crate) use page::{failure, forbid_storing, page};
pub(crate) use picture::{Photo, Tile};
pub(crate) use said::{foreign, said};
pub(crate) use timeline::Timeline;
pub(crate) use times::{Moment, visitor_zone, zone_named};
pub(crate) use visitor::Visitor;
pub(crate) use voucher_card::VoucherCards;
