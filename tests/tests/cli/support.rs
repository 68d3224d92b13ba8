//! What several of these tests do.

use serde_json::{Value, json};
use stepwell_tests::command::{Host, eventually, http, source_root};

/// The task type of the Jira workflow.
pub const TASK_TYPE: &str = "n8n-jira-create-ticket";

/// A folder of its own.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder can be made")
}

/// The path of a file of the source tree.
pub fn source(path: &str) -> String {
    source_root().join(path).to_str().expect("a path of letters").to_owned()
}

/// Deploys the Jira workflow and starts an instance; its id.
pub async fn start_jira(host: &Host) -> String {
    host.cli(&["workflow", "deploy", &source("examples/jira/workflow.yaml"), "--key", "jira"]).await.exits(0);
    start_again(host).await
}

/// Starts one more instance of it.
pub async fn start_again(host: &Host) -> String {
    let context = format!("@{}", source("examples/jira/context.json"));
    let started = host.cli_json(&["instance", "start", "jira", "--context", &context]).await;
    started["id"].as_str().expect("the answer has an id").to_owned()
}

/// Takes one task, by HTTP.
pub async fn poll(url: &str) -> Value {
    eventually("a task", || async {
        let path =
            format!("{url}/api/n8n/external-tasks/poll?taskType={TASK_TYPE}&workerId=w1&waitSeconds=5");
        let answer = http().get(path).send().await.ok()?;
        if answer.status() != 200 {
            return None;
        }
        let tasks: Value = answer.json().await.ok()?;
        tasks.get(0).cloned()
    })
    .await
}

/// Completes a task, by HTTP, until the host has taken it.
pub async fn complete(url: &str, task: &str) {
    eventually("the completion", || async {
        let path = format!("{url}/api/n8n/external-tasks/{task}/complete");
        let body =
            json!({ "result": { "ticketId": "PROJ-7", "url": "https://jira.example.com/browse/PROJ-7" } });
        let answer = http().post(path).json(&body).send().await.ok()?;
        (answer.status() == 200).then_some(())
    })
    .await;
}

/// The instance, once it is in this state.
pub async fn instance_in(url: &str, id: &str, status: &str) -> Value {
    eventually(&format!("instance {id} to be {status}"), || async {
        let answer = http().get(format!("{url}/api/v1/instances/{id}")).send().await.ok()?;
        let instance: Value = answer.json().await.ok()?;
        (instance["status"] == status).then_some(instance)
    })
    .await
}
