//! One connection: HTTP/1, with a client that may be slow, or gone, or one that means harm. A head must be there in time,
//! and be no larger than it may; who does not read on is hung up on.

use std::{convert::Infallible, io, net::SocketAddr, time::Duration};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
    time::timeout,
};
use tokio_io_timeout::TimeoutWriter;

use super::{Answer, stopped};
use crate::config::Limits;

/// After the last answer, what still comes is read for so long, and so much of it: closed with something unread, a
/// connection is torn down, and the answer with it, where the other end still sends.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: u64 = 1 << 20;

/// How connections are served.
pub(super) struct Protocol {
    http: http1::Builder,
    slow_client: Duration,
}

impl Protocol {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            // From the start of the connection, or the end of the answer before.
            .header_read_timeout(limits.slow_client())
            .max_buf_size(usize::try_from(limits.head_bytes).unwrap_or(usize::MAX));
        Self {
            http,
            slow_client: limits.slow_client(),
        }
    }

    /// Serves a connection until either end has done with it; told to stop, until the request under way is answered.
    pub(super) fn serve<A: Answer>(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        answers: A,
        stop: watch::Receiver<bool>,
    ) -> impl Future<Output = ()> + Send + use<A> {
        // Answers are small; a failure costs a delay, nothing else.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(error = %error, "no TCP_NODELAY");
        }
        let (http, slow_client) = (self.http.clone(), self.slow_client);
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            let answers = answers.clone();
            // Boxed, since a connection keeps the room for an answer, some 5 kB, as long as it is open, also while nothing
            // is asked or a page is kept up to date on it.
            Box::pin(async move { Ok::<_, Infallible>(answers.answer(request).await) })
        });
        async move {
            let mut stream = Box::pin(TimeoutWriter::new(stream));
            stream.as_mut().set_timeout_pinned(Some(slow_client));
            let mut connection =
                Box::pin(http.serve_connection(TokioIo::new(stream.as_mut()), service));
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stopped(stop) => {
                    connection.as_mut().graceful_shutdown();
                    connection.as_mut().await
                }
            };
            drop(connection);
            if let Err(error) = ended {
                tracing::debug!(error = %error, "a connection ended");
            }
            linger(&mut stream).await;
        }
    }
}

/// Says that nothing more is said, and gives the other end a moment to read what was.
pub(super) async fn linger(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    let mut rest = stream.take(LINGER_BYTES);
    let drained = async {
        rest.get_mut().shutdown().await?;
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
        Ok::<(), io::Error>(())
    };
    // It is over either way.
    let _ = timeout(LINGER, drained).await;
}
