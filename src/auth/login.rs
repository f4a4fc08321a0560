//! Login sessions: who is signed in. A session holds the user's id and two instants, nothing else. It lasts so long after
//! it was last used for a change, and never longer than so long after the sign-in. Reading writes nothing.

use std::{sync::Arc, time::Duration};

use app::model::UserId;
use time::OffsetDateTime;
use tokio::time::Instant;
use tower_sessions::{Expiry, Session, session::Error, session_store};

use super::session_store::{RedisSessions, USER, millis};
use crate::{
    clock::Clock,
    config::Config,
    gate::{
        connection::Connection,
        keys::Keys,
        news::{Channel, News},
    },
};

/// When it ends in any case, in Unix milliseconds.
const UNTIL: &str = "until";

/// When its idle time last began anew, in Unix milliseconds.
const RENEWED: &str = "renewed";

/// Sessions that have to be ended are tried to be ended for so long, and so often.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_secs(1);

/// How long login sessions last.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// After the sign-in, or the last change made with it.
    pub idle: time::Duration,
    /// After the sign-in, in any case.
    pub absolute: time::Duration,
}

impl Lifetimes {
    /// As the settings say.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            idle: time::Duration::days(config.session_idle_days.into()),
            absolute: time::Duration::days(config.session_days.into()),
        }
    }

    /// A session in use is not written again for so long: a shopper who buys all evening costs one write. A tenth of the
    /// idle time, at most a day.
    fn renewal(self) -> time::Duration {
        (self.idle / 10_i32).min(time::Duration::DAY)
    }
}

/// Begins and ends login sessions.
#[derive(Clone, Debug)]
pub struct Logins {
    store: Arc<RedisSessions>,
    news: Channel,
    lifetimes: Lifetimes,
    clock: Clock,
}

/// Who is signed in; one read of the store, the first time in a request. A session without an end is none of ours.
///
/// # Errors
/// When Redis is away.
pub async fn current_user(session: &Session) -> Result<Option<UserId>, Error> {
    if session.get::<i64>(UNTIL).await?.is_none() {
        return Ok(None);
    }
    Ok(session.get::<i64>(USER).await?.map(UserId))
}

impl Logins {
    /// Login sessions in Redis behind this connection.
    #[must_use]
    pub fn new(connection: Connection, keys: Keys, lifetimes: Lifetimes, clock: Clock) -> Self {
        Self {
            news: Channel::new(connection.clone(), &keys),
            store: Arc::new(RedisSessions::new(connection, keys, lifetimes.idle, clock)),
            lifetimes,
            clock,
        }
    }

    /// The store, for those who read the cookie.
    #[must_use]
    pub fn store(&self) -> Arc<RedisSessions> {
        Arc::clone(&self.store)
    }

    /// The same, whose sessions last no longer than this.
    #[must_use]
    pub fn lasting(&self, lasts: time::Duration) -> Self {
        Self {
            store: Arc::new(self.store.lasting(lasts)),
            lifetimes: Lifetimes {
                idle: lasts,
                absolute: lasts,
            },
            ..self.clone()
        }
    }

    /// A login session for a shopper of a rehearsal, who has no password to sign in with: the value of the cookie.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn admit(&self, user: UserId) -> Result<String, Error> {
        let session = Session::new(None, self.store(), None);
        self.sign_in(&session, user).await?;
        Ok(session.id().map(|id| id.to_string()).unwrap_or_default())
    }

    /// Ends the sessions of a user for whom none will ever begin again, and leaves nothing of them.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn dismiss(&self, user: UserId) -> Result<(), Error> {
        Ok(self.store.erase_all(user).await?)
    }

    /// Signs a user in, under a new session id: one planted before is worth nothing (case O27).
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn sign_in(&self, session: &Session, user: UserId) -> Result<(), Error> {
        let now = (self.clock)();
        let until = now + self.lifetimes.absolute;
        self.unlist(session).await?;
        session.cycle_id().await?;
        session.set_expiry(Some(Expiry::AtDateTime(until)));
        session.insert(USER, user.0).await?;
        session.insert(UNTIL, millis(until)).await?;
        session.insert(RENEWED, millis(now)).await?;
        // Now, so that a failure is the caller's to tell; not after the answer is made.
        session.save().await
    }

    /// Lets the idle time of a session begin anew, where it is time for that and the session still stands. Called for
    /// requests that change something; their own session is left as it is, so that a failure here is none of theirs.
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
        let end = Some(Expiry::AtDateTime(until));
        let renewed = Session::new(session.id(), self.store(), end);
        if current_user(&renewed).await?.is_some() {
            renewed.insert(RENEWED, millis(now)).await?;
            renewed.save().await?;
        }
        Ok(())
    }

    /// Does the session still stand, and is it still this user's? Asks Redis, whatever the request has read.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn is_current(&self, session: &Session, user: UserId) -> Result<bool, Error> {
        let again = Session::new(session.id(), self.store(), None);
        Ok(current_user(&again).await? == Some(user))
    }

    /// Ends a session on the server.
    ///
    /// # Errors
    /// When Redis is away.
    pub async fn sign_out(&self, session: &Session) -> Result<(), Error> {
        let user = current_user(session).await?;
        self.unlist(session).await?;
        session.flush().await?;
        if let Some(user) = user {
            self.news.tell(&News::SignedOut(user)).await;
        }
        Ok(())
    }

    /// Makes a change after which no login session of a user may go on, and ends them all, if it `is_made`. Not made while
    /// Redis is away, where they cannot be ended; once made, they are ended for as long as it takes, up to a minute. In a
    /// task of its own: a request that is given up leaves no half of it. Who signs in meanwhile has to look again.
    ///
    /// # Errors
    /// When Redis is away, or the change fails.
    pub async fn end_after<T: Send + 'static>(
        &self,
        user: UserId,
        change: impl Future<Output = sqlx::Result<T>> + Send + 'static,
        is_made: fn(&T) -> bool,
    ) -> Result<T, crate::error::Error> {
        let (store, news) = (self.store(), self.news.clone());
        let task = tokio::spawn(async move {
            store.listed(user).await.map_err(Error::from)?;
            let changed = change.await?;
            if is_made(&changed) {
                end_patiently(&store, user).await.map_err(Error::from)?;
                news.tell(&News::SignedOut(user)).await;
            }
            Ok(changed)
        });
        task.await?
    }

    async fn unlist(&self, session: &Session) -> Result<(), Error> {
        if let (Some(user), Some(id)) = (current_user(session).await?, session.id()) {
            self.store.unlist(user, &id).await?;
        }
        Ok(())
    }
}

/// Ends all sessions of a user, if need be when Redis is back.
async fn end_patiently(store: &RedisSessions, user: UserId) -> session_store::Result<()> {
    let begun = Instant::now();
    loop {
        match store.end_all(user).await {
            Err(_) if begun.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
            ended => return ended,
        }
    }
}

async fn instant(session: &Session, name: &str) -> Result<Option<OffsetDateTime>, Error> {
    let millis = session.get::<i64>(name).await?;
    let nanos = millis.map(|millis| i128::from(millis) * 1_000_000);
    Ok(nanos.and_then(|nanos| OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()))
}
