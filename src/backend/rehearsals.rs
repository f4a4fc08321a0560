//! Rehearsals: who may start one, and what they found.

use app::{
    error::AppError,
    model::{Problem, Rehearsal, RehearsalId, RehearsalPlan},
};

use super::RequestBackend;
use crate::{
    db,
    error::Error,
    rehearsal::{self, RehearsalError},
};

/// Rehearsals of the list.
const LISTED: i64 = 50;

/// Only one is at a time: another may begin after so long, perhaps.
const COME_AGAIN_S: u32 = 30;

impl RequestBackend {
    pub(super) async fn list_rehearsals(&self) -> Result<Vec<Rehearsal>, AppError> {
        self.require_admin().await?;
        let pool = &self.services.pool;
        // One that was killed is not under way any more.
        self.show(db::rehearsals::give_up_dead(pool).await)?;
        self.show(db::rehearsals::latest(pool, LISTED).await)
    }

    pub(super) async fn find_rehearsal(&self, id: RehearsalId) -> Result<Rehearsal, AppError> {
        self.require_admin().await?;
        let pool = &self.services.pool;
        self.show(db::rehearsals::give_up_dead(pool).await)?;
        let found = self.show(db::rehearsals::by_id(pool, id).await)?;
        found.ok_or(AppError::NotFound)
    }

    pub(super) async fn start_rehearsal(
        &self,
        plan: RehearsalPlan,
    ) -> Result<RehearsalId, AppError> {
        let admin = self.require_admin().await?;
        let rehearser = self.services.rehearser.as_ref();
        let rehearser = rehearser.ok_or(AppError::UNAVAILABLE)?;
        let plan = RehearsalPlan {
            seed: rand::random(),
            ..plan
        };
        let pool = &self.services.pool;
        let id = match rehearsal::begin(pool, &plan, &admin.actor()).await {
            Ok(id) => id,
            Err(RehearsalError::Production(_)) => {
                return Err(AppError::field("on_production", Problem::Missing));
            }
            Err(RehearsalError::NoSuchSale) => {
                return Err(AppError::field("voucher_id", Problem::Unknown));
            }
            Err(RehearsalError::Store(error)) => {
                return self.show(Err::<RehearsalId, Error>(error));
            }
            // Of the others none can be before it has begun.
            Err(_) => {
                return Err(AppError::TooManyRequests {
                    retry_after_s: COME_AGAIN_S,
                });
            }
        };
        if rehearser.run(id) {
            Ok(id)
        } else {
            Err(AppError::UNAVAILABLE)
        }
    }
}
