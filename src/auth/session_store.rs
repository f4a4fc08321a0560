//! Login sessions in Redis, on the gate's own connection. The key holds a hash of the session id, and the value nothing of
//! it, so that who reads Redis cannot sign in as somebody. Beside them a list of each user's sessions, so that all can be ended at once.

use std::collections::HashMap;

use app::model::UserId;
use async_trait::async_trait;
use redis::{cmd, pipe};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use tower_sessions::{
    SessionStore,
    session::{Id, Record},
    session_store::{Error, Result},
};

use crate::{
    clock::Clock,
    gate::{connection::Connection, keys::Keys},
};

/// Whose session it is, in its data.
pub(super) const USER: &str = "user";

/// Login sessions of one user; a further one ends the oldest.
const SESSIONS_AT_MOST: isize = 50;

/// The store of login sessions.
#[derive(Clone)]
pub struct RedisSessions {
    connection: Connection,
    keys: Keys,
    idle: time::Duration,
    clock: Clock,
}

/// What Redis holds of a session: all but its id.
#[derive(Serialize, Deserialize)]
struct Value {
    data: HashMap<String, serde_json::Value>,
    expiry_date: OffsetDateTime,
}

impl std::fmt::Debug for RedisSessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RedisSessions")
    }
}

impl RedisSessions {
    /// Sessions behind this connection, each for `idle` after it was last written.
    #[must_use]
    pub(super) fn new(
        connection: Connection,
        keys: Keys,
        idle: time::Duration,
        clock: Clock,
    ) -> Self {
        Self {
            connection,
            keys,
            idle,
            clock,
        }
    }

    /// Ends the sessions of a user. A sign-in that is under way may not be made yet: it stays listed, for the next time,
    /// and has to look again, afterwards, whether it still holds.
    ///
    /// # Errors
    /// When Redis is away.
    pub(super) async fn end_all(&self, user: UserId) -> Result<()> {
        let sessions = self.listed(user).await?;
        self.end(&self.keys.sessions_of(user), &sessions).await
    }

    /// The same store, whose sessions end `idle` after they were last written.
    pub(super) fn lasting(&self, idle: time::Duration) -> Self {
        Self {
            idle,
            ..self.clone()
        }
    }

    /// Ends the sessions of a user, and forgets the list of them.
    ///
    /// # Errors
    /// When Redis is away.
    pub(super) async fn erase_all(&self, user: UserId) -> Result<()> {
        self.end_all(user).await?;
        let mut forget = cmd("DEL");
        forget.arg(self.keys.sessions_of(user));
        let forgotten = self.connection.query::<i64>(&forget).await;
        forgotten.map(drop).map_err(backend)
    }

    /// The sessions of a user, as hashes of their ids; some may have ended.
    ///
    /// # Errors
    /// When Redis is away.
    pub(super) async fn listed(&self, user: UserId) -> Result<Vec<String>> {
        let mut range = cmd("ZRANGE");
        range.arg(self.keys.sessions_of(user)).arg(0).arg(-1);
        self.connection.query(&range).await.map_err(backend)
    }

    /// Takes a session that has ended off its user's list, where it would count.
    ///
    /// # Errors
    /// When Redis is away.
    pub(super) async fn unlist(&self, user: UserId, id: &Id) -> Result<()> {
        self.forget(&self.keys.sessions_of(user), &[hash(id)]).await
    }

    /// Ends sessions one by one, since on a cluster they lie on several nodes, and unlists those that stood.
    async fn end(&self, list: &str, sessions: &[String]) -> Result<()> {
        let mut ended = Vec::new();
        for session in sessions {
            let key = self.keys.session(session);
            let stood: i64 = self
                .connection
                .query(cmd("DEL").arg(key))
                .await
                .map_err(backend)?;
            if stood == 1 {
                ended.push(session.clone());
            }
        }
        self.forget(list, &ended).await
    }

    async fn forget(&self, list: &str, sessions: &[String]) -> Result<()> {
        if sessions.is_empty() {
            return Ok(());
        }
        let mut forget = cmd("ZREM");
        forget.arg(list).arg(sessions);
        self.connection
            .query::<i64>(&forget)
            .await
            .map(drop)
            .map_err(backend)
    }

    fn key(&self, id: &Id) -> String {
        self.keys.session(&hash(id))
    }

    /// Notes a new session in its user's list: before it is made, so that none stands unlisted.
    async fn list(&self, record: &Record) -> Result<()> {
        let Some(user) = record.data.get(USER).and_then(serde_json::Value::as_i64) else {
            return Ok(());
        };
        let list = self.keys.sessions_of(UserId(user));
        let (own, until) = (hash(&record.id), millis(record.expiry_date));
        let mut note = pipe();
        note.cmd("ZREMRANGEBYSCORE")
            .arg(&list)
            .arg("-inf")
            .arg(millis((self.clock)()))
            .ignore();
        note.cmd("ZADD").arg(&list).arg(until).arg(&own).ignore();
        // The list lasts as long as the session that lasts longest.
        for when in ["NX", "GT"] {
            note.cmd("PEXPIREAT")
                .arg(&list)
                .arg(until)
                .arg(when)
                .ignore();
        }
        note.cmd("ZRANGE")
            .arg(&list)
            .arg(0)
            .arg(-SESSIONS_AT_MOST - 1);
        let (mut beyond,): (Vec<String>,) =
            self.connection.query_pipe(&note).await.map_err(backend)?;
        // Of several sign-ins in one millisecond any may count as the oldest, but not this one.
        beyond.retain(|session| *session != own);
        self.end(&list, &beyond).await
    }

    /// Writes a record that is new (`NX`) or known (`XX`); false when it was the other.
    async fn write(&self, record: &Record, when: &str) -> Result<bool> {
        let value = Value {
            data: record.data.clone(),
            expiry_date: record.expiry_date,
        };
        let value = serde_json::to_vec(&value).map_err(|error| Error::Encode(error.to_string()))?;
        let left = record.expiry_date - (self.clock)();
        let mut set = cmd("SET");
        set.arg(self.key(&record.id))
            .arg(value)
            .arg(when)
            .arg("PX")
            .arg(left.min(self.idle).whole_milliseconds().max(1).to_string());
        let written: Option<String> = self.connection.query(&set).await.map_err(backend)?;
        Ok(written.is_some())
    }
}

#[async_trait]
impl SessionStore for RedisSessions {
    async fn create(&self, record: &mut Record) -> Result<()> {
        loop {
            self.list(record).await?;
            if self.write(record, "NX").await? {
                return Ok(());
            }
            record.id = Id::default();
        }
    }

    /// Writes only over a session that still stands: a slow request must not bring back one that was ended.
    async fn save(&self, record: &Record) -> Result<()> {
        self.write(record, "XX").await.map(drop)
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let value: Option<Vec<u8>> = self
            .connection
            .query(cmd("GET").arg(self.key(id)))
            .await
            .map_err(backend)?;
        let Some(value) = value else { return Ok(None) };
        let Value { data, expiry_date } =
            serde_json::from_slice(&value).map_err(|error| Error::Decode(error.to_string()))?;
        Ok(Some(Record {
            id: *id,
            data,
            expiry_date,
        }))
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        self.connection
            .query::<i64>(cmd("DEL").arg(self.key(id)))
            .await
            .map(drop)
            .map_err(backend)
    }
}

/// What stands for a session id in Redis.
fn hash(id: &Id) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let hash = Sha256::digest(id.0.to_le_bytes());
    let mut letters = String::with_capacity(2 * hash.len());
    for byte in hash {
        for half in [byte >> 4, byte & 15] {
            letters.push(char::from(DIGITS[usize::from(half)]));
        }
    }
    letters
}

/// Unix milliseconds.
pub(super) fn millis(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}

fn backend(error: redis::RedisError) -> Error {
    Error::Backend(error.to_string())
}
