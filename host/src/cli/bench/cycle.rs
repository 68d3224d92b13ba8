//! The requests of a cycle: start an instance, poll a task, complete it. Answers are searched, not parsed: the load
//! shares the machine with what it measures.

use std::io::Result;

use uuid::Uuid;

use super::super::Error;
use super::http::Connection;

/// What workers poll for that start instances themselves; also the workflow's key.
pub(super) const BUSY: &str = "bench";
/// What parked pollers wait for, who start nothing.
pub(super) const PARKED: &str = "bench-parked";
/// What nobody ever makes.
pub(super) const NOTHING: &str = "bench-nothing";

/// Part of each instance's context: with it the payload is about 300 bytes, as in the raw limit.
const NOTE_BYTES: usize = 220;

/// A worker's connection.
pub(super) struct Client {
    connection: Connection,
    start_path: String,
    start_body: String,
    poll_path: String,
}

/// A task in the hands of a worker.
pub(super) struct Task {
    path: String,
    /// Whose it is.
    pub(super) instance: Uuid,
}

impl Client {
    /// Connects the worker of this number to a host, for one kind of task; its polls wait so long.
    pub(super) async fn open(address: &str, kind: &str, number: usize, wait_seconds: u64) -> Result<Self> {
        let note = "x".repeat(NOTE_BYTES);
        Ok(Self {
            connection: Connection::open(address).await?,
            start_path: format!("/api/v1/workflows/{kind}/instances"),
            start_body: format!(r#"{{"context": {{"order": {number}, "note": "{note}"}}}}"#),
            poll_path: format!(
                "/api/n8n/external-tasks/poll?taskType={kind}&workerId={kind}-{number}&waitSeconds={wait_seconds}"
            ),
        })
    }

    /// Starts an instance; its id, or none if it was refused.
    pub(super) async fn start(&mut self) -> Result<Option<Uuid>> {
        let answer = self.connection.send("POST", &self.start_path, &self.start_body).await?;
        Ok((answer.status == 201).then(|| id(&answer.body, "id")).flatten())
    }

    /// Polls; none if nothing came in time.
    pub(super) async fn poll(&mut self) -> Result<Option<Task>> {
        let answer = self.connection.send("GET", &self.poll_path, "").await?;
        Ok(task(&answer.body))
    }

    /// Completes a task; whether it was accepted.
    pub(super) async fn complete(&mut self, task: &Task) -> Result<bool> {
        let answer = self.connection.send("POST", &task.path, r#"{"result": {"receipt": "r-1"}}"#).await?;
        Ok(answer.status == 200)
    }
}

/// Deploys the workflows of the load.
pub(super) async fn deploy(address: &str) -> std::result::Result<(), Error> {
    for kind in [BUSY, PARKED] {
        let failed = |why: String| Error::refused("bench_deploy", format!("{kind} was not deployed: {why}"));
        let mut connection = Connection::open(address).await.map_err(|error| failed(error.to_string()))?;
        let answer = connection.send("POST", "/api/v1/workflows", &workflow(kind)).await;
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        if answer.status >= 300 {
            return Err(failed(String::from_utf8_lossy(&answer.body).into_owned()));
        }
    }
    Ok(())
}

/// One external task, whose result is mapped.
fn workflow(kind: &str) -> String {
    serde_json::json!({ "key": kind, "steps": [{ "id": "work", "type": "EXTERNAL_TASK", "config": {
        "taskType": kind,
        "timeout": "1h",
        "input": { "order": "${workflow.context.order}", "note": "${workflow.context.note}" },
        "outputMapping": { "receipt": "$.result.receipt" },
    } }] })
    .to_string()
}

fn task(body: &[u8]) -> Option<Task> {
    let (id, token) = (text(body, "id")?, text(body, "lockToken")?);
    let path = format!("/api/n8n/external-tasks/{id}/complete?lockToken={token}");
    Some(Task { path, instance: self::id(body, "workflowInstanceId")? })
}

fn id(body: &[u8], name: &str) -> Option<Uuid> {
    Uuid::try_parse(text(body, name)?).ok()
}

/// The first member of this name, if it is text; fit for ids, which have nothing to unescape.
pub(super) fn text<'a>(body: &'a [u8], name: &str) -> Option<&'a str> {
    let body = std::str::from_utf8(body).ok()?;
    let member = format!("\"{name}\":\"");
    let begin = body.find(&member)? + member.len();
    body[begin..].split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_found_in_an_answer() {
        let instance = Uuid::now_v7();
        let body = format!(r#"[{{"id":"t-1","workflowInstanceId":"{instance}","lockToken":"l-1"}}]"#);
        let found = task(body.as_bytes()).unwrap();
        assert_eq!(found.path, "/api/n8n/external-tasks/t-1/complete?lockToken=l-1");
        assert_eq!(found.instance, instance);
        assert!(task(b"[]").is_none());
    }
}
