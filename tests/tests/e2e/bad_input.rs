//! Requests that make no sense: each gets a problem with a stable code, and nothing is written.

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

async fn bad_requests_are_told_what_is_wrong(db: TestDb) -> Result<()> {
    let host = Host::start_with(&db, |settings| {
        settings.limits.body_bytes_max = 400_000;
        settings.limits.context_bytes_max = 100_000;
        settings.limits.payload_bytes_max = 100_000;
    })
    .await?;
    let client = &host.client;
    client.deploy("one", one_task("t", &[])).await?;
    client.start("one", json!({})).await?;
    let task = client.poll("t", "me").await?;
    let of_task =
        |verb: &str| format!("/api/n8n/external-tasks/{}/{verb}", task["id"].as_str().unwrap_or_default());
    let start = "/api/v1/workflows/one/instances".to_owned();
    let long = "x".repeat(200_000);
    let deep =
        |levels: usize| format!(r#"{{"context":{{"a":{}{}}}}}"#, "[".repeat(levels), "]".repeat(levels));

    let bodies: Vec<(String, String, u16, &str, &str)> = vec![
        (start.clone(), "{".into(), 400, "invalid_json", "line 1"),
        (start.clone(), "not json".into(), 400, "invalid_json", "column"),
        (start.clone(), "[]".into(), 400, "invalid_request", "body"),
        (start.clone(), r#"{"context": 5}"#.into(), 400, "invalid_request", "context"),
        (start.clone(), r#"{"version": "new"}"#.into(), 400, "invalid_request", "version"),
        (start.clone(), r#"{"businessKey": {}}"#.into(), 400, "invalid_request", "businessKey"),
        (start.clone(), deep(70), 400, "json_too_deep", "deep"),
        (start.clone(), deep(5_000), 400, "json_too_deep", "deep"),
        (start.clone(), r#"{"context": {"a": "x\u0000y"}}"#.into(), 400, "json_contains_nul", "U+0000"),
        (start.clone(), r#"{"context": {"a\u0000": 1}}"#.into(), 400, "json_contains_nul", "U+0000"),
        (
            start.clone(),
            format!(r#"{{"businessKey": "{}"}}"#, "k".repeat(300)),
            400,
            "invalid_request",
            "businessKey",
        ),
        (start.clone(), format!(r#"{{"context": {{"a": "{long}"}}}}"#), 413, "context_too_large", "limit"),
        (start, format!(r#"{{"context": {{"a": "{long}{long}"}}}}"#), 413, "body_too_large", "400000"),
        ("/api/v1/workflows/none/instances".into(), "{}".into(), 404, "workflow_not_found", "none"),
        (format!("/api/v1/instances/{NOBODY}/cancel"), "{}".into(), 404, "instance_not_found", NOBODY),
        (format!("/api/v1/incidents/{NOBODY}/resume"), String::new(), 404, "incident_not_found", NOBODY),
        ("/api/v1/incidents/x/resume".into(), String::new(), 400, "invalid_id", "incident"),
        (format!("/api/n8n/external-tasks/{NOBODY}/complete"), "{}".into(), 404, "task_not_found", NOBODY),
        (format!("/api/n8n/external-tasks/{NOBODY}/fail"), "{}".into(), 404, "task_not_found", NOBODY),
        (format!("/api/n8n/external-tasks/{NOBODY}/heartbeat"), "{}".into(), 404, "task_not_found", NOBODY),
        ("/api/n8n/external-tasks/17/complete".into(), "{}".into(), 400, "invalid_id", "task"),
        (of_task("complete"), "[1]".into(), 400, "invalid_request", "body"),
        (of_task("complete"), r#""done""#.into(), 400, "invalid_request", "body"),
        (of_task("complete"), format!(r#"{{"a": "{long}"}}"#), 413, "payload_too_large", "limit"),
        (of_task("complete?lockToken=abc"), "{}".into(), 400, "invalid_request", "lockToken"),
        (of_task("fail"), r#"{"message": 5}"#.into(), 400, "invalid_request", "message"),
        (of_task("fail"), r#"{"retryDelaySeconds": -1}"#.into(), 400, "invalid_request", "retryDelaySeconds"),
        (of_task("fail"), r#"{"retryDelay": "soon"}"#.into(), 400, "invalid_request", "retryDelay"),
        ("/api/v1/messages".into(), "{}".into(), 400, "invalid_request", "name"),
        ("/api/v1/messages".into(), r#"{"name": ""}"#.into(), 400, "invalid_request", "name"),
        ("/api/v1/tokens".into(), r#"{"name": "x", "role": "king"}"#.into(), 400, "invalid_request", "role"),
        (
            "/api/v1/tokens".into(),
            r#"{"name": "x", "role": "worker", "expiresAt": "0000-01-01T00:00:00+23:59"}"#.into(),
            400,
            "invalid_request",
            "years 1 to 9999",
        ),
        (
            "/api/v1/workflows?key=Not%20a%20key!".into(),
            one_task("t", &[]),
            400,
            "workflow_key_invalid",
            "key",
        ),
    ];
    for (path, body, status, code, says) in bodies {
        let shown: String = body.chars().take(80).collect();
        let answer = client.send("POST", &path, body).await.with_context(|| format!("{path} {shown}"))?;
        let problem = answer.expect_problem(status, code).with_context(|| format!("{path} {shown}"))?;
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(says), "{path} {shown}: {detail}");
    }
    let shown = client.task(&task["id"]).await?;
    assert_eq!(
        (&shown["status"], &shown["retryCount"]),
        (&json!("LOCKED"), &json!(0)),
        "nothing of it counted"
    );
    let instances = client.get("/api/v1/instances").await?.expect(200)?;
    assert_eq!(instances["items"].as_array().map(Vec::len), Some(1), "nothing of it started anything");
    client.complete(&task, &json!({})).await?;
    host.stop().await;
    Ok(())
}

async fn bad_addresses_are_told_what_is_wrong(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let poll = "/api/n8n/external-tasks/poll";
    let gets = [
        (format!("{poll}?workerId=x"), 400, "invalid_request", "taskType"),
        (format!("{poll}?taskType=,"), 400, "invalid_request", "taskType"),
        (format!("{poll}?taskType=t&maxTasks=many"), 400, "invalid_request", "maxTasks"),
        (format!("{poll}?taskType=t&maxTasks=0"), 400, "invalid_request", "maxTasks"),
        (format!("{poll}?taskType=t&waitSeconds=-1"), 400, "invalid_request", "waitSeconds"),
        (format!("{poll}?taskType=t&lockDurationSeconds=NaN"), 400, "invalid_request", "lockDurationSeconds"),
        (format!("{poll}?taskType=a%00b"), 400, "invalid_request", "taskType"),
        ("/api/v1/instances?status=odd".into(), 400, "invalid_request", "status"),
        ("/api/v1/instances?limit=0".into(), 400, "invalid_request", "limit"),
        ("/api/v1/instances?limit=x".into(), 400, "invalid_request", "limit"),
        ("/api/v1/instances?after=x".into(), 400, "invalid_request", "after"),
        ("/api/v1/tasks?instance=x".into(), 400, "invalid_request", "instance"),
        ("/api/v1/tasks?status=odd".into(), 400, "invalid_request", "status"),
        ("/api/v1/incidents?open=perhaps".into(), 400, "invalid_request", "open"),
        (format!("/api/v1/instances/{NOBODY}"), 404, "instance_not_found", NOBODY),
        (format!("/api/v1/instances/{NOBODY}/timeline"), 404, "instance_not_found", NOBODY),
        (format!("/api/v1/instances/{NOBODY}/events"), 404, "instance_not_found", NOBODY),
        ("/api/v1/instances/nope".into(), 400, "invalid_id", "nope"),
        (format!("/api/v1/tasks/{NOBODY}"), 404, "task_not_found", NOBODY),
        ("/api/v1/workflows/none".into(), 404, "workflow_not_found", "none"),
        ("/api/v1/workflows/none?version=x".into(), 400, "invalid_request", "version"),
        ("/api/v1/workflows/a%00b".into(), 400, "invalid_request", "path"),
        ("/api/v1/workflows/%ff".into(), 400, "invalid_path", "path"),
        ("/api/v1/workflows/%ff/versions/1".into(), 400, "invalid_path", "path"),
        ("/api/v1/plugins/none".into(), 404, "plugin_not_found", "none"),
        ("/api/v1/nothing".into(), 404, "route_not_found", "/docs"),
        ("/api/v2/instances".into(), 404, "route_not_found", "/docs"),
    ];
    for (path, status, code, says) in gets {
        let problem = client.get(&path).await?.expect_problem(status, code).context(path.clone())?;
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(says), "{path}: {detail}");
    }
    assert_eq!(client.get("/api/v1/instances?unknown=1").await?.status, 200, "what is not known is ignored");

    let wrong = client.send("DELETE", "/api/v1/workflows", "").await?;
    let allow =
        wrong.headers.get("allow").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    wrong.expect_problem(405, "method_not_allowed")?;
    assert!(allow.contains("GET") && allow.contains("POST"), "{allow}");
    let head = client.send("HEAD", &format!("{poll}?taskType=t"), "").await?;
    assert_eq!(head.status, 405, "a HEAD must not lock tasks");

    let odd = client.tenant("No Tenant!").get("/api/v1/instances").await?;
    odd.expect_problem(400, "invalid_tenant")?;
    let binary = client.send("POST", "/api/v1/workflows?key=x", vec![0xff, 0xfe, 0x00]).await?;
    binary.expect_problem(400, "invalid_text")?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(bad_requests_are_told_what_is_wrong, bad_addresses_are_told_what_is_wrong);
