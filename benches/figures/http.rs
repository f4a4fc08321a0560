//! A load generator that costs little, since it runs on the machine that it measures: keep-alive connections on one
//! thread, each sending its next request when the last is answered, and just enough HTTP/1.1 to know where an answer
//! ends.

use std::{cell::Cell, net::SocketAddr, rc::Rc, time::Duration};

use hdrhistogram::Histogram;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::LocalSet,
    time::{Instant, timeout},
};

use crate::Result;

/// A load takes no longer than this.
const PATIENCE: Duration = Duration::from_secs(300);

/// What was asked and how it was answered.
pub struct Answers {
    /// How long all of it took.
    pub elapsed: Duration,
    /// Times from request to answer, in µs.
    pub micros: Histogram<u64>,
    /// The size of the last body.
    pub body_bytes: usize,
}

impl Answers {
    /// Answers a second.
    pub fn rate(&self) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a count of answers is far below 2^52"
        )]
        let count = self.micros.len() as f64;
        count / self.elapsed.as_secs_f64()
    }

    /// Times in ms: median, p99, longest.
    pub fn times(&self) -> String {
        let ms = |micros: u64| Duration::from_micros(micros).as_secs_f64() * 1000.0;
        let (p50, p99) = (
            self.micros.value_at_quantile(0.5),
            self.micros.value_at_quantile(0.99),
        );
        format!(
            "p50 {:.1} p99 {:.1} max {:.1} ms",
            ms(p50),
            ms(p99),
            ms(self.micros.max())
        )
    }
}

/// Sends `count` requests over `connections`; `write` puts the request of a number into a buffer. Every answer must
/// be a 200 whose body holds `wanted`.
pub async fn drive(
    addr: SocketAddr,
    connections: usize,
    count: usize,
    wanted: &'static str,
    write: impl Fn(usize, &mut Vec<u8>) + 'static,
) -> Result<Answers> {
    let (write, next) = (Rc::new(write), Rc::new(Cell::new(0)));
    let mut lines = Vec::new();
    for _ in 0..connections {
        lines.push(Line::open(addr).await?);
    }
    let started = Instant::now();
    let work = LocalSet::new();
    let mut tasks = tokio::task::JoinSet::new();
    for mut line in lines {
        let (write, next) = (Rc::clone(&write), Rc::clone(&next));
        let asking = async move {
            let mut micros = histogram()?;
            loop {
                let number = next.get();
                if number >= count {
                    return Ok::<_, Box<dyn std::error::Error>>((micros, line.body_bytes));
                }
                next.set(number + 1);
                line.request.clear();
                write(number, &mut line.request);
                let asked = Instant::now();
                line.ask(wanted.as_bytes()).await?;
                micros.record(u64::try_from(asked.elapsed().as_micros())?)?;
            }
        };
        tasks.spawn_local_on(asking, &work);
    }
    let mut answers = Answers {
        elapsed: Duration::ZERO,
        micros: histogram()?,
        body_bytes: 0,
    };
    let collecting = work.run_until(async {
        while let Some(done) = tasks.join_next().await {
            let (micros, body_bytes) = done??;
            answers.micros.add(micros)?;
            answers.body_bytes = body_bytes;
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    });
    timeout(PATIENCE, collecting).await??;
    answers.elapsed = started.elapsed();
    Ok(answers)
}

fn histogram() -> Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1, 600_000_000, 3)?)
}

/// One connection.
struct Line {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
    body_bytes: usize,
}

impl Line {
    async fn open(addr: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(addr).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            request: Vec::new(),
            answer: Vec::with_capacity(64 * 1024),
            body_bytes: 0,
        })
    }

    async fn ask(&mut self, wanted: &[u8]) -> Result<()> {
        self.stream.write_all(&self.request).await?;
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
        self.body_bytes = body.len();
        if !self.answer.starts_with(b"HTTP/1.1 200 ")
            || (!wanted.is_empty() && find(body, wanted).is_none())
        {
            let start = &self.answer[..self.answer.len().min(600)];
            return Err(format!(
                "an answer without {wanted:?}: {}",
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

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}

fn content_length(head: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\r\ncontent-length: ";
    let value = &head[find(head, NAME)? + NAME.len()..];
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0')))
}
