//! Server functions: each parses its fields, calls one use case of the `Backend`, and answers.
//! How an outcome becomes an HTTP answer is decided in `answer` alone.

mod account;
mod admin;
mod console;
mod language;
mod order;
mod people;
mod rehearsals;
mod sale_changes;

#[cfg(feature = "ssr")]
mod answer;

pub use account::{
    ChangePassword, DeleteAccount, SignIn, SignOut, SignUp, change_password, delete_account,
    sign_in, sign_out, sign_up,
};
pub use admin::{
    CreateSale, CreateShop, DiscardDeadLetter, EditShop, RemoveShopPicture, ReplayDeadLetter,
    create_sale, create_shop, discard_dead_letter, edit_shop, remove_shop_picture,
    replay_dead_letter,
};
pub use console::{GetSaleParts, GetSalesParts, ID_END, PART_END, sale_parts, sales_parts};
pub use language::{SetLanguage, set_language};
pub use order::{
    Buy, GetOrderStatus, GetSaleStatus, MyOrders, buy, my_orders, order_status, sale_status,
};

pub use people::{SetRole, set_role};
pub use rehearsals::{GetRehearsalParts, Rehearse, rehearsal_parts, rehearse};
pub use sale_changes::{
    AddUnits, CutUnits, EditSale, EndSale, PauseSale, ResumeSale, WithdrawSale, add_units,
    cut_units, edit_sale, end_sale, pause_sale, resume_sale, withdraw_sale,
};

#[cfg(feature = "ssr")]
pub(crate) use answer::{back_to_form, undecodable, visitor_lang};
#[cfg(feature = "ssr")]
pub use answer::{local_path, refused_at};
#[cfg(feature = "ssr")]
pub(crate) use console::{
    SALE_ACTIONS, SALE_HEAD, SALE_UNITS, SALES_ROWS, sale_address, sales_address, sales_query,
};
#[cfg(feature = "ssr")]
pub use order::voucher_pressed;
#[cfg(feature = "ssr")]
pub(crate) use rehearsals::{REHEARSAL_NOW, rehearsal_address};
