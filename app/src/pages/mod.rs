//! The pages, one file each; compiled for the server only. Each loads through the `Backend`, then shows.

mod account;
mod admin_home;
mod dead_letters;
mod desk;
mod home;
mod new_sale;
mod new_shop;
mod not_found;
mod order;
mod orders;
mod people;
mod sale;
mod sale_orders;
mod sales;
mod shop;
mod shop_picture;
mod sign_in;
mod voucher;

pub(crate) use account::Account;
pub(crate) use admin_home::AdminHome;
pub(crate) use dead_letters::DeadLetters;
pub(crate) use desk::Desk;
pub(crate) use home::Home;
pub(crate) use new_sale::NewSale;
pub(crate) use new_shop::NewShop;
pub(crate) use not_found::NotFound;
pub(crate) use order::OrderPage;
pub(crate) use orders::Orders;
pub(crate) use people::People;
pub(crate) use sale::SalePage;
pub(crate) use sale_orders::SaleOrders;
pub(crate) use sales::Sales;
pub(crate) use shop::ShopPage;
pub(crate) use shop_picture::ShopPicture;
pub(crate) use sign_in::{SignIn, SignUp};
pub(crate) use voucher::VoucherPage;
