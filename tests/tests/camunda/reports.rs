//! complete, failure and bpmnError: who may, and what comes of it.

use anyhow::Result;
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task, until};

use crate::support::{fetch, fetch_one, get, id, path, post, put, refused};

/// A worker whose lock has run out may finish, as long as nobody else has taken the task.
async fn an_expired_lock_does_not_cost_the_result(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    let instance = client.start("flow", json!({})).await?;
    let topics = json!([{ "topicName": "t", "lockDuration": 1 }]);
    let tasks =
        crate::support::fetch_topics(client, "slow", topics, json!({ "asyncResponseTimeout": 60_000 }))
            .await?;
    let task = id(&tasks[0]).to_owned();
    until("the lock has run out", async || {
        Ok(get(client, &format!("/external-task/count?notLocked=true&externalTaskId={task}")).await?["count"]
            == 1)
    })
    .await?;
    until("it is offered again", async || Ok(client.task(&json!(task)).await?["status"] == "PENDING"))
        .await?;
    refused(
        post(client, &format!("/external-task/{task}/complete"), &json!({ "workerId": "other" })).await?,
        400,
        "RestException",
        &format!(
            "External Task {task} cannot be completed by worker 'other'. It is locked by worker 'slow'."
        ),
    )?;
    post(client, &format!("/external-task/{task}/complete"), &json!({ "workerId": "slow" }))
        .await?
        .expect(204)?;
    client.instance_is(&instance, "completed").await?;
    // A repeat after a lost answer; but to others the task is gone.
    post(client, &format!("/external-task/{task}/complete"), &json!({ "workerId": "slow" }))
        .await?
        .expect(204)?;
    refused(
        post(client, &format!("/external-task/{task}/complete"), &json!({ "workerId": "other" })).await?,
        404,
        "RestException",
        &format!("External task with id {task} does not exist"),
    )?;
    host.stop().await;
    Ok(())
}

/// A failure's retries and wait are the worker's to decide.
async fn a_failure_is_a_lock_until_the_retry(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    let instance = client.start("flow", json!({})).await?;
    let task = fetch_one(client, "t", "w").await?;
    assert_eq!(task["retries"], json!(null));
    let task = id(&task).to_owned();
    let none = client.get(&path(&format!("/external-task/{task}/errorDetails"))).await?;
    assert_eq!((none.status, &none.body), (204, &json!(null)), "there are no details yet");
    let failure = json!({
        "workerId": "w", "errorMessage": "x".repeat(700), "errorDetails": "a stack", "retries": 5, "retryTimeout": 600_000,
        "variables": { "tried": { "value": true } }, "localVariables": { "mine": { "value": 7, "type": "Long" } },
    });
    post(client, &format!("/external-task/{task}/failure"), &failure).await?.expect(204)?;
    let shown = get(client, &format!("/external-task/{task}")).await?;
    assert_eq!((&shown["retries"], &shown["workerId"]), (&json!(5), &json!("w")));
    assert_eq!(shown["errorMessage"].as_str().map(str::len), Some(666));
    assert!(shown["lockExpirationTime"].as_str().is_some_and(|at| at.ends_with("+0000")), "{shown}");
    let details = client.get(&path(&format!("/external-task/{task}/errorDetails"))).await?;
    assert_eq!(details.headers["content-type"], "text/plain");
    assert_eq!(details.expect(200)?, "a stack");
    assert!(fetch(client, "t", "w").await?.is_empty(), "the wait is not over");
    // Whoever takes the lock away ends the wait.
    client.send("POST", &path(&format!("/external-task/{task}/unlock")), "").await?.expect(204)?;
    let again = fetch_one(client, "t", "w").await?;
    assert_eq!((&again["retries"], &again["errorDetails"]), (&json!(5), &json!("a stack")));
    assert_eq!(again["variables"]["tried"], json!({ "type": "Boolean", "value": true, "valueInfo": {} }));
    assert_eq!(again["variables"]["mine"], json!({ "type": "Long", "value": 7, "valueInfo": {} }));
    // The details of the failure before stay if the next one has none.
    let next = json!({ "workerId": "w", "errorMessage": "no", "retries": 1 });
    post(client, &format!("/external-task/{task}/failure"), &next).await?.expect(204)?;
    assert_eq!(get(client, &format!("/external-task/{task}/errorDetails")).await?, "a stack");
    client.instance_is(&instance, "waiting").await?;
    host.stop().await;
    Ok(())
}

/// Without retries there is an incident, which new retries end, and which an operator may also accept.
async fn giving_up_is_an_incident(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    let instance = client.start("flow", json!({})).await?;
    let task = id(&fetch_one(client, "t", "w").await?).to_owned();
    let failure = format!("/external-task/{task}/failure");
    let retries = format!("/external-task/{task}/retries");
    // `retries` is 0 if it is absent.
    post(client, &failure, &json!({ "workerId": "w", "errorMessage": "no" })).await?.expect(204)?;
    client.instance_is(&instance, "incident").await?;
    assert_eq!(get(client, &format!("/external-task/{task}")).await?["retries"], 0);
    assert_eq!(get(client, "/incident/count").await?["count"], 1);
    let incident = get(client, "/incident").await?[0].clone();
    assert_eq!((&incident["configuration"], &incident["incidentMessage"]), (&json!(task), &json!("no")));
    assert_eq!(
        (&incident["processDefinitionId"], &incident["processInstanceId"]),
        (&json!("flow:1"), &json!(instance))
    );
    assert!(fetch(client, "t", "w").await?.is_empty());
    assert_eq!(client.get("/api/v1/dead-letters").await?.expect(200)?["items"][0]["id"], task);
    put(client, &retries, &json!({ "retries": 2 })).await?.expect(204)?;
    client.instance_is(&instance, "waiting").await?;
    assert_eq!(get(client, "/incident/count").await?["count"], 0);
    let again = fetch_one(client, "t", "w").await?;
    assert_eq!((id(&again), &again["retries"]), (task.as_str(), &json!(2)));
    // Setting none gives it up, too; then an operator lets the failure have its way.
    put(client, &retries, &json!({ "retries": 0 })).await?.expect(204)?;
    client.instance_is(&instance, "incident").await?;
    let incident = client.get("/api/v1/incidents").await?.expect(200)?["items"][0]["id"].clone();
    let resume = format!("/api/v1/incidents/{}/resume", incident.as_str().unwrap_or_default());
    let resumed = client.post(&resume, &json!({})).await?;
    assert!((200..300).contains(&resumed.status), "{}", resumed.body);
    client.instance_is(&instance, "failed").await?;
    host.stop().await;
    Ok(())
}

/// Who does not hold a task that was given up changes nothing; and its own worker may say the same again.
async fn what_was_given_up_is_not_for_others_to_revive(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    let instance = client.start("flow", json!({})).await?;
    let task = id(&fetch_one(client, "t", "w").await?).to_owned();
    let failure = json!({ "workerId": "w", "errorMessage": "no use", "retries": 0 });
    let report = format!("/external-task/{task}/failure");
    post(client, &report, &failure).await?.expect(204)?;
    client.instance_is(&instance, "incident").await?;
    let before = client.task(&json!(task)).await?;
    let complete = format!("/external-task/{task}/complete");
    assert_eq!(post(client, &complete, &json!({ "workerId": "thief" })).await?.status, 400);
    post(client, &report, &failure).await?.expect(204)?;
    assert_eq!(client.task(&json!(task)).await?, before, "nothing was changed");
    client.instance_is(&instance, "incident").await?;
    post(client, &complete, &json!({ "workerId": "w" })).await?.expect(204)?;
    client.instance_is(&instance, "completed").await?;
    host.stop().await;
    Ok(())
}

/// A business error goes to `onError` by its code; one that nobody handles ends its path and fails nothing.
async fn a_business_error_is_for_on_error(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let flow = "
steps:
  - { id: pay, type: EXTERNAL_TASK, config: { taskType: pay }, onError: { POOR: remind } }
  - { id: remind, type: EXTERNAL_TASK, config: { taskType: remind, input: { why: '${steps.pay.error.message}' } } }
  - { id: ship, type: EXTERNAL_TASK, config: { taskType: ship }, dependsOn: [pay] }
";
    client.deploy("flow", flow).await?;
    let handled = client.start("flow", json!({})).await?;
    let task = id(&fetch_one(client, "pay", "w").await?).to_owned();
    let error = json!({
        "workerId": "w", "errorCode": "POOR", "errorMessage": "no money", "variables": { "sum": { "value": 3 } },
    });
    post(client, &format!("/external-task/{task}/bpmnError"), &error).await?.expect(204)?;
    let remind = fetch_one(client, "remind", "w").await?;
    assert_eq!(remind["variables"]["why"]["value"], "no money");
    assert_eq!(remind["variables"]["sum"]["value"], 3);
    assert!(fetch(client, "ship", "w").await?.is_empty());
    let done = format!("/external-task/{}/complete", id(&remind));
    post(client, &done, &json!({ "workerId": "w" })).await?.expect(204)?;
    client.instance_is(&handled, "completed").await?;

    let unhandled = client.start("flow", json!({})).await?;
    let task = id(&fetch_one(client, "pay", "w").await?).to_owned();
    let error = json!({ "workerId": "w", "errorCode": "OTHER" });
    post(client, &format!("/external-task/{task}/bpmnError"), &error).await?.expect(204)?;
    client.instance_is(&unhandled, "completed").await?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    an_expired_lock_does_not_cost_the_result,
    a_failure_is_a_lock_until_the_retry,
    giving_up_is_an_incident,
    what_was_given_up_is_not_for_others_to_revive,
    a_business_error_is_for_on_error,
);
