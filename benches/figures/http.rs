//! A load generator that costs little, since it runs on the machine that it measures: keep-alive connections on one
//! thread, and just enough HTTP/1.1 to know where an answer ends. A load is closed (each connection sends its next
//! request when the last is answered) or paced (requests are due at even times, whatever the answers take).

use std::{
    cell::{Cell, RefCell},
    net::SocketAddr,
    rc::Rc,
    time::Duration,
};

use hdrhistogram::Histogram;
use memchr::memmem::find;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::LocalSet,
    time::{Instant, sleep_until, timeout},
};

use crate::Result;

/// A load takes no longer than this.
const PATIENCE: Duration = Duration::from_secs(300);

/// How a load is put on.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Keep-alive connections.
    pub connections: usize,
    /// Requests, at most.
    pub requests: usize,
    /// No request begins later than so long after the start.
    pub lasts: Option<Duration>,
    /// Requests a second that are due, and from when their times count, also where all connections are busy then:
    /// who is slow is not asked less for it. Without it the load is closed.
    pub pace: Option<f64>,
}

impl Load {
    /// As many requests as the connections can get answered.
    pub fn closed(connections: usize, requests: usize) -> Self {
        Self {
            connections,
            requests,
            lasts: None,
            pace: None,
        }
    }

    /// So many requests a second for so many seconds.
    pub fn paced(connections: usize, rate: f64, seconds: usize) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate is positive and far below 2^32"
        )]
        let rate_rounded = rate.ceil().max(1.0) as usize;
        Self {
            connections,
            requests: rate_rounded * seconds,
            lasts: None,
            pace: Some(rate),
        }
    }
}

/// A request, and what its answer's body must hold.
#[derive(Default)]
pub struct Request {
    /// What is sent.
    pub bytes: Vec<u8>,
    /// What is looked for; empty: the status is enough.
    pub wanted: String,
}

/// What was asked and how it was answered.
pub struct Answers {
    /// How long all of it took.
    pub elapsed: Duration,
    /// Times from request, or from when it was due, to answer, in µs.
    pub micros: Histogram<u64>,
}

impl Answers {
    /// How many.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a count of answers is far below 2^52"
    )]
    pub fn count(&self) -> f64 {
        self.micros.len() as f64
    }

    /// Answers a second.
    pub fn rate(&self) -> f64 {
        self.count() / self.elapsed.as_secs_f64()
    }

    /// The time within which this part of the answers came, in ms.
    pub fn ms_of(&self, part: f64) -> f64 {
        Duration::from_micros(self.micros.value_at_quantile(part)).as_secs_f64() * 1000.0
    }
}

/// Puts a load on; `write` makes the request of a number. Every answer must be a 200 whose body holds what is wanted.
pub async fn drive(
    addr: SocketAddr,
    load: Load,
    write: impl Fn(usize, &mut Request) + 'static,
) -> Result<Answers> {
    let (write, next) = (Rc::new(write), Rc::new(Cell::new(0)));
    // One for all connections: to make one for each takes longer than an answer may.
    let micros = Histogram::new_with_bounds(1, 600_000_000, 3)?;
    let micros = Rc::new(RefCell::new(micros));
    let mut lines = Vec::new();
    for _ in 0..load.connections {
        lines.push(Line::open(addr).await?);
    }
    let started = Instant::now();
    let work = LocalSet::new();
    let mut tasks = tokio::task::JoinSet::new();
    for mut line in lines {
        let (write, next) = (Rc::clone(&write), Rc::clone(&next));
        let micros = Rc::clone(&micros);
        let asking = async move {
            let mut request = Request::default();
            loop {
                let number = next.get();
                next.set(number + 1);
                let Some(due) = due(load, started, number) else {
                    return Ok::<_, Box<dyn std::error::Error>>(());
                };
                request.bytes.clear();
                request.wanted.clear();
                write(number, &mut request);
                if load.pace.is_some() {
                    sleep_until(due).await;
                }
                line.ask(&request).await?;
                let took = u64::try_from(due.elapsed().as_micros())?;
                micros.borrow_mut().record(took)?;
            }
        };
        tasks.spawn_local_on(asking, &work);
    }
    let collecting = work.run_until(async {
        while let Some(done) = tasks.join_next().await {
            done??;
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    });
    timeout(PATIENCE, collecting)
        .await
        .map_err(|_| "a load did not end")??;
    Ok(Answers {
        elapsed: started.elapsed(),
        micros: micros.borrow().clone(),
    })
}

/// When the request of a number is due: now, in a closed load; `None` when the load is over.
fn due(load: Load, started: Instant, number: usize) -> Option<Instant> {
    if number >= load.requests {
        return None;
    }
    let due = match load.pace {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52 requests")]
        Some(rate) => started + Duration::from_secs_f64(number as f64 / rate),
        None => Instant::now(),
    };
    let is_over = load.lasts.is_some_and(|lasts| due - started >= lasts);
    (!is_over).then_some(due)
}

/// One connection.
struct Line {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Line {
    async fn open(addr: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(addr).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            answer: Vec::with_capacity(64 * 1024),
        })
    }

    async fn ask(&mut self, request: &Request) -> Result<()> {
        self.stream.write_all(&request.bytes).await?;
        self.answer.clear();
        let head = loop {
            if let Some(head) = find(&self.answer, b"\r\n\r\n") {
                break head + 4;
            }
            self.read().await?;
        };
        match content_length(&self.answer[..head]) {
            Some(length) => {
                while self.answer.len() < head + length {
                    self.read().await?;
                }
            }
            // In chunks: nothing is asked before the answer is over, so its end is the end of what came.
            None => {
                while !self.answer.ends_with(b"0\r\n\r\n") {
                    self.read().await?;
                }
            }
        }
        let body = &self.answer[head..];
        let holds = find(body, request.wanted.as_bytes()).is_some();
        if !self.answer.starts_with(b"HTTP/1.1 200 ") || !holds {
            let start = &self.answer[..self.answer.len().min(600)];
            return Err(format!(
                "an answer without {:?}: {}",
                request.wanted,
                String::from_utf8_lossy(start)
            )
            .into());
        }
        Ok(())
    }

    async fn read(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.answer).await? == 0 {
            return Err("the server hung up".into());
        }
        Ok(())
    }
}

fn content_length(head: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\r\ncontent-length: ";
    let value = &head[find(head, NAME)? + NAME.len()..];
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0')))
}
