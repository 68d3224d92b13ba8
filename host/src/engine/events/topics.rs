//! Topics that workflows name: written when they are deployed, and when a wait names one that a template brought.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use crate::domain::definition::Workflow;
use crate::domain::trigger::TriggerKind;
use crate::domain::wait::{EventTriggerRow, Listener, TopicFields};
use crate::domain::{TenantId, Timestamp};
use crate::engine::port::Write;
use crate::engine::port::events::EventTriggersKept;
use crate::engine::recent::lock;

/// Topics that a host remembers; beyond that it forgets them all, and writes them again.
const KNOWN_MAX: usize = 10_000;

/// Topics that are known to be written down already. Only what was read or committed is put here.
#[derive(Default)]
pub(in crate::engine) struct Known {
    rows: Mutex<Arc<HashSet<TopicFields>>>,
}

impl Known {
    /// As it is now.
    pub(in crate::engine) fn now(&self) -> Arc<HashSet<TopicFields>> {
        Arc::clone(&lock(&self.rows))
    }

    /// These are written down.
    pub(in crate::engine) fn learn<'a>(&self, rows: impl Iterator<Item = &'a TopicFields>) {
        let known = self.now();
        let new: Vec<&TopicFields> = rows.filter(|row| !known.contains(*row)).collect();
        if new.is_empty() {
            return;
        }
        let mut all = if known.len() >= KNOWN_MAX { HashSet::new() } else { (*known).clone() };
        all.extend(new.into_iter().cloned());
        *lock(&self.rows) = Arc::new(all);
    }
}

/// The row of a named event that comes by a topic.
pub(super) fn of_listener(tenant: &TenantId, listener: &Listener) -> Option<TopicFields> {
    Some(TopicFields {
        tenant: tenant.clone(),
        // Empty at a deployment: a template will bring it.
        topic: listener.topic.clone().filter(|topic| !topic.is_empty())?,
        correlation_field: listener.correlation_id_field.clone(),
        execution_field: listener.execution_id_field.clone(),
    })
}

/// What a deployed workflow has to do with topics: its triggers in place of those of the version before, and what its
/// steps will wait for, as far as it is known.
pub(in crate::engine) fn of_workflow(
    tenant: &TenantId,
    workflow: &Workflow,
    listeners: &[Listener],
    before: i32,
    now: Timestamp,
) -> (Vec<Write>, Vec<TopicFields>) {
    let triggers: Vec<EventTriggerRow> = workflow
        .triggers
        .iter()
        .filter_map(|trigger| match &trigger.kind {
            TriggerKind::Event(event) => Some(EventTriggerRow {
                tenant: tenant.clone(),
                workflow_key: workflow.key.clone(),
                trigger_id: trigger.id.clone(),
                topic: event.topic.clone(),
                filter: event.filter.clone(),
                business_key_field: event.business_key_field.clone(),
                created_at: now,
            }),
            TriggerKind::Cron(_) => None,
        })
        .collect();
    let mut writes = Vec::new();
    if before > 0 || !triggers.is_empty() {
        writes.push(Write::KeepEventTriggers(EventTriggersKept {
            tenant: tenant.clone(),
            workflow_key: workflow.key.clone(),
            trigger_ids: triggers.iter().map(|row| row.trigger_id.clone()).collect(),
        }));
    }
    writes.extend(triggers.into_iter().map(Write::UpsertEventTrigger));
    let topics: Vec<TopicFields> =
        listeners.iter().filter_map(|listener| of_listener(tenant, listener)).collect();
    writes.extend(topics.iter().cloned().map(Write::InsertTopic));
    (writes, topics)
}
