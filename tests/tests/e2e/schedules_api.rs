//! Cron triggers over HTTP: what a deployment says of them, and what an operator can do.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, until};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";
const STEPS: &str =
    "steps:\n  - { id: wait, type: TIMER, config: { scheduleAt: \"2020-01-01T00:00:00Z\" } }\n";

/// The next five runs are shown before anything is deployed, and nonsense is refused with its place.
async fn runs_are_shown_before_deploying(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let source = format!("triggers:\n  - {{ cron: 0 2 * * *, timeZone: Europe/Prague }}\n{STEPS}");
    let path = "/api/v1/workflows?key=w&dryRun=true";
    let checked = client.send("POST", path, source.clone()).await?.expect(200)?;
    let trigger = &checked["triggers"][0];
    assert_eq!((&trigger["id"], &trigger["timeZone"]), (&json!("cron-1"), &json!("Europe/Prague")));
    assert_eq!(trigger["upcoming"].as_array().map(Vec::len), Some(5), "{checked}");
    client.get("/api/v1/workflows/w").await?.expect_problem(404, "workflow_not_found")?;
    assert_eq!(client.get("/api/v1/schedules").await?.expect(200)?["items"], json!([]));

    let deployed = client.send("POST", "/api/v1/workflows?key=w", source).await?.expect(201)?;
    assert_eq!(deployed["triggers"], checked["triggers"]);
    let listed = client.get("/api/v1/schedules?workflow=w").await?.expect(200)?;
    assert_eq!(listed["items"][0]["upcoming"], trigger["upcoming"]);
    assert_eq!(listed["items"][0]["nextAt"], trigger["upcoming"][0]);
    for (trigger, field) in [
        ("{ cron: 0 0 30 2 * }", "triggers[0].cron"),
        ("{ cron: soon }", "triggers[0].cron"),
        ("{ cron: '@daily', timeZone: Mars/Phobos }", "triggers[0].timeZone"),
        ("{ cron: '@daily', misfire: never }", "triggers[0].misfire"),
    ] {
        let source = format!("triggers:\n  - {trigger}\n{STEPS}");
        for path in [path, "/api/v1/workflows?key=w"] {
            let refused = client.send("POST", path, source.clone()).await?;
            let problem = refused.expect_problem(400, "definition_invalid").context(trigger)?;
            assert_eq!(
                (&problem["errors"][0]["field"], &problem["errors"][0]["line"]),
                (&json!(field), &json!(2))
            );
        }
    }
    client
        .send("POST", "/api/v1/workflows?dryRun=maybe", "{}")
        .await?
        .expect_problem(400, "invalid_request")?;
    host.stop().await;
    Ok(())
}

/// A real host with a real clock: it starts by itself, until it is paused, and again when it is resumed.
async fn a_schedule_is_paused_and_resumed(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("w", format!("triggers:\n  - {{ id: often, cron: '* * * * * *' }}\n{STEPS}")).await?;
    let count = async || -> Result<usize> {
        let listed = client.get("/api/v1/instances?workflow=w&limit=500").await?.expect(200)?;
        Ok(listed["items"].as_array().map_or(0, Vec::len))
    };
    until("it is started by the clock", async || Ok(count().await? >= 2)).await?;
    let listed = client.get("/api/v1/schedules").await?.expect(200)?;
    let id = listed["items"][0]["id"].as_str().context("a schedule")?.to_owned();
    let post = async |verb: &str| client.post(&format!("/api/v1/schedules/{id}/{verb}"), &json!({})).await;
    assert_eq!(post("pause").await?.expect(200)?["paused"], true);
    assert_eq!(post("pause").await?.expect(200)?["paused"], true, "again is the same");
    let paused = client.get(&format!("/api/v1/schedules/{id}")).await?.expect(200)?;
    let before = count().await?;
    tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
    assert_eq!(count().await?, before, "nothing is started while it is paused");
    assert_eq!(paused["lastError"], Value::Null);
    assert_eq!(post("resume").await?.expect(200)?["paused"], false);
    until("it goes on", async || Ok(count().await? > before)).await?;

    let stranger = client.tenant("other");
    assert_eq!(stranger.get("/api/v1/schedules").await?.expect(200)?["items"], json!([]));
    for who in [&stranger, client] {
        let id = if std::ptr::eq(who, client) { NOBODY } else { &id };
        who.get(&format!("/api/v1/schedules/{id}")).await?.expect_problem(404, "schedule_not_found")?;
        for verb in ["pause", "resume"] {
            let refused = who.post(&format!("/api/v1/schedules/{id}/{verb}"), &json!({})).await?;
            refused.expect_problem(404, "schedule_not_found")?;
        }
    }
    client.get("/api/v1/schedules/x").await?.expect_problem(400, "invalid_id")?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(runs_are_shown_before_deploying, a_schedule_is_paused_and_resumed,);
