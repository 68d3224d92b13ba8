//! What operators look at: health, metrics, limits, the OpenAPI document and its page.

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task};

/// Health, metrics and limits.
async fn a_host_tells_how_it_is(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    assert_eq!(client.get("/healthz").await?.expect(200)?["status"], "ok");
    assert_eq!(client.get("/readyz").await?.expect(200)?["status"], "ready");
    client.deploy("one", one_task("t", &[])).await?;
    let id = client.start("one", json!({})).await?;
    client.work("t", &json!({})).await?;
    client.instance_is(&id, "completed").await?;
    let metrics = client.get("/metrics").await?.expect(200)?;
    let metrics = metrics.as_str().context("text")?;
    for name in [
        "stepwell_http_seconds",
        "stepwell_poll_seconds",
        "stepwell_claim_seconds",
        "stepwell_commit_seconds",
        "stepwell_plugin_call_seconds",
        "stepwell_plugin_computed_seconds",
        "stepwell_plugin_fuel",
        "stepwell_tasks_claimed_total",
        "stepwell_tasks_completed_total",
        "stepwell_instances_started_total",
    ] {
        assert!(metrics.contains(&format!("\n{name}")), "{name} is missing in:\n{metrics}");
    }
    let limits = client.get("/api/v1/limits").await?.expect(200)?;
    assert_eq!(limits["pollWaitSecondsMax"], 300);
    host.stop().await;
    Ok(())
}

/// The document has every route, and every route of it is there.
async fn the_openapi_document_is_true(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let document = client.get("/openapi.json").await?.expect(200)?;
    let paths = document["paths"].as_object().context("paths")?;
    for path in [
        "/api/v1/workflows",
        "/api/v1/workflows/{key}/instances",
        "/api/v1/instances/{id}/events",
        "/api/n8n/external-tasks/poll",
        "/api/n8n/external-tasks/{id}/heartbeat",
        "/api/v1/dead-letters",
        "/api/v1/incidents/{id}/resume",
        "/metrics",
    ] {
        assert!(paths.contains_key(path), "{path}");
    }
    for (path, methods) in paths {
        for (method, route) in methods.as_object().context("methods")? {
            assert!(route["responses"].is_object() && route["tags"].is_array(), "{method} {path}");
            let real = filled_in(path);
            let answer = client.send(&method.to_uppercase(), &real, "").await?;
            let code = answer.body["code"].as_str().unwrap_or_default();
            assert!(!["route_not_found", "method_not_allowed"].contains(&code), "{method} {path}: {code}");
        }
    }
    let page = client.get("/docs").await?.expect(200)?;
    let page = page.as_str().context("a page")?;
    assert!(page.contains("/openapi.json") && !page.contains("https://"), "the page needs nobody else");
    assert!(client.get("/").await?.expect(200)?.as_str().is_some_and(|home| home.contains("/docs")));
    host.stop().await;
    Ok(())
}

/// A path with something in the place of each of its names.
fn filled_in(path: &str) -> String {
    let with = |part: &str| match part {
        "{version}" => "1".to_owned(),
        name if name.starts_with('{') => "x".to_owned(),
        other => other.to_owned(),
    };
    path.split('/').map(with).collect::<Vec<_>>().join("/")
}

stepwell_tests::on_both_databases!(a_host_tells_how_it_is, the_openapi_document_is_true);
