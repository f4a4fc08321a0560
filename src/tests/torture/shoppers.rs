//! The shoppers: accounts in PostgreSQL, each with a login session once it is needed, made again when Redis forgot it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use app::model::{BuyReply, OrderId, OrderReply, UserId, VoucherId};
use reqwest::{RequestBuilder, StatusCode, Url, header};
use seckill::stores::Stores;
use serde::de::DeserializeOwned;

use crate::{Result, shop};

/// An answer that takes longer is none. The program promises one, if only "try again", within 3 s.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Shoppers {
    stores: Stores,
    http: reqwest::Client,
    ids: Vec<UserId>,
    next: AtomicUsize,
    cookies: Mutex<HashMap<UserId, String>>,
}

/// What an instance made of a request.
#[derive(Debug)]
pub enum Answer<T> {
    Value(T),
    /// Not now: it said so, or said nothing in time, or is not there.
    Unanswered,
    /// What no fault of a store may lead to.
    Wrong(String),
}

impl Shoppers {
    pub async fn create(stores: &Stores, count: usize) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            stores: stores.clone(),
            http: reqwest::Client::builder()
                .no_proxy()
                .timeout(PATIENCE)
                .build()?,
            ids: shop::accounts(stores, count).await?,
            next: AtomicUsize::new(0),
            cookies: Mutex::default(),
        }))
    }

    /// Somebody who has not bought for long: everybody else comes first.
    pub fn next(&self) -> UserId {
        self.ids[self.next.fetch_add(1, Ordering::Relaxed) % self.ids.len()]
    }

    /// Presses the button.
    pub async fn buy(&self, web: &Url, user: UserId, voucher: VoucherId) -> Answer<BuyReply> {
        let form = format!("voucher_id={voucher}");
        let address = in_site(web, "api/buy");
        let request = || {
            self.http
                .post(address.clone())
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(form.clone())
        };
        self.ask(user, request).await
    }

    /// Asks what became of an order.
    pub async fn status(&self, web: &Url, user: UserId, order: OrderId) -> Answer<OrderReply> {
        let address = in_site(web, &format!("api/order_status?order_id={order}"));
        self.ask(user, || self.http.get(address.clone())).await
    }

    pub async fn is_ready(&self, web: &Url) -> bool {
        let answer = self.http.get(in_site(web, "readyz")).send().await;
        answer.is_ok_and(|answer| answer.status() == StatusCode::OK)
    }

    /// Asks as somebody signed in; who is not signed in any more signs in again, once.
    async fn ask<T: DeserializeOwned>(
        &self,
        user: UserId,
        request: impl Fn() -> RequestBuilder,
    ) -> Answer<T> {
        for _ in 0..2 {
            let Ok(cookie) = self.cookie(user).await else {
                return Answer::Unanswered;
            };
            let request = request()
                .header(header::ACCEPT, "application/json")
                .header(header::COOKIE, format!("session={cookie}"));
            let Ok(answer) = request.send().await else {
                return Answer::Unanswered;
            };
            match answer.status() {
                StatusCode::UNAUTHORIZED => self.forget(user),
                StatusCode::SERVICE_UNAVAILABLE => return Answer::Unanswered,
                status => {
                    let Ok(body) = answer.text().await else {
                        return Answer::Unanswered;
                    };
                    return match (status, serde_json::from_str(&body)) {
                        (StatusCode::OK, Ok(value)) => Answer::Value(value),
                        _ => Answer::Wrong(format!("{status}: {body}")),
                    };
                }
            }
        }
        // Redis forgot the new session as well: it happens while it is flushed.
        Answer::Unanswered
    }

    async fn cookie(&self, user: UserId) -> Result<String> {
        let known = self.cookies.lock().unwrap().get(&user).cloned();
        if let Some(cookie) = known {
            return Ok(cookie);
        }
        let cookie = self.stores.logins.admit(user).await?;
        self.cookies.lock().unwrap().insert(user, cookie.clone());
        Ok(cookie)
    }

    fn forget(&self, user: UserId) {
        self.cookies.lock().unwrap().remove(&user);
    }
}

fn in_site(web: &Url, path: &str) -> Url {
    web.join(path).expect("a path of the site")
}
