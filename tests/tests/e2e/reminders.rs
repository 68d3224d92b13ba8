//! Notes to Slack and to webhooks: what arrives, what is tried again, what a step makes of it, and when it is over.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell::domain::address::AllowHosts;
use stepwell::engine::keyring::authenticate;
use stepwell_tests::db::TestDb;
use stepwell_tests::endpoint::{Endpoint, Reply};
use stepwell_tests::host::{Client, Host, step, until};
use tokio::sync::Notify;

use crate::requests::found_in;

const VALUE: &str = "hush-90d2ab";

/// A host that may reach these endpoints.
async fn host(db: &TestDb, endpoints: &[&Endpoint]) -> Result<Host> {
    let allowed: Vec<_> = endpoints.iter().map(|one| at(one)).collect();
    let list = AllowHosts::parse(&allowed.join(",")).map_err(anyhow::Error::msg)?;
    Host::start_with(db, |settings| settings.allow_hosts = list).await
}

fn at(endpoint: &Endpoint) -> String {
    format!("127.0.0.1:{}", endpoint.port())
}

fn quick(attempts: u32) -> Value {
    json!({ "maxAttempts": attempts, "initialMs": 20, "maxMs": 40 })
}

/// Deploys a workflow of these steps and starts it; the instance's id.
async fn start(client: &Client, steps: Value) -> Result<String> {
    let source = json!({ "steps": steps }).to_string();
    // The same again makes no new version.
    client.send("POST", "/api/v1/workflows?key=w", source).await?;
    client.start("w", json!({ "ticketId": "T-7" })).await
}

async fn tries(client: &Client, instance: &str) -> Result<Vec<Value>> {
    let listed = client.get(&format!("/api/v1/reminders?instance={instance}")).await?.expect(200)?;
    Ok(listed["items"].as_array().cloned().unwrap_or_default())
}

/// As the seed has it: a timer, and a note to Slack when it is due.
async fn a_timer_reminds_when_it_is_due(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    let host = host(&db, &[&endpoint]).await?;
    let reminder = json!({
        "enabled": true, "channel": "SLACK", "recipients": [endpoint.url("/slack")],
        "message": "Approval pending for ticket ${workflow.context.ticketId}",
    });
    let config = json!({ "delay": "50ms", "reminder": reminder });
    let id = start(&host.client, json!([{ "id": "wait", "type": "TIMER", "config": config }])).await?;
    let instance = host.client.instance_is(&id, "completed").await?;
    assert_eq!(step(&instance, "wait")["output"]["reminders"], 1, "{instance}");
    let [request] = &endpoint.wait_for("/slack", 1).await?[..] else { panic!("one request") };
    let body: Value = serde_json::from_str(&request.body)?;
    assert_eq!(body, json!({ "text": "Approval pending for ticket T-7" }));
    until("the try is kept", async || Ok(tries(&host.client, &id).await?.len() == 1)).await?;
    let row = tries(&host.client, &id).await?.remove(0);
    let timers = host.client.get(&format!("/api/v1/timers?fired=true&instance={id}")).await?.expect(200)?;
    assert_eq!((&row["timerId"], &row["status"]), (&timers["items"][0]["id"], &json!("SENT")), "{row}");
    assert_eq!(timers["items"][0]["reminderConfig"]["channel"], "SLACK", "{timers}");
    assert_eq!((&row["attempt"], &row["errorMessage"]), (&json!(1), &Value::Null), "{row}");
    // A reminder that is not enabled is none.
    let config = json!({ "delay": "10ms", "reminder": { "channel": "SLACK", "message": "no" } });
    let id = start(&host.client, json!([{ "id": "wait", "type": "TIMER", "config": config }])).await?;
    host.client.instance_is(&id, "completed").await?;
    assert_eq!(tries(&host.client, &id).await?, Vec::<Value>::new());
    host.stop().await;
    Ok(())
}

/// A webhook of a sender: its address is a secret, and the request is signed with another one.
async fn a_webhook_is_signed(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    let host = host(&db, &[&endpoint]).await?;
    let client = &host.client;
    for (name, value) in
        [("HOOK_URL", endpoint.url(&format!("/{VALUE}"))), ("HOOK_KEY", format!("{VALUE}-key"))]
    {
        let body = json!({ "value": value, "hosts": [at(&endpoint)] });
        client.send("PUT", &format!("/api/v1/secrets/{name}"), body.to_string()).await?.expect(201)?;
    }
    let sender = json!({ "channel": "WEBHOOK", "urlSecret": "HOOK_URL", "signingSecret": "HOOK_KEY" });
    client.send("PUT", "/api/v1/senders/hook", sender.to_string()).await?.expect(201)?;
    let config = json!({ "channel": "WEBHOOK", "message": "ř: due", "required": true, "sender": "hook" });
    let id = start(client, json!([{ "id": "tell", "type": "REMINDER", "config": config }])).await?;
    let instance = client.instance_is(&id, "completed").await?;
    assert_eq!(step(&instance, "tell")["output"]["sent"], 1, "{instance}");
    let [request] = &endpoint.received(&format!("/{VALUE}"))[..] else { panic!("one request") };
    let body: Value = serde_json::from_str(&request.body)?;
    assert_eq!((&body["message"], &body["instanceId"]), (&json!("ř: due"), &json!(id)), "{body}");
    assert_eq!((&body["stepId"], &body["timerId"]), (&json!("tell"), &Value::Null), "{body}");
    let signed = format!("{}.{}", request.headers["x-stepwell-timestamp"], request.body);
    let mac = authenticate(format!("{VALUE}-key").as_bytes(), signed.as_bytes());
    let digits: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(request.headers["x-stepwell-signature"], format!("sha256={digits}"));

    // A key that is not granted to the host signs nothing for it.
    let body = json!({ "value": format!("{VALUE}-key"), "hosts": ["a.org"] });
    client.send("PUT", "/api/v1/secrets/HOOK_KEY", body.to_string()).await?.expect(200)?;
    let id = start(client, json!([{ "id": "tell", "type": "REMINDER", "config": config }])).await?;
    let error = client.instance_is(&id, "failed").await?["error"].clone();
    assert_eq!(error["code"], "reminder_failed");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("not granted")), "{error}");

    // A secret among the recipients is named in the record, and nowhere written.
    let config = json!({
        "channel": "SLACK", "message": "m", "required": true, "recipients": ["${secrets.HOOK_URL}"],
    });
    let id = start(client, json!([{ "id": "tell", "type": "REMINDER", "config": config }])).await?;
    client.instance_is(&id, "completed").await?;
    assert_eq!(tries(client, &id).await?[0]["recipients"], json!(["[secret HOOK_URL]"]));
    let config = json!({ "channel": "SLACK", "message": "psst ${secrets.HOOK_KEY}" });
    let id = start(client, json!([{ "id": "tell", "type": "REMINDER", "config": config }])).await?;
    client.instance_is(&id, "incident").await?;
    assert_eq!(found_in(&db, VALUE).await?, Vec::<String>::new());
    host.stop().await;
    Ok(())
}

/// What passes is tried again for those who have not got it; what is given up is a dead letter, and fails nothing.
async fn those_who_have_it_are_not_told_again(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    endpoint.reply("/slow", vec![Reply::new(503, ""), Reply::new(429, ""), Reply::new(200, "ok")]);
    endpoint.reply("/never", vec![Reply::new(500, "")]);
    endpoint.reply("/wrong", vec![Reply::new(404, "")]);
    let host = host(&db, &[&endpoint]).await?;
    let client = &host.client;
    let told = |paths: &[&str], attempts: u32, required: bool| {
        let recipients: Vec<_> = paths.iter().map(|path| endpoint.url(path)).collect();
        let config = json!({
            "channel": "WEBHOOK", "recipients": recipients, "message": "m", "retry": quick(attempts), "required": required,
        });
        json!([
            { "id": "tell", "type": "REMINDER", "config": config, "onError": { "reminder_failed": "sorry" } },
            { "id": "sorry", "type": "TIMER", "config": { "delay": "1ms" } },
        ])
    };
    let id = start(client, told(&["/quick", "/slow"], 5, true)).await?;
    client.instance_is(&id, "completed").await?;
    assert_eq!((endpoint.received("/quick").len(), endpoint.received("/slow").len()), (1, 3));
    let keys: Vec<_> =
        endpoint.received("/slow").iter().map(|request| request.headers["idempotency-key"].clone()).collect();
    assert!(keys.windows(2).all(|two| two[0] == two[1]), "the same at every try: {keys:?}");
    assert_ne!(keys[0], endpoint.received("/quick")[0].headers["idempotency-key"]);
    let rows = tries(client, &id).await?;
    let shown: Vec<_> =
        rows.iter().rev().map(|row| (row["attempt"].clone(), row["status"].clone())).collect();
    let expected = [(1, "SENT"), (1, "FAILED"), (2, "FAILED"), (3, "SENT")];
    assert_eq!(shown, expected.map(|(attempt, status)| (json!(attempt), json!(status))), "{rows:?}");
    assert!(rows[2]["errorMessage"].as_str().is_some_and(|why| why.contains("503")), "{rows:?}");

    // Required: the step fails with a code. Not required: nothing of the workflow is touched.
    for (path, required, attempts) in [("/never", true, 2), ("/never", false, 2), ("/wrong", false, 1)] {
        let id = start(client, told(&[path], 2, required)).await?;
        let instance = client.instance_is(&id, "completed").await?;
        let error = &step(&instance, "tell")["error"]["code"];
        assert_eq!(error, &if required { json!("reminder_failed") } else { Value::Null }, "{instance}");
        until("all tries are kept", async || Ok(tries(client, &id).await?.len() == attempts)).await?;
        assert!(tries(client, &id).await?.iter().all(|row| row["status"] == "FAILED"));
    }
    let dead = client.get("/api/v1/outbox/dead-letters").await?.expect(200)?;
    assert_eq!(dead["items"].as_array().map(Vec::len), Some(3), "{dead}");
    assert!(dead["items"].as_array().into_iter().flatten().all(|item| item["kind"] == "notify"), "{dead}");
    endpoint.reply("/wrong", vec![Reply::new(200, "")]);
    let path =
        format!("/api/v1/outbox/dead-letters/{}/retry", dead["items"][0]["id"].as_str().context("an id")?);
    client.post(&path, &json!({})).await?.expect(204)?;
    endpoint.wait_for("/wrong", 2).await?;
    host.stop().await;
    Ok(())
}

/// Repeated reminders end with the step that is waited for, in the same commit.
async fn reminders_end_with_the_step_that_is_waited_for(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    let host = host(&db, &[&endpoint]).await?;
    let client = &host.client;
    let config = json!({
        "channel": "SLACK", "recipients": [endpoint.url("/nag")], "message": "Please approve", "every": "30ms",
    });
    let steps = json!([
        { "id": "approve", "type": "EXTERNAL_TASK", "dependsOn": [], "config": { "taskType": "approve" } },
        { "id": "nag", "type": "REMINDER", "dependsOn": [], "until": "approve", "config": config },
        { "id": "after", "type": "TIMER", "dependsOn": ["approve", "nag"], "config": { "delay": "1ms" } },
    ]);
    let id = start(client, steps).await?;
    endpoint.wait_for("/nag", 3).await?;
    client.work("approve", &json!({ "result": {} })).await?;
    let instance = client.instance_is(&id, "completed").await?;
    let output = &step(&instance, "nag")["output"];
    assert_eq!(output["endedBy"], "until", "{instance}");
    assert_eq!(db.count("workflow_timers where not triggered").await?, 0);
    until("nothing is under way", async || Ok(db.count("workflow_outbox").await? == 0)).await?;
    let sent = endpoint.received("/nag").len();
    assert!(output["sent"].as_u64().is_some_and(|told| told >= sent as u64), "{output} {sent}");

    // A step that has ended before: nobody is reminded of it.
    let steps = json!([
        { "id": "quick", "type": "TIMER", "dependsOn": [], "config": { "delay": "1ms" } },
        { "id": "first", "type": "TIMER", "dependsOn": [], "config": { "delay": "150ms" } },
        { "id": "nag", "type": "REMINDER", "dependsOn": ["first"], "until": "quick",
          "config": { "channel": "SLACK", "recipients": [endpoint.url("/late")], "message": "m", "every": "1h" } },
    ]);
    let id = start(client, steps).await?;
    let instance = client.instance_is(&id, "completed").await?;
    assert_eq!(step(&instance, "nag")["output"]["sent"], 0, "{instance}");
    assert!(endpoint.received("/late").is_empty());
    host.stop().await;
    Ok(())
}

/// A note that could not be sent is not sent late: what it reminds of has ended meanwhile.
async fn a_note_of_what_has_ended_is_not_sent_again(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    let gate = Arc::new(Notify::new());
    endpoint.reply("/busy", vec![Reply::new(503, "").behind(&gate), Reply::new(200, "")]);
    let host = host(&db, &[&endpoint]).await?;
    let client = &host.client;
    let config = json!({
        "channel": "SLACK", "recipients": [endpoint.url("/busy")], "message": "Please approve", "retry": quick(5),
        "every": "1h",
    });
    let steps = json!([
        { "id": "approve", "type": "EXTERNAL_TASK", "dependsOn": [], "config": { "taskType": "approve" } },
        { "id": "nag", "type": "REMINDER", "dependsOn": [], "until": "approve", "config": config },
        { "id": "after", "type": "EXTERNAL_TASK", "dependsOn": ["approve", "nag"], "config": { "taskType": "after" } },
    ]);
    let id = start(client, steps).await?;
    endpoint.wait_for("/busy", 1).await?;
    client.work("approve", &json!({})).await?;
    gate.notify_one();
    until("it is given up", async || Ok(db.count("workflow_outbox").await? == 0)).await?;
    assert_eq!(endpoint.received("/busy").len(), 1);
    let rows = tries(client, &id).await?;
    assert_eq!(rows.iter().map(|row| &row["status"]).collect::<Vec<_>>(), ["FAILED"], "{rows:?}");
    assert_eq!(db.count("workflow_outbox_dead").await?, 0, "nobody is asked to look at it");
    host.stop().await;
    Ok(())
}

/// A deadline that has passed tells people, and all goes on.
async fn a_deadline_tells_people(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    let host = host(&db, &[&endpoint]).await?;
    let client = &host.client;
    let remind = |message: &str| json!({ "channel": "WEBHOOK", "recipients": [endpoint.url("/late")], "message": message });
    let steps = json!([{ "id": "slow", "type": "TIMER", "config": { "delay": "9h" },
        "deadline": { "after": "30ms", "remind": remind("${workflow.context.ticketId} is late") } }]);
    let id = start(client, steps).await?;
    let [request] = &endpoint.wait_for("/late", 1).await?[..] else { panic!("one request") };
    let body: Value = serde_json::from_str(&request.body)?;
    assert_eq!((&body["message"], &body["stepId"]), (&json!("T-7 is late"), &json!("slow")), "{body}");
    assert!(body["timerId"].is_string(), "{body}");
    assert_eq!(client.instance(&id).await?["status"], "waiting", "it goes on");
    until("the try is kept", async || Ok(tries(client, &id).await?.len() == 1)).await?;

    let source = json!({
        "deadline": { "after": "30ms", "remind": remind("the whole of it") },
        "steps": [{ "id": "slow", "type": "TIMER", "config": { "delay": "9h" } }],
    });
    client.deploy("whole", source.to_string()).await?;
    client.start("whole", json!({})).await?;
    endpoint.wait_for("/late", 2).await?;

    // What its templates have become may be no note: that is kept, and nothing else stops.
    let steps = json!([{ "id": "slow", "type": "TIMER", "config": { "delay": "200ms" },
        "deadline": { "after": "10ms", "remind": { "channel": "${workflow.context.ticketId}", "message": "m" } } }]);
    let id = start(client, steps).await?;
    client.instance_is(&id, "completed").await?;
    let rows = tries(client, &id).await?;
    assert!(rows[0]["errorMessage"].as_str().is_some_and(|why| why.contains("no channel")), "{rows:?}");
    host.stop().await;
    Ok(())
}

/// Neighbours of this machine are not told.
async fn neighbours_are_not_told(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    let host = host(&db, &[]).await?;
    let config = json!({
        "channel": "SLACK", "recipients": [endpoint.url("/")], "message": "m", "required": true, "retry": quick(3),
    });
    let id = start(&host.client, json!([{ "id": "tell", "type": "REMINDER", "config": config }])).await?;
    let error = host.client.instance_is(&id, "failed").await?["error"].clone();
    assert!(
        error["message"].as_str().is_some_and(|why| why.contains("not an address of the internet")),
        "{error}"
    );
    assert!(endpoint.received("/").is_empty());
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_timer_reminds_when_it_is_due,
    a_webhook_is_signed,
    those_who_have_it_are_not_told_again,
    reminders_end_with_the_step_that_is_waited_for,
    a_note_of_what_has_ended_is_not_sent_again,
    a_deadline_tells_people,
    neighbours_are_not_told,
);
