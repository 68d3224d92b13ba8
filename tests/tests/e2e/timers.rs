//! The step type TIMER over HTTP: what is refused when it is deployed, what an operator can do with a timer.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, step};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

fn timer(config: &str) -> String {
    format!("steps:\n  - id: wait\n    type: TIMER\n    config: {config}\n")
}

/// What is wrong with a configuration and known from the document is said when it is deployed, with its place.
async fn nonsense_is_refused_when_it_is_deployed(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    for (config, field, about) in [
        ("{}", "steps[0].config", "is needed"),
        ("{ delay: 0s }", "steps[0].config.delay", "longer than 0"),
        ("{ delay: -5 }", "steps[0].config.delay", "past"),
        ("{ delay: \"-PT1H\" }", "steps[0].config.delay", "past"),
        ("{ delay: 100y }", "steps[0].config.delay", "100 years"),
        ("{ delay: 5 parsecs }", "steps[0].config.delay", "not a delay"),
        ("{ delay: true }", "steps[0].config.delay", "true"),
        (
            "{ delay: 1h, scheduleAt: \"2027-01-01T00:00:00Z\" }",
            "steps[0].config.scheduleAt",
            "beside `delay`",
        ),
        ("{ scheduleAt: \"2027-01-01T00:00:00\" }", "steps[0].config.scheduleAt", "no zone"),
        ("{ cron: \"0 0 30 2 *\" }", "steps[0].config.cron", "never runs"),
        ("{ cron: \"@noon\" }", "steps[0].config.cron", "@daily"),
        ("{ cron: \"@daily\", timeZone: Mars/Phobos }", "steps[0].config.timeZone", "no time zone"),
        (
            "{ delay: \"${workflow.context.d}\", timeZone: Mars/Phobos }",
            "steps[0].config.timeZone",
            "no time zone",
        ),
        ("{ delay: \"${workflow.context.d}\", cron: \"@daily\" }", "steps[0].config.cron", "beside `delay`"),
        ("{ delay: 1h, until: never }", "steps[0].config", "until"),
    ] {
        let refused = host.client.send("POST", "/api/v1/workflows?key=w", timer(config)).await?;
        let problem = refused.expect_problem(400, "definition_invalid").context(config)?;
        let found = problem["errors"].as_array().into_iter().flatten().any(|mistake| {
            mistake["field"] == field && mistake["message"].as_str().is_some_and(|text| text.contains(about))
        });
        assert!(found, "{config}: {problem}");
    }
    host.client.get("/api/v1/workflows/w").await?.expect_problem(404, "workflow_not_found")?;
    host.stop().await;
    Ok(())
}

/// What only the instance knows fails the step, by the name of the field; and `onError` takes it.
async fn nonsense_of_a_template_is_the_step_s_error(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let source = "steps:
  - { id: wait, type: DELAY, config: { delay: \"${workflow.context.delay}\", timeZone: \"${workflow.context.zone}\" } }
";
    client.deploy("w", source).await?;
    for (context, about) in [
        (json!({ "delay": "soon", "zone": "UTC" }), "delay: "),
        (json!({ "delay": "0s", "zone": "UTC" }), "delay: "),
        (json!({ "delay": "1h", "zone": "Mars/Phobos" }), "timeZone: "),
    ] {
        let id = client.start("w", context.clone()).await?;
        let error = client.instance_is(&id, "failed").await?["error"].clone();
        assert!(error["message"].as_str().is_some_and(|text| text.contains(about)), "{context}: {error}");
    }
    for delay in [json!(null), json!([]), json!({})] {
        let body = json!({ "context": { "delay": delay, "zone": "UTC" } });
        let refused = client.post("/api/v1/workflows/w/instances", &body).await?;
        let problem = refused.expect_problem(422, "config_invalid")?;
        assert!(problem["detail"].as_str().is_some_and(|text| text.contains("config/delay")), "{problem}");
    }
    let id = client.start("w", json!({ "delay": 0.05, "zone": "Europe/Prague" })).await?;
    let instance = client.instance_is(&id, "completed").await?;
    let output = &step(&instance, "wait")["output"];
    assert!(output["triggeredAt"].as_str() >= output["dueAt"].as_str(), "never early: {output}");
    assert_eq!(output["triggeredAt"].as_str().map(str::len), Some("2026-01-01T00:00:00.000Z".len()));
    host.stop().await;
    Ok(())
}

/// List, show, fire, move and withdraw, and what each leaves behind.
async fn an_operator_has_timers_in_hand(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("w", timer("{ delay: 2h }")).await?;
    let handled = "steps:
  - { id: wait, type: TIMER, config: { delay: 2h }, onError: { timer_cancelled: after } }
  - { id: after, type: TIMER, config: { scheduleAt: \"2020-01-01T00:00:00Z\" } }
";
    client.deploy("handled", handled).await?;
    let [fired, moved, cancelled, ended, other] = [
        client.start("w", json!({})).await?,
        client.start("w", json!({})).await?,
        client.start("handled", json!({})).await?,
        client.start("w", json!({})).await?,
        client.start("w", json!({})).await?,
    ];
    let listed = client.get("/api/v1/timers?limit=3").await?.expect(200)?;
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(3));
    let next = listed["next"].as_str().context("there are more")?;
    let rest = client.get(&format!("/api/v1/timers?limit=3&after={next}")).await?.expect(200)?;
    assert_eq!((rest["items"].as_array().map(Vec::len), &rest["next"]), (Some(2), &Value::Null));

    let id = timer_of(client, &fired).await?;
    let shown = client.get(&format!("/api/v1/timers/{id}")).await?.expect(200)?;
    assert_eq!(
        (&shown["timerType"], &shown["stepId"], &shown["triggered"]),
        (&json!("DELAY"), &json!("wait"), &json!(false))
    );
    client.post(&format!("/api/v1/timers/{id}/fire"), &json!({})).await?.expect(204)?;
    client.instance_is(&fired, "completed").await?;
    let again = client.post(&format!("/api/v1/timers/{id}/fire"), &json!({})).await?;
    again.expect_problem(409, "timer_fired")?;
    let records = client.get("/api/v1/timers?fired=true").await?.expect(200)?;
    assert_eq!(records["items"][0]["id"], id.as_str(), "what has fired stays as a record: {records}");

    let id = timer_of(client, &moved).await?;
    let later = client
        .post(&format!("/api/v1/timers/{id}/reschedule"), &json!({ "delay": "3h" }))
        .await?
        .expect(200)?;
    assert!(later["triggerAt"].as_str() > shown["triggerAt"].as_str(), "{later}");
    assert_eq!(client.instance(&moved).await?["status"], "waiting");
    let past = json!({ "triggerAt": "2020-01-01T00:00:00Z" });
    client.post(&format!("/api/v1/timers/{id}/reschedule"), &past).await?.expect(200)?;
    client.instance_is(&moved, "completed").await?;

    let id = timer_of(client, &cancelled).await?;
    client.post(&format!("/api/v1/timers/{id}/cancel"), &json!({})).await?.expect(204)?;
    let instance = client.instance_is(&cancelled, "completed").await?;
    assert_eq!(step(&instance, "wait")["error"]["code"], "timer_cancelled", "{instance}");

    let id = timer_of(client, &ended).await?;
    client.post(&format!("/api/v1/instances/{ended}/cancel"), &json!({})).await?.expect(204)?;
    client.get(&format!("/api/v1/timers/{id}")).await?.expect_problem(404, "timer_not_found")?;

    let id = timer_of(client, &other).await?;
    let stranger = client.tenant("other");
    stranger.get(&format!("/api/v1/timers/{id}")).await?.expect_problem(404, "timer_not_found")?;
    for verb in ["fire", "cancel"] {
        let refused = stranger.post(&format!("/api/v1/timers/{id}/{verb}"), &json!({})).await?;
        refused.expect_problem(404, "timer_not_found")?;
    }
    assert_eq!(stranger.get("/api/v1/timers").await?.expect(200)?["items"], json!([]));
    host.stop().await;
    Ok(())
}

/// Bad requests about timers.
async fn requests_about_timers_are_checked(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("w", timer("{ delay: 2h }")).await?;
    let instance = client.start("w", json!({})).await?;
    let id = timer_of(client, &instance).await?;
    let path = format!("/api/v1/timers/{id}/reschedule");
    for (body, about) in [
        (json!({}), "triggerAt"),
        (json!({ "delay": "1h", "triggerAt": "2030-01-01T00:00:00Z" }), "triggerAt"),
        (json!({ "delay": "0s" }), "delay"),
        (json!({ "triggerAt": "tomorrow" }), "triggerAt"),
        (json!({ "triggerAt": "2300-01-01T00:00:00Z" }), "triggerAt"),
        (json!({ "at": "2030-01-01T00:00:00Z" }), "at"),
    ] {
        let problem = client.post(&path, &body).await?.expect_problem(400, "invalid_request")?;
        assert!(problem["detail"].as_str().is_some_and(|text| text.contains(about)), "{body}: {problem}");
    }
    for verb in ["fire", "cancel", "reschedule"] {
        let body = json!({ "delay": "1h" });
        let nobody = client.post(&format!("/api/v1/timers/{NOBODY}/{verb}"), &body).await?;
        nobody.expect_problem(404, "timer_not_found")?;
        client.post(&format!("/api/v1/timers/x/{verb}"), &body).await?.expect_problem(400, "invalid_id")?;
    }
    assert_eq!(client.instance(&instance).await?["status"], "waiting", "nothing else has stopped");
    host.stop().await;
    Ok(())
}

async fn timer_of(client: &Client, instance: &str) -> Result<String> {
    let listed = client.get(&format!("/api/v1/timers?instance={instance}")).await?.expect(200)?;
    Ok(listed["items"][0]["id"].as_str().with_context(|| format!("a timer: {listed}"))?.to_owned())
}

stepwell_tests::on_both_databases!(
    nonsense_is_refused_when_it_is_deployed,
    nonsense_of_a_template_is_the_step_s_error,
    an_operator_has_timers_in_hand,
    requests_about_timers_are_checked,
);
