//! What sending needs, as the engine asks for it.

use async_trait::async_trait;
use serde_json::json;
use uuid::Uuid;

use super::driver::Driver;
use super::room::Room;
use super::rows::paged;
use super::statement as sql;
use crate::domain::TenantId;
use crate::domain::page::PageRequest;
use crate::domain::reminder::Reminder;
use crate::domain::secret::Secret;
use crate::domain::sender::Sender;
use crate::engine::port::OutgoingRows;
use crate::engine::port::outgoing::{DeadItem, Named, ReminderFilter};
use crate::engine::port::store::Result;

#[async_trait]
impl<D: Driver> OutgoingRows for Room<D> {
    async fn secrets(&self, tenant: &TenantId, names: Option<&[String]>) -> Result<Vec<Secret>> {
        self.read(&sql::SECRETS, json!({ "tenant": tenant, "names": names })).await
    }

    async fn secrets_of_other_keys(
        &self,
        key_id: &str,
        after: Option<&Named>,
        rows_max: u32,
    ) -> Result<Vec<Secret>> {
        let argument = json!({
            "key_id": key_id, "rows_max": rows_max, "after_tenant": after.map(|row| &row.tenant),
            "after_name": after.map(|row| &row.name),
        });
        self.read(&sql::OTHER_KEY_SECRETS, argument).await
    }

    async fn senders(&self, tenant: &TenantId) -> Result<Vec<Sender>> {
        self.read(&sql::SENDERS, json!({ "tenant": tenant })).await
    }

    async fn reminders(
        &self,
        tenant: &TenantId,
        filter: &ReminderFilter,
        page: &PageRequest,
    ) -> Result<Vec<Reminder>> {
        let wanted = json!({ "tenant": tenant, "instance_id": filter.instance_id, "status": filter.status });
        self.read(&sql::REMINDERS, paged(page, wanted)).await
    }

    async fn dead_items(&self, tenant: &TenantId, page: &PageRequest) -> Result<Vec<DeadItem>> {
        self.read(&sql::DEAD_ITEMS, paged(page, json!({ "tenant": tenant }))).await
    }

    async fn dead_item(&self, tenant: &TenantId, id: Uuid) -> Result<Option<DeadItem>> {
        self.read_one(&sql::DEAD_ITEMS, json!({ "tenant": tenant, "id": id, "rows_max": 1 })).await
    }
}
