//! Implements the use cases for one request: who asks, may they, then gate and database. The one place where errors
//! with sources become errors that a browser may see.

mod accounts;
mod admin;
mod audit_log;
pub mod catalogue;
mod console;
mod dead_letters;
pub mod denied;
mod desk;
mod orders;
pub mod orders_file;
mod people;
pub mod pictures;
mod rehearsals;
mod reveal;
mod sale_changes;
mod shops;
mod units;

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use app::{
    backend::Backend,
    error::AppError,
    model::{
        Account, AuditPage, AuditSearch, BuyOutcome, Category, DeadLetterId, LetterOutcome,
        LettersPage, LettersSearch, NewAccount, NewSale, NewShop, OrderId, OrderView, OrdersPage,
        OrdersSearch, Password, PasswordChange, Rehearsal, RehearsalId, RehearsalPlan, RoleGrant,
        SaleAction, SaleChange, SaleDetail, SaleEdit, SaleReply, SaleToEdit, SalesPage,
        SalesSearch, Shop, ShopEdit, ShopId, ShopList, ShopSearch, ShopToEdit, ShopView, Span,
        UserId, VoucherId, VoucherView, Words,
    },
};
use async_trait::async_trait;
use sqlx::PgPool;
use tokio::sync::OnceCell;
use tower_sessions::Session;

use self::{
    catalogue::Catalogue,
    pictures::Gallery,
    reveal::{Question, Reveal, Store},
};
use crate::{
    auth::{
        login::{self, Logins},
        password::Passwords,
        right::Right,
        tries::SignInTries,
    },
    buy_limit::BuyLimit,
    clock::{self, Clock},
    consumer::keeper::KeeperHandle,
    db::{self, together::Together},
    figures::Figures,
    gate::{Gate, order_id::OrderIds},
    live::Live,
    outage::Tally,
    places::Places,
    rehearsal::rehearser::Rehearser,
    shop_search,
};

/// What every request of an instance shares.
pub struct Services {
    /// PostgreSQL.
    pub pool: PgPool,
    /// The gate.
    pub gate: Gate,
    /// Makes and checks order ids.
    pub order_ids: OrderIds,
    /// Begins and ends login sessions.
    pub logins: Logins,
    /// Hashes passwords.
    pub passwords: Passwords,
    /// How often a user may press the button.
    pub buy_limit: BuyLimit,
    /// How often anybody may try to sign in or up.
    pub tries: SignInTries,
    /// The program's clock.
    pub clock: Clock,
    /// Calls the keeper.
    pub keeper: KeeperHandle,
    /// What open pages watch.
    pub live: Live,
    /// Accounts as they are now.
    pub accounts: Together<UserId, Account>,
    /// The first shops of the list as they are now.
    pub first_shops: Together<(), ShopList>,
    /// Vouchers and their sales, remembered for a moment.
    pub catalogue: Catalogue,
    /// Pictures of shops.
    pub gallery: Gallery,
    /// Turns errors into what may be seen.
    pub reveal: Reveal,
    /// Promises that were lost with Redis.
    pub losses: Tally,
    /// Where the gate's answers are counted.
    pub figures: Figures,
    /// Files of orders that are being read.
    pub files: Arc<Places<UserId>>,
    /// Runs rehearsals that are asked for; nobody does where there is none.
    pub rehearser: Option<Rehearser>,
}

impl Services {
    /// The services over these stores.
    #[must_use]
    pub fn new(
        pool: PgPool,
        gate: Gate,
        order_ids: OrderIds,
        logins: Logins,
        passwords: Passwords,
        buy_limit: BuyLimit,
        tries: SignInTries,
        keeper: KeeperHandle,
        live: Live,
    ) -> Self {
        let accounts = Together::new(pool.clone(), |pool, ids: Vec<UserId>| {
            Box::pin(async move { db::users::by_ids(&pool, &ids).await })
        });
        let first_shops = Together::new(pool.clone(), |pool, _| {
            Box::pin(async move {
                let first = shop_search::find(&pool, &ShopSearch::default()).await?;
                Ok(HashMap::from([((), first)]))
            })
        });
        let catalogue = Catalogue::new(pool.clone(), gate.clone());
        let gallery = Gallery::new(pool.clone());
        Self {
            pool,
            gate,
            order_ids,
            logins,
            passwords,
            buy_limit,
            tries,
            clock: clock::system,
            keeper,
            live,
            accounts,
            first_shops,
            catalogue,
            gallery,
            reveal: Reveal::default(),
            losses: Tally::default(),
            figures: Figures::default(),
            files: Arc::new(Places::new(orders_file::FILES)),
            rehearser: None,
        }
    }
}

/// The backend of one request.
pub struct RequestBackend {
    services: Arc<Services>,
    session: Session,
    request_id: String,
    client: IpAddr,
    /// Asked for once a request: the router's question and the use case's are one.
    account: OnceCell<Option<Account>>,
    /// The voucher that the request is about, as it was seen first.
    seen: OnceLock<VoucherView>,
    /// Redis did not answer this request: it is not asked again for what a page can be shown without.
    redis_is_away: AtomicBool,
}

impl RequestBackend {
    /// The backend for the visitor behind `session`, at the address `client`.
    #[must_use]
    pub fn new(
        services: Arc<Services>,
        session: Session,
        request_id: String,
        client: IpAddr,
    ) -> Self {
        Self {
            services,
            session,
            request_id,
            client,
            account: OnceCell::new(),
            seen: OnceLock::new(),
            redis_is_away: AtomicBool::new(false),
        }
    }

    /// The same visitor, with nothing remembered of what was asked before, as for a request that lasts.
    pub(crate) fn afresh(&self) -> Self {
        let (services, session) = (Arc::clone(&self.services), self.session.clone());
        Self::new(services, session, self.request_id.clone(), self.client)
    }

    pub(crate) async fn user(&self) -> Result<Option<UserId>, AppError> {
        if self.redis_is_away() {
            return Err(AppError::UNAVAILABLE);
        }
        let user = self.show(login::current_user(&self.session).await);
        self.redis_is_away
            .fetch_or(user.is_err(), Ordering::Relaxed);
        user
    }

    /// What Redis says of a thing that a page can be shown without; after it did not answer once, nothing more is asked
    /// of it for this request, so that time-outs do not add up.
    async fn unless_away<T, E: Question>(
        &self,
        question: impl Future<Output = Result<T, E>>,
    ) -> Option<T> {
        if self.redis_is_away() {
            return None;
        }
        let answer = self.show(question.await);
        self.redis_is_away
            .fetch_or(answer.is_err(), Ordering::Relaxed);
        answer.ok()
    }

    fn redis_is_away(&self) -> bool {
        self.redis_is_away.load(Ordering::Relaxed)
    }

    async fn shopper(&self) -> Result<UserId, AppError> {
        self.user().await?.ok_or(AppError::SignInRequired)
    }

    async fn account(&self) -> Result<Option<Account>, AppError> {
        let find = async {
            let Some(user) = self.user().await? else {
                return Ok(None);
            };
            let found = self.show(self.services.accounts.find(user).await)?;
            self.services.reveal.answered(Store::Database);
            Ok(found)
        };
        self.account.get_or_try_init(|| find).await.cloned()
    }

    /// Is the visitor what this right asks for?
    ///
    /// # Errors
    /// `SignInRequired` for a guest, `Forbidden` for anybody else who is not; `Unavailable` while a store is away.
    pub async fn require(&self, right: Right) -> Result<(), AppError> {
        match right {
            Right::Everybody => Ok(()),
            // Without SQL, since the button asks for no more.
            Right::SignedIn => self.shopper().await.map(drop),
            Right::Staff | Right::Admin => self.require_role(right).await.map(drop),
        }
    }

    /// Lets the idle time of the visitor's login session begin anew, for a request that changes something. One that cannot
    /// be renewed now is renewed by the next change.
    pub(crate) async fn renew_login(&self) {
        if let Err(error) = self.services.logins.renew(&self.session).await {
            tracing::debug!(error = %error, "a login session was not renewed");
        }
    }

    async fn require_role(&self, right: Right) -> Result<Account, AppError> {
        match self.account().await? {
            None => Err(AppError::SignInRequired),
            Some(account) if right.is_of(account.role) => Ok(account),
            Some(_) => Err(AppError::Forbidden),
        }
    }

    async fn require_admin(&self) -> Result<Account, AppError> {
        self.require_role(Right::Admin).await
    }

    /// Shows a result: errors are logged and become what may be seen.
    pub(crate) fn show<T, E: Question>(&self, result: Result<T, E>) -> Result<T, AppError> {
        let reveal = &self.services.reveal;
        match result {
            Ok(answer) => {
                if let Some(store) = E::ANSWERED_BY {
                    reveal.answered(store);
                }
                Ok(answer)
            }
            Err(error) => Err(reveal.reveal(&error.into(), &self.request_id)),
        }
    }
}

#[async_trait]
impl Backend for RequestBackend {
    fn permitted(&self) -> Result<(), AppError> {
        Ok(())
    }

    fn now(&self) -> time::OffsetDateTime {
        (self.services.clock)()
    }

    async fn visitor(&self) -> Result<Option<Account>, AppError> {
        self.account().await
    }

    async fn sign_up(&self, account: NewAccount) -> Result<Account, AppError> {
        self.create_account(account).await
    }

    async fn sign_in(&self, account: NewAccount) -> Result<Account, AppError> {
        self.check_password(account).await
    }

    async fn sign_out(&self) -> Result<(), AppError> {
        self.show(self.services.logins.sign_out(&self.session).await)
    }

    async fn change_password(&self, change: PasswordChange) -> Result<(), AppError> {
        self.replace_password(change).await
    }

    async fn delete_account(&self, password: Password) -> Result<(), AppError> {
        self.anonymise(password).await
    }

    async fn categories(&self, words: &Words) -> Result<Arc<Vec<Category>>, AppError> {
        self.show(self.services.catalogue.categories(words).await)
    }

    async fn shops(&self, search: &ShopSearch) -> Result<ShopList, AppError> {
        self.find_shops(search).await
    }

    async fn shop(&self, id: ShopId) -> Result<ShopView, AppError> {
        self.show_shop(id).await
    }

    async fn current_vouchers(&self) -> Result<Vec<VoucherView>, AppError> {
        let vouchers = self.show(self.services.catalogue.current().await)?;
        Ok(self.views(vouchers.to_vec()).await)
    }

    async fn voucher(&self, id: VoucherId) -> Result<VoucherView, AppError> {
        if let Some(view) = self.seen.get().filter(|view| view.voucher.id == id) {
            return Ok(view.clone());
        }
        let view = self.show_voucher(id).await?;
        Ok(self.seen.get_or_init(|| view).clone())
    }

    async fn sale_status(&self, id: VoucherId) -> Result<SaleReply, AppError> {
        self.show_sale_status(id).await
    }

    async fn buy(&self, id: VoucherId) -> Result<BuyOutcome, AppError> {
        self.press(id).await
    }

    async fn order(&self, id: OrderId) -> Result<OrderView, AppError> {
        self.show_order(id).await
    }

    async fn my_orders(&self) -> Result<Vec<OrderView>, AppError> {
        self.list_orders().await
    }

    async fn desk_shop(&self) -> Result<Option<Shop>, AppError> {
        self.find_desk_shop().await
    }

    async fn desk_order(&self, id: OrderId) -> Result<OrderView, AppError> {
        self.find_desk_order(id).await
    }

    async fn sales(&self, search: SalesSearch) -> Result<SalesPage, AppError> {
        self.list_sales(search).await
    }

    async fn sale(&self, id: VoucherId, span: Span) -> Result<SaleDetail, AppError> {
        self.show_sale(id, span).await
    }

    async fn sale_orders(
        &self,
        id: VoucherId,
        search: OrdersSearch,
    ) -> Result<OrdersPage, AppError> {
        self.list_sale_orders(id, search).await
    }

    async fn all_shops(&self) -> Result<Vec<Shop>, AppError> {
        self.require_admin().await?;
        self.show(db::shops::all(&self.services.pool).await)
    }

    async fn create_shop(&self, shop: NewShop) -> Result<ShopId, AppError> {
        self.add_shop(shop).await
    }

    async fn remove_shop_picture(&self, shop: ShopId) -> Result<(), AppError> {
        self.replace_pictures(shop, None).await
    }

    async fn shop_to_edit(&self, id: ShopId) -> Result<ShopToEdit, AppError> {
        self.find_shop_to_edit(id).await
    }

    async fn edit_shop(&self, id: ShopId, edit: ShopEdit) -> Result<(), AppError> {
        self.change_shop(id, edit).await
    }

    async fn create_sale(&self, sale: NewSale) -> Result<VoucherId, AppError> {
        self.add_sale(sale).await
    }

    async fn sale_to_edit(&self, id: VoucherId) -> Result<SaleToEdit, AppError> {
        self.find_sale_to_edit(id).await
    }

    async fn edit_sale(&self, id: VoucherId, edit: SaleEdit) -> Result<SaleChange, AppError> {
        self.change_offer(id, edit).await
    }

    async fn act_on_sale(&self, id: VoucherId, action: SaleAction) -> Result<SaleChange, AppError> {
        self.act(id, action).await
    }

    async fn staff(&self) -> Result<Vec<Account>, AppError> {
        self.list_staff().await
    }

    async fn set_role(&self, grant: RoleGrant) -> Result<Account, AppError> {
        self.grant_role(grant).await
    }

    async fn audit_log(&self, search: AuditSearch) -> Result<AuditPage, AppError> {
        self.list_audit_log(search).await
    }

    async fn dead_letters(&self, search: &LettersSearch) -> Result<LettersPage, AppError> {
        self.list_dead_letters(search).await
    }

    async fn replay_dead_letter(&self, id: DeadLetterId) -> Result<LetterOutcome, AppError> {
        self.replay(id).await
    }

    async fn discard_dead_letter(&self, id: DeadLetterId) -> Result<LetterOutcome, AppError> {
        self.discard(id).await
    }

    async fn rehearsals(&self) -> Result<Vec<Rehearsal>, AppError> {
        self.list_rehearsals().await
    }

    async fn rehearsal(&self, id: RehearsalId) -> Result<Rehearsal, AppError> {
        self.find_rehearsal(id).await
    }

    async fn rehearse(&self, plan: RehearsalPlan) -> Result<RehearsalId, AppError> {
        self.start_rehearsal(plan).await
    }
}
