//! One instance of the web part, on a real port.

use std::{net::SocketAddr, path::Path, sync::Arc};

use seckill::{
    auth::password::Passwords,
    backend::Services,
    buy_limit::BuyLimit,
    clock::Clock,
    config::Config,
    consumer::keeper::KeeperHandle,
    router::{self, Web},
    stores::Stores,
};
use tokio::{net::TcpListener, task::AbortHandle};

pub struct Instance {
    pub stores: Stores,
    pub keeper: KeeperHandle,
    pub base: reqwest::Url,
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
        let limit = BuyLimit::new((config.limits != "off").then_some(config.buy_rate));
        let passwords = Passwords::new(2).unwrap();
        let mut services = Services::new(
            pool,
            gate,
            order_ids,
            logins,
            passwords,
            limit,
            keeper.clone(),
        );
        services.clock = clock;
        let web = Web {
            site: site.to_owned(),
            secure_cookie: false,
            metrics: None,
        };
        let router = router::router(Arc::new(services), web).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        let server = tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
        Self {
            stores,
            keeper,
            base,
            server: server.abort_handle(),
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.server.abort();
    }
}
