//! Reminders in virtual time, their mistakes at deploy, and the senders' and reminders' routes.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell::domain::TenantId;
use stepwell::domain::page::PageRequest;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::Host;

use crate::still::{HOUR_MS, Still};

/// Notes that wait to leave: loops do not run here, so nothing does.
async fn notes(host: &Still) -> Result<usize> {
    let page = PageRequest { after: None, limit: 1_000 };
    Ok(host.node.store.outbox(&TenantId::default(), &page).await?.len())
}

/// Three reminders, a day apart, and no test of it takes a second.
async fn three_days_take_no_time(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    let source = "steps:\n  - { id: nag, type: REMINDER, config: { channel: SLACK, message: m, delay: 2h, every: 24h, max: 3 } }\n";
    host.deploy_source("w", source).await?;
    let id = host.start("w", json!({})).await?;
    assert_eq!(notes(&host).await?, 0);
    host.clock.turn(2 * HOUR_MS - 1);
    assert!(host.round().await?.timers == 0);
    host.clock.turn(1);
    for sent in 1..=3 {
        host.round().await?;
        assert_eq!(notes(&host).await?, sent);
        assert_eq!(host.status(id).await?, if sent < 3 { "waiting" } else { "completed" });
        host.clock.turn(24 * HOUR_MS - 1);
        assert_eq!(host.round().await?.timers, 0, "not before its time");
        host.clock.turn(1);
    }
    assert_eq!(host.output(id).await?["sent"], 3);
    host.round().await?;
    assert_eq!(notes(&host).await?, 3, "and no more");
    Ok(())
}

/// A timer's own reminders, until the step beside it ends; what has begun to wait ends in the same commit.
async fn a_timer_s_reminders_end_with_a_step(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    let source = "steps:
  - { id: work, type: TIMER, dependsOn: [], config: { delay: 60h } }
  - id: nag
    type: TIMER
    dependsOn: []
    until: work
    config: { delay: 24h, reminder: { enabled: true, channel: SLACK, message: m, every: 24h } }
";
    host.deploy_source("w", source).await?;
    let id = host.start("w", json!({})).await?;
    for (hours, sent, status) in
        [(24, 1, "waiting"), (24, 2, "waiting"), (12, 2, "completed"), (24, 2, "completed")]
    {
        host.clock.turn(hours * HOUR_MS);
        host.round().await?;
        assert_eq!((notes(&host).await?, host.status(id).await?), (sent, status));
    }
    assert_eq!(db.count("workflow_timers where not triggered").await?, 0);
    Ok(())
}

/// What is wrong and known from the document is said when it is deployed, with its place.
async fn nonsense_is_refused_when_it_is_deployed(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let note = |more: &str| format!("type: REMINDER, config: {{ message: m, {more} }}");
    let timer =
        |more: &str| format!("type: TIMER, config: {{ delay: 1h, reminder: {{ enabled: true, {more} }} }}");
    let deadline = |more: &str| {
        format!(
            "type: TIMER, config: {{ delay: 1h }}, deadline: {{ after: 1h, remind: {{ message: m, {more} }} }}"
        )
    };
    for (step, field, about) in [
        (note("channel: FAX"), "steps[0].config.channel", "no channel"),
        (note("channel: EMAIL"), "steps[0].config", "at least one"),
        (note("channel: EMAIL, recipients: []"), "steps[0].config.recipients", "at least one"),
        (note("channel: EMAIL, recipients: [nobody]"), "steps[0].config.recipients", "no mail address"),
        (
            note("channel: EMAIL, recipients: [\"a@b.org\\r\\nBcc: c@d.org\"]"),
            "steps[0].config.recipients",
            "line break",
        ),
        (
            note("channel: SLACK, recipients: [\"#general\"]"),
            "steps[0].config.recipients",
            "no address of http",
        ),
        (note("channel: SLACK, subject: \"a\\nb\""), "steps[0].config.subject", "line break"),
        (note("channel: SLACK, every: 24h"), "steps[0].config.every", "never end"),
        (note("channel: SLACK, every: 0s, max: 2"), "steps[0].config.every", "longer than 0"),
        (note("channel: SLACK, max: 2"), "steps[0].config.max", "without `every`"),
        (note("channel: SLACK, every: 1h, max: 0"), "steps[0].config.max", "1 to 1000"),
        (note("channel: SLACK, delay: soon"), "steps[0].config.delay", "not a delay"),
        (
            note("channel: \"${workflow.context.c}\", recipients: [\"a\\nb\"]"),
            "steps[0].config.recipients",
            "line break",
        ),
        (timer("channel: FAX, message: m"), "steps[0].config.reminder.channel", "no channel"),
        (timer("channel: EMAIL, message: m"), "steps[0].config", "at least one"),
        (timer("channel: SLACK"), "steps[0].config", "is needed"),
        (timer("channel: SLACK, message: m, every: 1h"), "steps[0].config.reminder.every", "never end"),
        (deadline("channel: FAX"), "steps[0].deadline.remind.channel", "no channel"),
        (
            deadline("channel: EMAIL, recipients: [x]"),
            "steps[0].deadline.remind.recipients",
            "no mail address",
        ),
        (
            deadline("channel: SLACK, subject: \"${secrets.X}\""),
            "steps[0].deadline.remind.subject",
            "not known here",
        ),
        (deadline("channel: SLACK, every: 1h"), "steps[0].deadline.remind.every", "not known"),
        (format!("{}, until: nobody", note("channel: SLACK")), "steps[0].until", "there is no step"),
        (format!("{}, until: one", note("channel: SLACK")), "steps[0].until", "its own end"),
        (format!("{}, until: two", note("channel: SLACK")), "steps[0].until", "begins only when"),
        (
            "type: EXTERNAL_TASK, config: { taskType: t }, dependsOn: [], until: three".into(),
            "steps[0].until",
            "cannot be told",
        ),
    ] {
        let source = format!(
            "steps:\n  - {{ id: one, {step} }}\n  - {{ id: two, type: TIMER, config: {{ delay: 1h }} }}\n  - {{ id: three, \
             type: TIMER, dependsOn: [], config: {{ delay: 1h }} }}\n"
        );
        let refused = host.client.send("POST", "/api/v1/workflows?key=w", source).await?;
        let problem = refused.expect_problem(400, "definition_invalid").context(step.clone())?;
        let found = problem["errors"].as_array().into_iter().flatten().any(|mistake| {
            mistake["field"] == field && mistake["message"].as_str().is_some_and(|text| text.contains(about))
        });
        assert!(found, "{step}: {problem}");
    }
    // What only the instance knows is the step's error, by the name of the field.
    let source = "steps: [{id: one, type: REMINDER, config: {channel: EMAIL, message: m, recipients: [\"${workflow.context.to}\"]}}]";
    host.client.deploy("w", source).await?;
    for to in ["a@b.org\r\nBcc: c@d.org", "nobody", ""] {
        let id = host.client.start("w", json!({ "to": to })).await?;
        let error = host.client.instance_is(&id, "failed").await?["error"].clone();
        assert!(
            error["message"].as_str().is_some_and(|text| text.contains("recipients: ")),
            "{to:?}: {error}"
        );
    }
    host.stop().await;
    Ok(())
}

/// Senders over HTTP: set, shown, chosen, forgotten; each tenant has its own.
async fn senders_are_set_listed_and_forgotten(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let put = async |name: &str, body: &Value| {
        client.send("PUT", &format!("/api/v1/senders/{name}"), body.to_string()).await
    };
    let mail = json!({ "channel": "email", "host": "mail.example.org", "from": "robot@example.org", "default": true });
    let made = put("one", &mail).await?.expect(201)?;
    assert_eq!(
        (&made["channel"], &made["default"], &made["port"]),
        (&json!("EMAIL"), &json!(true), &Value::Null)
    );
    put("two", &mail).await?.expect(201)?;
    put("two", &mail).await?.expect(200)?;
    let listed = client.get("/api/v1/senders").await?.expect(200)?;
    let defaults: Vec<_> =
        listed["items"].as_array().into_iter().flatten().map(|row| row["default"].clone()).collect();
    assert_eq!(defaults, [json!(false), json!(true)], "one of a channel: {listed}");
    assert_eq!(client.get("/api/v1/senders/one").await?.expect(200)?["from"], "robot@example.org");
    let stranger = client.tenant("other");
    assert_eq!(stranger.get("/api/v1/senders").await?.expect(200)?["items"], json!([]));
    stranger.get("/api/v1/senders/one").await?.expect_problem(404, "sender_not_found")?;
    stranger.send("DELETE", "/api/v1/senders/one", "").await?.expect_problem(404, "sender_not_found")?;
    for (name, body, about) in [
        ("a.b", mail.clone(), "name"),
        ("x", json!({ "channel": "FAX" }), "channel"),
        ("x", json!({ "channel": "EMAIL", "from": "a@b.org" }), "host"),
        ("x", json!({ "channel": "EMAIL", "host": "h", "from": "a@b.org\r\nX: y" }), "from"),
        ("x", json!({ "channel": "SLACK", "url": "nowhere" }), "url"),
        ("x", json!({ "channel": "SLACK", "signingSecret": "K" }), "signingSecret"),
    ] {
        let problem = put(name, &body).await?.expect_problem(400, "sender_invalid")?;
        assert!(problem["detail"].as_str().is_some_and(|text| text.contains(about)), "{body}: {problem}");
    }
    put("x", &json!({ "channel": "SLACK", "password": "p" }))
        .await?
        .expect_problem(400, "invalid_request")?;
    client.send("DELETE", "/api/v1/senders/one", "").await?.expect(204)?;
    client.send("DELETE", "/api/v1/senders/one", "").await?.expect_problem(404, "sender_not_found")?;
    client.get("/api/v1/reminders?status=LOST").await?.expect_problem(400, "invalid_request")?;
    client.get("/api/v1/reminders?instance=x").await?.expect_problem(400, "invalid_request")?;
    assert_eq!(client.get("/api/v1/reminders?status=sent&limit=1").await?.expect(200)?["items"], json!([]));
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    three_days_take_no_time,
    a_timer_s_reminders_end_with_a_step,
    nonsense_is_refused_when_it_is_deployed,
    senders_are_set_listed_and_forgotten,
);
