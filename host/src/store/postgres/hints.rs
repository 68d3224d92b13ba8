//! Hints between hosts: NOTIFY on a connection of its own, after the commit; LISTEN on another one.
//!
//! A NOTIFY inside the commit would make all commits of the database queue for one lock. A hint that is lost
//! because the host died in between costs latency, never progress.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use uuid::Uuid;

use super::company::{Company, SIGN_OF_LIFE};
use super::session::Sessions;
use crate::engine::port::Hint;
use crate::store::patience::Patience;
use crate::store::statement;

/// The channel that all hosts of a database share.
const CHANNEL: &str = "stepwell";

/// What PostgreSQL takes in one NOTIFY, less than its 8,000.
const PAYLOAD_BYTES_MAX: usize = 7_500;

/// Notifications at once; with more than that to say, "everything" is said instead.
const PAYLOADS_MAX: usize = 8;

/// Hints kept for a reader that does not come; with more than that, "everything" is kept instead.
const WAITING_HINTS_MAX: usize = 10_000;

/// Hints on their way from one task to another.
#[derive(Default)]
pub(super) struct Hints {
    waiting: Mutex<Vec<Hint>>,
    bell: Notify,
}

impl Hints {
    /// Adds some.
    pub(super) fn push(&self, hints: impl IntoIterator<Item = Hint>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.extend(hints);
        if waiting.len() > WAITING_HINTS_MAX {
            *waiting = merge(std::mem::take(&mut *waiting));
        }
        if waiting.len() > WAITING_HINTS_MAX {
            *waiting = vec![Hint::Everything];
        }
        drop(waiting);
        self.bell.notify_one();
    }

    /// Waits until there are some, and takes them all.
    pub(super) async fn take(&self) -> Vec<Hint> {
        loop {
            let taken = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            if !taken.is_empty() {
                return taken;
            }
            self.bell.notified().await;
        }
    }
}

/// What one host says.
#[derive(Serialize, Deserialize)]
struct Message {
    node: Uuid,
    hints: Vec<Hint>,
}

/// A host's place among the others.
pub(super) struct Seat {
    /// Its number.
    pub(super) node: Uuid,
    /// What it has to say.
    pub(super) said: Arc<Hints>,
    /// What it has heard.
    pub(super) heard: Arc<Hints>,
    /// Whether anybody else is there.
    pub(super) company: Company,
}

/// Sends what this host has to say, for ever. What cannot be sent is dropped: after a lost connection the other
/// hosts ask for everything anyway.
pub(super) async fn speak(seat: Arc<Seat>, sessions: Arc<Sessions>) {
    let mut signs_of_life = tokio::time::interval(SIGN_OF_LIFE);
    loop {
        let payloads = tokio::select! {
            _ = signs_of_life.tick() => vec![text(seat.node, Vec::new())],
            hints = seat.said.take() => {
                if seat.company.absent() {
                    continue;
                }
                pack(seat.node, merge(hints))
            }
        };
        let argument = serde_json::json!(payloads).to_string();
        metrics::counter!(crate::metrics::STORE_TRANSACTIONS, "kind" => "hint").increment(1);
        if let Err(fault) = sessions.query(&statement::NOTIFY, &argument).await {
            tracing::debug!(?fault, "hints to other hosts were dropped");
        }
    }
}

/// A connection that hears what other hosts say.
pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgListener, sqlx::Error> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .max_lifetime(None)
        .idle_timeout(None)
        .acquire_timeout(Duration::from_secs(5))
        .connect_lazy_with(options.clone());
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

/// Hears what other hosts say, for ever. After a lost connection anything may have been missed.
pub(super) async fn listen(seat: Arc<Seat>, mut listener: PgListener, options: PgConnectOptions) {
    loop {
        while let Ok(Some(notification)) = listener.try_recv().await {
            match serde_json::from_str::<Message>(notification.payload()) {
                Ok(message) if message.node == seat.node => {}
                Ok(message) => seat.hear(message),
                Err(error) => tracing::warn!(%error, "a hint of another host cannot be read"),
            }
        }
        tracing::info!("the connection that hears other hosts was lost: connecting again");
        listener = reconnect(&options).await;
        seat.company.heard();
        seat.heard.push([Hint::Everything]);
    }
}

impl Seat {
    fn hear(&self, message: Message) {
        let was_alone = self.company.absent();
        self.company.heard();
        if was_alone {
            // What was not said for want of company is said now, in one word.
            self.said.push([Hint::Everything]);
        }
        if !message.hints.is_empty() {
            self.heard.push(message.hints);
        }
    }
}

async fn reconnect(options: &PgConnectOptions) -> PgListener {
    let mut patience = Patience::lasting(Duration::MAX);
    loop {
        match connect(options).await {
            Ok(listener) => return listener,
            Err(_) => drop(patience.another().await),
        }
    }
}

/// The same with fewer words: tasks of a type are counted together, only the first moment counts.
fn merge(hints: Vec<Hint>) -> Vec<Hint> {
    let mut counts: HashMap<(crate::domain::TenantId, String), u32> = HashMap::new();
    let mut due = None;
    let mut seen = std::collections::HashSet::new();
    let mut merged = Vec::new();
    for hint in hints {
        match hint {
            Hint::Everything => return vec![Hint::Everything],
            Hint::Tasks { tenant, task_type, count } => {
                let sum = counts.entry((tenant, task_type)).or_default();
                *sum = sum.saturating_add(count);
            }
            Hint::Due { at } => due = Some(due.map_or(at, |due| at.min(due))),
            other => {
                if seen.insert(other.clone()) {
                    merged.push(other);
                }
            }
        }
    }
    merged.extend(due.map(|at| Hint::Due { at }));
    merged.extend(counts.into_iter().map(|((tenant, task_type), count)| Hint::Tasks {
        tenant,
        task_type,
        count,
    }));
    merged
}

fn text(node: Uuid, hints: Vec<Hint>) -> String {
    serde_json::to_string(&Message { node, hints }).unwrap_or_default()
}

/// As few messages as hold them all; one that says "everything" if they would be too many.
fn pack(node: Uuid, hints: Vec<Hint>) -> Vec<String> {
    let text = |hints: Vec<Hint>| text(node, hints);
    let mut payloads = Vec::new();
    let mut together = Vec::new();
    let mut bytes = 0;
    for hint in hints {
        let size = serde_json::to_string(&hint).map_or(PAYLOAD_BYTES_MAX, |text| text.len() + 1);
        if size > PAYLOAD_BYTES_MAX {
            return vec![text(vec![Hint::Everything])];
        }
        if bytes + size > PAYLOAD_BYTES_MAX {
            payloads.push(text(std::mem::take(&mut together)));
            bytes = 0;
        }
        bytes += size;
        together.push(hint);
    }
    payloads.push(text(together));
    if payloads.len() > PAYLOADS_MAX {
        return vec![text(vec![Hint::Everything])];
    }
    payloads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{InstanceId, TenantId, Timestamp};

    #[test]
    fn hints_are_merged_and_stay_below_what_notify_takes() {
        let tenant = TenantId::default();
        let node = Uuid::now_v7();
        let tasks = |count| Hint::Tasks { tenant: tenant.clone(), task_type: "t".into(), count };
        let due = |ms| Hint::Due { at: Timestamp::from_millis(ms) };
        let merged = merge(vec![tasks(1), due(9), tasks(2), due(3), Hint::Plugins, Hint::Plugins]);
        assert_eq!(merged, [Hint::Plugins, due(3), tasks(3)]);

        let instances =
            |count| (0..count).map(|_| Hint::Instance { tenant: tenant.clone(), id: InstanceId::new() });
        let payloads = pack(node, instances(300).collect());
        assert!(
            payloads.len() > 1 && payloads.iter().all(|payload| payload.len() < 8_000),
            "{}",
            payloads.len()
        );
        let payloads = pack(node, instances(10_000).collect());
        assert_eq!(payloads.len(), 1);
        assert!(payloads[0].contains("everything"));
    }
}
