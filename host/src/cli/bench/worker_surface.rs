//! A worker on one of the surfaces: it fetches a task and completes it.

use std::io::{Error, ErrorKind, Result};

use serde_json::json;

use super::cycle::{BUSY, text};
use super::http::Connection;

/// How long a fetch waits, where there is nothing: there always is something.
const WAIT_SECONDS: u64 = 30;
/// How long a task is held at most.
const LOCK_SECONDS: u64 = 300;

/// The way that a worker comes by its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surface {
    /// `/api/n8n/external-tasks`.
    Native,
    /// `/engine-rest/external-task`.
    Camunda,
}

impl Surface {
    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Camunda => "camunda",
        }
    }

    /// Whether a host serves it.
    pub(super) async fn is_served(self, address: &str) -> Result<bool> {
        let mut connection = Connection::open(address).await?;
        let answer = match self {
            Self::Native => return Ok(true),
            Self::Camunda => {
                let nothing = json!({ "workerId": "bench", "maxTasks": 1, "topics": [] }).to_string();
                connection.send("POST", "/engine-rest/external-task/fetchAndLock", &nothing).await?
            }
        };
        Ok(answer.status == 200)
    }
}

/// A worker's connection.
pub(super) struct Worker {
    connection: Connection,
    surface: Surface,
    fetch_path: String,
    fetch_body: String,
    complete_body: String,
}

/// A task in its hands: where it is completed.
pub(super) struct Task(String);

impl Worker {
    /// Connects the worker of this number.
    pub(super) async fn open(address: &str, surface: Surface, number: usize) -> Result<Self> {
        let id = format!("bench-{number}");
        let (fetch_path, fetch_body, complete_body) = match surface {
            Surface::Native => (
                format!(
                    "/api/n8n/external-tasks/poll?taskType={BUSY}&workerId={id}&waitSeconds={WAIT_SECONDS}\
                     &lockDurationSeconds={LOCK_SECONDS}"
                ),
                String::new(),
                json!({ "result": { "receipt": "r-1" } }),
            ),
            Surface::Camunda => (
                "/engine-rest/external-task/fetchAndLock".to_owned(),
                // As the official clients ask, which want all variables.
                json!({
                    "workerId": id,
                    "maxTasks": 1,
                    "usePriority": true,
                    "asyncResponseTimeout": WAIT_SECONDS * 1000,
                    "topics": [{ "topicName": BUSY, "lockDuration": LOCK_SECONDS * 1000 }],
                })
                .to_string(),
                json!({
                    "workerId": id,
                    "variables": { "result": { "type": "Json", "value": r#"{"receipt": "r-1"}"# } },
                }),
            ),
        };
        let connection = Connection::open(address).await?;
        Ok(Self { connection, surface, fetch_path, fetch_body, complete_body: complete_body.to_string() })
    }

    /// Fetches a task.
    pub(super) async fn fetch(&mut self) -> Result<Task> {
        let method = match self.surface {
            Surface::Native => "GET",
            Surface::Camunda => "POST",
        };
        let answer = self.connection.send(method, &self.fetch_path, &self.fetch_body).await?;
        task(self.surface, &answer.body).ok_or_else(|| refused("a fetch", answer.status, &answer.body))
    }

    /// Completes it.
    pub(super) async fn complete(&mut self, task: &Task) -> Result<()> {
        let answer = self.connection.send("POST", &task.0, &self.complete_body).await?;
        match answer.status {
            200 | 204 => Ok(()),
            status => Err(refused("a completion", status, &answer.body)),
        }
    }
}

fn task(surface: Surface, body: &[u8]) -> Option<Task> {
    let id = text(body, "id")?;
    Some(Task(match surface {
        Surface::Native => {
            format!("/api/n8n/external-tasks/{id}/complete?lockToken={}", text(body, "lockToken")?)
        }
        Surface::Camunda => format!("/engine-rest/external-task/{id}/complete"),
    }))
}

fn refused(what: &str, status: u16, body: &[u8]) -> Error {
    let said = String::from_utf8_lossy(body);
    Error::new(ErrorKind::InvalidData, format!("{what} was answered with {status} {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_completed_where_it_came_from() {
        let body = br#"[{"activityId":"a","id":"t-1","lockToken":"l-1"}]"#;
        let path = |surface| task(surface, body).unwrap().0;
        assert_eq!(path(Surface::Native), "/api/n8n/external-tasks/t-1/complete?lockToken=l-1");
        assert_eq!(path(Surface::Camunda), "/engine-rest/external-task/t-1/complete");
        assert!(task(Surface::Camunda, b"[]").is_none());
    }
}
