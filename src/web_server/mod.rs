//! The web server: accepts connections, so many at a time and so many of one address, and serves each in a task of its
//! own. What is asked on them is the router's. Told to stop, it accepts no more, answers what is under way, and leaves.

mod connection;
pub(crate) mod open_files;
mod refusal;

use std::{io, net::SocketAddr, time::Duration};

use axum::{extract::Request, response::Response};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinError, JoinSet},
};
use tower::Service;

use self::{connection::Protocol, refusal::Refusals};
use crate::{
    client_address::TrustedProxies, config::Limits, outage::Outage, places::AddressPlaces,
};

/// Requests under way at the end may take so long.
const GRACE: Duration = Duration::from_secs(10);

/// After a connection could not be accepted, for want of open files as a rule, the next attempt is so long after.
const PAUSE: Duration = Duration::from_millis(100);

/// Connections at a time to an address for operators alone.
const OPERATORS: u32 = 64;

/// What answers requests. Clones share it.
pub trait Answer: Clone + Send + 'static {
    /// Answers one.
    fn answer(&self, request: Request) -> impl Future<Output = Response> + Send;
}

impl Answer for axum::Router {
    async fn answer(&self, request: Request) -> Response {
        // A router is always ready, and never fails.
        let Ok(answer) = self.clone().call(request).await;
        answer
    }
}

/// Serves on a listener.
pub struct WebServer {
    protocol: Protocol,
    places: AddressPlaces,
    refusals: Refusals,
}

impl WebServer {
    /// A server with these limits.
    #[must_use]
    pub fn new(limits: &Limits, proxies: &TrustedProxies) -> Self {
        let all = open_files::connections(limits.connections);
        let per_address = limits
            .are_on
            .then(|| limits.connections_per_address.unwrap_or((all / 4).max(1)));
        Self {
            protocol: Protocol::new(limits),
            places: AddressPlaces::new(all, per_address, proxies.clone()),
            refusals: Refusals::default(),
        }
    }

    /// Connections at a time.
    #[must_use]
    pub fn connections(&self) -> u32 {
        self.places.all()
    }

    /// A server for those who run the place, with few connections.
    #[must_use]
    pub fn for_operators(limits: &Limits) -> Self {
        Self {
            protocol: Protocol::new(limits),
            places: AddressPlaces::new(OPERATORS, None, TrustedProxies::default()),
            refusals: Refusals::default(),
        }
    }

    /// Serves until `stop` says so, and then for at most 10 s what is under way. Handlers find the other end's address
    /// as `ConnectInfo<SocketAddr>`.
    pub async fn serve(
        self,
        listener: TcpListener,
        answers: impl Answer,
        stop: watch::Receiver<bool>,
    ) {
        let mut connections = JoinSet::new();
        let mut outage = Outage::of("accepting connections");
        let told = stopped(stop.clone());
        tokio::pin!(told);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(ended) = connections.join_next() => {
                    note(ended);
                    continue;
                }
                () = &mut told => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    outage.worked();
                    self.admit(stream, peer, &answers, &stop, &mut connections);
                }
                Err(error) if is_gone(&error) => {}
                Err(error) => {
                    outage.failed(&error);
                    tokio::select! {
                        () = tokio::time::sleep(PAUSE) => {}
                        () = &mut told => break,
                    }
                }
            }
        }
        drop(listener);
        let all_ended = async {
            while let Some(ended) = connections.join_next().await {
                note(ended);
            }
        };
        if tokio::time::timeout(GRACE, all_ended).await.is_err() {
            tracing::warn!("some requests took too long and were cut off");
        }
    }

    /// Serves a connection if there is a place for it; says that there is none otherwise.
    fn admit(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        answers: &impl Answer,
        stop: &watch::Receiver<bool>,
        connections: &mut JoinSet<()>,
    ) {
        match self.places.take(peer.ip()) {
            Ok(place) => {
                let served = self
                    .protocol
                    .serve(stream, peer, answers.clone(), stop.clone());
                connections.spawn(async move {
                    served.await;
                    drop(place);
                });
            }
            Err(full) => {
                metrics::counter!("seckill_connections_refused_total", "places" => full.as_str())
                    .increment(1);
                if let Some(refused) = self.refusals.answer(stream, full) {
                    connections.spawn(refused);
                }
            }
        }
    }
}

/// The one who called has hung up already: nothing is wrong here.
fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    )
}

/// A panic ends its connection, and no other.
fn note(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(error = %error, "a connection's task panicked");
    }
}

/// Resolves when the program is told to stop.
pub async fn stopped(mut stop: watch::Receiver<bool>) {
    // An error: nobody can say so any more, and that too is the end.
    let _ = stop.wait_for(|stop| *stop).await;
}
