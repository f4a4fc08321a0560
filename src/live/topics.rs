//! Topics: things that somebody watches, each with what was said of it last. What nobody watches is not remembered.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

/// Topics by key `K`, with values `T`.
pub(super) struct Topics<K, T>(Arc<Mutex<HashMap<K, watch::Sender<T>>>>);

/// One who watches a topic, until it is dropped.
pub(super) struct Watch<K: Eq + Hash, T> {
    topics: Topics<K, T>,
    key: K,
    receiver: watch::Receiver<T>,
}

impl<K, T> Clone for Topics<K, T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K, T> Default for Topics<K, T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Clone + Eq + Hash, T: Clone + Default> Topics<K, T> {
    /// Watches a topic from now on.
    pub(super) fn watch(&self, key: K) -> Watch<K, T> {
        let mut topics = self.open();
        let sender = topics
            .entry(key.clone())
            .or_insert_with(|| watch::Sender::new(T::default()));
        // What was said before is not news to this one.
        let receiver = sender.subscribe();
        Watch {
            topics: self.clone(),
            key,
            receiver,
        }
    }

    /// Says something to those who watch a topic, if `change` makes it another than what was said last.
    pub(super) fn tell(&self, key: &K, change: impl FnOnce(&mut T) -> bool) {
        if let Some(sender) = self.open().get(key) {
            sender.send_if_modified(change);
        }
    }

    /// The topics that are watched.
    pub(super) fn watched(&self) -> Vec<K> {
        self.open().keys().cloned().collect()
    }

    fn open(&self) -> MutexGuard<'_, HashMap<K, watch::Sender<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash, T: Clone> Watch<K, T> {
    /// What is said next.
    pub(super) async fn next(&mut self) -> T {
        if self.receiver.changed().await.is_err() {
            // The topic stands as long as this one watches it.
            std::future::pending::<()>().await;
        }
        self.receiver.borrow_and_update().clone()
    }
}

impl<K: Eq + Hash, T> Drop for Watch<K, T> {
    fn drop(&mut self) {
        let mut topics = self.topics.0.lock().unwrap_or_else(PoisonError::into_inner);
        // This one's receiver is still counted.
        let is_last = topics
            .get(&self.key)
            .is_some_and(|sender| sender.receiver_count() <= 1);
        if is_last {
            topics.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_watches_hears_what_changes_and_a_topic_goes_with_the_last() {
        let topics = Topics::<u8, u8>::default();
        let say = |value: u8| {
            topics.tell(&7, |said| std::mem::replace(said, value) != value);
        };
        say(1);
        assert_eq!(topics.watched(), [0; 0]);
        let (mut first, second) = (topics.watch(7), topics.watch(7));
        say(2);
        say(2);
        assert_eq!(first.next().await, 2);
        let mut late = topics.watch(7);
        say(3);
        assert_eq!((first.next().await, late.next().await), (3, 3));
        drop((first, second));
        assert_eq!(topics.watched(), [7]);
        drop(late);
        assert_eq!(topics.watched(), [0; 0]);
    }
}
