//! What a host has heard of one worker, and what of it is not written down yet.

use std::collections::BTreeSet;

use crate::domain::id::fresh;
use crate::domain::worker::{WorkerNote, WorkerStatus};
use crate::domain::{TenantId, Timestamp};
use crate::engine::port::Work;

/// Task types and patterns of one worker that are kept.
const TYPES_MAX: usize = 100;
/// The time between two notes on a worker that does nothing but wait.
const REMINDER_MS: i64 = 60_000;

/// One worker.
pub(super) struct Heard {
    worker_type: Option<String>,
    task_types: BTreeSet<String>,
    last_poll_at: Option<Timestamp>,
    last_heartbeat_at: Option<Timestamp>,
    last_work_at: Option<Timestamp>,
    last_seen_at: Timestamp,
    busy_until: Option<Timestamp>,
    /// Its polls that wait at the desk.
    parked: u32,
    /// It said goodbye.
    gone: bool,
    /// Since the last note.
    polls: i64,
    completed: i64,
    failed: i64,
    dirty: bool,
    noted_at: Timestamp,
}

impl Heard {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            worker_type: None,
            task_types: BTreeSet::new(),
            last_poll_at: None,
            last_heartbeat_at: None,
            last_work_at: None,
            last_seen_at: now,
            busy_until: None,
            parked: 0,
            gone: false,
            polls: 0,
            completed: 0,
            failed: 0,
            dirty: false,
            noted_at: now,
        }
    }

    pub(super) fn introduce(&mut self, worker_type: &str) {
        if self.worker_type.as_deref() != Some(worker_type) {
            self.worker_type = Some(worker_type.to_owned());
            self.dirty = true;
        }
    }

    pub(super) fn polls(&mut self, task_types: &[String], now: Timestamp) {
        self.seen(now);
        self.parked += 1;
        self.polls += 1;
        self.last_poll_at = Some(now);
        for task_type in task_types {
            if self.task_types.len() < TYPES_MAX && !self.task_types.contains(task_type) {
                self.task_types.insert(task_type.clone());
            }
        }
    }

    pub(super) fn departs(&mut self) {
        self.parked = self.parked.saturating_sub(1);
    }

    pub(super) fn handed(&mut self, until: Timestamp, now: Timestamp) {
        self.seen(now);
        self.last_work_at = Some(now);
        self.busy_until = Some(until);
    }

    pub(super) fn did(&mut self, work: Work, now: Timestamp) {
        self.handed(now, now);
        match work {
            Work::Completed => self.completed += 1,
            Work::Failed => self.failed += 1,
            Work::Heartbeat { until } => {
                self.last_heartbeat_at = Some(now);
                self.busy_until = Some(until);
            }
        }
    }

    pub(super) fn leaves(&mut self, now: Timestamp) {
        self.seen(now);
        self.gone = true;
        self.task_types.clear();
    }

    pub(super) fn status(&self, now: Timestamp) -> WorkerStatus {
        if self.gone {
            return WorkerStatus::Dead;
        }
        let seen_at = if self.parked > 0 { now } else { self.last_seen_at };
        WorkerStatus::of(seen_at, self.last_work_at, self.busy_until, now)
    }

    /// Whether nothing is left to be said of it.
    pub(super) fn over(&self, now: Timestamp) -> bool {
        self.parked == 0 && !self.dirty && self.status(now) == WorkerStatus::Dead
    }

    /// What is to be written down, if anything.
    pub(super) fn note(&mut self, tenant: &TenantId, worker_id: &str, now: Timestamp) -> Option<WorkerNote> {
        let status = self.status(now);
        let waits = self.parked > 0 && !self.gone && self.noted_at.plus_millis(REMINDER_MS) <= now;
        if !self.dirty && !waits && status != WorkerStatus::Dead {
            return None;
        }
        if waits {
            self.last_seen_at = now;
        }
        let note = WorkerNote {
            id: fresh(),
            tenant: tenant.clone(),
            worker_id: worker_id.to_owned(),
            worker_type: self.worker_type.clone(),
            task_types: (!self.task_types.is_empty()).then(|| self.task_types.iter().cloned().collect()),
            last_poll_at: self.last_poll_at,
            last_heartbeat_at: self.last_heartbeat_at,
            last_work_at: self.last_work_at,
            last_seen_at: self.last_seen_at,
            busy_until: self.busy_until,
            status,
            polls: std::mem::take(&mut self.polls),
            tasks_completed: std::mem::take(&mut self.completed),
            tasks_failed: std::mem::take(&mut self.failed),
            at: now,
        };
        (self.dirty, self.noted_at) = (false, now);
        Some(note)
    }

    /// A note could not be written: what it counted is still to be said.
    pub(super) fn take_back(&mut self, note: &WorkerNote) {
        self.polls += note.polls;
        self.completed += note.tasks_completed;
        self.failed += note.tasks_failed;
        self.worker_type = self.worker_type.take().or_else(|| note.worker_type.clone());
        self.dirty = true;
    }

    fn seen(&mut self, now: Timestamp) {
        self.last_seen_at = self.last_seen_at.max(now);
        self.gone = false;
        self.dirty = true;
    }
}
