//! Parts that several pages share.

mod address;
mod field;
mod head;
mod header;
mod money;
mod notice;
mod offer_fields;
mod outdated;
mod page;
mod sale_actions;
mod time_field;
mod times;
mod visitor;
mod voucher_card;

pub(crate) use address::{Query, encode, here, path_id};
pub(crate) use field::{Field, Form, Kind};
pub(crate) use head::Head;
pub(crate) use header::{Footer, Header};
pub(crate) use money::money;
pub(crate) use notice::{Changed, Notice};
pub(crate) use offer_fields::{OfferFields, OfferShown, WindowFields};
pub(crate) use outdated::{Outdated, form_version, is_outdated};
pub(crate) use page::{failure, forbid_storing, go_on, page};
pub(crate) use sale_actions::{SaleActions, SaleChanged};
pub(crate) use time_field::{Stored, TimeField};
pub(crate) use times::{Moment, visitor_zone, zone_named};
pub(crate) use visitor::Visitor;
pub(crate) use voucher_card::VoucherCards;
