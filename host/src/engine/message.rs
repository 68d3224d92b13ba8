//! Messages reach the subscriptions that they match.

use std::sync::Arc;

use super::mailbox::Taken;
use super::signal::{Origin, Signal};
use super::{Engine, Error, IncomingMessage};
use crate::domain::TenantId;
use crate::domain::event::Event;
use crate::domain::timer::{OutboxItem, Subscription};

/// Subscriptions that one message reaches.
const FAN_OUT_MAX: u32 = 10_000;

impl Engine {
    /// Delivers a message to every subscription that matches; how many took it.
    pub async fn message(
        self: &Arc<Self>,
        tenant: &TenantId,
        message: IncomingMessage,
    ) -> Result<usize, Error> {
        self.deliver(tenant, message, None).await
    }

    /// Delivers a message out of the outbox. An item that comes again, because a host died before it could remove it,
    /// reaches only those that it has not reached.
    pub async fn forward(self: &Arc<Self>, item: &OutboxItem, message: IncomingMessage) -> Result<(), Error> {
        let origin = Origin { item: item.id };
        self.deliver(&item.tenant, message, Some(origin)).await.map(drop)
    }

    async fn deliver(
        self: &Arc<Self>,
        tenant: &TenantId,
        message: IncomingMessage,
        origin: Option<Origin>,
    ) -> Result<usize, Error> {
        self.check_payload("message", &message.payload)?;
        let now = self.parts.clock.now();
        let correlation = message.correlation.as_deref();
        let matching =
            self.parts.store.matching(tenant, &message.name, correlation, now, FAN_OUT_MAX).await?;
        let deliveries = matching
            .into_iter()
            .map(|subscription| self.deliver_message(subscription, &message, origin.as_ref()));
        let mut taken = 0;
        let mut again = None;
        for delivered in futures::future::join_all(deliveries).await {
            match delivered {
                Ok(took) => taken += usize::from(took),
                Err(error @ (Error::Store(_) | Error::Busy { .. })) => again = Some(error),
                // One subscriber's own trouble is not the others'.
                Err(error) => tracing::warn!(%error, name = message.name, "a message was not taken"),
            }
        }
        if let Some(error) = again {
            return Err(error);
        }
        Ok(taken)
    }

    async fn deliver_message(
        self: &Arc<Self>,
        subscription: Subscription,
        message: &IncomingMessage,
        origin: Option<&Origin>,
    ) -> Result<bool, Error> {
        let event = Event::MessageReceived {
            key: subscription.key.clone(),
            name: message.name.clone(),
            correlation: message.correlation.clone(),
            payload: message.payload.clone(),
            headers: message.headers.clone(),
        };
        let (tenant, instance) = (subscription.tenant.clone(), subscription.instance_id);
        for _ in 0..self.parts.limits.conflict_attempts_max {
            let signal = Signal::Message {
                subscription: Box::new(subscription.clone()),
                event: event.clone(),
                origin: origin.cloned(),
            };
            if matches!(self.send(&tenant, instance, signal).await?, Taken::Done | Taken::Already) {
                return Ok(true);
            }
            // Stale: the instance moved on. It is tried again only while the subscription stands.
            let now = self.parts.clock.now();
            let correlation = message.correlation.as_deref();
            let standing =
                self.parts.store.matching(&tenant, &message.name, correlation, now, FAN_OUT_MAX).await?;
            if !standing.iter().any(|other| other.id == subscription.id) {
                return Ok(false);
            }
        }
        Err(self.too_many_conflicts(instance))
    }
}
