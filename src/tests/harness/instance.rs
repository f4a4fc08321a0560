//! One instance of the web part, on a real port.

use std::{path::Path, sync::Arc};

use seckill::{
    auth::{password::Passwords, tries::SignInTries},
    backend::Services,
    buy_limit::BuyLimit,
    clock::Clock,
    config::Config,
    consumer::keeper::KeeperHandle,
    figures::Figures,
    live::Live,
    rehearsal::rehearser::Rehearser,
    router::{self, Web},
    stores::Stores,
    web_server::WebServer,
};
use tokio::{net::TcpListener, sync::watch, task::AbortHandle};

pub struct Instance {
    pub stores: Stores,
    pub keeper: KeeperHandle,
    /// What it has counted; written when the test says so.
    pub figures: Figures,
    pub base: reqwest::Url,
    pub live: Live,
    /// Dropped, it tells the instance to stop.
    stop: watch::Sender<bool>,
    server: AbortHandle,
}

impl Instance {
    pub async fn start(config: &Config, site: &Path) -> Self {
        Self::start_by(seckill::clock::system, config, site).await
    }

    /// An instance on a machine whose clock shows something else.
    pub async fn start_by(clock: Clock, config: &Config, site: &Path) -> Self {
        let stores = Stores::open(config).await.unwrap();
        let keeper = KeeperHandle::default();
        let Stores {
            pool,
            gate,
            order_ids,
            logins,
        } = stores.clone();
        let limits = &config.limits;
        let (stop, stopped) = watch::channel(false);
        let mut web = Web::new(config, None);
        web.site = site.to_owned();
        let server = WebServer::new(limits, &web.proxies);
        let live = Live::new(gate.clone(), limits, server.connections(), stopped.clone());
        let mut services = Services::new(
            pool,
            gate,
            order_ids,
            logins,
            Passwords::new(limits).unwrap(),
            BuyLimit::new(limits.buys_a_second()),
            SignInTries::new(limits),
            keeper.clone(),
            live.clone(),
        );
        services.clock = clock;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let program = env!("CARGO_BIN_EXE_seckill").into();
        let (rehearser, running) = Rehearser::new(program, config, addr, services.pool.clone());
        services.rehearser = Some(rehearser);
        tokio::spawn(running.run(stopped.clone()));
        let figures = services.figures.clone();
        let router = router::router(Arc::new(services), web).unwrap();
        let base = format!("http://{addr}/").parse().unwrap();
        let server = tokio::spawn(server.serve(listener, router, stopped));
        tokio::spawn(live.clone().run());
        Self {
            stores,
            keeper,
            figures,
            base,
            live,
            stop,
            server: server.abort_handle(),
        }
    }
}

impl Instance {
    /// As SIGTERM does.
    pub fn tell_to_stop(&self) {
        self.stop.send(true).unwrap();
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.server.abort();
    }
}
