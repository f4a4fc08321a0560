//! A shopper's side of HTTP: requests to one instance, over connections that are kept while they are in use, so many at a time
//! and no more.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use app::model::{BuyReply, Cause, OrderId, Outcome, VoucherId};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, StatusCode,
    body::Bytes,
    client::conn::http1::{SendRequest, handshake},
    header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout},
};

/// Nobody waits longer for a connection,
const CONNECTING: Duration = Duration::from_secs(5);

/// nor for an answer.
const ANSWERING: Duration = Duration::from_secs(15);

/// A connection that was idle for longer may be closed by the other side any moment; half of the least that can be set.
const IDLE: Duration = Duration::from_millis(500);

/// A page is no larger than this.
const PAGE: usize = 4 << 20;

/// Addresses that connections to this machine come from, so that none has more than a part of them.
const SOURCES: u8 = 200;

/// What somebody got for pressing the button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What the gate said, with the order that was named.
    Gate(Outcome, Option<OrderId>),
    /// Something else.
    Other(Cause),
}

impl Answer {
    /// Why it is a refusal; `None` where it is none.
    #[must_use]
    pub fn refusal(self) -> Option<Cause> {
        match self {
            Self::Gate(outcome, _) => Cause::of(outcome),
            Self::Other(cause) => Some(cause),
        }
    }

    /// Did the gate say so, and not somebody before it?
    #[must_use]
    pub fn is_the_gates(self) -> bool {
        matches!(self, Self::Gate(..))
    }
}

/// The way to one instance.
pub struct Instance {
    addr: SocketAddr,
    idle: Mutex<Vec<(Line, Instant)>>,
    places: Semaphore,
    next_source: AtomicU8,
}

type Line = SendRequest<Full<Bytes>>;

/// When the request was on its way, and what came of it.
pub struct Asked<T> {
    /// A connection was there.
    pub sent: Instant,
    /// The answer.
    pub answer: T,
}

impl Instance {
    /// The instance at an address, with so many connections at most.
    #[must_use]
    pub fn at(addr: SocketAddr, connections: u32) -> Self {
        Self {
            addr,
            idle: Mutex::default(),
            places: Semaphore::new(usize::try_from(connections).unwrap_or(usize::MAX)),
            next_source: AtomicU8::new(0),
        }
    }

    /// Its address.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Is it alive?
    ///
    /// # Errors
    /// When it does not answer, or not with 200.
    pub async fn is_alive(&self) -> io::Result<()> {
        match self.get("/healthz", "").await?.answer {
            StatusCode::OK => Ok(()),
            status => Err(io::Error::other(format!("it answers {status}"))),
        }
    }

    /// Does it show this voucher to this shopper: does it work on the stores that both were made in?
    ///
    /// # Errors
    /// When it does not answer, or not with 200.
    pub async fn shows(&self, voucher: VoucherId, cookie: &str) -> io::Result<()> {
        let path = format!("/api/sale_status?voucher_id={voucher}");
        match self.get(&path, cookie).await?.answer {
            StatusCode::OK => Ok(()),
            status => Err(io::Error::other(format!("it answers {status}"))),
        }
    }

    /// Looks at the page of a voucher.
    ///
    /// # Errors
    /// When no answer came.
    pub async fn look(&self, voucher: VoucherId, cookie: &str) -> io::Result<Asked<StatusCode>> {
        self.get(&format!("/vouchers/{voucher}"), cookie).await
    }

    /// Presses the button.
    pub async fn press(&self, voucher: VoucherId, cookie: &str) -> Asked<Answer> {
        let begun = Instant::now();
        let form = format!("voucher_id={voucher}");
        let request = self
            .request(Method::POST, "/api/buy", cookie)
            .header(CONTENT_TYPE, FORM)
            .header(ACCEPT, "application/json")
            .body(Full::from(form));
        let asked = match request {
            Ok(request) => self.ask(request).await,
            Err(error) => Err(io::Error::other(error)),
        };
        match asked {
            Ok(Asked { sent, answer }) => Asked {
                sent,
                answer: read(answer.0, &answer.1),
            },
            Err(_) => Asked {
                sent: begun,
                answer: Answer::Other(Cause::NoAnswer),
            },
        }
    }

    /// Presses the button, and hangs up as soon as that is sent. A client does not do so by itself, so this request is written
    /// here.
    ///
    /// # Errors
    /// When the connection fails.
    pub async fn press_and_hang_up(&self, voucher: VoucherId, cookie: &str) -> io::Result<()> {
        let _place = self.place().await?;
        let form = format!("voucher_id={voucher}");
        let request = format!(
            "POST /api/buy HTTP/1.1\r\n{HOST}: {}\r\n{ACCEPT}: application/json\r\n{COOKIE}: {}\r\n{CONTENT_TYPE}: \
             {FORM}\r\n{CONTENT_LENGTH}: {}\r\n\r\n{form}",
            self.addr,
            cookies(cookie),
            form.len()
        );
        self.connect().await?.write_all(request.as_bytes()).await
    }

    async fn get(&self, path: &str, cookie: &str) -> io::Result<Asked<StatusCode>> {
        let request = self
            .request(Method::GET, path, cookie)
            .body(Full::default())
            .map_err(io::Error::other)?;
        let Asked { sent, answer } = self.ask(request).await?;
        Ok(Asked {
            sent,
            answer: answer.0,
        })
    }

    fn request(&self, method: Method, path: &str, cookie: &str) -> hyper::http::request::Builder {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(HOST, self.addr.to_string());
        if cookie.is_empty() {
            return request;
        }
        request.header(COOKIE, cookies(cookie))
    }

    /// Sends a request and reads the answer to its end. One that could not be sent on a line from before is sent on a new one.
    async fn ask(&self, request: Request<Full<Bytes>>) -> io::Result<Asked<(StatusCode, Bytes)>> {
        let _place = self.place().await?;
        let mut request = request;
        if let Some(mut line) = self.idle_line() {
            let sent = Instant::now();
            match timeout(ANSWERING, line.try_send_request(request)).await? {
                Ok(response) => return self.answered(line, sent, response).await,
                Err(mut failed) => match failed.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(io::Error::other(failed.into_error())),
                },
            }
        }
        let (mut line, driver) = handshake(TokioIo::new(self.connect().await?))
            .await
            .map_err(io::Error::other)?;
        tokio::spawn(driver);
        let sent = Instant::now();
        let response = timeout(ANSWERING, line.send_request(request)).await?;
        let response = response.map_err(io::Error::other)?;
        self.answered(line, sent, response).await
    }

    async fn answered(
        &self,
        line: Line,
        sent: Instant,
        response: hyper::Response<hyper::body::Incoming>,
    ) -> io::Result<Asked<(StatusCode, Bytes)>> {
        let status = response.status();
        let body = timeout(ANSWERING, Limited::new(response, PAGE).collect()).await?;
        let body = body.map_err(io::Error::other)?.to_bytes();
        self.idle().push((line, Instant::now()));
        Ok(Asked {
            sent,
            answer: (status, body),
        })
    }

    async fn place(&self) -> io::Result<SemaphorePermit<'_>> {
        self.places.acquire().await.map_err(io::Error::other)
    }

    /// A line that is open still, the one that was used last.
    fn idle_line(&self) -> Option<Line> {
        let mut idle = self.idle();
        if let Some((line, since)) = idle.pop()
            && since.elapsed() < IDLE
            && !line.is_closed()
        {
            return Some(line);
        }
        // Those before it are older.
        idle.clear();
        None
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<(Line, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        let socket = match self.addr {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.set_nodelay(true)?;
        if is_spread(self.addr.ip()) {
            let source = self.next_source.fetch_add(1, Ordering::Relaxed) % SOURCES;
            socket.bind(SocketAddr::from((Ipv4Addr::new(127, 77, 0, source + 1), 0)))?;
        }
        timeout(CONNECTING, socket.connect(self.addr)).await?
    }
}

const FORM: &str = "application/x-www-form-urlencoded";

/// Do connections to this address come from many, as those of many people do? Those to the machine itself can.
#[must_use]
pub fn is_spread(target: IpAddr) -> bool {
    matches!(target, IpAddr::V4(addr) if addr.is_loopback())
}

/// The cookie under both names that it may have (`SECKILL_HTTPS`).
fn cookies(cookie: &str) -> String {
    format!("session={cookie}; __Host-session={cookie}")
}

fn read(status: StatusCode, body: &[u8]) -> Answer {
    match status {
        StatusCode::OK => match serde_json::from_slice::<BuyReply>(body) {
            Ok(reply) => {
                let order = reply.order_id.as_deref().and_then(OrderId::parse);
                Answer::Gate(reply.outcome, order)
            }
            Err(_) => Answer::Other(Cause::OtherAnswer),
        },
        StatusCode::TOO_MANY_REQUESTS => Answer::Other(Cause::TooOften),
        StatusCode::SERVICE_UNAVAILABLE => Answer::Other(Cause::Unavailable),
        _ => Answer::Other(Cause::OtherAnswer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_told_apart() {
        let order = "019f0000-0000-8000-8000-000000000001";
        let queued = format!(r#"{{"outcome":"queued","order_id":"{order}"}}"#);
        assert_eq!(
            read(StatusCode::OK, queued.as_bytes()),
            Answer::Gate(Outcome::Queued, OrderId::parse(order))
        );
        let sold_out = read(StatusCode::OK, br#"{"outcome":"sold_out"}"#);
        assert_eq!(sold_out.refusal(), Some(Cause::SoldOut));
        for (status, cause) in [
            (StatusCode::TOO_MANY_REQUESTS, Cause::TooOften),
            (StatusCode::SERVICE_UNAVAILABLE, Cause::Unavailable),
            (StatusCode::NOT_FOUND, Cause::OtherAnswer),
            (StatusCode::OK, Cause::OtherAnswer),
        ] {
            assert_eq!(read(status, b"<html>"), Answer::Other(cause));
        }
    }

    #[test]
    fn connections_come_from_many_addresses_to_this_machine_alone() {
        let spread = ["127.0.0.1", "::1", "10.0.0.7"].map(|ip| is_spread(ip.parse().unwrap()));
        assert_eq!(spread, [true, false, false]);
    }
}
