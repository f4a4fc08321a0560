//! A rebuild goes on step by step while everything else happens in between: buys, storing, refusals, added units, further
//! losses, a holder stopped beyond its lease. Whatever the order of events, the promises hold in the end.

use app::model::{OrderId, Reason, SaleAction, UnitsChange, VoucherId};
use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any},
    prop_oneof,
    strategy::ValueTree,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use seckill::{
    carry,
    consumer::{
        keeper::Keeper,
        reconcile::{Reconciler, report::Report},
    },
    db::{self, orders::NewOrder},
    gate::keys::Shard,
    stores::Stores,
};
use sqlx::PgPool;
use tokio::task::JoinHandle;

use super::harness::{App, Instance, Person, Sale};

/// Orders of events a run. Each run has others; a failure prints its seed.
const CASES: usize = 10;

/// Who buys in one case.
const CROWD: usize = 8;

#[derive(Clone, Copy, Debug)]
enum Loss {
    Stock,
    Settings,
    Marks,
    Queue,
    /// A key of another kind stands in the place of the marks.
    MarksAltered,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The holder's next requests get through, to Redis and to PostgreSQL.
    Step(usize),
    Buy(usize),
    /// The consumer stores, releases, acknowledges what is there.
    Store,
    /// The database has refused an order, and its entry is not yet dealt with.
    Refuse(usize),
    AddUnits(i64),
    /// An admin's cut: stored, told to the gate, and followed by PostgreSQL, or stopped after so many of its steps.
    Cut(i64, usize),
    Lose(Loss),
    /// The holder is stopped for longer than its lease, and does not know.
    LeaseEnds,
    /// Another instance looks.
    AnotherLooks,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let loss = prop_oneof![
        3 => Just(Loss::Stock),
        1 => Just(Loss::Settings),
        1 => Just(Loss::Marks),
        1 => Just(Loss::Queue),
        1 => Just(Loss::MarksAltered),
    ];
    let event = prop_oneof![
        8 => (1..4_usize).prop_map(Event::Step),
        5 => (0..CROWD).prop_map(Event::Buy),
        2 => Just(Event::Store),
        2 => any::<usize>().prop_map(Event::Refuse),
        1 => (1..3_i64).prop_map(Event::AddUnits),
        2 => (1..5_i64, 0..3_usize).prop_map(|(units, steps)| Event::Cut(units, steps)),
        1 => loss.prop_map(Event::Lose),
        1 => Just(Event::LeaseEnds),
        1 => Just(Event::AnotherLooks),
    ];
    vec(event, 20..60)
}

/// One case: a sale, its crowd, and the holder whose requests wait to be let pass.
struct Case<'a> {
    app: &'a App,
    crowd: Vec<Person>,
    voucher: VoucherId,
    told: Vec<(usize, OrderId)>,
    holder: Option<JoinHandle<()>>,
}

impl Case<'_> {
    async fn happens(&mut self, event: Event) {
        let app = self.app;
        match event {
            Event::Step(requests) => self.step(requests),
            Event::Buy(who) => {
                let answer = self.crowd[who].try_buy(self.voucher).await;
                let order = answer.json::<serde_json::Value>()["order_id"]
                    .as_str()
                    .and_then(OrderId::parse);
                self.told.extend(order.map(|order| (who, order)));
            }
            Event::Store => app.drain_what_can_be().await,
            Event::Refuse(which) => self.refuse(which).await,
            Event::AddUnits(units) => self.add_units(units).await,
            Event::Cut(units, steps) => self.cut(units, steps).await,
            Event::Lose(loss) => self.lose(loss).await,
            Event::LeaseEnds => {
                let lock = app.operator.gate.keys().lock(Shard(0));
                let _: i64 = app.redis(&["DEL", &lock]).await;
            }
            Event::AnotherLooks => app.keeper_look().await,
        }
    }

    fn step(&mut self, requests: usize) {
        let Stores { pool, gate, .. } = self.app.first.stores.clone();
        if self.holder.as_ref().is_none_or(JoinHandle::is_finished) {
            let keeper = Keeper::new(pool, gate, self.app.first.keeper.clone());
            self.holder = Some(tokio::spawn(async move {
                // It may lose its lock, or wait for too long: then another goes on.
                if let Err(error) = keeper.look().await {
                    eprintln!("the holder: {error}");
                }
            }));
        }
        self.app.redis_line().let_pass(requests);
        self.app.database_line().let_pass(requests);
    }

    async fn refuse(&self, which: usize) {
        let Some((who, order)) = self.told.get(which % self.told.len().max(1)) else {
            return;
        };
        let order = NewOrder {
            id: *order,
            user: self.crowd[*who].id(),
            voucher: self.voucher,
            accepted_at: seckill::clock::system(),
        };
        // Stored as confirmed meanwhile: then it stays so.
        db::orders::insert_refused(&self.app.operator.pool, &order, Reason::SoldOut)
            .await
            .unwrap();
    }

    /// Stored, and not told to the gate.
    async fn change(&self, action: fn(UnitsChange) -> SaleAction, units: i64) {
        let pool = &self.app.operator.pool;
        let sale = db::sales::by_id(pool, self.voucher).await.unwrap().unwrap();
        let units = UnitsChange::parse(&units.to_string(), &sale.version.to_string()).unwrap();
        let now = seckill::clock::system();
        let change =
            db::vouchers::change(pool, self.voucher, "admin".into(), "test", move |sale| {
                action(units).of(sale, now)
            });
        // A cut may ask for more than there is: then nothing is changed.
        let _ = change.await.unwrap().unwrap();
    }

    async fn add_units(&self, units: i64) {
        self.change(SaleAction::Add, units).await;
    }

    async fn cut(&self, units: i64, steps: usize) {
        self.change(SaleAction::Cut, units).await;
        let Stores { pool, gate, .. } = &self.app.operator;
        let sale = db::sales::by_id(pool, self.voucher).await.unwrap().unwrap();
        match steps {
            0 => {}
            1 => drop(gate.apply(&carry::settings(&sale), false).await.unwrap()),
            _ => drop(carry::carry(pool, gate, &sale, "admin").await.unwrap()),
        }
    }

    async fn lose(&self, loss: Loss) {
        let app = self.app;
        let key = match loss {
            Loss::Stock => app.stock_key(self.voucher),
            Loss::Settings => app.sale_key(self.voucher),
            Loss::Marks | Loss::MarksAltered => app.buyers_key(self.voucher),
            Loss::Queue => app.stream(),
        };
        let _: i64 = app.redis(&["DEL", &key]).await;
        match loss {
            Loss::MarksAltered => {
                let _: String = app.redis(&["SET", &key, "x"]).await;
            }
            // As the consumer says when it makes the group again.
            Loss::Queue => app.first.keeper.queue_was_lost(Shard(0)),
            _ => {}
        }
    }

    /// What the keeper takes for sound is for reconciliation, which counts: marks that were lost, of which one came back when
    /// its order was stored, beside units of orders that were refused meanwhile.
    async fn is_reconciled(&self) {
        self.app.drain_what_can_be().await;
        let Stores { pool, gate, .. } = self.app.operator.clone();
        if !Report::make(&pool, &gate).await.unwrap().is_healthy() {
            let keeper = Keeper::new(pool.clone(), gate.clone(), self.app.first.keeper.clone());
            let reconciler = Reconciler::new(pool, gate, keeper);
            reconciler.on_demand(Some("test"), |_, _| {}).await.unwrap();
        }
    }

    /// Everything goes on by itself to its end.
    async fn comes_to_rest(mut self) {
        self.app.redis_line().let_all_pass();
        self.app.database_line().let_all_pass();
        if let Some(holder) = self.holder.take() {
            holder.await.unwrap();
        }
        let lock = self.app.operator.gate.keys().lock(Shard(0));
        let _: i64 = self.app.redis(&["DEL", &lock]).await;
        self.app.keeper_look().await;
        // A rebuild ends with the settings that it has read; what was changed since, and cuts, are for the next look.
        self.app.keeper_look().await;
        self.is_reconciled().await;
        self.app.keeps_its_promises().await;
        let pool = &self.app.operator.pool;
        let sale = db::sales::by_id(pool, self.voucher).await.unwrap().unwrap();
        assert_eq!(
            (self.app.look(self.voucher).await.granted, sale.cut_to),
            (Some(sale.granted), None),
            "the gate holds what is granted: {sale:?}"
        );
    }
}

#[sqlx::test]
async fn whatever_happens_between_the_steps_of_a_rebuild_the_promises_hold(database: PgPool) {
    let app = App::on(database).with_lines().start().await;
    let past_the_lines = Instance::start(&app.direct, app.site()).await;
    for _ in 0..CASES {
        let seed: [u8; 32] = rand::random();
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let events = events().new_tree(&mut runner).unwrap().current();
        eprintln!("seed {seed:?}: {events:?}");
        let crowd = app.crowd(CROWD).await;
        let mut case = Case {
            voucher: app.sale(Sale::of(5)).await,
            crowd: crowd
                .iter()
                .map(|shopper| shopper.at(&past_the_lines))
                .collect(),
            app: &app,
            told: Vec::new(),
            holder: None,
        };
        app.redis_line().step_by_step();
        app.database_line().step_by_step();
        case.lose(Loss::Stock).await;
        for event in events {
            case.happens(event).await;
        }
        case.comes_to_rest().await;
    }
    app.check_promises().await;
}
