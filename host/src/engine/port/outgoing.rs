//! What the store knows of what leaves a host: secrets, and what was given up.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::store::Result;
use crate::domain::page::PageRequest;
use crate::domain::reminder::Reminder;
use crate::domain::secret::Secret;
use crate::domain::sender::Sender;
use crate::domain::timer::OutboxItem;
use crate::domain::{InstanceId, TenantId, Timestamp};
use uuid::Uuid;

/// Something of a tenant, by its name.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Named {
    pub tenant: TenantId,
    pub name: String,
}

/// A row of `workflow_outbox_dead`: an outgoing item that was given up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DeadItem {
    /// The item; its `last_error` says why.
    #[serde(flatten)]
    pub item: OutboxItem,
    /// When it was given up.
    pub died_at: Timestamp,
}

/// Which tries of notes to people.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReminderFilter {
    /// Only of this instance.
    pub instance_id: Option<InstanceId>,
    /// Only these: `SENT` or `FAILED`.
    pub status: Option<String>,
}

/// Reads that sending needs.
#[async_trait]
pub trait OutgoingRows: Send + Sync + 'static {
    /// Secrets of a tenant, sealed, by name; some of them, if names are given.
    async fn secrets(&self, tenant: &TenantId, names: Option<&[String]>) -> Result<Vec<Secret>>;
    /// Secrets of all tenants that are under another key than this one, in order, after one of them.
    async fn secrets_of_other_keys(
        &self,
        key_id: &str,
        after: Option<&Named>,
        rows_max: u32,
    ) -> Result<Vec<Secret>>;
    /// Senders of a tenant, by name.
    async fn senders(&self, tenant: &TenantId) -> Result<Vec<Sender>>;
    /// Tries of notes to people, newest first; one row more than asked for if there are more.
    async fn reminders(
        &self,
        tenant: &TenantId,
        filter: &ReminderFilter,
        page: &PageRequest,
    ) -> Result<Vec<Reminder>>;
    /// Outgoing items that were given up, newest first; one row more than asked for if there are more.
    async fn dead_items(&self, tenant: &TenantId, page: &PageRequest) -> Result<Vec<DeadItem>>;
    /// One of them.
    async fn dead_item(&self, tenant: &TenantId, id: Uuid) -> Result<Option<DeadItem>>;
}
