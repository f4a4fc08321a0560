//! What a connection is told for which there is no place: an answer that is ready, to so many at a time; beyond that it is
//! hung up on.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Semaphore,
    time::timeout,
};

use super::connection::linger;
use crate::places::Full;

/// So many are told at a time. A flood is the system's to bear, in its queue of connections.
pub(super) const AT_ONCE: u32 = 256;

/// A request that is not there by then is not waited for.
const PATIENCE: Duration = Duration::from_secs(1);

const NO_PLACE: &str = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
    Content-Type: application/json\r\nCache-Control: no-store\r\nContent-Length: 23\r\n\r\n{\"error\":\"unavailable\"}";

const HAS_ITS_SHARE: &str = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nConnection: close\r\n\
    Content-Type: application/json\r\nCache-Control: no-store\r\nContent-Length: 29\r\n\r\n{\"error\":\"too_many_requests\"}";

/// Those who are being told.
pub(super) struct Refusals(Arc<Semaphore>);

impl Default for Refusals {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE as usize)))
    }
}

impl Refusals {
    /// Tells the other end that there is no place; `None` when too many are being told, and it is hung up on.
    pub(super) fn answer(
        &self,
        mut stream: TcpStream,
        full: Full,
    ) -> Option<impl Future<Output = ()> + Send + use<>> {
        let turn = Arc::clone(&self.0).try_acquire_owned().ok()?;
        let words = match full {
            Full::All => NO_PLACE,
            Full::Share => HAS_ITS_SHARE,
        };
        Some(async move {
            // An answer before the request is taken for no answer by many clients. Whether it has come as a whole does
            // not matter, nor whether anybody reads this.
            let mut some = [0; 512];
            let _ = timeout(PATIENCE, stream.read(&mut some)).await;
            let _ = timeout(PATIENCE, stream.write_all(words.as_bytes())).await;
            linger(&mut stream).await;
            drop(turn);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_say_how_long_they_are() {
        for words in [NO_PLACE, HAS_ITS_SHARE] {
            let (head, body) = words.split_once("\r\n\r\n").unwrap();
            assert!(
                head.contains(&format!("Content-Length: {}", body.len())),
                "{head}"
            );
        }
    }
}
