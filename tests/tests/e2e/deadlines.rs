//! Deadlines of steps and instances: in virtual time, and a message to somebody who waits for it.

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell::domain::{InstanceId, TenantId};
use stepwell_tests::db::TestDb;
use stepwell_tests::guests;
use stepwell_tests::host::{Host, step};

use crate::still::{HOUR_MS, Still};

async fn deadlines(host: &Still, id: InstanceId) -> Result<usize> {
    let timers = host.node.store.timers(&TenantId::default(), id).await?;
    Ok(timers.iter().filter(|timer| timer.timer_type == "DEADLINE").count())
}

/// A step that takes too long fails with the code, `onError` takes it, and its own timer is gone.
async fn a_step_that_takes_too_long_fails(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    let source = "steps:
  - { id: slow, type: TIMER, config: { delay: 10h }, deadline: { after: \"${workflow.context.sla}\", error: late }, onError: { late: handled } }
  - { id: handled, type: TIMER, config: { delay: 1h }, deadline: 2h }
";
    host.deploy_source("w", source).await?;
    let id = host.start("w", json!({ "sla": "4h" })).await?;
    assert_eq!(deadlines(&host, id).await?, 1);
    host.clock.turn(4 * HOUR_MS - 1);
    assert!(host.round().await?.idle(), "not before its time");
    host.clock.turn(1);
    host.round().await?;
    let steps = host.node.store.steps(&TenantId::default(), id, None).await?;
    let slow = steps.iter().find(|step| step.step_id == "slow").context("it is there")?;
    assert_eq!(slow.error.as_ref().map(|error| error.code.as_str()), Some("late"));
    let open = host.node.store.timers(&TenantId::default(), id).await?;
    let mut of_steps: Vec<_> = open.iter().map(|timer| timer.step_id.as_str()).collect();
    of_steps.dedup();
    assert_eq!(of_steps, ["handled"], "what the failed step waited for is cancelled");
    // The handler ends in time: its deadline is cancelled with it.
    host.clock.turn(HOUR_MS);
    host.round().await?;
    assert_eq!(host.status(id).await?, "completed");
    assert_eq!(db.count("workflow_timers where not triggered").await?, 0);
    Ok(())
}

/// An instance that takes too long fails; one that ends or is cancelled in time leaves no deadline behind.
async fn an_instance_that_takes_too_long_fails(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    let source = "deadline: { after: 3h, error: sla_missed }
steps:
  - { id: wait, type: TIMER, config: { delay: \"${workflow.context.delay}\" } }
";
    host.deploy_source("w", source).await?;
    let (quick, slow) =
        (host.start("w", json!({ "delay": "1h" })).await?, host.start("w", json!({ "delay": "9h" })).await?);
    let cancelled = host.start("w", json!({ "delay": "9h" })).await?;
    host.node.engine.cancel(&TenantId::default(), cancelled, "").await?;
    host.clock.turn(HOUR_MS);
    host.round().await?;
    assert_eq!((host.status(quick).await?, deadlines(&host, quick).await?), ("completed", 0));
    assert_eq!(deadlines(&host, cancelled).await?, 0);
    host.clock.turn(2 * HOUR_MS);
    host.round().await?;
    let instance = host.node.store.instance(&TenantId::default(), slow).await?.context("it is there")?;
    assert_eq!(instance.error.map(|error| error.code).as_deref(), Some("sla_missed"));
    assert_eq!((host.status(slow).await?, host.status(quick).await?), ("failed", "completed"));
    assert_eq!(db.count("workflow_timers where not triggered").await?, 0);
    Ok(())
}

/// A message tells whoever waits for it, and the step goes on.
async fn a_message_tells_of_a_deadline(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    host.add_plugin("COURIER", &guests::courier()).await?;
    let listens = "steps:\n  - { id: hear, type: COURIER, config: { name: late, correlation: \"42\" } }\n";
    client.deploy("listens", listens).await?;
    let slow = "steps:\n  - { id: slow, type: TIMER, config: { delay: 9h }, deadline: { after: 50ms, event: late } }\n";
    client.deploy("slow", slow).await?;
    let hears = client.start("listens", json!({})).await?;
    let body = json!({ "context": {}, "businessKey": "42" });
    let started = client.post("/api/v1/workflows/slow/instances", &body).await?.expect(201)?;
    let id = started["id"].as_str().context("it was started")?;
    let instance = client.instance_is(&hears, "completed").await?;
    let message = &step(&instance, "hear")["output"]["messages"][0];
    assert_eq!((&message["instance"], &message["step"]), (&json!(id), &json!("slow")));
    assert_eq!(client.instance(id).await?["status"], "waiting", "it goes on");
    host.stop().await;
    Ok(())
}

/// What is wrong with a deadline is told with its place, or fails the step by the name of the field.
async fn nonsense_is_refused(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let workflow = |deadline: &str| {
        format!(
            "steps:\n  - id: wait\n    type: TIMER\n    config: {{ delay: 2h }}\n    deadline: {deadline}\n"
        )
    };
    for (deadline, field) in [
        ("0s", "steps[0].deadline"),
        ("-1h", "steps[0].deadline"),
        ("100y", "steps[0].deadline"),
        ("5 parsecs", "steps[0].deadline"),
        ("true", "steps[0].deadline"),
        ("{ error: late }", "steps[0].deadline"),
        ("{ after: soon }", "steps[0].deadline.after"),
        ("{ after: 1h, error: a, event: b }", "steps[0].deadline.event"),
        ("{ after: 1h, remind: me }", "steps[0].deadline.remind"),
        ("{ after: 1h, error: a, remind: { channel: SLACK, message: m } }", "steps[0].deadline.remind"),
        ("{ after: 1h, code: a }", "steps[0].deadline.code"),
    ] {
        let refused = client.send("POST", "/api/v1/workflows?key=w", workflow(deadline)).await?;
        let problem = refused.expect_problem(400, "definition_invalid").context(deadline)?;
        assert_eq!(problem["errors"][0]["field"], field, "{deadline}: {problem}");
    }
    client.deploy("w", workflow("\"${workflow.context.sla}\"")).await?;
    let body = json!({ "context": { "sla": "0s" } });
    let refused = client.post("/api/v1/workflows/w/instances", &body).await?;
    let problem = refused.expect_problem(422, "config_invalid")?;
    assert!(problem["detail"].as_str().is_some_and(|text| text.contains("deadline.after")), "{problem}");
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_step_that_takes_too_long_fails,
    an_instance_that_takes_too_long_fails,
    a_message_tells_of_a_deadline,
    nonsense_is_refused,
);
