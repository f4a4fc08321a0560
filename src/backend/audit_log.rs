//! What was done, by whom, as an admin reads it.

use app::{
    error::AppError,
    model::{AuditPage, AuditSearch},
};

use super::RequestBackend;
use crate::db;

/// Entries of a page.
const PAGE: usize = 50;

impl RequestBackend {
    pub(super) async fn list_audit_log(&self, search: AuditSearch) -> Result<AuditPage, AppError> {
        self.require_admin().await?;
        let found = db::audit_log::latest(&self.services.pool, search, PAGE + 1).await;
        let mut entries = self.show(found)?;
        let is_more = entries.len() > PAGE;
        entries.truncate(PAGE);
        let next = entries.last().map(|entry| entry.id).filter(|_| is_more);
        Ok(AuditPage { entries, next })
    }
}
