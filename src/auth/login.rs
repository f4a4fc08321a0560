//! Login sessions: who is signed in. A session holds the user's id and two instants, nothing else. It lasts so long after
//! it was last used for a change, and never longer than so long after the sign-in. Reading writes nothing.

use app::model::UserId;
use time::OffsetDateTime;
use tower_sessions::{Expiry, Session, session::Error};

use super::session_store::RedisSessions;
use crate::{
    clock::Clock,
    gate::{connection::Connection, keys::Keys},
};

/// Whose session it is.
pub(super) const USER: &str = "user";

/// When it ends in any case, in Unix milliseconds.
const UNTIL: &str = "until";

/// When its idle time last began anew, in Unix milliseconds.
const RENEWED: &str = "renewed";

/// How long login sessions last.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// After the sign-in, or the last change made with it.
    pub idle: time::Duration,
    /// After the sign-in, in any case.
    pub absolute: time::Duration,
}

impl Lifetimes {
    /// A session in use is not written again for so long: a shopper who buys all evening costs one write. A tenth of the
    /// idle time, at most a day.
    fn renewal(self) -> time::Duration {
        (self.idle / 10_i32).min(time::Duration::DAY)
    }
}

/// Begins and ends login sessions.
#[derive(Clone, Debug)]
pub struct Logins {
    store: RedisSessions,
    lifetimes: Lifetimes,
    clock: Clock,
}

/// Who is signed in; one read of the store, the first time in a request.
///
/// # Errors
/// When Redis is away.
pub async fn current_user(session: &Session) -> Result<Option<UserId>, Error> {
    Ok(session.get::<i64>(USER).await?.map(UserId))
}

impl Logins {
    /// Login sessions in Redis behind this connection.
    #[must_use]
    pub fn new(connection: Connection, keys: Keys, lifetimes: Lifetimes, clock: Clock) -> Self {
        Self {
            store: RedisSessions::new(connection, keys, lifetimes.idle, clock),
            lifetimes,
            clock,
        }
    }

    /// The store, for the layer that reads the cookie.
    #[must_use]
    pub fn store(&self) -> RedisSessions {
        self.store.clone()
    }

    /// Signs a user in, under a new session id: one planted before is worth nothing (case O27).
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn sign_in(&self, session: &Session, user: UserId) -> Result<(), Error> {
        let now = (self.clock)();
        let until = now + self.lifetimes.absolute;
        session.cycle_id().await?;
        session.set_expiry(Some(Expiry::AtDateTime(until)));
        session.insert(USER, user.0).await?;
        session.insert(UNTIL, millis(until)).await?;
        session.insert(RENEWED, millis(now)).await?;
        // Now, so that a failure is the caller's to tell; not after the answer is made.
        session.save().await
    }

    /// Lets the idle time of a session begin anew, where it is time for that. Called for requests that change something;
    /// the layer then writes the session, if it still stands.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn renew(&self, session: &Session) -> Result<(), Error> {
        let now = (self.clock)();
        let (Some(until), Some(renewed)) = (
            instant(session, UNTIL).await?,
            instant(session, RENEWED).await?,
        ) else {
            return Ok(());
        };
        if now - renewed < self.lifetimes.renewal() {
            return Ok(());
        }
        session.set_expiry(Some(Expiry::AtDateTime(until)));
        session.insert(RENEWED, millis(now)).await
    }

    /// Ends a session on the server.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn sign_out(&self, session: &Session) -> Result<(), Error> {
        session.flush().await
    }

    /// Ends all sessions of a user.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn end_all(&self, user: UserId) -> Result<(), Error> {
        Ok(self.store.end_all(user, None).await?)
    }

    /// Ends all sessions of a user but this one.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn end_others(&self, user: UserId, session: &Session) -> Result<(), Error> {
        Ok(self.store.end_all(user, session.id()).await?)
    }
}

async fn instant(session: &Session, name: &str) -> Result<Option<OffsetDateTime>, Error> {
    let millis = session.get::<i64>(name).await?;
    let nanos = millis.map(|millis| i128::from(millis) * 1_000_000);
    Ok(nanos.and_then(|nanos| OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()))
}

/// Unix milliseconds.
pub(super) fn millis(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX)
}
