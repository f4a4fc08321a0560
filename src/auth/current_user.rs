//! The current user: an id in the login session, and nothing else there.

use app::model::UserId;
use tower_sessions::{Session, session::Error};

const USER: &str = "user";

/// Who is signed in; one read of the store, the first time in a request.
///
/// # Errors
/// When Redis is away.
pub async fn current_user(session: &Session) -> Result<Option<UserId>, Error> {
    Ok(session.get::<i64>(USER).await?.map(UserId))
}

/// Signs a user in, under a new session id: one planted before is worth nothing (case O27).
///
/// # Errors
/// When Redis is away.
pub async fn sign_in(session: &Session, user: UserId) -> Result<(), Error> {
    session.cycle_id().await?;
    session.insert(USER, user.0).await?;
    // Now, so that a failure is the caller's to tell; not after the answer is made.
    session.save().await
}

/// Ends the login session on the server.
///
/// # Errors
/// When Redis is away.
pub async fn sign_out(session: &Session) -> Result<(), Error> {
    session.flush().await
}
