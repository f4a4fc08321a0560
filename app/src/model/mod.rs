//! The nouns of the product: what travels between browser, pages and `Backend`.
//! Everything a person types is parsed here once; inside, types make wrong states unspeakable.
//! Holds no text that a person reads and knows no store.

mod ids;
mod letter_outcome;
mod number;
mod order;
mod problem;
mod sale_change;

#[cfg(feature = "ssr")]
mod account;
#[cfg(feature = "ssr")]
mod audit;
#[cfg(feature = "ssr")]
mod console;
#[cfg(feature = "ssr")]
mod dead_letter;
#[cfg(feature = "ssr")]
mod instant;
#[cfg(feature = "ssr")]
mod last_change;
#[cfg(feature = "ssr")]
mod money;
#[cfg(feature = "ssr")]
mod name;
#[cfg(feature = "ssr")]
mod picture;
#[cfg(feature = "ssr")]
mod rehearsal;
#[cfg(feature = "ssr")]
mod sale;
#[cfg(feature = "ssr")]
mod sale_action;
#[cfg(feature = "ssr")]
mod sale_form;
#[cfg(feature = "ssr")]
mod search;
#[cfg(feature = "ssr")]
mod series;
#[cfg(feature = "ssr")]
mod shop;
#[cfg(feature = "ssr")]
mod text;

pub use ids::{ShopId, UserId, VoucherId};
pub use letter_outcome::LetterOutcome;
pub use number::grouped;
pub use order::{BuyReply, OrderReply, Outcome, Reason, SalePhase, SaleReply, Status};
pub use problem::{Field, Fields, Problem};
pub use sale_change::SaleChange;

#[cfg(feature = "ssr")]
pub use {
    account::{Account, NewAccount, Password, PasswordChange, Role, RoleGrant},
    audit::{Actor, AuditEntry, AuditPage, AuditSearch, Detail, Difference, Subject},
    console::{
        AdminOrder, AdminSale, OrdersPage, OrdersSearch, SaleDetail, SalesCursor, SalesPage,
        SalesSearch, Standing, Units,
    },
    dead_letter::{DeadLetter, DeadLetterId, LetterNames, LettersPage, LettersSearch},
    ids::OrderId,
    instant::{TypedTime, Zone, is_same_local, parse_instant},
    last_change::LastChange,
    money::Cents,
    name::Name,
    order::{BuyOutcome, OrderView},
    picture::{PICTURE, Picture, PictureId, TILE},
    rehearsal::{
        Cause, Rate, Refused, Rehearsal, RehearsalForm, RehearsalId, RehearsalPhase, RehearsalPlan,
        RehearsalProgress, RehearsalReport, RehearsalState, RehearsalStep, Shape, Times, Verdicts,
    },
    sale::{SaleState, SaleToEdit, Voucher, VoucherView},
    sale_action::{NoChange, SaleAction, UnitsChange},
    sale_form::{NewSale, OfferForm, RULES, SUBTITLE, SaleEdit, SaleEditForm, SaleForm, TITLE},
    search::{ShopKey, ShopSearch, Words, folded},
    series::{Counts, Series, Span},
    shop::{
        ADDRESS, CATEGORY, Category, FoundOffer, NewShop, SHOP_NAME, Shop, ShopEdit, ShopForm,
        ShopList, ShopToEdit, ShopView,
    },
    text::{Line, Paragraph},
};
