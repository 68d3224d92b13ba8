//! Deploying: versions, and mistakes with their line and field.

use anyhow::Result;
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task};

/// The same document makes no new version; another does; instances stay on theirs.
async fn versions_are_counted(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let first = client.deploy("flow", one_task("one", &[])).await?;
    assert_eq!(first["version"], 1);
    let same = client.send("POST", "/api/v1/workflows?key=flow", one_task("one", &[])).await?.expect(200)?;
    assert_eq!(same["version"], 1);
    let old = client.start("flow", json!({})).await?;
    assert_eq!(client.deploy("flow", one_task("two", &[])).await?["version"], 2);
    client.start("flow", json!({})).await?;

    let shown = client.get("/api/v1/workflows/flow").await?.expect(200)?;
    assert_eq!(
        (&shown["version"], &shown["document"]["steps"][0]["config"]["taskType"]),
        (&json!(2), &json!("two"))
    );
    let before = client.get("/api/v1/workflows/flow/versions/1").await?.expect(200)?;
    assert_eq!(before["source"], one_task("one", &[]));
    assert_eq!(client.get("/api/v1/workflows/flow?version=1").await?.expect(200)?, before);
    client.get("/api/v1/workflows/flow?version=9").await?.expect_problem(404, "workflow_not_found")?;

    client.work("one", &json!({})).await?;
    assert_eq!(client.instance_is(&old, "completed").await?["workflowVersion"], 1);
    let body = json!({ "version": 1 });
    client.post("/api/v1/workflows/flow/instances", &body).await?.expect(201)?;
    client.work("one", &json!({})).await?;
    host.stop().await;
    Ok(())
}

/// A document may be JSON, and may carry its own key.
async fn json_and_own_keys_are_taken(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let document = json!({ "key": "own-key", "name": "Ours", "steps": [
        { "id": "a", "type": "EXTERNAL_TASK", "config": { "taskType": "t" } }] });
    let made = client.post("/api/v1/workflows", &document).await?.expect(201)?;
    assert_eq!((&made["key"], &made["name"]), (&json!("own-key"), &json!("Ours")));
    client.deploy("another", one_task("t", &[])).await?;
    let page = client.get("/api/v1/workflows?limit=1").await?.expect(200)?;
    assert_eq!((&page["items"][0]["key"], &page["next"]), (&json!("another"), &json!("another")));
    let page = client.get("/api/v1/workflows?limit=1&after=another").await?.expect(200)?;
    assert_eq!((&page["items"][0]["key"], &page["next"]), (&json!("own-key"), &json!(null)));
    host.stop().await;
    Ok(())
}

/// Every mistake is told at once, with its line and field.
async fn mistakes_are_told_with_their_place(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let source = "steps:\n  - id: a\n    type: EXTERNAL_TSK\n  - id: b\n    type: EXTERNAL_TASK\n    config: {}\n    dependsOn: [x]\n";
    let refused = client.send("POST", "/api/v1/workflows?key=bad", source).await?;
    let problem = refused.expect_problem(400, "definition_invalid")?;
    let found = |field: &str, line: u64| {
        problem["errors"].as_array().into_iter().flatten().any(|mistake| {
            mistake["field"].as_str().is_some_and(|text| text.starts_with(field)) && mistake["line"] == line
        })
    };
    assert!(found("steps[0].type", 3), "{problem}");
    assert!(found("steps[1].config", 6), "{problem}");
    assert!(found("steps[1].dependsOn", 7), "{problem}");
    client.get("/api/v1/workflows/bad").await?.expect_problem(404, "workflow_not_found")?;

    for (source, code) in [
        ("steps: [", "definition_invalid"),
        ("", "definition_invalid"),
        (
            "steps:\n  - {id: a, type: EXTERNAL_TASK, dependsOn: [b], config: {taskType: t}}\n  - {id: b, type: EXTERNAL_TASK, config: {taskType: t}}",
            "definition_invalid",
        ),
        (
            "steps:\n  - {id: a, type: EXTERNAL_TASK, config: {taskType: \"${secrets.x}\"}}",
            "definition_invalid",
        ),
    ] {
        client.send("POST", "/api/v1/workflows?key=bad", source).await?.expect_problem(400, code)?;
    }
    client
        .send("POST", "/api/v1/workflows", one_task("t", &[]))
        .await?
        .expect_problem(400, "workflow_key_missing")?;
    host.stop().await;
    Ok(())
}

/// A template whose path is not there: nothing is started, and the answer names the path.
async fn a_missing_template_path_starts_nothing(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &["input: { x: \"${workflow.context.customer.name}\" }"])).await?;
    let path = "/api/v1/workflows/one/instances";
    let refused = client.post(path, &json!({ "context": { "customer": {} } })).await?;
    let problem = refused.expect_problem(422, "template_path_missing")?;
    assert!(problem["detail"].as_str().is_some_and(|text| text.contains("customer.name")), "{problem}");
    let instances = client.get("/api/v1/instances").await?.expect(200)?;
    assert_eq!(instances["items"], json!([]));
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    versions_are_counted,
    json_and_own_keys_are_taken,
    mistakes_are_told_with_their_place,
    a_missing_template_path_starts_nothing,
);
