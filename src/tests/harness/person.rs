//! Somebody at a browser, or at a program that speaks the contract.

use std::sync::Arc;

use app::model::{BuyReply, OrderReply, SaleReply, UserId, VoucherId};
use reqwest::{
    Method, StatusCode, Url,
    cookie::{CookieStore, Jar},
    header::{
        ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue,
        LOCATION, SET_COOKIE,
    },
};
use serde::de::DeserializeOwned;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::{Instance, Sale, ledger::Ledger};

const FORM: &str = "application/x-www-form-urlencoded";

#[derive(Clone)]
pub struct Person {
    pub(super) http: reqwest::Client,
    pub(super) base: Url,
    pub(super) jar: Arc<Jar>,
    pub(super) user: Option<UserId>,
    pub(super) ledger: Ledger,
    pub(super) headers: HeaderMap,
}

/// What the application answered.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn json<T: DeserializeOwned>(&self) -> T {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The value of an answer that had to succeed.
    pub fn ok<T: DeserializeOwned>(&self) -> T {
        assert_eq!(self.status, StatusCode::OK, "{self:?}");
        self.json()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Where a redirect leads.
    pub fn location(&self) -> &str {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{self:?}");
        self.headers[LOCATION].to_str().unwrap()
    }
}

impl Person {
    pub fn id(&self) -> UserId {
        self.user.expect("a guest has no id")
    }

    /// The same person, whose account is this one: the promises made to it are checked.
    pub fn known_as(&self, user: i64) -> Self {
        Self {
            user: Some(UserId(user)),
            ..self.clone()
        }
    }

    /// The address of the instance that they are at.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// The same person at another instance.
    pub fn at(&self, instance: &Instance) -> Self {
        self.at_base(instance.base.clone())
    }

    pub fn at_base(&self, base: Url) -> Self {
        Self {
            base,
            ..self.clone()
        }
    }

    /// The same person, whose program sends one header more.
    pub fn with_header(&self, name: &'static str, value: &str) -> Self {
        let mut headers = self.headers.clone();
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_str(value).unwrap(),
        );
        Self {
            headers,
            ..self.clone()
        }
    }

    /// The same person at a browser without script.
    pub fn without_script(&self) -> Self {
        self.with_header(ACCEPT.as_str(), "text/html,application/xhtml+xml,*/*;q=0.8")
    }

    pub fn reading(&self, language: &str) -> Self {
        self.with_header(ACCEPT_LANGUAGE.as_str(), language)
    }

    /// The cookies as they would be sent.
    pub fn cookies(&self) -> Option<String> {
        self.jar
            .cookies(&self.base)
            .map(|value| value.to_str().unwrap().to_owned())
    }

    /// The same person at a computer with another address.
    pub fn at_address(&self, address: &str) -> Self {
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .local_address(Some(address.parse().unwrap()));
        Self {
            http: http.build().unwrap(),
            ..self.clone()
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form = reqwest::Url::parse_with_params("http://form", fields).unwrap();
        self.post_raw(path, form.query().unwrap_or_default().as_bytes().to_vec())
            .await
    }

    /// Posts bytes as a form, whatever they are.
    pub async fn post_raw(&self, path: &str, body: Vec<u8>) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn send(&self, method: Method, path: &str, form: Option<Vec<u8>>) -> Answer {
        self.try_send(method, path, form)
            .await
            .unwrap_or_else(|error| panic!("{path}: {error:?}"))
    }

    /// As [`Self::send`], where the application itself may be gone.
    pub async fn try_send(
        &self,
        method: Method,
        path: &str,
        form: Option<Vec<u8>>,
    ) -> reqwest::Result<Answer> {
        let mut request = self.http.request(method, self.base.join(path).unwrap());
        request = request.header(ACCEPT, "application/json");
        if let Some(cookies) = self.jar.cookies(&self.base) {
            request = request.header(COOKIE, cookies);
        }
        if let Some(form) = form {
            request = request.header(CONTENT_TYPE, FORM).body(form);
        }
        let response = request.headers(self.headers.clone()).send().await?;
        self.jar.set_cookies(
            &mut response.headers().get_all(SET_COOKIE).iter(),
            &self.base,
        );
        let (status, headers) = (response.status(), response.headers().clone());
        Ok(Answer {
            status,
            headers,
            body: response.text().await?,
        })
    }

    /// Presses the button, whatever the answer; what it promises is noted.
    pub async fn try_buy(&self, voucher: VoucherId) -> Answer {
        self.reach_and_buy(voucher).await.unwrap()
    }

    /// As [`Self::try_buy`], where the application itself may be gone.
    pub async fn reach_and_buy(&self, voucher: VoucherId) -> reqwest::Result<Answer> {
        let form = format!("voucher_id={voucher}").into_bytes();
        let answer = self.try_send(Method::POST, "/api/buy", Some(form)).await?;
        if answer.status == StatusCode::OK {
            self.ledger.note(self.id(), voucher, &answer.json());
        }
        Ok(answer)
    }

    /// Sends the request of [`Self::buy`] and does not read the answer; dropping the stream hangs up.
    pub async fn press_without_listening(&self, voucher: VoucherId) -> TcpStream {
        self.send_without_listening("/api/buy", &format!("voucher_id={voucher}"))
            .await
    }

    /// Sends a form and does not read the answer; dropping the stream hangs up.
    pub async fn send_without_listening(&self, path: &str, form: &str) -> TcpStream {
        let host = format!("127.0.0.1:{}", self.base.port().unwrap());
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\nCookie: {}\r\n\
             Content-Type: {FORM}\r\nContent-Length: {}\r\n\r\n{form}",
            self.cookies().unwrap(),
            form.len()
        );
        let mut stream = TcpStream::connect(&host).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// Presses the button, which has to work.
    pub async fn buy(&self, voucher: VoucherId) -> BuyReply {
        self.try_buy(voucher).await.ok()
    }

    /// Presses the button and gets in; gives the order's id.
    pub async fn buy_one(&self, voucher: VoucherId) -> String {
        let reply = self.buy(voucher).await;
        assert_eq!(reply.outcome.as_str(), "queued");
        reply.order_id.unwrap()
    }

    pub async fn status(&self, order: &str) -> OrderReply {
        self.get(&format!("/api/order_status?order_id={order}"))
            .await
            .ok()
    }

    pub async fn my_orders(&self) -> Vec<OrderReply> {
        self.get("/api/my_orders").await.ok()
    }

    pub async fn sale_status(&self, voucher: VoucherId) -> SaleReply {
        self.get(&format!("/api/sale_status?voucher_id={voucher}"))
            .await
            .ok()
    }

    /// An admin's verb.
    pub async fn create_shop(&self) -> i64 {
        let fields = [
            ("name", "老城咖啡"),
            ("category", "咖啡"),
            ("address", "人民路 1 号"),
        ];
        let shop: serde_json::Value = self.post("/api/admin/create_shop", &fields).await.ok();
        shop["shop_id"].as_i64().unwrap()
    }

    /// An admin's verb: creates a sale in a shop of its own.
    pub async fn create_sale(&self, sale: Sale) -> VoucherId {
        let fields = sale.fields(self.create_shop().await);
        let fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let sale: serde_json::Value = self.post("/api/admin/create_sale", &fields).await.ok();
        VoucherId(i32::try_from(sale["voucher_id"].as_i64().unwrap()).unwrap())
    }
}
