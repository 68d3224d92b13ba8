//! Events from outside reach the waits that they are for, and start the workflows that they trigger.
//!
//! There is one door for all of them, whether Kafka or a request brought them. An event is matched by both ids, the
//! tenant, the topic and the filter (`hear`), delivered through the instance's mailbox, and told as received only after
//! the commit. A repeat finds the event's name in the step's ledger and changes nothing.

mod callback;
mod deliver;
mod hear;
mod mend;
mod reject;
mod sweep;
mod topics;
mod triggers;
mod wait;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tracing::{Instrument as _, Span};

pub use self::callback::CallbackTarget;
use self::deliver::Parcel;
pub(super) use self::deliver::{Arrival, deliver, drain_kept, keep};
use self::hear::{Ids, Letter, ids};
pub(super) use self::mend::{Mending, apply as mend};
pub(super) use self::reject::Rejections;
pub(super) use self::topics::{Known, of_workflow};
pub(super) use self::wait::{check as check_wait, is_over, take_in};
use super::port::events::WaitKey;
use super::port::time::Owner;
use super::{Engine, Error};
use crate::domain::TenantId;
use crate::domain::incoming::{EventSource, IncomingEvent, Receipt, Rejection};
use crate::domain::json;
use crate::domain::wait::{EventTriggerRow, TopicFields, WaitState, WaitStatus};
use crate::metrics as names;

/// The longest id, key and topic of an event.
const NAME_BYTES_MAX: usize = 255;

/// What one tenant's workflows have to do with a topic.
#[derive(Default)]
struct Rules {
    fields: Vec<TopicFields>,
    triggers: Vec<EventTriggerRow>,
}

type RuleBook = HashMap<(String, TenantId), Rules>;

impl Engine {
    /// Takes events in, side by side, each in a span of its own; what became of each, in order. An error means that an
    /// event must be handed in again; anything else is done for good, and committed.
    pub async fn receive_events(
        self: &Arc<Self>,
        events: Vec<(IncomingEvent, Span)>,
    ) -> Vec<Result<Receipt, Error>> {
        let (events, spans): (Vec<_>, Vec<_>) = events.into_iter().unzip();
        let prepared = match self.prepare(&events).await {
            Ok(prepared) => prepared,
            Err(error) => return events.iter().map(|_| Err(error.clone())).collect(),
        };
        let taken = events.into_iter().zip(spans);
        let taken = taken.map(|(event, span)| self.receive(event, &prepared).instrument(span));
        futures::future::join_all(taken).await
    }

    /// Topics that deployed workflows name, over all tenants, sorted.
    pub async fn event_topics(&self) -> Result<Vec<String>, Error> {
        Ok(self.parts.store.event_topics().await?)
    }

    /// Reads what all of them need, at once.
    async fn prepare(&self, events: &[IncomingEvent]) -> Result<Prepared, Error> {
        let topics: BTreeSet<&str> = events.iter().map(|event| event.topic.as_str()).collect();
        let topics: Vec<String> = topics.into_iter().map(str::to_owned).collect();
        let first = events.first().and_then(|event| event.tenant.as_ref());
        let tenant = first.filter(|first| events.iter().all(|event| event.tenant.as_ref() == Some(*first)));
        let store = &self.parts.store;
        let mut rules = RuleBook::new();
        for row in store.topic_fields(tenant, &topics).await? {
            let place = (row.topic.clone(), row.tenant.clone());
            rules.entry(place).or_default().fields.push(row);
        }
        for row in store.event_triggers(tenant, &topics).await? {
            let place = (row.topic.clone(), row.tenant.clone());
            rules.entry(place).or_default().triggers.push(row);
        }
        self.topics.learn(rules.values().flat_map(|rules| &rules.fields));
        let mut keys: Vec<WaitKey> = Vec::new();
        for event in events {
            for (tenant, rules) in shares(event, &rules) {
                if let Ids::Found(found) = ids(&event.payload, &rules.fields) {
                    keys.extend(found.into_iter().map(|(execution_id, correlation_id)| WaitKey {
                        tenant: tenant.clone(),
                        execution_id,
                        correlation_id,
                    }));
                }
            }
        }
        let waits = self.parts.store.waits_for(&keys).await?;
        let owner = |wait: &WaitState| Owner {
            tenant: wait.tenant.clone(),
            workflow_instance_id: wait.execution_id,
            step_id: wait.node_id.clone(),
        };
        let open = waits.iter().filter(|wait| wait.status == WaitStatus::Waiting);
        self.expect(open.map(owner)).await;
        let waits = waits.into_iter().map(|wait| (key_of(&wait), wait)).collect();
        Ok(Prepared { rules, waits })
    }

    async fn receive(self: &Arc<Self>, event: IncomingEvent, prepared: &Prepared) -> Result<Receipt, Error> {
        let taken = match self.check_event(&event) {
            Ok(()) => self.receive_shares(&event, prepared).await,
            Err(error) => Err(error),
        };
        let receipt = match taken {
            // Nobody could send a record of Kafka again, smaller or otherwise: it is over, and told with its reason.
            Err(error @ (Error::TooLarge { .. } | Error::Invalid { .. } | Error::Unprocessable { .. }))
                if matches!(event.source, EventSource::Kafka { .. }) =>
            {
                let tenant = event.tenant.clone().unwrap_or_default();
                let too_large = matches!(error, Error::TooLarge { .. });
                let rejection = if too_large { Rejection::TooLarge } else { Rejection::Unreadable };
                self.reject(&tenant, &event, rejection, Some(&error.to_string())).await?;
                Receipt::refused(rejection)
            }
            taken => taken?,
        };
        measure(event.source, &receipt);
        Ok(receipt)
    }

    fn check_event(&self, event: &IncomingEvent) -> Result<(), Error> {
        self.check_payload("event", &event.payload)?;
        json::check(&event.payload)
            .map_err(|flaw| Error::invalid("event_invalid", format!("the event {flaw}")))
    }

    async fn receive_shares(
        self: &Arc<Self>,
        event: &IncomingEvent,
        prepared: &Prepared,
    ) -> Result<Receipt, Error> {
        let mut receipt = Receipt::default();
        let mut nobody = true;
        for (tenant, rules) in shares(event, &prepared.rules) {
            nobody = false;
            receipt.add(self.receive_share(&tenant, event, rules, prepared).await?);
        }
        if nobody {
            let tenant = event.tenant.clone().unwrap_or_default();
            self.reject(&tenant, event, Rejection::Unclaimed, None).await?;
            receipt.rejected = Some(Rejection::Unclaimed);
        }
        Ok(receipt)
    }

    /// What one tenant has of an event.
    async fn receive_share(
        self: &Arc<Self>,
        tenant: &TenantId,
        event: &IncomingEvent,
        rules: &Rules,
        prepared: &Prepared,
    ) -> Result<Receipt, Error> {
        let mut receipt = Receipt::default();
        let found = ids(&event.payload, &rules.fields);
        if let Ids::Found(found) = &found {
            for (execution_id, correlation_id) in found {
                let key = WaitKey {
                    tenant: tenant.clone(),
                    execution_id: *execution_id,
                    correlation_id: correlation_id.clone(),
                };
                let known = prepared.waits.get(&key).cloned();
                let letter = Letter::of_event(event);
                receipt.add(self.hand_in(Parcel { key, letter }, known).await?);
            }
        }
        receipt.started = self.trigger(tenant, event, &rules.triggers, &mut receipt.rejected).await?;
        // An event that starts something needs no ids.
        if let (Ids::Flawed(rejection), true) = (&found, receipt.started.is_empty()) {
            receipt.rejected = receipt.rejected.or(Some(*rejection));
        }
        // With both ids, or at a start, whoever refused it has written it down.
        if let (Ids::Flawed(flaw), Some(rejection)) = (&found, receipt.rejected)
            && rejection == *flaw
        {
            self.reject(tenant, event, rejection, None).await?;
        }
        Ok(receipt)
    }
}

/// What a batch of events needs.
struct Prepared {
    rules: RuleBook,
    waits: HashMap<WaitKey, WaitState>,
}

/// The tenants that an event concerns, with their rules.
fn shares<'a>(
    event: &'a IncomingEvent,
    rules: &'a RuleBook,
) -> impl Iterator<Item = (TenantId, &'a Rules)> + use<'a> {
    let mut concerned: Vec<_> = rules
        .iter()
        .filter(|((topic, tenant), _)| {
            *topic == event.topic && event.tenant.as_ref().is_none_or(|own| own == tenant)
        })
        .map(|((_, tenant), rules)| (tenant.clone(), rules))
        .collect();
    concerned.sort_by(|one, other| one.0.cmp(&other.0));
    concerned.into_iter()
}

fn key_of(wait: &WaitState) -> WaitKey {
    WaitKey {
        tenant: wait.tenant.clone(),
        execution_id: wait.execution_id,
        correlation_id: wait.correlation_id.clone(),
    }
}

fn measure(source: EventSource, receipt: &Receipt) {
    let count = |outcome: &'static str, count: usize| {
        if count > 0 {
            metrics::counter!(names::EVENTS_RECEIVED, "source" => source.label(), "outcome" => outcome)
                .increment(count as u64);
        }
    };
    count("delivered", receipt.delivered);
    count("repeated", receipt.repeated);
    count("kept", receipt.kept);
    count("started", receipt.started.len());
    count("rejected", usize::from(receipt.rejected.is_some()));
}
