//! What an operator does with entries that could not be persisted.

use app::{
    error::AppError,
    model::{DeadLetter, DeadLetterId, LetterOutcome, LettersPage, LettersSearch, Reason},
};

use super::RequestBackend;
use crate::{
    db::{self, orders::NewOrder},
    gate::{entry::Promise, news::News, order_id},
};

impl RequestBackend {
    pub(super) async fn list_dead_letters(
        &self,
        search: &LettersSearch,
    ) -> Result<LettersPage, AppError> {
        const SHOWN: usize = 100;
        self.require_admin().await?;
        let mut page = self.show(self.services.gate.dead_letters(search, SHOWN).await)?;
        let (mut readable, promises): (Vec<&mut DeadLetter>, Vec<_>) = page
            .letters
            .iter_mut()
            .filter_map(|letter| letter.promise.map(|promise| (letter, promise)))
            .unzip();
        let names = db::orders::names(&self.services.pool, &promises).await;
        for (letter, names) in readable.iter_mut().zip(self.show(names)?) {
            letter.names = names;
        }
        Ok(page)
    }

    pub(super) async fn replay(&self, id: DeadLetterId) -> Result<LetterOutcome, AppError> {
        let admin = self.require_admin().await?;
        let outcome = match self.show(self.services.gate.dead_letter(&id).await)? {
            None => LetterOutcome::Gone,
            Some(entry) => match entry.promise {
                None => LetterOutcome::Unreadable,
                Some(promise) => {
                    let outcome = self.show(self.services.gate.replay(&id, &promise).await)?;
                    self.tell(&promise).await;
                    outcome
                }
            },
        };
        Ok(self
            .note(&admin.actor(), "replay_dead_letter", &id, outcome)
            .await)
    }

    /// The refusal is stored first, so that no unit is given back for an order that may yet be confirmed.
    pub(super) async fn discard(&self, id: DeadLetterId) -> Result<LetterOutcome, AppError> {
        let admin = self.require_admin().await?;
        let gate = &self.services.gate;
        let outcome = match self.show(gate.dead_letter(&id).await)? {
            None => LetterOutcome::Gone,
            Some(entry) => match entry.promise {
                Some(promise) if self.refuse(&promise).await? => {
                    let outcome = self.show(gate.discard(&id, &promise).await)?;
                    self.tell(&promise).await;
                    outcome
                }
                _ => self.show(gate.drop_dead_letter(&id).await)?,
            },
        };
        Ok(self
            .note(&admin.actor(), "discard_dead_letter", &id, outcome)
            .await)
    }

    /// Stores the promise as discarded. False when its order is stored as confirmed: nothing is to be given back then.
    async fn refuse(&self, promise: &Promise) -> Result<bool, AppError> {
        let order = NewOrder {
            id: promise.order,
            user: promise.user,
            voucher: promise.voucher,
            accepted_at: order_id::made_at(promise.order),
        };
        match db::orders::insert_refused(&self.services.pool, &order, Reason::Discarded).await {
            // Of an account or a sale that does not exist: there is nobody to tell.
            Err(error) if db::is_datas_fault(&error) => Ok(true),
            stored => self.show(stored),
        }
    }

    /// Tells those who watch: the order may be another, and a unit of the sale.
    async fn tell(&self, promise: &Promise) {
        let news = self.services.gate.news();
        news.tell(&News::Orders(vec![promise.order])).await;
        news.tell(&News::Sales(vec![promise.voucher])).await;
    }

    /// Notes what was changed.
    async fn note(
        &self,
        admin: &str,
        action: &str,
        id: &DeadLetterId,
        outcome: LetterOutcome,
    ) -> LetterOutcome {
        if matches!(outcome, LetterOutcome::Replayed | LetterOutcome::Discarded) {
            let subject = format!("dead letter {id}");
            // What is done is done: an audit log that cannot be written now is told of in the program's own.
            let noted = db::audit_log::insert(&self.services.pool, admin, action, &subject, "");
            if let Err(error) = noted.await {
                tracing::error!(error = %error, admin, action, subject, "not noted in the audit log");
            }
        }
        outcome
    }
}
