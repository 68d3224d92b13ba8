//! Each kind on its own: a clear error, the step as it was, and a host that goes on.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::guests;
use stepwell_tests::host::{Client, Host, one_task, step};

use crate::kinds::{self, Kind};

/// A step that fails on an event is held as it was before the event, whatever its plugin did.
async fn a_step_is_held_as_it_was(db: TestDb) -> Result<()> {
    let host = Host::start_with(&db, |settings| {
        // The clock on the wall must decide nothing: a slow machine would.
        settings.plugin_limits.default.wall_ms_max = Some(120_000);
    })
    .await?;
    host.add_plugin("HOSTILE", &guests::hostile()).await?;
    let (hostile, innocent) = (host.client.tenant("hostile"), host.client.tenant("innocent"));
    innocent.deploy("one", one_task("t", &[])).await?;
    for kind in kinds::ALL {
        held(&db, &hostile, kind).await.with_context(|| format!("{kind:?}"))?;
        let id = innocent.start("one", json!({})).await?;
        innocent.work("t", &json!({})).await?;
        innocent.instance_is(&id, "completed").await.with_context(|| format!("after {kind:?}"))?;
    }
    assert_eq!(
        db.numbers("select count(*) from workflow_external_tasks where tenant = 'hostile'").await?,
        [0]
    );
    assert_eq!(db.numbers("select count(*) from workflow_incidents where tenant <> 'hostile'").await?, [0]);
    host.stop().await;
    Ok(())
}

async fn held(db: &TestDb, client: &Client, kind: Kind) -> Result<()> {
    client.deploy(kind.mode, kind.workflow(true)).await?;
    let given = json!({ "from": "before" });
    let id = client.start(kind.mode, given.clone()).await?;
    let instance = client.instance_is(&id, kind.status()).await?;
    let Some(code) = kind.code else { return Ok(()) };
    let incident = &instance["incidents"][0];
    ensure!(incident["code"] == code, "expected {code}: {instance}");
    ensure!(incident["message"].as_str().is_some_and(|text| text.contains("on-event") || text.len() > 20));
    ensure!(step(&instance, "h")["status"] == "incident" && step(&instance, "h")["output"] == Value::Null);
    ensure!(instance["context"] == given, "the context is as it was: {instance}");
    let state = db.texts(&format!("select state from workflow_steps where instance_id = '{id}'")).await?;
    ensure!(state == [r#"{"kept":1}"#], "the state is as it was: {state:?}");
    let inbox = format!("select count(*) from workflow_events where instance_id = '{id}'");
    ensure!(db.numbers(&inbox).await? == [1], "its event is kept");
    Ok(())
}

stepwell_tests::on_both_databases!(a_step_is_held_as_it_was);
