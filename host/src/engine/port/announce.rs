//! Wake-ups: hints that something changed. A query is the truth; a lost hint costs latency, never progress.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::task::Task;
use crate::domain::{InstanceId, TenantId, Timestamp};

/// Something changed that someone may wait for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "h", rename_all = "lowercase")]
pub enum Hint {
    /// Tasks of a type can be claimed.
    Tasks {
        /// Whose.
        tenant: TenantId,
        /// The task type.
        task_type: String,
        /// How many, at most, became available.
        count: u32,
    },
    /// An instance changed.
    Instance {
        /// Whose.
        tenant: TenantId,
        /// Which.
        id: InstanceId,
    },
    /// A deadline, timer or outgoing item is due then.
    Due {
        /// When.
        at: Timestamp,
    },
    /// Tasks may have been withdrawn from workers that hold them.
    Withdrawn {
        /// Whose.
        tenant: TenantId,
    },
    /// A component was stored.
    Plugins,
    /// A workflow names a topic that none did before.
    Topics,
    /// The listener was away: ask for everything again.
    Everything,
}

/// What a worker did, and when.
#[derive(Clone, Copy, Debug)]
pub struct Deed<'a> {
    /// Whose worker.
    pub tenant: &'a TenantId,
    /// Its name.
    pub worker_id: &'a str,
    /// What.
    pub work: Work,
    /// When.
    pub at: Timestamp,
}

/// What a worker can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It completed a task.
    Completed,
    /// It reported a failed attempt.
    Failed,
    /// It gave a sign of life, and holds its task until then.
    Heartbeat {
        /// The lock's new end.
        until: Timestamp,
    },
}

/// A parked poll that was promised tasks.
#[derive(Debug)]
pub struct Seat {
    /// Whose it is.
    pub tenant: TenantId,
    /// The task types that it waits for.
    pub task_types: Arc<[String]>,
    /// Its number among the polls that wait.
    pub poll: u64,
    /// Who will hold the tasks.
    pub worker_id: Option<String>,
    /// How long, if the worker said so.
    pub lock_ms: Option<i64>,
    /// How many it takes.
    pub tasks_max: usize,
}

/// What came of a promise.
#[derive(Debug)]
pub enum Handed {
    /// These tasks, which are locked for it.
    Tasks(Vec<Task>),
    /// Nothing.
    Nothing,
    /// Nothing, and these tasks may be there, locked for it.
    Perhaps(Vec<Task>),
}

/// Takes hints after a commit. Must not block.
pub trait Announcer: Send + Sync + 'static {
    /// Tells whoever waits.
    fn announce(&self, hints: &[Hint]);

    /// A poll that waits for a type, kept for a task that is about to be made. It is told by `hand_over`.
    fn reserve(&self, _: &TenantId, _task_type: &str) -> Option<Seat> {
        None
    }

    /// Tells a poll what came of the promise.
    fn hand_over(&self, _: Seat, _: Handed) {}

    /// A worker did something that counts.
    fn worked(&self, _: &Deed<'_>) {}
}

/// Tells nobody.
#[derive(Debug, Default)]
pub struct Silent;

impl Announcer for Silent {
    fn announce(&self, _: &[Hint]) {}
}
