//! The engine as the other rooms see it.

use std::sync::Arc;

use serde_json::Value;

use super::Error;
use super::port::{Announcer, Plugins, Store};
use crate::domain::definition::DefinitionRow;
use crate::domain::limits::Limits;
use crate::domain::task::{Holder, Task};
use crate::domain::timer::Timer;
use crate::domain::token::{Role, Token};
use crate::domain::{Clock, IncidentId, InstanceId, TaskId, TenantId, Timestamp, TokenId};

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
}

/// The engine.
pub struct Engine {
    parts: Parts,
}

/// A workflow that was deployed.
#[derive(Clone, Debug)]
pub struct Deployed {
    /// The version that the document is now.
    pub definition: DefinitionRow,
    /// False if the newest version was this document already.
    pub created: bool,
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

#[expect(clippy::todo, reason = "not written yet")]
#[allow(unused_variables, missing_docs, clippy::unused_async)]
impl Engine {
    pub fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self { parts })
    }
    pub fn limits(&self) -> &Limits {
        &self.parts.limits
    }
    /// Deploys a YAML or JSON document. `key` wins over the document's own `key`.
    pub async fn deploy(
        &self,
        tenant: &TenantId,
        key: Option<&str>,
        source: &str,
    ) -> Result<Deployed, Error> {
        todo!()
    }
    pub async fn start(self: &Arc<Self>, request: StartRequest) -> Result<Started, Error> {
        todo!()
    }
    /// Completes a task. A repeat after a lost answer succeeds and changes nothing.
    pub async fn complete(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        holder: &Holder,
        output: Value,
    ) -> Result<Task, Error> {
        todo!()
    }
    /// Fails a task: it is offered again, or is a dead letter.
    pub async fn fail(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: TaskId,
        holder: &Holder,
        failure: WorkerFailure,
    ) -> Result<Task, Error> {
        todo!()
    }
    pub async fn heartbeat(
        &self,
        tenant: &TenantId,
        id: TaskId,
        holder: &Holder,
        checkpoint: Option<Value>,
    ) -> Result<HeartbeatAnswer, Error> {
        todo!()
    }
    /// Gives tasks back that were claimed and could not be delivered: no attempt and no lock expiry is spent.
    pub async fn give_back(&self, tasks: Vec<Task>) -> Result<(), Error> {
        todo!()
    }
    pub async fn cancel(
        self: &Arc<Self>,
        tenant: &TenantId,
        id: InstanceId,
        reason: &str,
    ) -> Result<(), Error> {
        todo!()
    }
    /// Runs the held call of an incident again, with the component that serves its type now.
    pub async fn resume(self: &Arc<Self>, tenant: &TenantId, id: IncidentId) -> Result<(), Error> {
        todo!()
    }
    /// Delivers a message to every subscription that matches; how many there were.
    pub async fn message(
        self: &Arc<Self>,
        tenant: &TenantId,
        message: IncomingMessage,
    ) -> Result<usize, Error> {
        todo!()
    }
    /// A task's deadline has passed (it was claimed by the dispatcher).
    pub async fn task_due(self: &Arc<Self>, task: Task) -> Result<(), Error> {
        todo!()
    }
    /// A timer is due (it was claimed by the dispatcher).
    pub async fn timer_due(self: &Arc<Self>, timer: Timer) -> Result<(), Error> {
        todo!()
    }
    pub async fn create_token(
        &self,
        tenant: &TenantId,
        role: Role,
        name: &str,
        expires_at: Option<Timestamp>,
    ) -> Result<NewToken, Error> {
        todo!()
    }
    pub async fn revoke_token(&self, tenant: &TenantId, id: TokenId) -> Result<(), Error> {
        todo!()
    }
    /// The token that a bearer's secret belongs to, if it is valid now (constant-time comparison).
    pub async fn authenticate(&self, secret: &str) -> Result<Option<Token>, Error> {
        todo!()
    }
    /// Removes ended instances and journals older than these times, a chunk at a time; how many were removed.
    pub async fn prune(
        &self,
        instances_before: Option<Timestamp>,
        journals_before: Option<Timestamp>,
    ) -> Result<usize, Error> {
        todo!()
    }
    /// Waits until everything that was accepted is committed.
    pub async fn drain(&self) {
        todo!()
    }
}
