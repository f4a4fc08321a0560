//! The nouns of the product: what travels between browser, pages and `Backend`.
//! Everything a person types is parsed here once; inside, types make wrong states unspeakable.
//! Holds no text that a person reads and knows no store.

mod ids;
mod letter_outcome;
mod order;
mod problem;

#[cfg(feature = "ssr")]
mod account;
#[cfg(feature = "ssr")]
mod console;
#[cfg(feature = "ssr")]
mod dead_letter;
#[cfg(feature = "ssr")]
mod instant;
#[cfg(feature = "ssr")]
mod money;
#[cfg(feature = "ssr")]
mod name;
#[cfg(feature = "ssr")]
mod picture;
#[cfg(feature = "ssr")]
mod sale;
#[cfg(feature = "ssr")]
mod search;
mod series;
#[cfg(feature = "ssr")]
mod shop;
#[cfg(feature = "ssr")]
mod text;

pub use ids::{ShopId, UserId, VoucherId};
pub use letter_outcome::LetterOutcome;
pub use order::{BuyReply, OrderReply, Outcome, Reason, SalePhase, SaleReply, Status};
pub use problem::{Field, Fields, Problem};

#[cfg(feature = "ssr")]
pub use {
    account::{Account, NewAccount, Password, PasswordChange, Role, RoleGrant},
    console::{
        AdminOrder, AdminSale, OrdersPage, OrdersSearch, SaleDetail, SalesCursor, SalesPage, Units,
    },
    dead_letter::{DeadLetter, DeadLetterId, LettersPage, LettersSearch},
    ids::OrderId,
    instant::{Zone, parse_instant},
    money::Cents,
    name::Name,
    order::{BuyOutcome, OrderView},
    picture::{PICTURE, Picture, PictureId, TILE},
    search::{ShopKey, ShopSearch, Words, folded},
    shop::{Category, NewShop, Shop, ShopForm, ShopList, ShopView},
    sale::{NewSale, SaleForm, SaleState, Voucher, VoucherView},
    series::{Counts, Series, Span},
    text::{Line, Paragraph},
};
