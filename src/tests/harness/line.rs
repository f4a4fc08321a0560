//! A line between the application and a store that a test can cut, hold, or rob of an answer.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
    sync::{Semaphore, watch},
    task::AbortHandle,
};

/// Where a line leads.
#[derive(Clone, Debug)]
pub enum End {
    Tcp(String),
    Unix(PathBuf),
}

/// How the line behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Passing,
    /// Whoever calls is hung up on.
    Cut,
    /// Whoever calls hears nothing.
    Silent,
    /// The answer to the next request with these words is lost, and the line with it.
    Losing(&'static str),
    /// A request waits until the test lets one pass.
    Stepping,
    /// Whoever is connected hears nothing any more, and is never hung up on; who calls anew is put through.
    Deaf,
}

trait Stream: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin {}
impl<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin> Stream for T {}

pub struct Line {
    pub addr: SocketAddr,
    mode: watch::Sender<Mode>,
    steps: Arc<Semaphore>,
    listening: AbortHandle,
}

impl Line {
    pub async fn to(end: End) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (mode, _) = watch::channel(Mode::Passing);
        let steps = Arc::new(Semaphore::new(0));
        let listening =
            tokio::spawn(listen(listener, end, mode.clone(), Arc::clone(&steps))).abort_handle();
        Self {
            addr,
            mode,
            steps,
            listening,
        }
    }

    /// The store is away: connections break, new ones are refused.
    pub fn cut(&self) {
        self.mode.send_replace(Mode::Cut);
    }

    /// The store takes requests and says nothing.
    pub fn silence(&self) {
        self.mode.send_replace(Mode::Silent);
    }

    /// The connections of now are forgotten by a firewall on the way: they stay open, and nothing comes through, until the
    /// line is mended. New ones work.
    pub fn forget_connections(&self) {
        self.mode.send_replace(Mode::Deaf);
    }

    /// All is well again. A line that was silent is hung up, as the other end would in time.
    pub fn mend(&self) {
        self.mode.send_replace(Mode::Cut);
        self.mode.send_replace(Mode::Passing);
    }

    /// The next request with `words` gets through; its answer gets lost, and the line breaks.
    pub fn lose_the_answer_to(&self, words: &'static str) {
        self.mode.send_replace(Mode::Losing(words));
    }

    /// From now on each request waits for [`Self::let_pass`].
    pub fn step_by_step(&self) {
        self.mode.send_replace(Mode::Stepping);
    }

    /// Lets so many requests pass.
    pub fn let_pass(&self, requests: usize) {
        self.steps.add_permits(requests);
    }

    /// The rest of the requests pass as they come; no line is hung up.
    pub fn let_all_pass(&self) {
        self.mode.send_replace(Mode::Passing);
        // One that waits already goes on.
        self.steps.add_permits(1000);
    }

    /// Was the answer lost?
    pub fn has_lost(&self) -> bool {
        *self.mode.borrow() == Mode::Passing
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn listen(listener: TcpListener, end: End, mode: watch::Sender<Mode>, steps: Arc<Semaphore>) {
    loop {
        let Ok((near, _)) = listener.accept().await else {
            return;
        };
        if *mode.borrow() != Mode::Cut {
            near.set_nodelay(true).unwrap();
            tokio::spawn(carry(near, end.clone(), mode.clone(), Arc::clone(&steps)));
        }
    }
}

async fn carry(mut near: TcpStream, end: End, mode: watch::Sender<Mode>, steps: Arc<Semaphore>) {
    let Some(mut far) = connect(&end).await else {
        return;
    };
    let mut changes = mode.subscribe();
    let is_new = *changes.borrow_and_update() == Mode::Deaf;
    let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut loses = false;
    loop {
        if *changes.borrow() == Mode::Silent {
            // Until it changes, whatever it changes to: then the line is hung up.
            let _ = changes.wait_for(|mode| *mode != Mode::Silent).await;
            return;
        }
        tokio::select! {
            changed = changes.changed() => {
                let current = *changes.borrow_and_update();
                // A line that was mended is a new one.
                if changed.is_err() || current == Mode::Cut {
                    return;
                }
                if current == Mode::Deaf && !is_new {
                    // Until it is mended: then it is hung up.
                    let _ = changes.wait_for(|mode| *mode != Mode::Deaf).await;
                    return;
                }
            }
            read = near.read(&mut asked) => {
                let Ok(1..) = read else { return };
                let bytes = &asked[..read.unwrap_or_default()];
                let current = *mode.borrow();
                if current == Mode::Stepping {
                    steps.acquire().await.expect("nobody closes it").forget();
                }
                if let Mode::Losing(words) = current {
                    loses |= bytes.windows(words.len()).any(|window| window == words.as_bytes());
                }
                if far.write_all(bytes).await.is_err() {
                    return;
                }
            }
            read = far.read(&mut answered) => {
                let Ok(1..) = read else { return };
                if loses {
                    mode.send_replace(Mode::Passing);
                    return;
                }
                if near.write_all(&answered[..read.unwrap_or_default()]).await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn connect(end: &End) -> Option<Box<dyn Stream>> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let connected: std::io::Result<Box<dyn Stream>> = tokio::time::timeout(PATIENCE, async {
        Ok(match end {
            End::Tcp(addr) => {
                let stream = TcpStream::connect(addr).await?;
                stream.set_nodelay(true)?;
                Box::new(stream) as Box<dyn Stream>
            }
            End::Unix(path) => Box::new(UnixStream::connect(path).await?),
        })
    })
    .await
    .ok()?;
    connected.ok()
}
