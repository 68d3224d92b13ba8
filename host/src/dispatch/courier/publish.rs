//! The effect `publish` to a topic of Kafka: sent, tried again for as long as the broker is away, and removed then.
//!
//! A host that dies between the two sends it again: the header `stepwell-id` is the same.

use std::time::Duration;

use super::Courier;
use crate::dispatch::backoff;
use crate::dispatch::kafka::{Kafka, Outgoing, Unsent};
use crate::domain::effect::Effect;
use crate::domain::json::canonical;
use crate::domain::timer::OutboxItem;
use crate::engine::Error;
use crate::failpoint::{self, Point};
use crate::metrics as names;

/// The wait after the first failure; doubled from one to the next.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// The longest wait: a broker that is back has its records soon.
const RETRY_LONGEST: Duration = Duration::from_secs(30);
/// The header that is the same if a record is sent twice.
const ID_HEADER: &str = "stepwell-id";

/// Tries an item once, and notes what came of it.
pub(super) async fn run(courier: &Courier, item: OutboxItem, effect: Effect) -> Result<(), Error> {
    let sent = match &courier.kafka {
        Some(kafka) => send(kafka, &item, &effect).await,
        None => Err(Unsent::Again("this host has no Kafka: start it with --kafka".into())),
    };
    failpoint::pass(Point::OutboxSent);
    match sent {
        Ok(()) => {
            metrics::counter!(names::OUTBOX_SENT, "kind" => item.kind.clone()).increment(1);
            courier.engine.sent(&item, None, Vec::new()).await
        }
        Err(Unsent::Again(why)) => {
            let failures = item.attempts.saturating_add(1).unsigned_abs();
            courier
                .later(item, backoff::after(failures, RETRY_FIRST, RETRY_LONGEST), Some(&why), Vec::new())
                .await
        }
        Err(Unsent::Never(why)) => {
            let dead = courier.dead(&item, &why);
            courier.engine.sent(&item, None, vec![dead]).await
        }
    }
}

async fn send(kafka: &Kafka, item: &OutboxItem, effect: &Effect) -> Result<(), Unsent> {
    let (Effect::Publish { correlation, payload, headers, .. }, Some(topic)) = (effect, effect.kafka_topic())
    else {
        return Err(Unsent::Never("this is not for Kafka".into()));
    };
    let options = kafka.options();
    if !options.serves(&item.tenant) {
        let why = format!(
            "Kafka belongs to the tenant `{}` on this host; others may use it with --kafka-tenant-header",
            options.tenant
        );
        return Err(Unsent::Never(why));
    }
    let (id, body) = (item.id.to_string(), canonical(payload));
    let tenant_header = options.tenant_header.as_deref();
    // Who sends is the host's to say.
    let own = |name: &str| {
        name.eq_ignore_ascii_case(ID_HEADER)
            || tenant_header.is_some_and(|own| name.eq_ignore_ascii_case(own))
    };
    let mut written: Vec<(&str, &[u8])> = headers
        .iter()
        .filter(|(name, _)| !own(name))
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    written.push((ID_HEADER, id.as_bytes()));
    written.extend(tenant_header.map(|name| (name, item.tenant.as_str().as_bytes())));
    let key = correlation.as_deref().map(str::as_bytes);
    kafka.send(Outgoing { topic, key, payload: Some(body.as_bytes()), headers: written }).await
}
