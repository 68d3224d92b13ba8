//! Tenants see nothing of each other; tokens and roles decide who may do what.

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, one_task};

/// What belongs to one tenant is not there for another.
async fn tenants_see_nothing_of_each_other(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let (ours, theirs) = (host.client.tenant("ours"), host.client.tenant("theirs"));
    ours.deploy("flow", one_task("t", &[])).await?;
    let id = ours.start("flow", json!({})).await?;
    assert!(theirs.poll_with("taskType=t&waitSeconds=0").await?.is_empty());
    let task = ours.poll("t", "me").await?;
    let task_id = task["id"].as_str().context("id")?;

    for (path, code) in [
        (format!("/api/v1/instances/{id}"), "instance_not_found"),
        (format!("/api/v1/instances/{id}/timeline"), "instance_not_found"),
        (format!("/api/v1/instances/{id}/events"), "instance_not_found"),
        (format!("/api/v1/tasks/{task_id}"), "task_not_found"),
        ("/api/v1/workflows/flow".into(), "workflow_not_found"),
    ] {
        theirs.get(&path).await?.expect_problem(404, code)?;
    }
    for (path, code) in [
        (format!("/api/v1/instances/{id}/cancel"), "instance_not_found"),
        ("/api/v1/workflows/flow/instances".into(), "workflow_not_found"),
        (format!("/api/n8n/external-tasks/{task_id}/complete"), "task_not_found"),
        (format!("/api/n8n/external-tasks/{task_id}/fail"), "task_not_found"),
        (format!("/api/n8n/external-tasks/{task_id}/heartbeat"), "task_not_found"),
    ] {
        theirs.post(&path, &json!({})).await?.expect_problem(404, code)?;
    }
    for list in ["instances", "tasks", "workflows", "incidents", "dead-letters"] {
        let page = theirs.get(&format!("/api/v1/{list}")).await?.expect(200)?;
        assert_eq!(page["items"], json!([]), "{list}");
    }
    ours.complete(&task, &json!({})).await?;
    ours.instance_is(&id, "completed").await?;
    host.stop().await;
    Ok(())
}

async fn token(client: &Client, role: &str) -> Result<(String, Client)> {
    let made = client.post("/api/v1/tokens", &json!({ "name": role, "role": role })).await?.expect(201)?;
    let secret = made["token"].as_str().context("a secret")?;
    let bearer = Client::new(client.url.clone()).with("authorization", &format!("Bearer {secret}"));
    Ok((made["id"].as_str().context("an id")?.to_owned(), bearer))
}

/// Each role may do its part and no more; without a token nothing goes.
async fn roles_are_kept_apart(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let first =
        host.client.post("/api/v1/tokens", &json!({ "name": "root", "role": "admin" })).await?.expect(201)?;
    let secret = first["token"].as_str().context("a secret")?.to_owned();
    host.stop().await;

    // There is a token now: the host is not open any more.
    let host = Host::start(&db).await?;
    let nobody = &host.client;
    let refused = nobody.get("/api/v1/instances").await?;
    assert!(refused.headers.contains_key("www-authenticate"));
    refused.expect_problem(401, "unauthorized")?;
    for wrong in ["Bearer nonsense", "Bearer stw_x_y", "Basic abc", "Bearer "] {
        nobody
            .with("authorization", wrong)
            .get("/api/v1/instances")
            .await?
            .expect_problem(401, "unauthorized")?;
    }
    assert_eq!(nobody.get("/healthz").await?.status, 200);
    assert_eq!(nobody.get("/readyz").await?.status, 200);

    let admin = nobody.with("authorization", &format!("Bearer {secret}"));
    let (_, operator) = token(&admin, "operator").await?;
    let (worker_id, worker) = token(&admin, "worker").await?;
    let (_, sender) = token(&admin, "sender").await?;
    operator.deploy("flow", one_task("t", &[])).await?;
    operator.start("flow", json!({})).await?;
    let task = worker.poll("t", "w").await?;
    worker.complete(&task, &json!({})).await?;
    sender.post("/api/v1/messages", &json!({ "name": "x" })).await?.expect(200)?;

    for client in [&worker, &sender] {
        client.get("/api/v1/instances").await?.expect_problem(403, "forbidden")?;
        client
            .send("POST", "/api/v1/workflows?key=x", one_task("t", &[]))
            .await?
            .expect_problem(403, "forbidden")?;
        client.post("/api/v1/tokens", &json!({})).await?.expect_problem(403, "forbidden")?;
    }
    worker.post("/api/v1/messages", &json!({ "name": "x" })).await?.expect_problem(403, "forbidden")?;
    sender.get("/api/n8n/external-tasks/poll?taskType=t").await?.expect_problem(403, "forbidden")?;
    operator.get("/api/v1/tokens").await?.expect_problem(403, "forbidden")?;
    operator.tenant("other").get("/api/v1/instances").await?.expect_problem(403, "tenant_forbidden")?;
    assert_eq!(operator.tenant("default").get("/api/v1/instances").await?.status, 200);
    let elsewhere = admin.tenant("other").get("/api/v1/instances").await?.expect(200)?;
    assert_eq!(elsewhere["items"], json!([]), "an admin goes anywhere");

    let list = admin.get("/api/v1/tokens").await?.expect(200)?;
    assert!(!list.to_string().contains(&secret) && !list.to_string().contains("ecretHash"), "{list}");
    admin.send("DELETE", &format!("/api/v1/tokens/{worker_id}"), "").await?.expect(204)?;
    worker.get("/api/n8n/external-tasks/poll?taskType=t").await?.expect_problem(401, "unauthorized")?;
    let expired = json!({ "name": "old", "role": "operator", "expiresAt": "2001-01-01T00:00:00Z" });
    let made = admin.post("/api/v1/tokens", &expired).await?;
    if made.status == 201 {
        let old = made.body["token"].as_str().context("a secret")?.to_owned();
        let old = nobody.with("authorization", &format!("Bearer {old}"));
        old.get("/api/v1/instances").await?.expect_problem(401, "unauthorized")?;
    } else {
        assert_eq!(made.status, 400, "a token that was never valid may be refused");
    }
    host.stop().await;
    Ok(())
}

/// A page of another site, in a browser on this machine, gets nowhere.
async fn an_open_host_refuses_other_sites(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let path = "/api/v1/instances";
    for (header, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("host", "evil.example"),
        ("host", "127.0.0.1.evil.example:8080"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let answer = host.client.with(header, value).get(path).await?;
        answer.expect_problem(403, "cross_site_request").with_context(|| format!("{header}: {value}"))?;
    }
    for (header, value) in
        [("origin", "http://localhost:3000"), ("host", "localhost"), ("sec-fetch-site", "same-origin")]
    {
        assert_eq!(host.client.with(header, value).get(path).await?.status, 200, "{header}: {value}");
    }
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    tenants_see_nothing_of_each_other,
    roles_are_kept_apart,
    an_open_host_refuses_other_sites,
);
