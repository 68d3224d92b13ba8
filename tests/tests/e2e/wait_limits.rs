//! `wait_events` when something is missing: time-outs, what an operator mends, events that are refused, and triggers.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell::dispatch::events;
use stepwell::dispatch::retention::RetentionOptions;
use stepwell::domain::{Clock as _, TenantId};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, step, until};
use stepwell_tests::on_both_databases;

use super::still::{HOUR_MS, Still};
use super::wait_events::{callback, event, one_wait, wait_of};

/// Two named events; the first is required and the second is not.
fn two(strategy: &str, on_timeout: &str) -> Value {
    json!({
        "events": [
            { "name": "api_response", "source": "callback" },
            { "name": "kafka_event", "source": "kafka", "topic": "t", "required": false },
        ],
        "aggregationStrategy": strategy, "requiredEvents": ["api_response"], "timeout": "1h", "onTimeout": on_timeout,
    })
}

/// Lets the time of a wait pass, if it still waits.
async fn time_out(client: &Client, instance: &str) -> Result<()> {
    let timers = client.get(&format!("/api/v1/timers?instance={instance}")).await?.expect(200)?;
    for timer in
        timers["items"].as_array().context("a list")?.iter().filter(|timer| timer["key"] == "timeout")
    {
        let id = timer["id"].as_str().context("an id")?;
        let fired = client.post(&format!("/api/v1/timers/{id}/fire"), &json!({})).await?;
        assert!(fired.status < 300, "{fired:?}");
    }
    Ok(())
}

async fn the_twelve_cells(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    // Strategy and onTimeout; what becomes of it with nothing, and with the event that is not required.
    let cells = [
        ("all", "fail", "failed", "failed"),
        ("all", "continue", "failed", "failed"),
        ("all", "continue_with_partial", "partial", "partial"),
        ("any", "fail", "failed", "completed"),
        ("any", "continue", "completed", "completed"),
        ("any", "continue_with_partial", "partial", "completed"),
        ("required_only", "fail", "failed", "failed"),
        ("required_only", "continue", "failed", "failed"),
        ("required_only", "continue_with_partial", "partial", "partial"),
        ("custom", "fail", "failed", "failed"),
        ("custom", "continue", "failed", "failed"),
        ("custom", "continue_with_partial", "partial", "partial"),
    ];
    let mut started = Vec::new();
    for (at, (strategy, on_timeout, nothing, optional)) in cells.into_iter().enumerate() {
        let key = format!("w{at}");
        client.deploy(&key, one_wait(&two(strategy, on_timeout))).await?;
        for (with_event, expected) in [(false, nothing), (true, optional)] {
            let id = client.start(&key, json!({})).await?;
            if with_event {
                let body = event(&wait_of(client, &id).await?, &json!({}));
                let told = client.post("/api/v1/events/t", &body).await?.expect(200)?;
                assert_eq!(told["delivered"], 1);
            }
            time_out(client, &id).await?;
            started.push((id, expected, format!("{strategy} {on_timeout} {with_event}")));
        }
    }
    for (id, expected, cell) in started {
        let status = if expected == "failed" { "failed" } else { "completed" };
        let instance = client.instance_is(&id, status).await.context(cell.clone())?;
        let wait = wait_of(client, &id).await?;
        if expected == "failed" {
            assert_eq!(instance["error"]["code"], "wait_timeout", "{cell}");
            assert_eq!(wait["status"], "timeout", "{cell}: {wait}");
        } else {
            let output = &step(&instance, "wait")["output"];
            assert_eq!(output["status"], expected, "{cell}: {output}");
            assert_eq!(output["warning"].is_string(), expected == "partial", "{cell}");
            assert_eq!(wait["warning"].is_string(), expected == "partial", "{cell}: {wait}");
        }
    }
    host.stop().await;
    Ok(())
}

async fn a_wait_that_failed_is_completed_by_hand_or_retried(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let mut config = two("all", "fail");
    config["outputMapping"] = json!({ "answer": "api_response" });
    client.deploy("w", one_wait(&config)).await?;
    let mut dead = Vec::new();
    for _ in 0..2 {
        let id = client.start("w", json!({})).await?;
        callback(client, &event(&wait_of(client, &id).await?, &json!({ "half": true }))).await?;
        time_out(client, &id).await?;
        client.instance_is(&id, "failed").await?;
        dead.push(id);
    }
    let list = client.get("/api/v1/wait-states/dead-letters").await?.expect(200)?;
    assert_eq!(list["items"].as_array().map(Vec::len), Some(2), "{list}");
    assert_eq!(list["items"][0]["apiResponseData"]["half"], true, "with what had come");
    let of = async |id: &str| -> Result<String> {
        Ok(wait_of(client, id).await?["id"].as_str().context("an id")?.to_owned())
    };
    let (first, second) = (of(&dead[0]).await?, of(&dead[1]).await?);
    let path = |id: &str, verb: &str| format!("/api/v1/wait-states/{id}/{verb}");
    let other = client.tenant("other");
    other.post(&path(&first, "complete"), &json!({})).await?.expect_problem(404, "wait_not_found")?;
    let output = json!({ "output": { "api_response": "by hand" } });
    let completed = client.post(&path(&first, "complete"), &output).await?.expect(200)?;
    assert_eq!(completed["status"], "completed");
    let instance = client.instance_is(&dead[0], "completed").await?;
    assert_eq!(instance["context"]["answer"], "by hand", "mapped as always");
    client.post(&path(&first, "retry"), &json!({})).await?.expect_problem(409, "wait_not_dead")?;

    assert_eq!(client.post(&path(&second, "retry"), &json!({})).await?.expect(200)?["status"], "retried");
    let wait = wait_of(client, &dead[1]).await?;
    assert_eq!((&wait["attempt"], &wait["status"]), (&json!(2), &json!("waiting")), "{wait}");
    assert_ne!(wait["id"], json!(second));
    let list = client.get("/api/v1/wait-states/dead-letters").await?.expect(200)?;
    assert_eq!(list["items"], json!([]), "both are off the list");
    host.stop().await;
    Ok(())
}

async fn rejected(client: &Client, reason: &str) -> Result<Value> {
    let list = client.get("/api/v1/events/rejected?limit=200").await?.expect(200)?;
    let found = list["items"].as_array().context("items")?.iter().find(|row| row["reason"] == reason);
    found.cloned().with_context(|| format!("{reason} is not in {list}"))
}

async fn what_is_not_for_a_wait_is_refused_with_its_reason(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let config = json!({
        "kafkaEvent": { "topic": "t", "filter": { "type": "done" } },
        "events": [{ "name": "more", "source": "kafka", "topic": "u" }],
    });
    client.deploy("w", one_wait(&config)).await?;
    let id = client.start("w", json!({})).await?;
    let wait = wait_of(client, &id).await?;
    let good = event(&wait, &json!({ "type": "done" }));
    let with = |field: &str, value: Value| {
        let mut body = good.clone();
        body[field] = value;
        body
    };
    let without = |field: &str| {
        let mut body = good.clone();
        body.as_object_mut().expect("an object").remove(field);
        body
    };
    for (body, reason) in [
        (without("correlation_id"), "missing_correlation_id"),
        (without("execution_id"), "missing_execution_id"),
        (json!({}), "unclaimed"),
        (json!([1, 2]), "unclaimed"),
        (with("correlation_id", json!(7)), "wrong_type"),
        (with("correlation_id", json!(["a"])), "wrong_type"),
        (with("execution_id", json!("nobody")), "unknown_execution"),
        (with("execution_id", json!("0197b1c4-8d7a-7c3e-9a40-2f6f4f0e0a01")), "unknown_execution"),
        (with("type", json!("failed")), "filtered"),
        (with("blob", json!("x".repeat(300_000))), "too_large"),
    ] {
        let told = client.post("/api/v1/events/t", &body).await?.expect(200)?;
        assert_eq!((&told["rejected"], &told["delivered"]), (&json!(reason), &json!(0)), "{told}");
        rejected(client, reason).await?;
    }
    let told = client.post("/api/v1/events/elsewhere", &good).await?.expect(200)?;
    assert_eq!(told["rejected"], "unclaimed", "nobody names the topic");
    let told = client.tenant("other").post("/api/v1/events/t", &good).await?.expect(200)?;
    assert_eq!((&told["rejected"], &told["delivered"]), (&json!("unclaimed"), &json!(0)), "another tenant");
    let told =
        client.tenant("other").post("/api/internal/callbacks/external-service", &good).await?.expect(200)?;
    assert_eq!(told["rejected"], "unknown_execution", "another tenant");
    let told = callback(client, &good).await?;
    assert_eq!(told["rejected"], "not_enabled", "the wait has no callback");
    let path = "/api/internal/callbacks/external-service";
    for body in
        [json!({}), without("correlation_id"), without("execution_id"), with("execution_id", json!(7))]
    {
        client.post(path, &body).await?.expect_problem(400, "invalid_request")?;
    }
    let five =
        json!({ "blob": "x".repeat(5 << 20), "execution_id": id, "correlation_id": wait["correlationId"] });
    client.post("/api/v1/events/t", &five).await?.expect_problem(413, "payload_too_large")?;
    client.post(path, &five).await?.expect_problem(413, "payload_too_large")?;
    let deep = "[".repeat(100) + &"]".repeat(100);
    client.send("POST", "/api/v1/events/t", deep.clone()).await?.expect_problem(400, "json_too_deep")?;
    client.send("POST", path, deep).await?.expect_problem(400, "json_too_deep")?;
    client.send("POST", "/api/v1/events/t", "{").await?.expect_problem(400, "invalid_json")?;
    let long = "t".repeat(300);
    client.post(&format!("/api/v1/events/{long}"), &good).await?.expect_problem(400, "invalid_request")?;
    assert_eq!(wait_of(client, &id).await?["receivedEvents"], json!([]), "nothing of it was matched");
    let metrics = client.get("/metrics").await?.body;
    let text = metrics.as_str().unwrap_or_default();
    assert!(text.contains("stepwell_events_rejected_total{reason=\"filtered\"}"), "{text}");
    assert_eq!(
        client.tenant("other").get("/api/v1/events/rejected").await?.expect(200)?["items"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    assert_eq!(client.post("/api/v1/events/t", &good).await?.expect(200)?["delivered"], 1);
    client.post(&format!("/api/v1/instances/{id}/cancel"), &json!({})).await?;
    until("the wait is cancelled with its instance", async || {
        Ok(wait_of(client, &id).await?["status"] == "cancelled")
    })
    .await?;
    let late = client.post("/api/v1/events/u", &good).await?.expect(200)?;
    assert_eq!(late["rejected"], "wait_over");
    host.stop().await;
    Ok(())
}

/// Waits that ended are forgotten by their age, and those that wait are not.
async fn what_is_old_is_forgotten(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    let wait = one_wait(&two("all", "fail"));
    host.deploy_source("w", &wait).await?;
    let (ended, waits) = (host.start("w", json!({})).await?, host.start("w", json!({})).await?);
    host.node.engine.cancel(&TenantId::default(), ended, "").await?;
    let kept = RetentionOptions { waits_after: Some(Duration::from_secs(24 * 3_600)), ..Default::default() };
    let round = async |options| events::run_once(&host.node.engine, host.clock.now(), Some(options)).await;
    host.clock.turn(24 * HOUR_MS);
    round(kept).await?;
    assert_eq!(db.count("execution_wait_states").await?, 2, "it is not older than that");
    host.clock.turn(1);
    round(RetentionOptions::default()).await?;
    assert_eq!(db.count("execution_wait_states").await?, 2, "for ever, if nothing is said");
    round(kept).await?;
    assert_eq!(db.count("execution_wait_states where status = 'waiting'").await?, 1, "{waits} still waits");
    assert_eq!(db.count("execution_wait_states").await?, 1);
    Ok(())
}

async fn events_start_workflows_once_each(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let source = |filter: &str| {
        format!(
            "triggers:\n  - event: orders\n    id: on-order\n    filter: {{ type: {filter} }}\n    businessKeyField: data.order\n\
             steps:\n  - id: wait\n    type: TIMER\n    config: {{ delay: 1h }}\n"
        )
    };
    client.deploy("w", source("created")).await?;
    let order = json!({ "type": "created", "data": { "order": 7 } });
    let first =
        client.with("idempotency-key", "e-1").post("/api/v1/events/orders", &order).await?.expect(200)?;
    let id = first["started"][0].as_str().context("an instance")?.to_owned();
    let again =
        client.with("idempotency-key", "e-1").post("/api/v1/events/orders", &order).await?.expect(200)?;
    assert_eq!(again["started"], json!([id]), "the same event starts nothing more");
    let other =
        client.with("idempotency-key", "e-2").post("/api/v1/events/orders", &order).await?.expect(200)?;
    assert_ne!(other["started"], json!([id]));
    let instance = client.instance(&id).await?;
    assert_eq!((&instance["businessKey"], &instance["context"]), (&json!("7"), &order));
    let gone = client.post("/api/v1/events/orders", &json!({ "type": "gone" })).await?.expect(200)?;
    assert_eq!((&gone["started"], &gone["rejected"]), (&json!([]), &json!("unclaimed")));
    // A new version's triggers take the place of the old one's.
    client.deploy("w", source("gone")).await?;
    assert_eq!(client.post("/api/v1/events/orders", &order).await?.expect(200)?["started"], json!([]));
    let gone = client.post("/api/v1/events/orders", &json!({ "type": "gone" })).await?.expect(200)?;
    assert_eq!(gone["started"].as_array().map(Vec::len), Some(1), "{gone}");
    let tenant = client
        .tenant("other")
        .post("/api/v1/events/orders", &json!({ "type": "gone" }))
        .await?
        .expect(200)?;
    assert_eq!(tenant["started"], json!([]));
    for (line, sentence) in [
        ("event: ''", "`event` is a topic"),
        ("event:", "`event` is empty"),
        ("{ event: t, filter: 7 }", "`filter` is an object"),
        ("{ event: t, cron: '@daily' }", "cannot stand beside"),
        ("{ event: t, fitler: {} }", "fitler"),
    ] {
        let source = format!(
            "triggers:\n  - {line}\nsteps:\n  - id: a\n    type: TIMER\n    config: {{ delay: 1h }}\n"
        );
        let problem = client
            .send("POST", "/api/v1/workflows?key=bad", source)
            .await?
            .expect_problem(400, "definition_invalid")?;
        assert!(problem["errors"].to_string().contains(sentence), "{line}: {problem}");
    }
    host.stop().await;
    Ok(())
}

on_both_databases!(
    the_twelve_cells,
    a_wait_that_failed_is_completed_by_hand_or_retried,
    what_is_not_for_a_wait_is_refused_with_its_reason,
    what_is_old_is_forgotten,
    events_start_workflows_once_each,
);
