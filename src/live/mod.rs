//! Live updates: what open pages watch, and what they are told. One subscription to the news of all instances is fanned
//! out here; sales that somebody watches are looked at in the gate when there is news of them, and now and then, never
//! in the database. Whoever watches is only told: nothing is decided here.

mod hold;
mod topics;

use std::{
    collections::BTreeSet,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use app::model::{OrderId, SalePhase, SaleReply, UserId, VoucherId};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, sleep_until},
};

pub use self::hold::{Hold, Login};
use self::topics::{Topics, Watch};
use crate::{
    client_address::household,
    config::Limits,
    gate::{Gate, news::News, unix_ms},
    outage::Outage,
    places::{Full, Place, Places},
    web_server::stopped,
};

/// What is told of one sale is at least so long apart: a rush is summed up.
const PACE: Duration = Duration::from_secs(1);

/// Sales are looked at this often without any news: those may be missed.
const ANYWAY: Duration = Duration::from_secs(10);

/// Units that one instance sells are told of so long after the first of them.
const GATHER: Duration = Duration::from_millis(250);

/// After the line for news broke, the next is tried so long after.
const PAUSE: Duration = Duration::from_secs(1);

/// The live updates of one instance. Clones share it.
#[derive(Clone)]
pub struct Live(Arc<Shared>);

struct Shared {
    gate: Gate,
    stop: watch::Receiver<bool>,
    sales: Topics<VoucherId, Option<Told>>,
    orders: Topics<OrderId, u64>,
    sign_outs: Topics<UserId, u64>,
    places: Arc<Places<Watcher>>,
    per_user: Option<u32>,
    per_guest_address: Option<u32>,
    /// Sales of which units were sold here, and not told of yet.
    sold: Mutex<BTreeSet<VoucherId>>,
    sold_some: Notify,
    /// Sales of which there is news.
    moved: Mutex<Moved>,
    moved_some: Notify,
}

/// What has to be looked at.
#[derive(Default)]
struct Moved {
    sales: BTreeSet<VoucherId>,
    /// Every sale that is watched: what happened to them is not known.
    all: bool,
}

/// What was told of a sale last, as it is sent.
#[derive(Clone)]
struct Told {
    sale: SaleReply,
    json: Arc<str>,
}

/// Who watches, as they are counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Watcher {
    /// Somebody signed in.
    User(UserId),
    /// A guest, by address.
    Guest(IpAddr),
}

impl Watcher {
    /// A guest at an address; all of one household are counted together.
    #[must_use]
    pub fn guest(at: IpAddr) -> Self {
        Self::Guest(household(at))
    }
}

/// One who watches a sale.
pub struct SaleWatch(Watch<VoucherId, Option<Told>>);

/// One who watches an order.
pub struct OrderWatch(Watch<OrderId, u64>);

impl Live {
    /// Live updates over this gate, of an instance with so many connections at a time, until `stop` says so.
    #[must_use]
    pub fn new(gate: Gate, limits: &Limits, connections: u32, stop: watch::Receiver<bool>) -> Self {
        // Those who only look leave places for those who buy. Guests have the share of their address here as well: a
        // trusted proxy may bring any number of connections, and all its guests are told apart.
        let places = connections - connections / 4;
        let per_guest_address = limits.connections_per_address.unwrap_or(connections / 4);
        Self(Arc::new(Shared {
            gate,
            stop,
            sales: Topics::default(),
            orders: Topics::default(),
            sign_outs: Topics::default(),
            places: Arc::new(Places::new(places)),
            per_user: limits.are_on.then_some(limits.streams_per_user),
            per_guest_address: limits.are_on.then_some(per_guest_address.max(1)),
            sold: Mutex::default(),
            sold_some: Notify::new(),
            moved: Mutex::default(),
            moved_some: Notify::new(),
        }))
    }

    /// Listens, looks and tells until the program is told to stop.
    pub async fn run(self) {
        let shared = &*self.0;
        tokio::select! {
            () = shared.listen() => {}
            () = shared.look_at_sales() => {}
            () = shared.tell_of_sold() => {}
            () = stopped(shared.stop.clone()) => {}
        }
    }

    /// A unit was sold here: soon every instance knows.
    pub fn sold(&self, voucher: VoucherId) {
        if locked(&self.0.sold).insert(voucher) {
            self.0.sold_some.notify_one();
        }
    }

    /// Takes the place of one who watches.
    ///
    /// # Errors
    /// When there is none.
    pub fn seat(&self, watcher: Watcher) -> Result<Place<Watcher>, Full> {
        let share = match watcher {
            Watcher::User(_) => self.0.per_user,
            Watcher::Guest(_) => self.0.per_guest_address,
        };
        self.0.places.take(watcher, share)
    }

    /// Watches a sale from now on.
    #[must_use]
    pub fn sale(&self, voucher: VoucherId) -> SaleWatch {
        SaleWatch(self.0.sales.watch(voucher))
    }

    /// What somebody is told first who watches a sale from now on: what the others were told last, since only what differs
    /// from that is told next; to the first who watches, what was remembered, which is soon looked at again.
    #[must_use]
    pub fn first(&self, remembered: SaleReply) -> SaleReply {
        let (id, mut first) = (VoucherId(remembered.voucher_id), remembered);
        let mut is_alone = false;
        self.0.sales.tell(&id, |told| {
            match told {
                Some(told) => {
                    let now_ms = first.now_ms;
                    first = SaleReply {
                        now_ms,
                        ..told.sale.clone()
                    };
                }
                None => {
                    *told = Told::new(first.clone());
                    is_alone = true;
                }
            }
            false
        });
        if is_alone {
            self.0.hear(News::Sales(vec![id]));
        }
        first
    }

    /// Watches an order from now on.
    #[must_use]
    pub fn order(&self, order: OrderId) -> OrderWatch {
        OrderWatch(self.0.orders.watch(order))
    }

    /// How many sales are watched.
    #[must_use]
    pub fn watched_sales(&self) -> usize {
        self.0.sales.watched().len()
    }
}

impl SaleWatch {
    /// What is told of the sale next, as it is sent; and is it the last that there is to tell?
    pub async fn next(&mut self) -> (Arc<str>, bool) {
        loop {
            if let Some(told) = self.0.next().await {
                return (told.json, told.sale.phase.is_last());
            }
        }
    }
}

impl OrderWatch {
    /// Resolves when there is news of the order.
    pub async fn next(&mut self) {
        self.0.next().await;
    }
}

impl Shared {
    /// The one subscription of this instance.
    async fn listen(&self) {
        let mut outage = Outage::of("listening to news");
        loop {
            let listened = self.gate.news().listen(|news| {
                outage.worked();
                self.hear(news);
            });
            if let Err(error) = listened.await {
                outage.failed(&error);
            }
            self.look_at_all();
            sleep(PAUSE).await;
        }
    }

    fn hear(&self, news: News) {
        match news {
            News::Sales(sales) => {
                locked(&self.moved).sales.extend(sales);
                self.moved_some.notify_one();
            }
            News::Orders(orders) => {
                for order in orders {
                    self.orders.tell(&order, count);
                }
            }
            News::SignedOut(user) => self.sign_outs.tell(&user, count),
            News::Beat => {}
        }
    }

    fn look_at_all(&self) {
        locked(&self.moved).all = true;
        self.moved_some.notify_one();
    }

    /// Looks at the sales that are watched: at those of which there is news, and at all of them now and then. While the gate
    /// does not answer they are said to be closed, which is what pages say that are opened then, and are looked at again
    /// and again.
    async fn look_at_sales(&self) {
        let mut outage = Outage::of("looking at watched sales");
        let mut all_at = Instant::now() + ANYWAY;
        loop {
            tokio::select! {
                () = self.moved_some.notified() => {}
                () = sleep_until(all_at) => self.look_at_all(),
            }
            let moved = std::mem::take(&mut *locked(&self.moved));
            let mut sales = self.sales.watched();
            if moved.all {
                all_at = Instant::now() + ANYWAY;
            } else {
                sales.retain(|sale| moved.sales.contains(sale));
            }
            match self.look_at(&sales).await {
                Ok(()) => outage.worked(),
                Err(error) => {
                    outage.failed(&error);
                    self.close(&sales);
                    self.look_at_all();
                }
            }
            sleep(PACE).await;
        }
    }

    /// Tells of sales of which nothing can be known now.
    fn close(&self, sales: &[VoucherId]) {
        for id in sales {
            self.sales.tell(id, |told| tell_anew(told, None, None));
        }
    }

    async fn look_at(&self, sales: &[VoucherId]) -> redis::RedisResult<()> {
        let looks = self.gate.look(sales).await?;
        for (id, look) in sales.iter().zip(&looks) {
            self.sales.tell(id, |told| {
                tell_anew(told, look.reply(*id), Some(unix_ms(look.now)))
            });
        }
        Ok(())
    }

    /// Tells all instances of what this one sells: not of each unit.
    async fn tell_of_sold(&self) {
        loop {
            self.sold_some.notified().await;
            sleep(GATHER).await;
            let sold = std::mem::take(&mut *locked(&self.sold));
            let news = News::Sales(sold.into_iter().collect());
            self.gate.news().tell(&news).await;
        }
    }
}

impl Told {
    fn new(sale: SaleReply) -> Option<Self> {
        // Numbers and plain words always make JSON.
        let json = serde_json::to_string(&sale).ok()?.into();
        Some(Self { sale, json })
    }
}

/// Notes what a sale has come to; true where that is news. Of a sale that is not sound only that is known, and of one at a
/// gate that does not answer not even the time.
fn tell_anew(told: &mut Option<Told>, sale: Option<SaleReply>, now_ms: Option<i64>) -> bool {
    let closed = || {
        let mut sale = told.as_ref()?.sale.clone();
        if matches!(sale.phase, SalePhase::Running | SalePhase::SoldOut) {
            sale.phase = SalePhase::Closed;
        }
        sale.now_ms = now_ms.unwrap_or(sale.now_ms);
        Some(sale)
    };
    let Some(sale) = sale.or_else(closed) else {
        return false;
    };
    let is_news = told.as_ref().is_none_or(|told| {
        let now_ms = told.sale.now_ms;
        told.sale
            != SaleReply {
                now_ms,
                ..sale.clone()
            }
    });
    if is_news {
        *told = Told::new(sale);
    }
    is_news
}

fn count(times: &mut u64) -> bool {
    *times += 1;
    true
}

fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use app::model::SaleState;

    use super::*;
    use crate::gate::{connection::Connection, keys::Keys};

    const SALE: VoucherId = VoucherId(7);

    fn sale(left: i64, now_ms: i64) -> SaleReply {
        SaleReply {
            voucher_id: SALE.0,
            phase: SalePhase::at(now_ms, SaleState::Open, 0, 100_000, Some(left)),
            left: Some(left),
            granted: 10,
            now_ms,
            begins_ms: 0,
            ends_ms: 100_000,
            order_id: None,
        }
    }

    #[tokio::test]
    async fn who_comes_after_the_last_unit_is_told_so_whatever_was_remembered() {
        let nowhere = Connection::open("redis://127.0.0.1:1").unwrap();
        let gate = Gate::new(nowhere, Keys::new("test", 1));
        let (_say, stop) = watch::channel(false);
        let live = Live::new(gate, &Limits::standing(), 100, stop);
        let mut early = live.sale(SALE);
        assert_eq!(live.first(sale(1, 1000)), sale(1, 1000));
        assert!(
            locked(&live.0.moved).sales.contains(&SALE),
            "it is soon looked at again"
        );

        let sold_out = Some(sale(0, 2000));
        live.0
            .sales
            .tell(&SALE, |told| tell_anew(told, sold_out, Some(2000)));
        let mut late = live.sale(SALE);
        // The look of a moment ago still has the last unit.
        assert_eq!(live.first(sale(1, 2100)), sale(0, 2100));
        assert_eq!(
            &*early.next().await.0,
            serde_json::to_string(&sale(0, 2000)).unwrap()
        );

        live.0.sales.tell(&SALE, |told| {
            tell_anew(told, Some(sale(0, 2500)), Some(2500))
        });
        live.0.sales.tell(&SALE, |told| {
            tell_anew(told, Some(sale(2, 3000)), Some(3000))
        });
        let told = late.next().await.0;
        assert_eq!(
            &*told,
            serde_json::to_string(&sale(2, 3000)).unwrap(),
            "a later clock alone is no news"
        );
    }

    #[test]
    fn what_a_gate_that_is_away_could_sell_is_closed_once_and_the_rest_stays_as_it_was() {
        let mut told = Told::new(sale(3, 1000));
        assert!(tell_anew(&mut told, None, None));
        assert!(!tell_anew(&mut told, None, None));
        let closed = |told: &Option<Told>| told.as_ref().map(|told| told.sale.phase);
        assert_eq!(closed(&told), Some(SalePhase::Closed));
        assert!(tell_anew(&mut told, Some(sale(3, 2000)), Some(2000)));
        for state in [SaleState::Paused, SaleState::Withdrawn] {
            let phase = SalePhase::at(1000, state, 0, 100_000, Some(3));
            let mut told = Told::new(SaleReply {
                phase,
                ..sale(3, 1000)
            });
            assert!(!tell_anew(&mut told, None, None));
            assert_eq!(closed(&told), Some(phase));
        }
    }
}
