//! The engine as the other rooms see it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use tokio_util::task::TaskTracker;

use super::Error;
use super::committer::Committer;
use super::crowd::Crowd;
use super::definitions::Definitions;
use super::events;
use super::keyring::Keyring;
use super::mailbox::Mailboxes;
use super::port::{Announcer, Plugins, Store};
use super::ready::Ready;
use super::recent::Recent;
use crate::domain::definition::DefinitionRow;
use crate::domain::limits::Limits;
use crate::domain::token::Token;
use crate::domain::trigger::Trigger;
use crate::domain::{Clock, InstanceId, TenantId, Timestamp};

/// What the engine is made of.
#[derive(Clone)]
pub struct Parts {
    /// The database.
    pub store: Arc<dyn Store>,
    /// The plugins.
    pub plugins: Arc<dyn Plugins>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Who is told of commits.
    pub announcer: Arc<dyn Announcer>,
    /// Every limit.
    pub limits: Limits,
    /// The keys that seal secrets.
    pub keyring: Arc<Keyring>,
    /// What this host is called.
    pub node_id: Arc<str>,
}

/// The engine.
pub struct Engine {
    pub(super) parts: Parts,
    pub(super) committer: Committer,
    pub(super) crowd: Crowd,
    pub(super) definitions: Definitions,
    pub(super) mailboxes: Mailboxes,
    pub(super) ready: Arc<Ready>,
    pub(super) recent: Recent,
    /// Topics that are known to be written down.
    pub(super) topics: events::Known,
    pub(super) rejections: events::Rejections,
    /// Whether all tasks have the same priority, whatever workflows say.
    pub(super) unprioritized: AtomicBool,
    /// Work that goes on even if its caller does not.
    pub(super) work: TaskTracker,
}

/// A workflow that was deployed.
#[derive(Clone, Debug)]
pub struct Deployed {
    /// The version that the document is now.
    pub definition: DefinitionRow,
    /// False if the newest version was this document already.
    pub created: bool,
    /// What starts it by itself.
    pub triggers: Vec<Trigger>,
}

/// A wish to start an instance.
#[derive(Clone, Debug)]
pub struct StartRequest {
    /// Whose.
    pub tenant: TenantId,
    /// The workflow's key.
    pub workflow_key: String,
    /// The newest version if absent.
    pub version: Option<i32>,
    /// The instance's first context, an object; also its trigger.
    pub context: Value,
    /// What users call it.
    pub business_key: Option<String>,
    /// A repeat with the same key starts nothing and gives the same answer.
    pub idempotency_key: Option<String>,
    /// The caller's trace.
    pub traceparent: Option<String>,
}

/// An instance that was started.
#[derive(Clone, Debug)]
pub struct Started {
    /// Its id.
    pub id: InstanceId,
    /// False if the idempotency key was used before.
    pub created: bool,
}

/// A worker's "this went wrong".
#[derive(Clone, Debug, Default)]
pub struct WorkerFailure {
    /// A code for `onError`; a business error if `business` is set.
    pub code: Option<String>,
    /// For people.
    pub message: String,
    /// Such as a stack trace.
    pub details: Option<String>,
    /// The wait before the next attempt, if the worker knows better than the policy.
    pub retry_delay_ms: Option<u64>,
    /// Another attempt would not help.
    pub no_retry: bool,
}

/// The answer to a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeartbeatAnswer {
    /// Go on; the lock is held until then.
    Continue {
        /// The lock's new end.
        lock_expires_at: Timestamp,
    },
    /// The task was cancelled, or has ended: stop working on it.
    Stop,
    /// Somebody else holds the task, or nobody does.
    Lost,
}

/// A message from outside.
#[derive(Clone, Debug)]
pub struct IncomingMessage {
    /// Its name.
    pub name: String,
    /// Its correlation.
    pub correlation: Option<String>,
    /// Its body.
    pub payload: Value,
    /// Its headers.
    pub headers: Vec<(String, String)>,
}

/// A token as its maker sees it, once.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// What is stored.
    pub token: Token,
    /// What the bearer sends: `stw_ID_SECRET`.
    pub secret: String,
}

impl Engine {
    /// An engine of these parts. Must be called within a tokio runtime.
    pub fn new(parts: Parts) -> Arc<Self> {
        let ready = Arc::new(Ready::default());
        Arc::new(Self {
            committer: Committer::start(&parts, &ready),
            crowd: Crowd::default(),
            definitions: Definitions::default(),
            mailboxes: Mailboxes::default(),
            ready,
            recent: Recent::default(),
            topics: events::Known::default(),
            rejections: events::Rejections::default(),
            unprioritized: AtomicBool::default(),
            work: TaskTracker::new(),
            parts,
        })
    }

    /// From now on all new tasks have the same priority, whatever workflows say.
    pub fn switch_priorities_off(&self) {
        self.unprioritized.store(true, Ordering::Relaxed);
    }

    /// Every limit.
    pub fn limits(&self) -> &Limits {
        &self.parts.limits
    }

    /// Waits until everything that was accepted is committed. Nothing new should come in meanwhile.
    pub async fn drain(&self) {
        self.work.close();
        self.work.wait().await;
        self.work.reopen();
    }

    pub(super) fn too_many_conflicts(&self, id: InstanceId) -> Error {
        let attempts = self.parts.limits.conflict_attempts_max;
        let message = format!("instance {id} changed {attempts} times while this was being done; try again");
        Error::Busy { code: "instance_busy", message }
    }
}
