//! An instance that fails undoes what it has done, the last thing first, and stops what it was about to do.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell::domain::address::AllowHosts;
use stepwell_tests::db::TestDb;
use stepwell_tests::endpoint::{Endpoint, Reply};
use stepwell_tests::guests;
use stepwell_tests::host::{Client, Host, step, until};
use tokio::sync::Notify;

/// A trip: two bookings, each with its undoing, a payment beside a timer.
const TRIP: &str = r#"
steps:
  - { id: hotel, type: EXTERNAL_TASK, config: { taskType: hotel }, compensate: leave-hotel }
  - { id: flight, type: EXTERNAL_TASK, config: { taskType: flight }, compensate: leave-flight }
  - { id: remind, type: TIMER, dependsOn: [flight], config: { delay: 2h } }
  - { id: pay, type: EXTERNAL_TASK, dependsOn: [flight], config: { taskType: pay, retries: 1 } }
  - { id: thank, type: EXTERNAL_TASK, dependsOn: [remind, pay], config: { taskType: thank } }
  - id: leave-hotel
    type: EXTERNAL_TASK
    config: { taskType: leave-hotel, input: { room: "${steps.hotel.output.room}" } }
  - id: leave-flight
    type: EXTERNAL_TASK
    config: { taskType: leave-flight, retries: 1, input: { seat: "${steps.flight.output.seat}" } }
"#;

async fn book(client: &Client) -> Result<String> {
    let id = client.start("trip", json!({})).await?;
    client.work("hotel", &json!({ "room": 7 })).await?;
    client.work("flight", &json!({ "seat": "12A" })).await?;
    Ok(id)
}

async fn fail(client: &Client, task_type: &str, message: &str) -> Result<Value> {
    let task = client.poll(task_type, "w").await?;
    let body = json!({ "message": message, "code": "BAD", "noRetry": true });
    client.report(&task, "fail", &body).await?.expect(200)
}

async fn nobody_waits_for(client: &Client, task_type: &str) -> Result<bool> {
    Ok(client.poll_with(&format!("taskType={task_type}&waitSeconds=0")).await?.is_empty())
}

/// What ended last is undone first, one after the other; what was open is stopped, timers too.
async fn what_was_done_is_undone(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("trip", TRIP).await?;
    let id = book(client).await?;
    assert_eq!(db.count("workflow_timers where not triggered").await?, 1);
    let dead = fail(client, "pay", "no money").await?;

    let instance = client.instance(&id).await?;
    assert_eq!((&instance["status"], &instance["error"]["message"]), (&json!("waiting"), &json!("no money")));
    assert_eq!(step(&instance, "remind")["status"], "cancelled");
    assert_eq!(db.count("workflow_timers where not triggered").await?, 0, "its timer is cancelled with it");
    assert!(nobody_waits_for(client, "leave-hotel").await?, "its turn has not come");
    let retry = format!("/api/v1/dead-letters/{}/retry", dead["id"].as_str().context("an id")?);
    client.post(&retry, &json!({})).await?.expect_problem(409, "dead_letter_settled")?;

    let flight = client.poll("leave-flight", "w").await?;
    assert_eq!(flight["input"], json!({ "seat": "12A" }));
    client.complete(&flight, &json!({})).await?;
    let hotel = client.poll("leave-hotel", "w").await?;
    assert_eq!(hotel["input"], json!({ "room": 7 }));
    client.complete(&hotel, &json!({})).await?;
    let instance = client.instance_is(&id, "failed").await?;
    assert_eq!(instance["error"]["message"], "no money", "why it failed, not what came after");
    assert!(nobody_waits_for(client, "thank").await?);
    client.post(&retry, &json!({})).await?.expect_problem(409, "dead_letter_settled")?;

    let lines = client.get(&format!("/api/v1/instances/{id}/timeline")).await?.expect(200)?;
    let undone: Vec<&Value> =
        lines["items"].as_array().context("lines")?.iter().filter(|l| l["kind"] == "compensation").collect();
    assert_eq!(undone.iter().map(|line| &line["stepId"]).collect::<Vec<_>>(), ["flight", "hotel"]);
    host.stop().await;
    Ok(())
}

/// Only what has completed is undone, and undoing that fails keeps nothing else from being undone.
async fn a_failure_of_undoing_stops_nothing(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("trip", TRIP).await?;
    let early = client.start("trip", json!({})).await?;
    fail(client, "hotel", "full").await?;
    let instance = client.instance_is(&early, "failed").await?;
    assert_eq!(instance["error"]["message"], "full", "there was nothing to undo");

    let id = book(client).await?;
    fail(client, "pay", "no money").await?;
    fail(client, "leave-flight", "not refundable").await?;
    client.work("leave-hotel", &json!({})).await?;
    let instance = client.instance_is(&id, "failed").await?;
    assert_eq!(instance["error"]["message"], "no money");
    assert_eq!(step(&instance, "leave-flight")["error"]["message"], "not refundable");
    assert_eq!(step(&instance, "leave-hotel")["status"], "completed");
    host.stop().await;
    Ok(())
}

/// Undoing that failed is tried again by an operator: while the rest is undone, and when all of it is over.
async fn undoing_that_failed_is_retried(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("trip", TRIP).await?;
    let id = book(client).await?;
    fail(client, "pay", "no money").await?;
    let letter = fail(client, "leave-flight", "not refundable").await?;
    let retry = format!("/api/v1/dead-letters/{}/retry", letter["id"].as_str().context("an id")?);
    client.post(&retry, &json!({})).await?.expect(200)?;
    fail(client, "leave-flight", "still not").await?;
    client.work("leave-hotel", &json!({})).await?;
    client.instance_is(&id, "failed").await?;

    client.post(&retry, &json!({})).await?.expect(200)?;
    let instance = client.instance_is(&id, "waiting").await?;
    assert_eq!(instance["error"]["message"], "no money", "{instance}");
    client.work("leave-flight", &json!({})).await?;
    let instance = client.instance_is(&id, "failed").await?;
    assert_eq!(instance["error"]["message"], "no money", "{instance}");
    assert_eq!(step(&instance, "leave-flight")["status"], "completed");
    assert_eq!(step(&instance, "remind")["status"], "cancelled", "nothing else begins again");
    host.stop().await;
    Ok(())
}

/// An instance that ends well or is cancelled undoes nothing; one that is cancelled while it undoes stops there.
async fn success_and_cancellation_undo_nothing(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let source = TRIP.replace("delay: 2h", "delay: 1ms");
    client.deploy("trip", source).await?;
    let well = book(client).await?;
    client.work("pay", &json!({})).await?;
    client.work("thank", &json!({})).await?;
    client.instance_is(&well, "completed").await?;

    let cancelled = book(client).await?;
    let cancel = |id: &str| format!("/api/v1/instances/{id}/cancel");
    client.post(&cancel(&cancelled), &json!({ "reason": "ill" })).await?.expect(204)?;
    client.instance_is(&cancelled, "cancelled").await?;
    assert!(nobody_waits_for(client, "leave-flight").await?);

    let stopped = book(client).await?;
    fail(client, "pay", "no money").await?;
    let undoing = client.poll("leave-flight", "w").await?;
    client.post(&cancel(&stopped), &json!({})).await?.expect(204)?;
    client.instance_is(&stopped, "cancelled").await?;
    assert_eq!(client.task(&undoing["id"]).await?["status"], "CANCELLED");
    assert!(nobody_waits_for(client, "leave-hotel").await?);
    host.stop().await;
    Ok(())
}

/// An instance that is late undoes, too, and takes the time that it needs for that.
async fn a_deadline_of_the_instance_undoes(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("trip", format!("deadline: {{ after: 500ms, error: late }}{TRIP}")).await?;
    let id = book(client).await?;
    client.work("leave-flight", &json!({})).await?;
    client.work("leave-hotel", &json!({})).await?;
    let instance = client.instance_is(&id, "failed").await?;
    assert_eq!(instance["error"]["code"], "late");
    assert_eq!(db.count("workflow_timers where not triggered").await?, 0);
    host.stop().await;
    Ok(())
}

/// A request of a step that is stopped is not tried again: it was not done, so nobody would undo it.
async fn what_was_not_sent_stays_unsent(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    let gate = Arc::new(Notify::new());
    endpoint.reply("/charge", vec![Reply::new(503, "").behind(&gate), Reply::new(200, "")]);
    let allowed = AllowHosts::parse(&format!("127.0.0.1:{}", endpoint.port())).map_err(anyhow::Error::msg)?;
    let host = Host::start_with(&db, |settings| settings.allow_hosts = allowed).await?;
    let client = &host.client;
    let charge = json!({
        "apiCall": { "enabled": true, "url": endpoint.url("/charge"), "method": "POST" },
        "kafkaEvent": { "enabled": true, "topic": "charged" },
    });
    let task = |id: &str| json!({ "id": id, "type": "EXTERNAL_TASK", "config": { "taskType": id } });
    let (mut book, mut check) = (task("book"), task("check"));
    (book["compensate"], check["dependsOn"]) = (json!("unbook"), json!(["book"]));
    let charge = json!({ "id": "charge", "type": "wait_events", "dependsOn": ["book"], "config": charge });
    let source = json!({ "steps": [book, check, charge, task("unbook")] });
    client.deploy("w", source.to_string()).await?;
    let id = client.start("w", json!({})).await?;
    client.work("book", &json!({})).await?;
    endpoint.wait_for("/charge", 1).await?;
    fail(client, "check", "fraud").await?;
    gate.notify_one();
    until("nothing waits to be sent", async || Ok(db.count("workflow_outbox").await? == 0)).await?;
    assert_eq!(endpoint.received("/charge").len(), 1);
    client.work("unbook", &json!({})).await?;
    client.instance_is(&id, "failed").await?;
    host.stop().await;
    Ok(())
}

/// What is held by an incident when the instance fails is let go with it.
async fn incidents_end_with_what_is_stopped(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    host.add_plugin("MOODY", &guests::moody_broken()).await?;
    let source = "steps:
  - { id: a, type: EXTERNAL_TASK, config: { taskType: a }, compensate: undo-a }
  - { id: held, type: MOODY, dependsOn: [a] }
  - { id: b, type: EXTERNAL_TASK, dependsOn: [a], config: { taskType: b } }
  - { id: undo-a, type: EXTERNAL_TASK, config: { taskType: undo-a } }
";
    client.deploy("w", source).await?;
    let id = client.start("w", json!({})).await?;
    client.work("a", &json!({})).await?;
    client.work("moody", &json!({})).await?;
    client.instance_is(&id, "incident").await?;
    assert_eq!(db.count("workflow_events").await?, 1, "what it did not take is kept");
    fail(client, "b", "bad").await?;
    let instance = client.instance_is(&id, "waiting").await?;
    assert_eq!(step(&instance, "held")["status"], "cancelled");
    assert_eq!(db.count("workflow_incidents where resolved_at is null").await?, 0);
    assert_eq!(db.count("workflow_events").await?, 0);
    client.work("undo-a", &json!({})).await?;
    client.instance_is(&id, "failed").await?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    what_was_done_is_undone,
    a_failure_of_undoing_stops_nothing,
    undoing_that_failed_is_retried,
    success_and_cancellation_undo_nothing,
    a_deadline_of_the_instance_undoes,
    what_was_not_sent_stays_unsent,
    incidents_end_with_what_is_stopped,
);
