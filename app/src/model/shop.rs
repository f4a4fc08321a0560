//! Shops: local businesses that offer vouchers.

use super::{
    Fields, LastChange, Line, Picture, PictureId, ShopId, ShopKey, VoucherId, VoucherView,
    sale_form::parse_version,
};
use crate::error::AppError;

/// Letters of a shop's name, at most.
pub const SHOP_NAME: usize = 60;

/// Letters of a category, at most.
pub const CATEGORY: usize = 20;

/// Letters of an address, at most.
pub const ADDRESS: usize = 120;

/// A shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shop {
    /// Its id.
    pub id: ShopId,
    /// Its name.
    pub name: String,
    /// A free word, by which the list is filtered.
    pub category: String,
    /// Where it is.
    pub address: String,
    /// Its small picture, if it has one.
    pub tile: Option<PictureId>,
}

/// A shop as the form that edits it is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShopToEdit {
    /// The shop.
    pub shop: Shop,
    /// Counts the changes, so that a form filled in before one of them does not undo it.
    pub version: i64,
    /// Who changed it last, as far as it was noted.
    pub last_change: Option<LastChange>,
}

/// A shop's texts as they are to be, made from a form that showed them at a version.
#[derive(Clone, Debug)]
pub struct ShopEdit {
    /// The version of the form.
    pub version: i64,
    /// The texts.
    pub shop: NewShop,
}

/// A shop with its vouchers, the running ones first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShopView {
    /// The shop.
    pub shop: Shop,
    /// Its large picture, if it has one.
    pub picture: Option<Picture>,
    /// What it offers.
    pub vouchers: Vec<VoucherView>,
}

/// A page of the list of shops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShopList {
    /// The shops, best first.
    pub shops: Vec<Shop>,
    /// The last one, where more follow.
    pub next: Option<ShopKey>,
    /// No shop has all words as they were typed; these have almost.
    pub is_guess: bool,
    /// What these shops offer now that has some of the words.
    pub offers: Vec<FoundOffer>,
}

/// A voucher that is found with its shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundOffer {
    /// The shop.
    pub shop: ShopId,
    /// The voucher.
    pub voucher: VoucherId,
    /// Its title.
    pub title: String,
}

/// A category, and how many shops it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Category {
    /// Its name.
    pub name: String,
    /// Shops of it among those that were searched for.
    pub shops: i64,
}

/// The raw fields of the form that creates a shop.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the contract names the fields")]
pub struct ShopForm {
    pub name: String,
    pub category: String,
    pub address: String,
}

/// A shop to create.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "Shop explains the fields")]
pub struct NewShop {
    pub name: Line,
    pub category: Line,
    pub address: Line,
}

impl ShopForm {
    /// Reads the form that edits a shop.
    ///
    /// # Errors
    /// `AppError::Invalid` with every field's problem.
    pub fn parse_edit(&self, version: &str) -> Result<ShopEdit, AppError> {
        match (self.parse(), parse_version(version)) {
            (Ok(shop), Ok(version)) => Ok(ShopEdit { version, shop }),
            (Err(error), Ok(_)) => Err(error),
            (_, Err(problem)) => Err(AppError::field("version", problem)),
        }
    }

    /// Reads the form.
    ///
    /// # Errors
    /// `AppError::Invalid` with every field's problem.
    pub fn parse(&self) -> Result<NewShop, AppError> {
        let mut fields = Fields::default();
        let name = fields.take("name", Line::parse(&self.name, 1, SHOP_NAME));
        let category = fields.take("category", Line::parse(&self.category, 1, CATEGORY));
        let address = fields.take("address", Line::parse(&self.address, 1, ADDRESS));
        match (name, category, address) {
            (Some(name), Some(category), Some(address)) => Ok(NewShop {
                name,
                category,
                address,
            }),
            _ => Err(fields.into()),
        }
    }
}
