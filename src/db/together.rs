//! Rows by their keys, looked up together. To ask PostgreSQL for one row costs three times around (sqlx tests a connection
//! before and after it is used), and PostgreSQL about a hundred microseconds; to ask for others with it costs little more.
//! So whoever asks while statements are under way is answered by the next: nobody waits where there is no crowd, and none
//! is told what was so before they asked.

use std::{
    collections::HashMap,
    hash::Hash,
    mem,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use sqlx::PgPool;
use tokio::sync::oneshot;

/// Statements under way at most: one that hears nothing holds up those that it answers, and not all.
const STATEMENTS: usize = 2;

/// A statement may take so long: whoever waits behind it can still be answered in the time that a request has.
const LIMIT: Duration = Duration::from_secs(2);

/// Keys of one statement at most.
const KEYS: usize = 500;

/// The rows of some keys, as a statement finds them.
type Rows<K, V> = BoxFuture<'static, sqlx::Result<HashMap<K, V>>>;

/// What is found of a key.
type Found<V> = Result<Option<V>, Arc<sqlx::Error>>;

/// Looks up rows that many ask for.
pub struct Together<K, V>(Arc<Shared<K, V>>);

struct Shared<K, V> {
    find: Box<dyn Fn(Vec<K>) -> Rows<K, V> + Send + Sync>,
    asked: Mutex<Asked<K, V>>,
}

struct Asked<K, V> {
    waiting: Vec<(K, oneshot::Sender<Found<V>>)>,
    /// Statements under way.
    statements: usize,
}

impl<K, V> Together<K, V>
where
    K: Copy + Eq + Hash + Send + 'static,
    V: Clone + Send + 'static,
{
    /// With this statement, which is given each key once.
    #[must_use]
    pub fn new(pool: PgPool, find: fn(PgPool, Vec<K>) -> Rows<K, V>) -> Self {
        Self::by(move |keys| find(pool.clone(), keys))
    }

    fn by(find: impl Fn(Vec<K>) -> Rows<K, V> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared {
            find: Box::new(find),
            asked: Mutex::new(Asked {
                waiting: Vec::new(),
                statements: 0,
            }),
        }))
    }

    /// The row of a key, as it is now; `None` where there is none.
    ///
    /// # Errors
    /// When the database fails; `Io` (timed out) after [`LIMIT`].
    pub async fn find(&self, key: K) -> Found<V> {
        let (tell, told) = oneshot::channel();
        if self.0.ask(key, tell) {
            // In a task of its own: whoever asked first may hang up, and the others are answered all the same.
            tokio::spawn(Arc::clone(&self.0).answer());
        }
        told.await
            .unwrap_or_else(|_| Err(Arc::new(sqlx::Error::WorkerCrashed)))
    }
}

impl<K, V> Shared<K, V>
where
    K: Copy + Eq + Hash,
    V: Clone,
{
    /// Notes what is asked; whether a further statement is to begin.
    fn ask(&self, key: K, tell: oneshot::Sender<Found<V>>) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.waiting.push((key, tell));
        let begins = asked.statements < STATEMENTS;
        asked.statements += usize::from(begins);
        begins
    }

    /// What was asked since the last statement began; when nothing was, one statement less is under way.
    fn next(&self) -> Vec<(K, oneshot::Sender<Found<V>>)> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.waiting.retain(|(_, tell)| !tell.is_closed());
        let rest = asked.waiting.len().min(KEYS);
        let rest = asked.waiting.split_off(rest);
        let next = mem::replace(&mut asked.waiting, rest);
        asked.statements -= usize::from(next.is_empty());
        next
    }

    /// Answers all that is asked, until nothing is.
    async fn answer(self: Arc<Self>) {
        loop {
            let waiting = self.next();
            if waiting.is_empty() {
                return;
            }
            let mut keys: Vec<K> = Vec::with_capacity(waiting.len());
            for (key, _) in &waiting {
                if !keys.contains(key) {
                    keys.push(*key);
                }
            }
            let find = AssertUnwindSafe((self.find)(keys)).catch_unwind();
            let found = match tokio::time::timeout(LIMIT, find).await {
                Ok(Ok(found)) => found,
                Ok(Err(_)) => Err(sqlx::Error::WorkerCrashed),
                Err(_) => Err(super::late()),
            };
            let found = found.map_err(Arc::new);
            for (key, tell) in waiting {
                let found = found.as_ref().map(|rows| rows.get(&key).cloned());
                // Whoever has hung up meanwhile is told nothing.
                let _ = tell.send(found.map_err(Arc::clone));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::poll;
    use tokio::sync::mpsc;

    use super::*;

    /// A statement that has begun: what it looks for, and how to end it.
    type Begun = (Vec<u32>, oneshot::Sender<sqlx::Result<()>>);

    /// Rows of even numbers, ten times as large, each statement found when it is let.
    fn tens() -> (Together<u32, u32>, mpsc::UnboundedReceiver<Begun>) {
        let (begin, begun) = mpsc::unbounded_channel();
        let together = Together::by(move |keys: Vec<u32>| {
            let (end, ended) = oneshot::channel();
            begin.send((keys.clone(), end)).expect("somebody looks");
            Box::pin(async move {
                ended.await.expect("an end")?;
                let rows = keys.into_iter().filter(|key| key % 2 == 0);
                Ok(rows.map(|key| (key, 10 * key)).collect())
            })
        });
        (together, begun)
    }

    #[tokio::test]
    async fn who_asks_meanwhile_is_answered_by_one_statement_that_begins_later() {
        let (together, mut begun) = tens();
        let (one, two) = (together.find(1), together.find(2));
        tokio::pin!(one, two);
        assert!(poll!(&mut one).is_pending());
        let (keys, first) = begun.recv().await.unwrap();
        assert_eq!(keys, [1]);
        assert!(poll!(&mut two).is_pending());
        let (keys, second) = begun.recv().await.unwrap();
        assert_eq!(keys, [2], "a second one does not wait for the first");
        let mut later = [2, 4, 4, 5, 6].map(|key| Box::pin(together.find(key)));
        for asked in &mut later {
            assert!(poll!(asked).is_pending());
        }
        assert!(begun.try_recv().is_err(), "two are under way");
        let [two_again, four, four_again, five, six] = later;
        drop(six);
        first.send(Ok(())).unwrap();
        assert_eq!(one.await.unwrap(), None);
        let (keys, third) = begun.recv().await.unwrap();
        assert_eq!(keys, [2, 4, 5], "what was asked after a statement began");
        third.send(Ok(())).unwrap();
        assert_eq!(two_again.await.unwrap(), Some(20));
        assert_eq!(four.await.unwrap(), Some(40));
        assert_eq!(four_again.await.unwrap(), Some(40));
        assert_eq!(five.await.unwrap(), None);
        second.send(Ok(())).unwrap();
        assert_eq!(two.await.unwrap(), Some(20));
    }

    #[tokio::test]
    async fn a_failure_is_told_to_those_who_asked_and_the_next_statement_begins_all_the_same() {
        let (together, mut begun) = tens();
        for _ in 0..=STATEMENTS {
            let (asked, hung_up) = (together.find(2), together.find(4));
            tokio::pin!(asked);
            assert!(poll!(&mut asked).is_pending());
            assert!(poll!(Box::pin(hung_up)).is_pending());
            let (keys, end) = begun.recv().await.unwrap();
            assert_eq!(keys, [2], "nobody waits for the other any more");
            end.send(Err(sqlx::Error::PoolTimedOut)).unwrap();
            let error = asked.await.unwrap_err();
            assert!(matches!(*error, sqlx::Error::PoolTimedOut), "{error}");

            let asked = together.find(2);
            tokio::pin!(asked);
            assert!(poll!(&mut asked).is_pending());
            // It panics.
            drop(begun.recv().await);
            let error = asked.await.unwrap_err();
            assert!(matches!(*error, sqlx::Error::WorkerCrashed), "{error}");
        }
    }
}
