//! `wait_events`: a service is called, and its answer and an event come in any order, on either host.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell::domain::address::AllowHosts;
use stepwell_tests::db::TestDb;
use stepwell_tests::endpoint::{Endpoint, Reply};
use stepwell_tests::host::{Client, Host, step, until};
use stepwell_tests::on_both_databases;

/// A host that may reach an endpoint of loopback.
pub async fn host(db: &TestDb, endpoint: &Endpoint) -> Result<Host> {
    let list = AllowHosts::parse(&format!("127.0.0.1:{}", endpoint.port())).map_err(anyhow::Error::msg)?;
    Host::start_with(db, |settings| settings.allow_hosts = list).await
}

/// A workflow of one wait.
pub fn one_wait(config: &Value) -> String {
    json!({ "nodes": [{ "id": "wait", "type": "wait_events", "data": config }] }).to_string()
}

/// The wait of an instance.
pub async fn wait_of(client: &Client, instance: &str) -> Result<Value> {
    let found = client.get(&format!("/api/v1/wait-states?instance={instance}")).await?.expect(200)?;
    found["items"].get(0).cloned().context("a wait")
}

/// The body of an event that is for a wait.
pub fn event(wait: &Value, more: &Value) -> Value {
    let mut body = json!({ "execution_id": wait["executionId"], "correlation_id": wait["correlationId"] });
    body.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    body
}

pub async fn callback(client: &Client, body: &Value) -> Result<Value> {
    client.post("/api/internal/callbacks/external-service", body).await?.expect(200)
}

async fn both_come_in_any_order(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    let host = host(&db, &endpoint).await?;
    let client = host.client.with("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let config = json!({
        "apiCall": {
            "enabled": true, "url": endpoint.url("/api/action"), "method": "POST",
            "headers": { "Authorization": "Bearer @{_vars.token}", "Content-Type": "application/json" },
            "body": {
                "action": "@{_trigger.action}", "data": "@{_trigger.data}", "execution_id": "@{_execution.id}",
                "correlation_id": "@{_execution.correlationId}",
            },
            "correlationIdField": "correlation_id", "correlationIdHeader": "X-Correlation-Id",
            "timeout": 300, "required": true,
        },
        "kafkaEvent": {
            "enabled": true, "topic": "external-service.events", "correlationIdField": "correlation_id",
            "executionIdField": "execution_id", "filter": { "event_type": "action.completed" },
            "timeout": 300, "required": true,
        },
        "aggregationStrategy": "all", "requiredEvents": ["api_response", "kafka_event"], "timeout": 300,
        "onTimeout": "fail",
        "outputMapping": { "apiResponse": "api_response", "kafkaEvent": "kafka_event" },
    });
    let source = json!({ "variables": { "token": "t-1" },
        "nodes": [{ "id": "wait", "type": "wait_events", "data": config }] });
    client.deploy("w", source.to_string()).await?;
    for (round, api_first) in [true, false].into_iter().enumerate() {
        let id = client.start("w", json!({ "action": "go", "data": { "n": round } })).await?;
        let request = endpoint.wait_for("/api/action", round + 1).await?.pop().context("a request")?;
        let sent: Value = serde_json::from_str(&request.body)?;
        let wait = wait_of(&client, &id).await?;
        assert_eq!(sent["execution_id"], json!(id));
        assert_eq!(sent["correlation_id"], wait["correlationId"]);
        assert_eq!((&sent["action"], &sent["data"]["n"]), (&json!("go"), &json!(round)));
        assert_eq!(request.headers["x-execution-id"], id);
        assert_eq!(json!(request.headers["x-correlation-id"]), wait["correlationId"]);
        assert_eq!(request.headers["authorization"], "Bearer t-1");
        assert!(request.headers["traceparent"].contains("0af7651916cd43dd8448eb211c80319c"), "one trace");
        assert_eq!(
            (&wait["status"], &wait["enabledEvents"]),
            (&json!("waiting"), &json!(["api_response", "kafka_event"]))
        );
        assert_eq!((&wait["apiCallEnabled"], &wait["kafkaEventEnabled"]), (&json!(true), &json!(true)));

        let answer = event(&wait, &json!({ "result": "fine" }));
        let done = event(&wait, &json!({ "event_type": "action.completed", "n": 7 }));
        let deliver = async |api: bool| match api {
            true => callback(&client, &answer).await,
            false => client.post("/api/v1/events/external-service.events", &done).await?.expect(200),
        };
        assert_eq!(deliver(api_first).await?["delivered"], 1);
        assert_eq!(deliver(api_first).await?["repeated"], 1, "a repeat changes nothing");
        let half = wait_of(&client, &id).await?;
        let first = if api_first { "api_response" } else { "kafka_event" };
        assert_eq!((&half["status"], &half["receivedEvents"]), (&json!("waiting"), &json!([first])));
        assert_eq!(client.instance(&id).await?["status"], "waiting");
        assert_eq!(deliver(!api_first).await?["delivered"], 1);
        let instance = client.instance_is(&id, "completed").await?;
        assert_eq!(instance["context"]["apiResponse"], answer);
        assert_eq!(instance["context"]["kafkaEvent"], done);
        let whole = wait_of(&client, &id).await?;
        assert_eq!(whole["status"], "completed");
        assert_eq!((&whole["apiResponseData"], &whole["kafkaEventData"]), (&answer, &done));
        assert!(whole["resumedAt"].is_string() && whole["resumedBy"].is_string(), "{whole}");
        assert_eq!(whole["version"], 3, "made, one event, the other");
        assert_eq!(deliver(api_first).await?["repeated"], 1, "also after the end");
    }
    assert_eq!(db.count("workflow_timers").await?, 0, "the time-out goes with the wait");
    host.stop().await;
    Ok(())
}

async fn the_response_itself_counts_if_the_node_says_so(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    endpoint.reply("/now", vec![Reply::new(503, ""), Reply::new(200, r#"{"id":7}"#)]);
    endpoint.reply("/never", vec![Reply::new(404, "no")]);
    let host = host(&db, &endpoint).await?;
    let config = |path: &str| json!({ "apiCall": { "url": endpoint.url(path), "response": "sync", "retry": { "initialMs": 20, "maxMs": 40 } } });
    host.client.deploy("now", one_wait(&config("/now"))).await?;
    let id = host.client.start("now", json!({})).await?;
    let instance = host.client.instance_is(&id, "completed").await?;
    assert_eq!(step(&instance, "wait")["output"]["api_response"], json!({ "id": 7 }));
    assert_eq!(endpoint.received("/now").len(), 2, "tried again");
    host.client.deploy("never", one_wait(&config("/never"))).await?;
    let id = host.client.start("never", json!({})).await?;
    let instance = host.client.instance_is(&id, "failed").await?;
    assert_eq!(instance["error"]["code"], "api_call_failed");
    assert_eq!(wait_of(&host.client, &id).await?["status"], "failed");
    host.stop().await;
    Ok(())
}

async fn two_hosts_resume_once(db: TestDb) -> Result<()> {
    let one = Host::start_with(&db, |settings| settings.node_id = "one".into()).await?;
    let config = json!({
        "events": [{ "name": "a", "source": "callback" }, { "name": "b", "source": "kafka", "topic": "t" }],
    });
    one.client.deploy("w", one_wait(&config)).await?;
    let two = if db.is_postgres() {
        Some(Host::start_with(&db, |settings| settings.node_id = "two".into()).await?)
    } else {
        None
    };
    let other = two.as_ref().map_or(&one.client, |two| &two.client);
    for _ in 0..10 {
        let id = one.client.start("w", json!({})).await?;
        let wait = wait_of(&one.client, &id).await?;
        let body = event(&wait, &json!({ "x": 1 }));
        let (first, second, third, fourth) = tokio::join!(
            callback(&one.client, &body),
            other.post("/api/v1/events/t", &body),
            callback(other, &body),
            one.client.post("/api/v1/events/t", &body),
        );
        let delivered = |answer: &Value| answer["delivered"].as_u64().unwrap_or(0);
        let callbacks = delivered(&first?) + delivered(&third?);
        let events = delivered(&second?.expect(200)?) + delivered(&fourth?.expect(200)?);
        assert_eq!((callbacks, events), (1, 1), "each event is taken once");
        let instance = one.client.instance_is(&id, "completed").await?;
        let attempts = step(&instance, "wait")["attempt"].clone();
        assert_eq!(attempts, 1);
        let whole = wait_of(&one.client, &id).await?;
        assert!(["one", "two"].contains(&whole["resumedBy"].as_str().unwrap_or_default()), "{whole}");
        // Events that meet on one host may be one commit.
        assert!(whole["version"] == 2 || whole["version"] == 3, "{whole}");
    }
    if let Some(two) = two {
        two.stop().await;
    }
    one.stop().await;
    Ok(())
}

async fn a_token_is_enough_and_a_signature_is_checked(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    let host = host(&db, &endpoint).await?;
    let client = &host.client;
    let secret = json!({ "value": "shared-key-1", "hosts": ["unused.example"] });
    client.send("PUT", "/api/v1/secrets/HOOK", secret.to_string()).await?.expect(201)?;
    let config = json!({
        "apiCall": {
            "url": endpoint.url("/job"), "body": { "callback": "https://me.example@{_execution.callbackPath}" },
            "hmac": { "secret": "${secrets.HOOK}", "header": "X-Hub-Signature" },
        },
        "events": [{ "name": "paid", "source": "callback" }],
    });
    client.deploy("w", one_wait(&config)).await?;
    let id = client.start("w", json!({})).await?;
    let request = endpoint.wait_for("/job", 1).await?.remove(0);
    let sent: Value = serde_json::from_str(&request.body)?;
    let address = sent["callback"].as_str().context("an address")?;
    let path = address.strip_prefix("https://me.example").context("a path")?.to_owned();
    let body = r#"{"answer": 42}"#;
    let path_of = |event: &str| format!("{path}?event={event}");
    client.send("POST", &path_of("api_response"), body).await?.expect_problem(401, "bad_signature")?;
    let with = |value: &str| client.with("x-hub-signature", value);
    with("sha256=00")
        .send("POST", &path_of("api_response"), body)
        .await?
        .expect_problem(401, "bad_signature")?;
    let proof =
        stepwell::domain::id::hex(&stepwell::engine::keyring::authenticate(b"shared-key-1", body.as_bytes()));
    let other = r#"{"answer": 43}"#;
    with(&proof).send("POST", &path_of("api_response"), other).await?.expect_problem(401, "bad_signature")?;
    assert_eq!(wait_of(client, &id).await?["receivedEvents"], json!([]));
    let signed =
        with(&format!("sha256={proof}")).send("POST", &path_of("api_response"), body).await?.expect(200)?;
    assert_eq!(signed["delivered"], 1, "{signed}");
    let unknown = client.send("POST", &path_of("nothing"), body).await?.expect(200)?;
    assert_eq!(unknown["rejected"], "not_enabled");
    let broken = format!("{}x", path);
    client.send("POST", &broken, body).await?.expect_problem(404, "callback_not_found")?;
    client.send("POST", "/api/v1/callbacks/a.b.c", body).await?.expect_problem(404, "callback_not_found")?;
    client.send("POST", &path_of("paid"), "7").await?.expect(200)?;
    let instance = client.instance_is(&id, "completed").await?;
    let output = &step(&instance, "wait")["output"];
    assert_eq!((&output["api_response"], &output["paid"]), (&json!({ "answer": 42 }), &json!(7)));
    host.stop().await;
    Ok(())
}

async fn an_event_that_comes_early_is_kept_for_its_wait(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let source = json!({ "steps": [
        { "id": "work", "type": "EXTERNAL_TASK", "config": { "taskType": "t" } },
        { "id": "wait", "type": "wait_events", "config": {
            "correlationId": "${workflow.context.order}", "kafkaEvent": { "topic": "orders", "correlationIdField": "order" },
            "events": [{ "name": "called", "source": "callback" }] } },
    ] });
    client.deploy("w", source.to_string()).await?;
    let id = client.start("w", json!({ "order": "o-7" })).await?;
    let early = json!({ "execution_id": id, "order": "o-7", "n": 1 });
    let kept = client.post("/api/v1/events/orders", &early).await?.expect(200)?;
    assert_eq!((&kept["kept"], &kept["delivered"]), (&json!(1), &json!(0)));
    let kept = callback(client, &json!({ "execution_id": id, "correlation_id": "o-7", "n": 2 })).await?;
    assert_eq!(kept["kept"], 1);
    assert_eq!(client.post("/api/v1/events/orders", &early).await?.expect(200)?["kept"], 1, "a repeat of it");
    client.work("t", &json!({})).await?;
    let instance = client.instance_is(&id, "completed").await?;
    let output = &step(&instance, "wait")["output"];
    assert_eq!((&output["kafka_event"]["n"], &output["called"]["n"]), (&json!(1), &json!(2)));
    assert_eq!(output["receivedEvents"], json!(["kafka_event", "called"]), "in the order in which they came");
    let late = client.post("/api/v1/events/orders", &early).await?.expect(200)?;
    assert_eq!(late["repeated"], 1);
    let over = callback(client, &json!({ "execution_id": id, "correlation_id": "o-8" })).await?;
    assert_eq!(over["rejected"], "execution_over");
    let id = client.start("w", json!({ "order": "o-9" })).await?;
    for n in 0..100 {
        let kept =
            callback(client, &json!({ "execution_id": id, "correlation_id": "elsewhere", "n": n })).await?;
        assert_eq!(kept["kept"], 1, "{kept}");
    }
    let full = callback(client, &json!({ "execution_id": id, "correlation_id": "elsewhere" })).await?;
    assert_eq!(full["rejected"], "too_many_kept");
    client.post(&format!("/api/v1/instances/{id}/cancel"), &json!({})).await?;
    until("nothing is kept for what has ended", async || {
        let sql = "select count(*) from workflow_kept_events where correlation_id = 'elsewhere'";
        let count = if db.is_postgres() {
            sql.replace("count(*)", "count(*)::text")
        } else {
            sql.replace("count(*)", "cast(count(*) as text)")
        };
        Ok(db.texts(&count).await? == ["0"])
    })
    .await?;
    host.stop().await;
    Ok(())
}

on_both_databases!(
    both_come_in_any_order,
    the_response_itself_counts_if_the_node_says_so,
    two_hosts_resume_once,
    a_token_is_enough_and_a_signature_is_checked,
    an_event_that_comes_early_is_kept_for_its_wait,
);
