//! Login sessions in Redis, on the gate's own connection. The key holds a hash of the session id, so that who reads
//! Redis cannot sign in as somebody.

use async_trait::async_trait;
use redis::cmd;
use sha2::{Digest, Sha256};
use tower_sessions::{
    SessionStore,
    session::{Id, Record},
    session_store::{Error, Result},
};

use crate::gate::{connection::Connection, keys::Keys};

/// The store of login sessions.
#[derive(Clone)]
pub struct RedisSessions {
    connection: Connection,
    keys: Keys,
}

impl std::fmt::Debug for RedisSessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RedisSessions")
    }
}

impl RedisSessions {
    /// Sessions behind this connection.
    #[must_use]
    pub fn new(connection: Connection, keys: Keys) -> Self {
        Self { connection, keys }
    }

    fn key(&self, id: &Id) -> String {
        let hash = Sha256::digest(id.0.to_le_bytes());
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        self.keys.session(&hex)
    }

    /// Writes a record that is new (`NX`) or known (`XX`); false when it was the other.
    async fn write(&self, record: &Record, when: &str) -> Result<bool> {
        let value =
            serde_json::to_vec(&record).map_err(|error| Error::Encode(error.to_string()))?;
        let mut set = cmd("SET");
        set.arg(self.key(&record.id))
            .arg(value)
            .arg(when)
            .arg("EXAT")
            .arg(record.expiry_date.unix_timestamp());
        let written: Option<String> = self.connection.query(&set).await.map_err(backend)?;
        Ok(written.is_some())
    }
}

#[async_trait]
impl SessionStore for RedisSessions {
    async fn create(&self, record: &mut Record) -> Result<()> {
        while !self.write(record, "NX").await? {
            record.id = Id::default();
        }
        Ok(())
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
        let mut record: Record =
            serde_json::from_slice(&value).map_err(|error| Error::Decode(error.to_string()))?;
        record.id = *id;
        Ok(Some(record))
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        self.connection
            .query::<i64>(cmd("DEL").arg(self.key(id)))
            .await
            .map(drop)
            .map_err(backend)
    }
}

fn backend(error: redis::RedisError) -> Error {
    Error::Backend(error.to_string())
}
