//! What holds a stream open, and what ends it: the program stops, or the visitor is signed out.

use std::time::Duration;

use app::model::UserId;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tower_sessions::Session;

use super::{Live, Watcher, topics::Watch};
use crate::{auth::login::Logins, places::Place, web_server::stopped};

/// A login session may have ended while its stream was opened: it is looked up again after so long and a little.
const LOOK_SOON: Duration = Duration::from_secs(2);

/// A login session is looked up again after so long and a little, since news of its end may be missed. The little
/// spreads those that were opened at once.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// Holds a stream open.
pub struct Hold {
    stop: watch::Receiver<bool>,
    login: Option<Login>,
    _place: Place<Watcher>,
}

/// The login session that a stream belongs to.
pub struct Login {
    logins: Logins,
    session: Session,
    user: UserId,
    ended: Watch<UserId, u64>,
    look_at: Instant,
}

impl Hold {
    /// A hold for one who has taken a place.
    #[must_use]
    pub fn new(live: &Live, login: Option<Login>, place: Place<Watcher>) -> Self {
        metrics::gauge!("seckill_streams").increment(1);
        Self {
            stop: live.0.stop.clone(),
            login,
            _place: place,
        }
    }

    /// Resolves when the stream has to end.
    pub async fn over(&mut self) {
        match &mut self.login {
            Some(login) => tokio::select! {
                () = stopped(self.stop.clone()) => {}
                () = login.over() => {}
            },
            None => stopped(self.stop.clone()).await,
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        metrics::gauge!("seckill_streams").decrement(1);
    }
}

impl Login {
    /// The login session of a user, watched from now on.
    #[must_use]
    pub fn new(live: &Live, logins: Logins, session: Session, user: UserId) -> Self {
        Self {
            logins,
            session,
            user,
            ended: live.0.sign_outs.watch(user),
            look_at: in_about(LOOK_SOON),
        }
    }

    /// Resolves when a session of this user has ended, perhaps another: whoever is still signed in comes back.
    async fn over(&mut self) {
        loop {
            tokio::select! {
                _ = self.ended.next() => return,
                () = sleep_until(self.look_at) => {}
            }
            self.look_at = in_about(LOOK_AGAIN);
            // While Redis is away nobody can be signed out either.
            if matches!(
                self.logins.is_current(&self.session, self.user).await,
                Ok(false)
            ) {
                return;
            }
        }
    }
}

fn in_about(time: Duration) -> Instant {
    Instant::now() + time.mul_f64(1.0 + rand::random::<f64>() / 4.0)
}
