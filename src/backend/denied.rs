//! The backend of a visitor who may not do what they ask for: it can say who they are, and does nothing. A call of a
//! browser without script still runs up to here, since it knows the page that shows the refusal.

use std::sync::Arc;

use app::{
    backend::Backend,
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
use async_trait::async_trait;

use super::RequestBackend;

/// A backend that refuses.
pub struct Denied {
    visitor: RequestBackend,
    error: AppError,
}

impl Denied {
    /// Refuses everything to this visitor with this error.
    #[must_use]
    pub fn new(visitor: RequestBackend, error: AppError) -> Self {
        Self { visitor, error }
    }

    fn refuse<T>(&self) -> Result<T, AppError> {
        Err(self.error.clone())
    }
}

#[async_trait]
impl Backend for Denied {
    fn permitted(&self) -> Result<(), AppError> {
        self.refuse()
    }

    fn now(&self) -> time::OffsetDateTime {
        self.visitor.now()
    }

    async fn visitor(&self) -> Result<Option<Account>, AppError> {
        self.visitor.visitor().await
    }

    async fn sign_up(&self, _: NewAccount) -> Result<Account, AppError> {
        self.refuse()
    }

    async fn sign_in(&self, _: NewAccount) -> Result<Account, AppError> {
        self.refuse()
    }

    async fn sign_out(&self) -> Result<(), AppError> {
        self.refuse()
    }

    async fn change_password(&self, _: PasswordChange) -> Result<(), AppError> {
        self.refuse()
    }

    async fn delete_account(&self, _: Password) -> Result<(), AppError> {
        self.refuse()
    }

    async fn categories(&self, _: &Words) -> Result<Arc<Vec<Category>>, AppError> {
        self.refuse()
    }

    async fn shops(&self, _: &ShopSearch) -> Result<ShopList, AppError> {
        self.refuse()
    }

    async fn shop(&self, _: ShopId) -> Result<ShopView, AppError> {
        self.refuse()
    }

    async fn current_vouchers(&self) -> Result<Vec<VoucherView>, AppError> {
        self.refuse()
    }

    async fn voucher(&self, _: VoucherId) -> Result<VoucherView, AppError> {
        self.refuse()
    }

    async fn sale_status(&self, _: VoucherId) -> Result<SaleReply, AppError> {
        self.refuse()
    }

    async fn buy(&self, _: VoucherId) -> Result<BuyOutcome, AppError> {
        self.refuse()
    }

    async fn order(&self, _: OrderId) -> Result<OrderView, AppError> {
        self.refuse()
    }

    async fn my_orders(&self) -> Result<Vec<OrderView>, AppError> {
        self.refuse()
    }

    async fn desk_shop(&self) -> Result<Option<Shop>, AppError> {
        self.refuse()
    }

    async fn desk_order(&self, _: OrderId) -> Result<OrderView, AppError> {
        self.refuse()
    }

    async fn sales(&self, _: SalesSearch) -> Result<SalesPage, AppError> {
        self.refuse()
    }

    async fn sale(&self, _: VoucherId, _: Span) -> Result<SaleDetail, AppError> {
        self.refuse()
    }

    async fn sale_orders(&self, _: VoucherId, _: OrdersSearch) -> Result<OrdersPage, AppError> {
        self.refuse()
    }

    async fn all_shops(&self) -> Result<Vec<Shop>, AppError> {
        self.refuse()
    }

    async fn create_shop(&self, _: NewShop) -> Result<ShopId, AppError> {
        self.refuse()
    }

    async fn remove_shop_picture(&self, _: ShopId) -> Result<(), AppError> {
        self.refuse()
    }

    async fn shop_to_edit(&self, _: ShopId) -> Result<ShopToEdit, AppError> {
        self.refuse()
    }

    async fn edit_shop(&self, _: ShopId, _: ShopEdit) -> Result<(), AppError> {
        self.refuse()
    }

    async fn create_sale(&self, _: NewSale) -> Result<VoucherId, AppError> {
        self.refuse()
    }

    async fn sale_to_edit(&self, _: VoucherId) -> Result<SaleToEdit, AppError> {
        self.refuse()
    }

    async fn edit_sale(&self, _: VoucherId, _: SaleEdit) -> Result<SaleChange, AppError> {
        self.refuse()
    }

    async fn act_on_sale(&self, _: VoucherId, _: SaleAction) -> Result<SaleChange, AppError> {
        self.refuse()
    }

    async fn staff(&self) -> Result<Vec<Account>, AppError> {
        self.refuse()
    }

    async fn set_role(&self, _: RoleGrant) -> Result<Account, AppError> {
        self.refuse()
    }

    async fn audit_log(&self, _: AuditSearch) -> Result<AuditPage, AppError> {
        self.refuse()
    }

    async fn dead_letters(&self, _: &LettersSearch) -> Result<LettersPage, AppError> {
        self.refuse()
    }

    async fn replay_dead_letter(&self, _: DeadLetterId) -> Result<LetterOutcome, AppError> {
        self.refuse()
    }

    async fn discard_dead_letter(&self, _: DeadLetterId) -> Result<LetterOutcome, AppError> {
        self.refuse()
    }

    async fn rehearsals(&self) -> Result<Vec<Rehearsal>, AppError> {
        self.refuse()
    }

    async fn rehearsal(&self, _: RehearsalId) -> Result<Rehearsal, AppError> {
        self.refuse()
    }

    async fn rehearse(&self, _: RehearsalPlan) -> Result<RehearsalId, AppError> {
        self.refuse()
    }
}
