//! Every limit of the engine, with its unit in its name.

use serde::{Deserialize, Serialize};

/// What one request, instance or host may use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// A request's body.
    pub body_bytes_max: usize,
    /// A workflow definition's text.
    pub definition_bytes_max: usize,
    /// Steps of one workflow.
    pub definition_steps_max: usize,
    /// An instance's context.
    pub context_bytes_max: usize,
    /// A worker's result, a message, or a task's input.
    pub payload_bytes_max: usize,
    /// What a template may expand to.
    pub template_bytes_max: usize,
    /// Transitions in one commit.
    pub batch_transitions_max: usize,
    /// Bytes of transitions in one commit.
    pub batch_bytes_max: usize,
    /// Signals of one instance folded into one commit.
    pub fold_signals_max: usize,
    /// Signals waiting for one instance before callers are turned away.
    pub mailbox_signals_max: usize,
    /// Conflicts in a row before a signal gives up.
    pub conflict_attempts_max: u32,
    /// Requests parked at once on this host.
    pub parked_polls_max: usize,
    /// Requests of one tenant parked at once on this host.
    pub parked_polls_per_tenant_max: usize,
    /// The longest wait of a poll.
    pub poll_wait_seconds_max: u64,
    /// Tasks handed to one poll.
    pub poll_tasks_max: u32,
    /// Reports in one batch.
    pub batch_reports_max: usize,
    /// Rows on one page of a list.
    pub page_rows_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes_max: 8 << 20,
            definition_bytes_max: 1 << 20,
            definition_steps_max: 2_000,
            context_bytes_max: 256 << 10,
            payload_bytes_max: 1 << 20,
            template_bytes_max: 1 << 20,
            batch_transitions_max: 256,
            batch_bytes_max: 8 << 20,
            fold_signals_max: 128,
            mailbox_signals_max: 10_000,
            conflict_attempts_max: 20,
            parked_polls_max: 10_000,
            parked_polls_per_tenant_max: 5_000,
            poll_wait_seconds_max: 300,
            poll_tasks_max: 1_000,
            batch_reports_max: 500,
            page_rows_max: 500,
        }
    }
}
