//! A stream of Server-Sent Events, as a browser reads it.

use std::time::Duration;

use reqwest::{
    StatusCode,
    header::{ACCEPT, COOKIE},
};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::{Answer, Person};

/// What is told is told within so long.
const DEADLINE: Duration = Duration::from_secs(20);

pub struct EventStream {
    response: reqwest::Response,
    read: String,
}

impl Person {
    /// Opens a stream, which has to be there.
    pub async fn listen(&self, path: &str) -> EventStream {
        self.try_listen(path)
            .await
            .unwrap_or_else(|answer| panic!("{path}: {answer:?}"))
    }

    /// Opens a stream, or gives what is answered in its place.
    pub async fn try_listen(&self, path: &str) -> Result<EventStream, Answer> {
        let mut request = self.http.get(self.base().join(path).unwrap());
        request = request.header(ACCEPT, "text/event-stream");
        if let Some(cookies) = self.cookies() {
            request = request.header(COOKIE, cookies);
        }
        let response = request.headers(self.headers.clone()).send().await.unwrap();
        if response.status() == StatusCode::OK {
            assert_eq!(response.headers()["content-type"], "text/event-stream");
            assert_eq!(response.headers()["cache-control"], "no-store");
            let read = String::new();
            return Ok(EventStream { response, read });
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.text().await.unwrap();
        Err(Answer {
            status,
            headers,
            body,
        })
    }
}

impl EventStream {
    /// What the next event says; `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<String> {
        let next = timeout(DEADLINE, self.read_on()).await;
        next.expect("something is told in time")
    }

    /// What the next event tells.
    pub async fn told<T: DeserializeOwned>(&mut self) -> T {
        let said = self.next().await.expect("the stream goes on");
        serde_json::from_str(&said).unwrap()
    }

    /// Reads on to the end, which has to come.
    pub async fn ended(&mut self) {
        while self.next().await.is_some() {}
    }

    async fn read_on(&mut self) -> Option<String> {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let said = event.strip_prefix("data: ").expect("an event has words");
                let (said, rest) = (said.to_owned(), rest.to_owned());
                self.read = rest;
                // An event without words keeps the line alive.
                if said != "-" {
                    return Some(said);
                }
                continue;
            }
            // A line that breaks is an end too.
            let chunk = self.response.chunk().await.ok()??;
            self.read.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}
