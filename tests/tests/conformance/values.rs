//! What was written is what is read: every field, every kind of JSON, every byte of canonical text.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::{Value, json};
use stepwell::domain::incident::Incident;
use stepwell::domain::instance::InstanceStatus;
use stepwell::domain::journal::JournalEntry;
use stepwell::domain::json::JsonText;
use stepwell::domain::plugin::PluginKind;
use stepwell::domain::step::StepStatus;
use stepwell::domain::transition::Failure;
use stepwell::domain::{Digest, LockToken, Timestamp};
use stepwell::engine::port::write::PluginRow;
use stepwell::engine::port::{Verdict, Write};
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;

use crate::fixture::{Case, T0, apply, at, commit_one, set};

on_both_databases!(
    every_field_comes_back,
    json_comes_back,
    canonical_text_survives_byte_for_byte,
    null_is_a_value_where_one_must_be,
    components_come_back,
    a_nul_is_refused_or_kept_but_never_breaks_the_batch,
);

async fn every_field_comes_back(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let mut case = Case::new();
    case.instance.status = InstanceStatus::Failed;
    case.instance.error = Some(Failure { retryable: true, details: json!([1]), ..Failure::new("c", "m") });
    case.instance.traceparent = Some("00-trace-01".into());
    (case.instance.ended_at, case.instance.updated_at) = (Some(at(3)), at(2));
    case.step.status = StepStatus::Failed;
    case.step.output = Some(json!({ "x": [null] }));
    case.step.error = Some(Failure::new("code", "message"));
    case.step.effect_keys = BTreeMap::from([("ключ".into(), "d".into()), ("a\"b".into(), "e".into())]);
    (case.step.seq, case.step.arrived, case.step.arrived_live) = (1 << 40, 3, 2);
    case.step.ended_at = Some(at(77));
    let mut task = case.task("k");
    task.business_key = Some("b".into());
    task.output = Some(json!({ "ok": true }));
    task.worker_id = Some("w".into());
    (task.locked_at, task.lock_expires_at, task.last_heartbeat_at) = (Some(at(1)), Some(at(2)), Some(at(3)));
    task.lock_token = Some(LockToken::new());
    (task.heartbeat_interval_seconds, task.timeout_seconds) = (Some(0.125), Some(1e6));
    (task.timeout_at, task.completed_at, task.due_at) = (Some(at(4)), Some(at(5)), Some(at(6)));
    (task.error_message, task.error_code) = (Some("m".into()), Some("c".into()));
    (task.error_details, task.checkpoint) = (Some("at line 1".into()), Some(json!({ "page": 7 })));
    (task.traceparent, task.priority, task.retry_max_ms) = (Some("00-".into()), i64::MIN, i64::MAX);
    let (timer, subscription) = (case.timer("t", at(10)), case.subscription("s", "n", Some("c")));
    let (item, event, incident) = (case.outgoing("o", at(1)), case.event("{\"a\":1}"), case.incident());
    let bare = Incident { plugin_digest: None, event_id: None, ..case.incident() };
    let (journal, blob) = (case.journal(1), case.blob("body"));
    let rows = vec![
        Write::InsertTask(task.clone()),
        Write::UpsertTimer(timer.clone()),
        Write::InsertSubscription(subscription.clone()),
        Write::InsertOutbox(item.clone()),
        Write::InsertEvent(event.clone()),
        Write::InsertIncident(incident.clone()),
        Write::InsertIncident(bare.clone()),
        Write::InsertJournal(journal.clone()),
        Write::InsertBlob(blob.clone()),
        Write::InsertBlob(blob.clone()),
    ];
    case.write(&*store, rows).await?;

    let (tenant, id) = (&case.tenant, case.instance.id);
    let found = store.instance(tenant, id).await?.expect("the instance");
    assert_eq!(serde_json::to_value(found)?, serde_json::to_value(&case.instance)?);
    assert_eq!(store.step_execution(tenant, case.step.id).await?, Some(case.step.clone()));
    assert_eq!(store.task(tenant, task.id).await?, Some(task));
    assert_eq!(store.timers(tenant, id).await?, [timer]);
    assert_eq!(store.matching(tenant, "n", Some("c"), T0, 9).await?, [subscription]);
    let page = stepwell::domain::page::PageRequest { after: None, limit: 9 };
    assert_eq!(store.outbox(tenant, &page).await?, [item]);
    assert_eq!(store.events(tenant, case.step.id).await?, [event]);
    assert_eq!(store.incident(tenant, incident.id).await?, Some(incident));
    assert_eq!(store.incident(tenant, bare.id).await?, Some(bare));
    assert_eq!(store.journal(tenant, id, &page).await?, [journal]);
    assert_eq!(store.blobs(tenant, id, &[blob.hash.clone(), Digest::of(b"?")]).await?, [blob]);
    Ok(())
}

async fn json_comes_back(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let values = [
        json!(null),
        json!(true),
        json!(0.1),
        json!(-1.5e-7),
        json!(1.0),
        json!(9_007_199_254_740_993_i64),
        json!(i64::MIN),
        json!(u64::MAX),
        json!("\u{1}\t\n\"\\/ é 漢字 🦀 \u{202e}"),
        json!([[], {}, [null], "", " "]),
        json!({ "": 1, "a b": 2, "ключ": { "🦀": [false] }, "$.x": "?1", "quote'": "''" }),
        json!({ "z": 1, "a": 2, "long": "x".repeat(100_000) }),
        (0..60).fold(json!("deep"), |inner, _| json!([inner])),
    ];
    for value in values {
        let mut case = Case::new();
        (case.instance.context, case.instance.trigger) = (value.clone(), json!({ "v": value }));
        let mut task = case.task("k");
        task.input = value.clone();
        case.write(&*store, vec![Write::InsertTask(task.clone())]).await?;
        let found = store.instance(&case.tenant, case.instance.id).await?.expect("the instance");
        assert_eq!((&found.context, &found.trigger["v"]), (&value, &value));
        assert_eq!(store.task(&case.tenant, task.id).await?.map(|task| task.input), Some(value));
    }
    Ok(())
}

async fn canonical_text_survives_byte_for_byte(db: TestDb) -> Result<()> {
    let store = db.open().await;
    // Not what a JSON column would give back: order, white space, numbers, escapes.
    let texts = [
        r#"{"b":1,"a":2,"a":3}"#,
        "  [1.0, 1e2 , 100000000000000000000000000000000]\n",
        r#"{"x":"\u0041\u00e9\ud83e\udd80","nul":"\u0000"}"#,
        "not json at all: ' \" \\ é 漢字 🦀 $1 ?1 %s",
        "",
    ];
    for text in texts {
        let mut case = Case::new();
        (case.step.config, case.step.state) = (Some(text.into()), Some(text.into()));
        let (mut item, event, blob) = (case.outgoing("k", T0), case.event(text), case.blob(text));
        item.payload = text.into();
        // What is JSON stays as it was written; anything else is a string of JSON.
        let json = JsonText::parse(text.into()).or_else(|_| JsonText::of(&text))?;
        let journal = JournalEntry {
            call: Some(json.clone()),
            answer: Some(json),
            note: Some(text.into()),
            ..case.journal(1)
        };
        let rows = vec![
            Write::InsertOutbox(item.clone()),
            Write::InsertEvent(event.clone()),
            Write::InsertBlob(blob.clone()),
            Write::InsertJournal(journal.clone()),
        ];
        case.write(&*store, rows).await?;
        let (tenant, id) = (&case.tenant, case.instance.id);
        assert_eq!(store.step_execution(tenant, case.step.id).await?, Some(case.step.clone()));
        assert_eq!(store.events(tenant, case.step.id).await?, [event]);
        assert_eq!(store.blobs(tenant, id, std::slice::from_ref(&blob.hash)).await?, [blob]);
        let page = stepwell::domain::page::PageRequest { after: None, limit: 1 };
        assert_eq!(store.journal(tenant, id, &page).await?, [journal]);
        assert_eq!(store.outbox(tenant, &page).await?.first(), Some(&item));
    }
    Ok(())
}

async fn null_is_a_value_where_one_must_be(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let mut case = Case::new();
    (case.instance.context, case.instance.trigger) = (Value::Null, Value::Null);
    let mut task = case.task("k");
    (task.input, task.output) = (Value::Null, None);
    case.write(&*store, vec![Write::InsertTask(task.clone())]).await?;
    assert_eq!(store.task(&case.tenant, task.id).await?, Some(task.clone()));
    apply(&*store, vec![Write::UpdateTask(task.clone())]).await?;
    assert_eq!(store.task(&case.tenant, task.id).await?, Some(task));
    let found = store.instance(&case.tenant, case.instance.id).await?.expect("the instance");
    assert_eq!((found.context, found.trigger), (Value::Null, Value::Null));
    Ok(())
}

async fn components_come_back(db: TestDb) -> Result<()> {
    let store = db.open().await;
    assert!(store.plugins().await?.is_empty());
    let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    let digest = Digest::of(&bytes);
    let row = |digest: &Digest, component: &[u8], created_at: Timestamp| {
        Write::InsertPlugin(PluginRow {
            digest: digest.clone(),
            kind: PluginKind::Step,
            types: vec!["TIMER".into(), "DELAY".into()],
            descriptor: json!({ "title": "Timer", "config_schema": {} }),
            component: base64(component),
            created_at,
        })
    };
    apply(&*store, vec![row(&digest, &bytes, at(5))]).await?;
    // The same again, and an older one.
    let older = Digest::of(b"x");
    apply(&*store, vec![row(&digest, b"other", at(9)), row(&older, b"", at(1))]).await?;
    assert_eq!(store.component(&digest).await?, Some(bytes));
    assert_eq!(store.component(&older).await?, Some(vec![]));
    assert_eq!(store.component(&Digest::of(b"unknown")).await?, None);
    let plugins = store.plugins().await?;
    assert_eq!(plugins.iter().map(|plugin| plugin.digest.clone()).collect::<Vec<_>>(), [older, digest]);
    assert_eq!(plugins[1].types, ["TIMER", "DELAY"]);
    assert_eq!((plugins[1].kind, plugins[1].created_at), (PluginKind::Step, at(5)));
    assert_eq!(plugins[1].descriptor["title"], "Timer");
    Ok(())
}

async fn a_nul_is_refused_or_kept_but_never_breaks_the_batch(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (mut odd, sound) = (Case::new(), Case::new());
    odd.instance.context = json!("\u{0}");
    let batch = [odd, sound].map(|case| set(vec![], vec![Write::InsertInstance(case.instance)]));
    let verdicts = store.commit(batch.to_vec()).await?;
    assert!(matches!(verdicts[0], Verdict::Refused(_) | Verdict::Applied), "{verdicts:?}");
    assert_eq!(verdicts[1], Verdict::Applied);
    Ok(())
}

/// PostgreSQL is spared the check: an instance and its tasks are written in one transaction, and removed in one.
mod sqlite_alone {
    #[test]
    fn a_task_of_no_instance_is_refused() {
        stepwell_tests::db::run_on_sqlite(super::a_task_of_no_instance_is_refused);
    }
}

async fn a_task_of_no_instance_is_refused(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let verdict = commit_one(&*store, set(vec![], vec![Write::InsertTask(Case::new().task("k"))])).await?;
    assert!(matches!(verdict, Verdict::Refused(_)), "{verdict:?}");
    Ok(())
}

/// Base64 as the port wants it, written out: the tests have no library for it.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for n in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * n) & 63) as usize] as char;
            text.push(if n <= three.len() { digit } else { '=' });
        }
    }
    text
}
