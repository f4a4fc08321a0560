//! The one door from pages and server functions to the server. Its methods are the use cases; the server
//! implements it for one request, and decides there who asks and whether they may.

use std::sync::Arc;

use async_trait::async_trait;
use leptos::prelude::use_context;

use crate::{
    error::AppError,
    model::{
        Account, AuditPage, AuditSearch, BuyOutcome, Category, DeadLetterId, LetterOutcome,
        LettersPage, LettersSearch, NewAccount, NewSale, NewShop, OrderId, OrderView, OrdersPage,
        OrdersSearch, Password, PasswordChange, Rehearsal, RehearsalId, RehearsalPlan, RoleGrant,
        SaleAction, SaleChange, SaleDetail, SaleEdit, SaleReply, SaleToEdit, SalesPage,
        SalesSearch, Shop, ShopEdit, ShopId, ShopList, ShopSearch, ShopToEdit, ShopView, Span,
        VoucherId, VoucherView, Words,
    },
};

/// The use cases, for the visitor of one request.
///
/// # Errors
/// Every method fails with what a browser may see: `SignInRequired` and `Forbidden` where the visitor may not,
/// `NotFound` for what is not there or is somebody else's, `Unavailable` while a store is away.
#[async_trait]
pub trait Backend: Send + Sync {
    /// May the visitor do what this request asks for? Decided by the router; a page is shown only if so.
    fn permitted(&self) -> Result<(), AppError>;
    /// The server's clock.
    fn now(&self) -> time::OffsetDateTime;
    /// Who is signed in; `None` for a guest.
    async fn visitor(&self) -> Result<Option<Account>, AppError>;
    /// Creates a shopper's account and signs it in.
    async fn sign_up(&self, account: NewAccount) -> Result<Account, AppError>;
    /// Signs an account in, with a new login-session id.
    async fn sign_in(&self, account: NewAccount) -> Result<Account, AppError>;
    /// Ends the login session on the server.
    async fn sign_out(&self) -> Result<(), AppError>;
    /// Changes the visitor's password, and ends their other login sessions.
    async fn change_password(&self, change: PasswordChange) -> Result<(), AppError>;
    /// Makes the visitor's account nobody's, and ends its login sessions. Its orders stay.
    async fn delete_account(&self, password: Password) -> Result<(), AppError>;

    /// The categories of the shops that have these words, the largest first.
    async fn categories(&self, words: &Words) -> Result<Arc<Vec<Category>>, AppError>;
    /// A page of the shops that were searched for.
    async fn shops(&self, search: &ShopSearch) -> Result<ShopList, AppError>;
    /// A shop with its vouchers.
    async fn shop(&self, id: ShopId) -> Result<ShopView, AppError>;
    /// Vouchers whose sale runs or begins soon, for the front page.
    async fn current_vouchers(&self) -> Result<Vec<VoucherView>, AppError>;
    /// A voucher as the visitor sees it now.
    async fn voucher(&self, id: VoucherId) -> Result<VoucherView, AppError>;
    /// What changes about a sale: phase, units left, the gate's clock.
    async fn sale_status(&self, id: VoucherId) -> Result<SaleReply, AppError>;

    /// Presses the flash-sale button: one session read and one gate script, no SQL.
    async fn buy(&self, id: VoucherId) -> Result<BuyOutcome, AppError>;
    /// An own order: stored, or promised by the gate.
    async fn order(&self, id: OrderId) -> Result<OrderView, AppError>;
    /// The visitor's orders, newest first, queued ones included.
    async fn my_orders(&self) -> Result<Vec<OrderView>, AppError>;

    /// The shop whose desk the visitor works at; `None` for an admin, who sees all. Staff only.
    async fn desk_shop(&self) -> Result<Option<Shop>, AppError>;
    /// A stored order of the desk's shop; another shop's is not found. Staff only.
    async fn desk_order(&self, id: OrderId) -> Result<OrderView, AppError>;

    /// A page of the sales that are wanted, running ones first. Admins only.
    async fn sales(&self, search: SalesSearch) -> Result<SalesPage, AppError>;
    /// A sale with the place of each unit, and what happened over a span of time. Admins only.
    async fn sale(&self, id: VoucherId, span: Span) -> Result<SaleDetail, AppError>;
    /// A page of the stored orders of a sale. Admins only.
    async fn sale_orders(
        &self,
        id: VoucherId,
        search: OrdersSearch,
    ) -> Result<OrdersPage, AppError>;
    /// All shops by name, for the form's choice. Admins only.
    async fn all_shops(&self) -> Result<Vec<Shop>, AppError>;
    /// Creates a shop. Admins only.
    async fn create_shop(&self, shop: NewShop) -> Result<ShopId, AppError>;
    /// Takes a shop's picture away. Admins only.
    async fn remove_shop_picture(&self, shop: ShopId) -> Result<(), AppError>;
    /// A shop as the form that edits it is made from. Admins only.
    async fn shop_to_edit(&self, id: ShopId) -> Result<ShopToEdit, AppError>;
    /// Changes a shop's texts, unless somebody else has since its form was made. Admins only.
    async fn edit_shop(&self, id: ShopId, edit: ShopEdit) -> Result<(), AppError>;
    /// Creates a voucher with its sale and opens the gate for it. Admins only.
    async fn create_sale(&self, sale: NewSale) -> Result<VoucherId, AppError>;
    /// A sale as the form that edits it is made from. Admins only.
    async fn sale_to_edit(&self, id: VoucherId) -> Result<SaleToEdit, AppError>;
    /// Changes a sale's texts, price and window, unless somebody else has since its form was made. Admins only.
    async fn edit_sale(&self, id: VoucherId, edit: SaleEdit) -> Result<SaleChange, AppError>;
    /// Does something to a sale; it holds at the gate when this is answered, but for what [`SaleChange`] says. Admins only.
    async fn act_on_sale(&self, id: VoucherId, action: SaleAction) -> Result<SaleChange, AppError>;
    /// Those who have a role beyond a shopper's. Admins only.
    async fn staff(&self) -> Result<Vec<Account>, AppError>;
    /// Gives somebody a role, and ends their login sessions. Admins only.
    async fn set_role(&self, grant: RoleGrant) -> Result<Account, AppError>;
    /// A page of the audit log, newest first. Admins only.
    async fn audit_log(&self, search: AuditSearch) -> Result<AuditPage, AppError>;
    /// A page of the parked queue entries, oldest first. Admins only.
    async fn dead_letters(&self, search: &LettersSearch) -> Result<LettersPage, AppError>;
    /// Puts a dead letter back into the queue. Admins only.
    async fn replay_dead_letter(&self, id: DeadLetterId) -> Result<LetterOutcome, AppError>;
    /// Refuses the order of a dead letter and gives its unit back. Admins only.
    async fn discard_dead_letter(&self, id: DeadLetterId) -> Result<LetterOutcome, AppError>;
    /// The latest rehearsals, the newest first. Admins only.
    async fn rehearsals(&self) -> Result<Vec<Rehearsal>, AppError>;
    /// A rehearsal: how far it has come, or what it has found. Admins only.
    async fn rehearsal(&self, id: RehearsalId) -> Result<Rehearsal, AppError>;
    /// Starts a rehearsal, unless another is under way, or people use the place and the plan does not say that this is wanted.
    /// Admins only.
    async fn rehearse(&self, plan: RehearsalPlan) -> Result<RehearsalId, AppError>;
}

/// The backend of this request.
///
/// # Panics
/// When the router did not provide one: a fault in the program's wiring.
#[must_use]
pub fn backend() -> Arc<dyn Backend> {
    use_context().expect("the router provides a Backend to every page and server function")
}
