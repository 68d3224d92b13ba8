//! Plugins at run time: a file dropped into the folder, incidents, and their resumption.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::guests;
use stepwell_tests::host::{Client, Host, step};

const GREETING: &str = include_str!("../../../examples/greeting-step/workflow.yaml");

async fn open_incidents(client: &Client) -> Result<Vec<Value>> {
    let page = client.get("/api/v1/incidents").await?.expect(200)?;
    Ok(page["items"].as_array().context("incidents")?.clone())
}

/// A step type of one's own: unknown, then dropped into the folder, then used, with no restart.
async fn a_step_type_is_added_while_the_host_runs(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let refused = client.send("POST", "/api/v1/workflows?key=greeting", GREETING).await?;
    let problem = refused.expect_problem(400, "definition_invalid")?;
    assert!(problem.to_string().contains("GREETING"), "{problem}");

    host.add_plugin("GREETING", &guests::greeting()).await?;
    let list = client.get("/api/v1/plugins").await?.expect(200)?;
    let names: Vec<_> = list["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|plugin| plugin["types"][0].as_str())
        .collect();
    for name in ["EXTERNAL_TASK", "jsonpath", "GREETING"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let shown = client.get("/api/v1/plugins/GREETING").await?.expect(200)?;
    assert_eq!(shown["configSchema"]["required"], json!(["name"]));

    client.deploy("greeting", GREETING).await?;
    let id = client.start("greeting", json!({ "name": "Ada" })).await?;
    let instance = client.instance_is(&id, "completed").await?;
    let greeting = step(&instance, "now")["output"]["greeting"].as_str().unwrap_or_default();
    assert!(greeting.contains("Ada"), "{instance}");
    host.stop().await;

    // The component is in the database: a host without the folder serves it too.
    let host = Host::start(&db).await?;
    let id = host.client.start("greeting", json!({ "name": "Grace" })).await?;
    host.client.instance_is(&id, "completed").await?;
    host.stop().await;
    Ok(())
}

/// A plugin that traps holds its step, not the worker's result; mended, it goes on from there.
async fn an_incident_is_resumed_with_a_mended_plugin(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    host.add_plugin("MOODY", &guests::moody_broken()).await?;
    client.deploy("moody", "steps:\n  - { id: m, type: MOODY }\n").await?;
    let id = client.start("moody", json!({})).await?;
    let done = client.work("moody", &json!({ "kept": true })).await?;
    assert_eq!(done["status"], "COMPLETED", "the worker has done its part");

    let instance = client.instance_is(&id, "incident").await?;
    assert_eq!(step(&instance, "m")["status"], "incident");
    assert_eq!(instance["incidents"][0]["code"], "plugin_trap");
    let incidents = open_incidents(client).await?;
    let [incident] = incidents.as_slice() else { anyhow::bail!("{incidents:?}") };
    let resume = format!("/api/v1/incidents/{}/resume", incident["id"].as_str().context("id")?);

    client.post(&resume, &json!({})).await?.expect(204)?;
    let again = open_incidents(client).await?;
    assert_eq!(again.len(), 1, "it traps as before");
    assert_ne!(again[0]["id"], incident["id"]);
    client.post(&resume, &json!({})).await?.expect_problem(409, "incident_resolved")?;

    host.add_plugin("MOODY", &guests::moody_mended()).await?;
    let resume = format!("/api/v1/incidents/{}/resume", again[0]["id"].as_str().context("id")?);
    client.post(&resume, &json!({})).await?.expect(204)?;
    let instance = client.instance_is(&id, "completed").await?;
    assert_eq!(step(&instance, "m")["output"], json!({ "kept": true }));
    assert!(open_incidents(client).await?.is_empty());
    host.stop().await;
    Ok(())
}

/// A mapper at fault keeps the worker's result, and cancelling resolves the incident.
async fn a_mapper_at_fault_keeps_the_result(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    host.add_plugin("moody-mapper", &guests::moody_mapper()).await?;
    let source =
        "steps:\n  - { id: m, type: EXTERNAL_TASK, config: { taskType: t }, mapper: moody-mapper }\n";
    client.deploy("mapped", source).await?;
    let good = client.start("mapped", json!({})).await?;
    client.work("t", &json!({ "n": 1 })).await?;
    let instance = client.instance_is(&good, "completed").await?;
    assert_eq!(step(&instance, "m")["output"], json!({ "mapped": { "n": 1 } }));

    let bad = client.start("mapped", json!({})).await?;
    let done = client.work("t", &json!({ "trap": true })).await?;
    assert_eq!((&done["status"], &done["output"]), (&json!("COMPLETED"), &json!({ "trap": true })));
    client.instance_is(&bad, "incident").await?;
    assert_eq!(open_incidents(client).await?.len(), 1);
    client.post(&format!("/api/v1/instances/{bad}/cancel"), &json!({})).await?.expect(204)?;
    assert!(open_incidents(client).await?.is_empty());
    let all = client.get("/api/v1/incidents?open=false").await?.expect(200)?;
    assert!(all["items"][0]["resolvedAt"].is_string(), "{all}");
    host.stop().await;
    Ok(())
}

/// A hostile plugin hurts its own step and nobody else.
async fn a_hostile_plugin_hurts_nobody_else(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    host.add_plugin("HOSTILE", &guests::hostile()).await?;
    for (mode, code) in [("trap", "plugin_trap"), ("loop", "plugin_fuel"), ("not-json", "plugin_output")] {
        client
            .deploy(mode, format!("steps:\n  - {{ id: h, type: HOSTILE, config: {{ mode: {mode} }} }}\n"))
            .await?;
        let id = client.start(mode, json!({})).await?;
        let instance = client.instance_is(&id, "incident").await?;
        assert_eq!(instance["incidents"][0]["code"], code, "{instance}");
    }
    client.deploy("one", stepwell_tests::host::one_task("t", &[])).await?;
    let id = client.start("one", json!({})).await?;
    client.work("t", &json!({})).await?;
    client.instance_is(&id, "completed").await?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_step_type_is_added_while_the_host_runs,
    an_incident_is_resumed_with_a_mended_plugin,
    a_mapper_at_fault_keeps_the_result,
    a_hostile_plugin_hurts_nobody_else,
);
