//! A client that speaks byte by byte, so that it can be slow, rude, or deaf.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use reqwest::Url;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

/// Time enough for any answer.
const PATIENCE: Duration = Duration::from_secs(15);

pub struct Wire(TcpStream);

impl Wire {
    pub async fn to(base: &Url) -> Self {
        Self::between("127.0.0.1", address(base)).await
    }

    /// A connection from another address of this machine.
    pub async fn between(from: &str, to: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        let from: IpAddr = from.parse().unwrap();
        socket.bind(SocketAddr::new(from, 0)).unwrap();
        Self(socket.connect(to).await.unwrap())
    }

    /// Sends it, or as much of it as the other end takes.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.write_all(bytes.as_ref()).await.is_ok()
    }

    /// Sends a request without a body, on a connection that stays open.
    pub async fn get(&mut self, path: &str) {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
            .await;
    }

    /// Sends one byte a second until the other end answers, or has done with it; what it said.
    pub async fn drip(&mut self, byte: u8) -> String {
        let mut seconds = tokio::time::interval(Duration::from_secs(1));
        let dripping = async {
            loop {
                tokio::select! {
                    _ = seconds.tick() => { let _ = self.0.write_all(&[byte]).await; }
                    _ = self.0.readable() => return,
                }
            }
        };
        let noticed = timeout(PATIENCE, dripping).await;
        assert!(noticed.is_ok(), "nobody has done with one that is so slow");
        self.rest().await
    }

    /// Sends `bytes` again and again, `times` in all, and listens at the same time; the answer.
    pub async fn pour(self, bytes: &'static [u8], times: usize) -> String {
        let (mut reads, mut writes) = self.0.into_split();
        let pouring = tokio::spawn(async move {
            for _ in 0..times {
                // It is not obliged to take it all.
                if writes.write_all(bytes).await.is_err() {
                    break;
                }
            }
            writes
        });
        let answer = timeout(PATIENCE, async {
            let mut answer = Vec::new();
            // Torn down after the answer is an end, too.
            let _ = reads.read_to_end(&mut answer).await;
            answer
        });
        let answer = answer.await.expect("an answer, and the end");
        pouring.abort();
        String::from_utf8(answer).unwrap()
    }

    /// One answer, of which the connection may outlive the end.
    pub async fn answer(&mut self) -> String {
        let mut answer = Vec::new();
        let reading = async {
            while !is_whole(&answer) {
                if self.0.read_buf(&mut answer).await.unwrap_or(0) == 0 {
                    return;
                }
            }
        };
        timeout(PATIENCE, reading).await.expect("an answer");
        String::from_utf8(answer).unwrap()
    }

    /// Everything that comes until the other end hangs up.
    pub async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        let read = timeout(PATIENCE, self.0.read_to_end(&mut rest)).await;
        // Torn down is an end, too.
        let _ = read.expect("the other end hangs up");
        String::from_utf8_lossy(&rest).into_owned()
    }
}

/// The host and port of an address.
fn address(base: &Url) -> SocketAddr {
    let port = base.port().expect("a port");
    SocketAddr::from(([127, 0, 0, 1], port))
}

fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    length.is_some_and(|length| body.len() >= length.parse().unwrap())
}
