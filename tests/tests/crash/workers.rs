//! Workers: they poll, forget a task now and then, and report on the others until they are told something.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rand::RngExt as _;
use serde_json::{Value, json};

use crate::book::Wrong;
use crate::clients::{Client, Reply};
use crate::shapes::task_type;

/// Long enough for a slow machine, short enough to wait for: what a dead host or worker holds is free again then.
const LOCK_SECONDS: u32 = 10;
/// Tasks of one poll.
const TASKS_MAX: u32 = 8;

impl Client {
    /// Works until the run is over.
    pub async fn work(mut self) {
        let name = format!("worker-{:x}", self.random.random::<u32>());
        let poll = format!(
            "/api/n8n/external-tasks/poll?taskType={}&workerId={name}&maxTasks={TASKS_MAX}&waitSeconds=1\
             &lockDurationSeconds={LOCK_SECONDS}",
            task_type(&self.run.name)
        );
        while !self.run.over.load(Ordering::Relaxed) {
            if self.run.is_low() {
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            }
            match self.ask("GET", &poll, None, None).await {
                Reply::Told(200, Value::Array(tasks)) => {
                    let reports = tasks.into_iter().map(|task| self.another().report(task));
                    futures::future::join_all(reports.collect::<Vec<_>>()).await;
                }
                Reply::Told(204, _) => {}
                Reply::Told(status, body) => {
                    let wrong = (Wrong::Other, format!("a poll was answered with {status} {body}"));
                    self.run.book.open().wrong.push(wrong);
                }
                Reply::Nothing | Reply::Unknown => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    async fn report(mut self, task: Value) {
        let id = task["id"].as_str().unwrap_or_default().to_owned();
        let token = task["lockToken"].as_str().unwrap_or_default().to_owned();
        if self.random.random_bool(0.01) {
            return; // The worker died with it: its lock will expire.
        }
        if self.random.random_bool(0.1) {
            let path = format!("/api/n8n/external-tasks/{id}/heartbeat");
            self.ask("POST", &path, Some(&token), Some(&json!({}))).await;
        }
        let fate = if task["stepId"] == "risky" { self.random.random_range(0..100) } else { 100 };
        match fate {
            0..20 => self.fail(&task, &id, &token, "boom", true).await,
            20..30 => self.fail(&task, &id, &token, "fatal", true).await,
            30..60 => self.fail(&task, &id, &token, "again", false).await,
            _ => self.complete(&task, &id, &token).await,
        }
    }

    /// Completes a task under one lock. Each try says something else, so that it shows which one was taken.
    async fn complete(&mut self, task: &Value, id: &str, token: &str) {
        let path = format!("/api/n8n/external-tasks/{id}/complete");
        for attempt in 0.. {
            let nonce = format!("{token}#{attempt}");
            self.run.book.open().completes(task, &nonce);
            let reply = self.ask("POST", &path, Some(token), Some(&json!({ "nonce": nonce }))).await;
            match &reply {
                Reply::Told(200, row) => {
                    self.run.book.open().completed(row);
                    if self.random.random_bool(0.95) {
                        return;
                    }
                }
                Reply::Told(status, body) => return self.refused(task, *status, body),
                Reply::Nothing | Reply::Unknown => {}
            }
            if !self.again(&reply, &format!("task {task}")).await {
                return;
            }
        }
    }

    async fn fail(&mut self, task: &Value, id: &str, token: &str, code: &str, no_retry: bool) {
        let path = format!("/api/n8n/external-tasks/{id}/fail");
        let body = json!({ "message": format!("under {token}"), "code": code, "noRetry": no_retry });
        self.run.book.open().fails(task, token);
        loop {
            let reply = self.ask("POST", &path, Some(token), Some(&body)).await;
            match &reply {
                Reply::Told(200, row) => return self.run.book.open().failed(row, token),
                Reply::Told(status, body) => return self.refused(task, *status, body),
                Reply::Nothing | Reply::Unknown => {}
            }
            if !self.again(&reply, &format!("task {task}")).await {
                return;
            }
        }
    }

    /// Another worker may have the task by now, or have ended it: that is the only reason to be turned away.
    fn refused(&self, task: &Value, status: u16, body: &Value) {
        let code = body["code"].as_str().unwrap_or_default();
        if status != 409 || !["lock_lost", "task_ended"].contains(&code) {
            let mut told = self.run.book.open();
            told.wrong.push((Wrong::Other, format!("a report on {task}: {status} {body}")));
        }
    }
}
