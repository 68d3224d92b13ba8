//! What leaves for the outside after its commit: HTTP requests, records for Kafka, notes to people.
//!
//! An item of the outbox is tried in a task of its own, under its lease. A try ends in an answer, in another try
//! later, or, when all tries are spent or none would help, in a dead letter. At least once: a host that dies between
//! the sending and the note of it sends again, with the same `Idempotency-Key`.

mod hook;
mod http_call;
mod mail;
mod notify;
mod permits;
mod publish;
mod request;
mod resolver;
mod reveal;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::task::TaskTracker;

use self::permits::Permits;
use self::resolver::{Forbidden, Guarded};
use super::backoff;
use super::kafka::Kafka;
use crate::domain::Clock;
use crate::domain::address::AllowHosts;
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::timer::OutboxItem;
use crate::engine::port::Write;
use crate::engine::port::write::DeadItem;
use crate::engine::{Engine, Error};
use crate::metrics as names;

/// How long a connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long a connection that nobody uses is kept.
const IDLE_MAX: Duration = Duration::from_secs(30);
/// What the lease of an item has left when its try must be over.
const LEASE_SPARE_MS: i64 = 10_000;
/// What a claim gives, as in [`super::due`].
const LEASE_MS: i64 = 30_000;
/// The wait of an item for which there is no place now, at most.
const CROWDED_WAIT: Duration = Duration::from_secs(2);

/// Sends what leaves for the outside.
pub struct Courier {
    engine: Arc<Engine>,
    clock: Arc<dyn Clock>,
    allowed: Arc<AllowHosts>,
    /// For hosts that the operator has allowed by name.
    free: reqwest::Client,
    /// For all others: connects to addresses of the internet alone.
    guarded: reqwest::Client,
    permits: Arc<Permits>,
    kafka: Option<Arc<Kafka>>,
    under_way: TaskTracker,
}

/// Why a try was none.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Trouble {
    /// Another try may go better.
    Again(String),
    /// No other try would.
    Never(String),
    /// Too much is under way: it was not tried.
    Crowded,
    /// The database is away: the lease on the row is the wait.
    Database(String),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => Self::Database(error.to_string()),
            // An operator may set a secret, a grant or a key meanwhile.
            error => Self::Again(error.to_string()),
        }
    }
}

/// How often something is tried.
#[derive(Clone, Copy, Debug)]
struct Tries {
    max: i32,
    first: Duration,
    longest: Duration,
}

impl Tries {
    /// What `extra.retry` says, within bounds.
    fn of(extra: &Value) -> Self {
        let number = |name: &str, absent: u64| extra["retry"][name].as_u64().unwrap_or(absent);
        Self {
            max: i32::try_from(number("maxAttempts", 5).clamp(1, 20)).unwrap_or(5),
            first: Duration::from_millis(number("initialMs", 1_000).clamp(10, 3_600_000)),
            longest: Duration::from_millis(number("maxMs", 600_000).clamp(10, 86_400_000)),
        }
    }

    /// The wait before the next try of an item that has failed so often, if there is one.
    fn wait(&self, failures: i32, asked: Option<Duration>) -> Option<Duration> {
        let wait = backoff::after(failures.unsigned_abs(), self.first, self.longest);
        (failures < self.max).then(|| asked.map_or(wait, |asked| asked.min(self.longest).max(wait)))
    }
}

impl Courier {
    /// A courier of a host.
    pub fn new(engine: Arc<Engine>, clock: Arc<dyn Clock>, allowed: Arc<AllowHosts>) -> Result<Self, String> {
        crate::tls::provide();
        // A proxy would look names up by itself, and redirects are followed by hand.
        let builder = || {
            reqwest::Client::builder()
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(CONNECT_MAX)
                .pool_idle_timeout(IDLE_MAX)
                .user_agent(concat!("stepwell/", env!("CARGO_PKG_VERSION")))
        };
        let guarded = builder().dns_resolver(Arc::new(Guarded { allowed: Arc::clone(&allowed) }));
        let fail = |error: reqwest::Error| format!("requests cannot be sent: {error}");
        Ok(Self {
            free: builder().build().map_err(fail)?,
            guarded: guarded.build().map_err(fail)?,
            permits: Arc::default(),
            kafka: None,
            under_way: TaskTracker::new(),
            engine,
            clock,
            allowed,
        })
    }

    /// The same with a way to Kafka.
    #[must_use]
    pub fn with_kafka(self, kafka: Option<Arc<Kafka>>) -> Self {
        Self { kafka, ..self }
    }

    /// Whether it sends what an effect asks for.
    pub(super) fn carries(effect: &Effect) -> bool {
        matches!(effect, Effect::HttpCall { .. } | Effect::Notify { .. }) || effect.kafka_topic().is_some()
    }

    /// Begins to send an item, in a task of its own.
    pub(super) fn send(self: &Arc<Self>, item: OutboxItem, effect: Effect) {
        let courier = Arc::clone(self);
        self.under_way.spawn(async move {
            let (id, kind) = (item.id, item.kind.clone());
            let done = match effect {
                Effect::HttpCall { .. } => http_call::run(&courier, item, effect).await,
                Effect::Notify { .. } => notify::run(&courier, item, effect).await,
                Effect::Publish { .. } => publish::run(&courier, item, effect).await,
                _ => Ok(()),
            };
            if let Err(error) = done {
                metrics::counter!(names::LOOP_ERRORS, "loop" => "courier").increment(1);
                tracing::warn!(item = %id, kind, %error, "left for the time after its lease");
            }
        });
    }

    /// Waits for what is being sent: a request that is cut off is sent again by the next host.
    pub async fn drain(&self) {
        self.under_way.close();
        self.under_way.wait().await;
    }

    /// The client for a host; an address that a request may not go to is refused here, a name by its resolver.
    fn client(&self, host: &str, port: u16) -> Result<&reqwest::Client, Forbidden> {
        if self.allowed.host(host, port) {
            return Ok(&self.free);
        }
        match host.parse::<IpAddr>() {
            Ok(address) if !self.allowed.address(address) => {
                Err(Forbidden { host: host.to_owned(), address })
            }
            _ => Ok(&self.guarded),
        }
    }

    /// Makes the lease of an item long enough for a try; whether the item is still there.
    async fn hold(&self, item: &OutboxItem, timeout: Duration) -> Result<bool, Error> {
        let needed_ms = i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX).saturating_add(LEASE_SPARE_MS);
        if needed_ms <= LEASE_MS {
            return Ok(true);
        }
        let due_at = self.clock.now().plus_millis(needed_ms);
        self.engine.put_off(OutboxItem { due_at, ..item.clone() }, Vec::new()).await
    }

    /// Puts an item off: after a failure, or, without one, since there was no place for it.
    async fn later(
        &self,
        mut item: OutboxItem,
        wait: Duration,
        failure: Option<&str>,
        more: Vec<Write>,
    ) -> Result<(), Error> {
        if let Some(failure) = failure {
            item.attempts = item.attempts.saturating_add(1);
            item.last_error = Some(failure.to_owned());
            tracing::warn!(tenant = %item.tenant, item = %item.id, kind = item.kind, failure, "not sent yet");
        }
        let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        item.due_at = self.clock.now().plus_millis(wait_ms);
        self.engine.put_off(item, more).await.map(drop)
    }

    /// The same for want of a place.
    async fn crowded(&self, item: OutboxItem) -> Result<(), Error> {
        self.later(item, self.crowded_wait(), None, Vec::new()).await
    }

    fn crowded_wait(&self) -> Duration {
        backoff::jittered(CROWDED_WAIT)
    }

    /// An item is over: it goes, its step is told, and what is known of it is written, all at once.
    async fn answered(&self, item: &OutboxItem, event: Option<Event>, more: Vec<Write>) -> Result<(), Error> {
        metrics::counter!(names::OUTBOX_SENT, "kind" => item.kind.clone()).increment(1);
        match self.engine.sent(item, event, more).await {
            Ok(()) => Ok(()),
            // After its lease it is sent again, under the same idempotency key.
            Err(error @ (Error::Store(_) | Error::Busy { .. })) => Err(error),
            // What came back can never be taken in: an operator's matter, not a reason to send it for ever.
            Err(error) => {
                let dead = self.dead(item, &format!("the answer could not be taken in: {error}"));
                self.engine.sent(item, None, vec![dead]).await
            }
        }
    }

    /// What remains of an item that is given up.
    fn dead(&self, item: &OutboxItem, why: &str) -> Write {
        tracing::warn!(tenant = %item.tenant, item = %item.id, kind = item.kind, why, "given up: a dead letter");
        metrics::counter!(names::OUTBOX_DEAD, "kind" => item.kind.clone()).increment(1);
        let item = OutboxItem {
            attempts: item.attempts.saturating_add(1),
            last_error: Some(why.to_owned()),
            ..item.clone()
        };
        Write::InsertDead(DeadItem { item, died_at: self.clock.now() })
    }
}
