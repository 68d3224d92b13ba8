//! Events start workflows, each once for each event that can be told from others.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::domain::body::{at, passes};
use crate::domain::incoming::{IncomingEvent, Rejection};
use crate::domain::wait::EventTriggerRow;
use crate::domain::{Digest, InstanceId, TenantId};
use crate::engine::{Engine, Error, StartRequest};

impl Engine {
    /// Starts what an event triggers; the instances.
    pub(super) async fn trigger(
        self: &Arc<Self>,
        tenant: &TenantId,
        event: &IncomingEvent,
        triggers: &[EventTriggerRow],
        rejected: &mut Option<Rejection>,
    ) -> Result<Vec<InstanceId>, Error> {
        let mut started = Vec::new();
        for trigger in triggers.iter().filter(|trigger| passes(&event.payload, &trigger.filter)) {
            match self.start(request(tenant, event, trigger)).await {
                Ok(instance) => started.push(instance.id),
                Err(error @ (Error::Store(_) | Error::Busy { .. })) => return Err(error),
                // It would be the same at the next try.
                Err(error) => {
                    let detail = format!("workflow '{}': {error}", trigger.workflow_key);
                    self.reject(tenant, event, Rejection::NotStarted, Some(&detail)).await?;
                    *rejected = Some(Rejection::NotStarted);
                }
            }
        }
        Ok(started)
    }
}

fn request(tenant: &TenantId, event: &IncomingEvent, trigger: &EventTriggerRow) -> StartRequest {
    let context = match &event.payload {
        Value::Object(_) => event.payload.clone(),
        other => json!({ "payload": other }),
    };
    let business_key =
        trigger.business_key_field.as_ref().and_then(|field| match at(&event.payload, field) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        });
    let idempotency_key = event.id.as_ref().map(|id| {
        let digest = Digest::of(format!("{}\u{1f}{id}", event.topic).as_bytes());
        format!("event/{}/{digest}", trigger.trigger_id)
    });
    let traceparent = event.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("traceparent"));
    StartRequest {
        tenant: tenant.clone(),
        workflow_key: trigger.workflow_key.clone(),
        version: None,
        context,
        business_key,
        idempotency_key,
        traceparent: traceparent.map(|(_, value)| value.clone()),
    }
}
