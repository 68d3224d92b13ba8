//! Waits for events: found by both ids and the tenant, kept true when their step ends, forgotten by age; and the rows
//! around them.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::json;
use stepwell::domain::incoming::RejectedEvent;
use stepwell::domain::page::PageRequest;
use stepwell::domain::wait::{EventTriggerRow, KeptEvent, Listener, TopicFields, WaitState, WaitStatus};
use stepwell::engine::port::Write;
use stepwell::engine::port::events::{
    EventTriggersKept, KeptGone, KeptSum, RejectedForgotten, WaitFilter, WaitKey, WaitsForgotten,
};
use stepwell::engine::port::write::{InstanceClosed, InstanceGone, StepClosed};
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;
use uuid::Uuid;

use crate::fixture::{Case, apply, at};

on_both_databases!(
    a_wait_is_found_by_both_ids_and_its_tenant,
    a_wait_ends_with_its_step_and_its_instance,
    waits_are_forgotten_by_age,
    what_came_early_is_kept_and_counted,
    refused_events_are_bounded,
    topics_and_triggers_follow_deployments,
);

fn wait(case: &Case, correlation: &str) -> WaitState {
    let listener: Listener = serde_json::from_value(json!({
        "name": "kafka_event", "source": "kafka", "topic": "t", "filter": { "type": ["a", null] },
    }))
    .expect("a listener");
    WaitState {
        id: case.step.id,
        tenant: case.tenant.clone(),
        execution_id: case.instance.id,
        node_id: case.step.step_id.clone(),
        attempt: 1,
        correlation_id: correlation.into(),
        aggregation_strategy: "all".into(),
        required_events: vec!["kafka_event".into()],
        enabled_events: vec!["kafka_event".into()],
        api_call_enabled: false,
        kafka_event_enabled: true,
        api_response_data: None,
        kafka_event_data: Some(json!({ "n": 1.5, "text": "ž" })),
        event_data: Some(json!({ "more": null })),
        received_events: Vec::new(),
        listeners: vec![listener],
        status: WaitStatus::Waiting,
        warning: None,
        resumed_at: None,
        resumed_by: None,
        version: 1,
        created_at: at(0),
        updated_at: at(0),
        expires_at: at(1_000),
    }
}

fn key(case: &Case, correlation: &str) -> WaitKey {
    WaitKey {
        tenant: case.tenant.clone(),
        execution_id: case.instance.id,
        correlation_id: correlation.into(),
    }
}

fn page() -> PageRequest {
    PageRequest { after: None, limit: 10 }
}

async fn a_wait_is_found_by_both_ids_and_its_tenant(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::of("one"), Case::of("two"));
    let (first, second) = (wait(&one, "c"), wait(&two, "c"));
    one.write(&*store, vec![Write::UpsertWait(first.clone())]).await?;
    two.write(&*store, vec![Write::UpsertWait(second.clone())]).await?;
    assert_eq!(store.wait_state(&one.tenant, first.id).await?, Some(first.clone()), "as it was written");
    assert_eq!(store.wait_state(&two.tenant, first.id).await?, None);
    let mut found = store.waits_for(&[key(&one, "c"), key(&two, "c"), key(&one, "c")]).await?;
    found.sort_by_key(|wait| wait.tenant.clone());
    assert_eq!(found, [first.clone(), second]);
    let foreign = WaitKey { tenant: two.tenant.clone(), ..key(&one, "c") };
    assert_eq!(store.waits_for(&[key(&one, "d"), foreign]).await?, []);

    let changed = WaitState {
        received_events: vec!["kafka_event".into()],
        status: WaitStatus::Completed,
        resumed_at: Some(at(5)),
        resumed_by: Some("host".into()),
        updated_at: at(5),
        ..first
    };
    apply(&*store, vec![Write::UpsertWait(changed.clone())]).await?;
    let expected = WaitState { version: 2, ..changed };
    assert_eq!(store.wait_state(&one.tenant, expected.id).await?, Some(expected.clone()));
    let list = async |statuses: Vec<WaitStatus>, execution_id| {
        store.wait_states(&one.tenant, &WaitFilter { execution_id, statuses }, &page()).await
    };
    assert_eq!(list(vec![], None).await?, std::slice::from_ref(&expected));
    assert_eq!(
        list(vec![WaitStatus::Timeout, WaitStatus::Completed], Some(one.instance.id)).await?,
        [expected]
    );
    assert_eq!(list(vec![WaitStatus::Waiting], None).await?, []);
    assert_eq!(list(vec![], Some(two.instance.id)).await?, []);
    let count = store.wait_count(at(70_000)).await?;
    assert_eq!((count.active, count.overdue, count.oldest), (1, 1, Some(at(0))));
    Ok(())
}

async fn a_wait_ends_with_its_step_and_its_instance(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::new(), Case::new());
    one.write(&*store, vec![Write::UpsertWait(wait(&one, "c"))]).await?;
    let kept = kept(&two, "d", at(9));
    two.write(&*store, vec![Write::UpsertWait(wait(&two, "c")), Write::InsertKept(kept)]).await?;
    let (tenant, step_execution_id) = (one.tenant.clone(), one.step.id);
    apply(&*store, vec![Write::CloseStep(StepClosed { tenant, step_execution_id, at: at(7) })]).await?;
    let closed = InstanceClosed { tenant: two.tenant.clone(), instance_id: two.instance.id, at: at(8) };
    apply(&*store, vec![Write::CloseInstance(closed)]).await?;
    for (case, ms) in [(&one, 7), (&two, 8)] {
        let wait = store.wait_state(&case.tenant, case.step.id).await?.expect("it is there");
        assert_eq!((wait.status, wait.updated_at, wait.version), (WaitStatus::Cancelled, at(ms), 2));
    }
    assert_eq!(store.kept_events(&key(&two, "d")).await?, []);
    let gone = InstanceGone { tenant: one.tenant.clone(), instance_id: one.instance.id };
    apply(&*store, vec![Write::DeleteInstance(gone)]).await?;
    assert_eq!(store.wait_state(&one.tenant, one.step.id).await?, None);
    Ok(())
}

async fn waits_are_forgotten_by_age(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (old, new, open) = (Case::new(), Case::new(), Case::new());
    for (case, status, ms) in
        [(&old, WaitStatus::Timeout, 1), (&new, WaitStatus::Completed, 9), (&open, WaitStatus::Waiting, 1)]
    {
        let row = WaitState { status, updated_at: at(ms), ..wait(case, "c") };
        case.write(&*store, vec![Write::UpsertWait(row)]).await?;
    }
    let forgotten = WaitsForgotten { ended_before: at(5), rows_max: 10 };
    apply(&*store, vec![Write::ForgetWaits(forgotten)]).await?;
    let mut left = Vec::new();
    for case in [&old, &new, &open] {
        left.push(store.wait_state(&case.tenant, case.step.id).await?.is_some());
    }
    assert_eq!(left, [false, true, true]);
    Ok(())
}

fn kept(case: &Case, correlation: &str, expires_at: stepwell::domain::Timestamp) -> KeptEvent {
    KeptEvent {
        id: Uuid::now_v7(),
        tenant: case.tenant.clone(),
        execution_id: case.instance.id,
        correlation_id: correlation.into(),
        source: "http".into(),
        topic: "t".into(),
        event: "{\"b\":1,\"a\":[]}".into(),
        bytes: 14,
        created_at: at(0),
        expires_at,
    }
}

async fn what_came_early_is_kept_and_counted(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let rows = [kept(&case, "c", at(10)), kept(&case, "c", at(20)), kept(&case, "d", at(30))];
    case.write(&*store, rows.iter().cloned().map(Write::InsertKept).collect()).await?;
    assert_eq!(store.kept_events(&key(&case, "c")).await?, rows[..2]);
    let sum = async || store.kept_sum(&case.tenant, case.instance.id).await;
    assert_eq!(sum().await?, KeptSum { count: 3, bytes: 42 });
    assert_eq!(store.kept_sum(&Case::of("other").tenant, case.instance.id).await?, KeptSum::default());
    assert_eq!(store.kept_expired(at(20), 10).await?, rows[..2]);
    assert_eq!(store.kept_expired(at(20), 1).await?, rows[..1]);
    let gone = KeptGone { tenant: case.tenant.clone(), id: rows[0].id };
    apply(&*store, vec![Write::DeleteKept(gone)]).await?;
    assert_eq!(sum().await?.count, 2);
    Ok(())
}

async fn refused_events_are_bounded(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::of("one"), Case::of("two"));
    let row = |case: &Case, ms: i64| RejectedEvent {
        id: Uuid::now_v7(),
        tenant: case.tenant.clone(),
        source: "kafka".into(),
        topic: "t".into(),
        reason: "filtered".into(),
        detail: "no".into(),
        execution_id: Some("whatever it said".into()),
        correlation_id: None,
        created_at: at(ms),
    };
    let rows: Vec<RejectedEvent> = (0..4).map(|ms| row(&one, ms)).chain([row(&two, 9)]).collect();
    apply(&*store, rows.iter().cloned().map(Write::InsertRejected).collect()).await?;
    let list = async |case: &Case| store.rejected_events(&case.tenant, &page()).await;
    assert_eq!(list(&one).await?, rows[..4].iter().rev().cloned().collect::<Vec<_>>());
    let forgotten = RejectedForgotten { per_tenant_max: 2, created_before: at(-1) };
    apply(&*store, vec![Write::ForgetRejected(forgotten)]).await?;
    assert_eq!(list(&one).await?, [rows[3].clone(), rows[2].clone()]);
    let forgotten = RejectedForgotten { per_tenant_max: 9, created_before: at(3) };
    apply(&*store, vec![Write::ForgetRejected(forgotten)]).await?;
    assert_eq!((list(&one).await?.len(), list(&two).await?.len()), (1, 1));
    Ok(())
}

async fn topics_and_triggers_follow_deployments(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::of("one"), Case::of("two"));
    let topic = |case: &Case, topic: &str, field: &str| TopicFields {
        tenant: case.tenant.clone(),
        topic: topic.into(),
        correlation_field: field.into(),
        execution_field: "e".into(),
    };
    let trigger = |case: &Case, id: &str, topic: &str| EventTriggerRow {
        tenant: case.tenant.clone(),
        workflow_key: "w".into(),
        trigger_id: id.into(),
        topic: topic.into(),
        filter: BTreeMap::from([("a.b".into(), json!([1, "x"]))]),
        business_key_field: None,
        created_at: at(0),
    };
    let rows = [topic(&one, "t", "c"), topic(&one, "t", "d"), topic(&two, "t", "c"), topic(&two, "u", "c")];
    // The same again is left as it is.
    for _ in 0..2 {
        apply(&*store, rows.iter().cloned().map(Write::InsertTopic).collect()).await?;
    }
    let topics = ["t".to_owned()];
    assert_eq!(store.topic_fields(None, &topics).await?, rows[..3]);
    assert_eq!(store.topic_fields(Some(&two.tenant), &topics).await?, rows[2..3]);
    let triggers = [trigger(&one, "a", "t"), trigger(&one, "b", "z"), trigger(&two, "a", "t")];
    apply(&*store, triggers.iter().cloned().map(Write::UpsertEventTrigger).collect()).await?;
    assert_eq!(store.event_triggers(None, &topics).await?, [triggers[0].clone(), triggers[2].clone()]);
    assert_eq!(store.event_topics().await?, ["t", "u", "z"]);
    let kept = EventTriggersKept {
        tenant: one.tenant.clone(),
        workflow_key: "w".into(),
        trigger_ids: vec!["a".into()],
    };
    let moved = EventTriggerRow { topic: "y".into(), ..triggers[0].clone() };
    apply(&*store, vec![Write::KeepEventTriggers(kept), Write::UpsertEventTrigger(moved.clone())]).await?;
    assert_eq!(store.event_topics().await?, ["t", "u", "y"]);
    assert_eq!(store.event_triggers(Some(&one.tenant), &["y".to_owned()]).await?, [moved]);
    Ok(())
}
