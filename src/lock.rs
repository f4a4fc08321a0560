//! A lock in Redis for work that only one instance may do at a time: rebuild, repair, and removing settled sales.
//! A lease with an owner's token; a watchdog renews it while the holder works. Comparing and deleting, and comparing
//! and renewing, are each one script, so that a late holder can neither end nor prolong another's lock. The holder's
//! writes to the gate compare the token as well: one who was stopped beyond the lease can write nothing.

use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use redis::{RedisResult, cmd};
use tokio::task::AbortHandle;

use crate::gate::{
    connection::{Connection, millis},
    script::Script,
};

static RENEW: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0",
    )
});
static RELEASE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
    )
});

/// A lock that is held until it is released, dropped, or lost.
pub struct Lock {
    connection: Connection,
    key: String,
    token: String,
    lost: Arc<AtomicBool>,
    watchdog: AbortHandle,
}

impl Lock {
    /// Takes the lock for `lease`, renewed every third of it; `None` when another holds it.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn acquire(
        connection: &Connection,
        key: String,
        lease: Duration,
    ) -> RedisResult<Option<Self>> {
        let token = format!("{:032x}", rand::random::<u128>());
        let mut set = cmd("SET");
        set.arg(&key)
            .arg(&token)
            .arg("NX")
            .arg("PX")
            .arg(millis(lease));
        if connection.query::<Option<String>>(&set).await?.is_none() {
            return Ok(None);
        }
        let lost = Arc::new(AtomicBool::new(false));
        let watch = watch(
            connection.clone(),
            key.clone(),
            token.clone(),
            lease,
            Arc::clone(&lost),
        );
        let watchdog = tokio::spawn(watch).abort_handle();
        Ok(Some(Self {
            connection: connection.clone(),
            key,
            token,
            lost,
            watchdog,
        }))
    }

    /// The owner's token, for scripts that compare it.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Has the watchdog found that the lock is not held any more? Its holder must stop.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Gives the lock back; false when another held it already.
    ///
    /// # Errors
    /// When Redis is away; the lock then expires by itself.
    pub async fn release(self) -> RedisResult<bool> {
        self.watchdog.abort();
        let mut call = RELEASE.on(&[&self.key]);
        call.arg(&self.token);
        self.connection
            .invoke::<i64>(&call)
            .await
            .map(|deleted| deleted == 1)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.watchdog.abort();
    }
}

async fn watch(
    connection: Connection,
    key: String,
    token: String,
    lease: Duration,
    lost: Arc<AtomicBool>,
) {
    let mut call = RENEW.on(&[&key]);
    call.arg(&token).arg(millis(lease));
    let mut renewed_at = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(lease / 3).await;
        match connection.invoke::<i64>(&call).await {
            Ok(1) => renewed_at = tokio::time::Instant::now(),
            // A Redis that is away may come back within the lease; after it nobody can know.
            Err(_) if renewed_at.elapsed() < lease => {}
            _ => {
                lost.store(true, Ordering::Release);
                return;
            }
        }
    }
}
