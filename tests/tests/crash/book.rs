//! What clients were told, and nothing else: in the end it is held against what hosts say.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::shapes::Shape;

/// How something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// What was promised is not there.
    Lost,
    /// Something was done twice.
    Doubled,
    /// Anything else that must not be.
    Other,
}

/// What is known of a task.
#[derive(Clone, Debug, Default)]
pub struct TaskTold {
    /// Its instance.
    pub instance: String,
    /// Its step.
    pub step: String,
    /// Every output that a worker sent, whether it was answered or not.
    pub sent: HashSet<String>,
    /// The output that a host said it has.
    pub completed: Option<Value>,
    /// Locks under which a failure was sent.
    pub fails_sent: HashSet<String>,
    /// Locks under which a failure was accepted.
    pub fails_told: HashSet<String>,
    /// The error code of a task that a host said is given up.
    pub given_up: Option<String>,
}

/// Everything that is known.
#[derive(Debug, Default)]
pub struct Told {
    /// Idempotency key to instance.
    pub started: HashMap<String, String>,
    /// Instance to its kind and its key.
    pub instances: HashMap<String, (Shape, String)>,
    /// By id.
    pub tasks: HashMap<String, TaskTold>,
    /// Instances that must have ended, by what was accepted.
    pub ended: HashSet<String>,
    /// What is wrong so far.
    pub wrong: Vec<(Wrong, String)>,
    /// Requests that got an answer.
    pub answers: u64,
    /// Requests that got none, or were told to try again.
    pub silences: u64,
}

/// Shared by all clients.
#[derive(Debug, Default)]
pub struct Book(Mutex<Told>);

impl Book {
    /// To read or write in it.
    pub fn open(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Instances that were started and have not ended, as far as clients know.
    pub fn in_flight(&self) -> usize {
        let told = self.open();
        told.instances.len().saturating_sub(told.ended.len())
    }

    /// How many instances have ended, as far as clients know.
    pub fn ended(&self) -> usize {
        self.open().ended.len()
    }

    /// Changes as long as something moves.
    pub fn progress(&self) -> (usize, usize) {
        let told = self.open();
        (told.instances.len(), told.ended.len())
    }

    /// Whether every instance has ended, as far as clients know.
    pub fn all_ended(&self) -> bool {
        let told = self.open();
        told.instances.keys().all(|id| told.ended.contains(id))
    }
}

impl Told {
    /// A start was answered.
    pub fn started(&mut self, key: &str, shape: Shape, id: &str) {
        let before = self.started.insert(key.to_owned(), id.to_owned());
        if let Some(before) = before.filter(|before| before != id) {
            self.wrong.push((Wrong::Doubled, format!("{key} started {before} and {id}")));
        }
        self.instances.insert(id.to_owned(), (shape, key.to_owned()));
    }

    /// A worker is about to send an output.
    pub fn completes(&mut self, task: &Value, nonce: &str) {
        self.task(task).sent.insert(nonce.to_owned());
    }

    /// A completion was answered with the task's row.
    pub fn completed(&mut self, row: &Value) {
        let output = row["output"].clone();
        let task = self.task(row);
        let (instance, step) = (task.instance.clone(), task.step.clone());
        let nonce = output["nonce"].as_str().unwrap_or_default();
        let wrong = match task.completed.replace(output.clone()) {
            _ if !task.sent.contains(nonce) => Some(Wrong::Other),
            Some(before) if before != output => Some(Wrong::Doubled),
            _ => None,
        };
        if let Some(wrong) = wrong {
            self.wrong.push((wrong, format!("the answer to a completion: {row}")));
        }
        if step == "last" || step == "fix" {
            self.ended.insert(instance);
        }
    }

    /// A worker is about to send a failure.
    pub fn fails(&mut self, task: &Value, token: &str) {
        self.task(task).fails_sent.insert(token.to_owned());
    }

    /// A failure was answered with the task's row.
    pub fn failed(&mut self, row: &Value, token: &str) {
        let task = self.task(row);
        task.fails_told.insert(token.to_owned());
        if row["status"] == "FAILED" {
            let code = row["errorCode"].as_str().unwrap_or_default().to_owned();
            let instance = task.instance.clone();
            task.given_up = Some(code.clone());
            if code != "boom" {
                self.ended.insert(instance);
            }
        }
    }

    fn task(&mut self, row: &Value) -> &mut TaskTold {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        self.tasks.entry(text("id")).or_insert_with(|| TaskTold {
            instance: text("workflowInstanceId"),
            step: text("stepId"),
            ..TaskTold::default()
        })
    }
}
