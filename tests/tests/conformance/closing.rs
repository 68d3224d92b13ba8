//! The end of steps and instances, and their removal.

use anyhow::Result;
use stepwell::domain::step::StepStatus;
use stepwell::domain::task::TaskStatus;
use stepwell::engine::port::Write;
use stepwell::engine::port::store::TaskFilter;
use stepwell::engine::port::write::{
    DeadItem, InstanceClosed, InstanceGone, InstanceUpdate, StepClosed, StepKey,
};
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;

use crate::fixture::{Case, T0, apply, at, claim, instance, step, task};

on_both_databases!(
    a_closed_step_keeps_nothing_open,
    a_closed_instance_keeps_nothing_open,
    a_withdrawn_task_is_cancelled,
    a_removed_instance_leaves_nothing,
    a_removed_journal_is_not_asked_for_again,
);

/// Something of everything for a step.
fn everything(case: &Case, key: &str) -> Vec<Write> {
    vec![
        Write::InsertTask(case.task(key)),
        Write::UpsertTimer(case.timer(key, at(10))),
        Write::InsertSubscription(case.subscription(key, "paid", None)),
        Write::InsertEvent(case.event("{}")),
    ]
}

async fn a_closed_step_keeps_nothing_open(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let other = Case {
        tenant: case.tenant.clone(),
        instance: case.instance.clone(),
        step: step(&case.instance, "b", 1),
    };
    let mut done = case.task("done");
    (done.status, done.completed_at) = (TaskStatus::Completed, Some(at(1)));
    let mut rows = everything(&case, "k");
    rows.push(Write::InsertTask(done.clone()));
    rows.extend(everything(&other, "k"));
    rows.push(Write::UpsertStep(other.step.clone()));
    case.write(&*store, rows).await?;
    assert_eq!(store.claim_tasks(&claim(&case.tenant, at(2), 1)).await?.len(), 1);

    // What the same transition makes for another step stays; what it makes for this one does not.
    let close = StepClosed { tenant: case.tenant.clone(), step_execution_id: case.step.id, at: at(5) };
    let writes = vec![
        Write::CloseStep(close),
        Write::InsertTask(other.task("more")),
        Write::UpsertTimer(case.timer("late", at(20))),
    ];
    apply(&*store, writes).await?;

    let tasks = store.tasks(&case.tenant, &TaskFilter::default(), &page(9)).await?;
    let of =
        |step: &Case| tasks.iter().filter(|task| task.step_execution_id == step.step.id).collect::<Vec<_>>();
    let cancelled: Vec<_> = of(&case).into_iter().filter(|task| task.key == "k").collect();
    assert_eq!(cancelled.len(), 1);
    assert_eq!(cancelled[0].status, TaskStatus::Cancelled);
    assert_eq!(
        (cancelled[0].completed_at, cancelled[0].due_at, cancelled[0].lock_token),
        (Some(at(5)), None, None)
    );
    assert_eq!(cancelled[0].version, 3, "claimed, then cancelled");
    assert!(of(&case).contains(&&done), "what had ended is as it was");
    assert!(of(&other).iter().all(|task| task.status == TaskStatus::Pending));
    assert_eq!(of(&other).len(), 2);
    let timers = store.timers(&case.tenant, case.instance.id).await?;
    assert_eq!(timers.iter().map(|timer| timer.step_execution_id).collect::<Vec<_>>(), [other.step.id]);
    let waiting = store.matching(&case.tenant, "paid", None, T0, 9).await?;
    assert_eq!(waiting.iter().map(|found| found.step_execution_id).collect::<Vec<_>>(), [other.step.id]);
    assert_eq!(store.events(&case.tenant, case.step.id).await?, []);
    assert_eq!(store.events(&case.tenant, other.step.id).await?.len(), 1);
    Ok(())
}

async fn a_closed_instance_keeps_nothing_open(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let bystander = Case::new();
    let mut steps = Vec::new();
    for (n, status) in StepStatus::ALL.into_iter().enumerate() {
        let mut more = step(&case.instance, &format!("s{n}"), 1);
        more.status = status;
        steps.push(more);
    }
    let mut rows = everything(&case, "k");
    rows.push(Write::InsertIncident(case.incident()));
    rows.push(Write::InsertOutbox(case.outgoing("k", T0)));
    rows.extend(steps.iter().cloned().map(Write::UpsertStep));
    rows.push(Write::InsertTask(task(&steps[0], "of-another-step")));
    case.write(&*store, rows).await?;
    let mut rows = everything(&bystander, "k");
    rows.push(Write::InsertIncident(bystander.incident()));
    bystander.write(&*store, rows).await?;

    let close = InstanceClosed { tenant: case.tenant.clone(), instance_id: case.instance.id, at: at(9) };
    apply(&*store, vec![Write::CloseInstance(close)]).await?;
    for was in &steps {
        let is = store.step_execution(&case.tenant, was.id).await?.expect("the step");
        if was.status.ended() {
            assert_eq!(&is, was);
        } else {
            assert_eq!((is.status, is.ended_at), (StepStatus::Cancelled, Some(at(9))), "{was:?}");
        }
    }
    let filter = TaskFilter { instance_id: Some(case.instance.id), ..TaskFilter::default() };
    let tasks = store.tasks(&case.tenant, &filter, &page(9)).await?;
    assert_eq!(tasks.len(), 2);
    assert!(
        tasks.iter().all(|task| task.status == TaskStatus::Cancelled && task.completed_at == Some(at(9)))
    );
    assert_eq!(store.timers(&case.tenant, case.instance.id).await?, []);
    assert_eq!(store.events(&case.tenant, case.step.id).await?, []);
    assert_eq!(store.incidents(&case.tenant, Some(case.instance.id), true, &page(9)).await?, []);
    let incidents = store.incidents(&case.tenant, Some(case.instance.id), false, &page(9)).await?;
    assert_eq!(incidents.iter().map(|incident| incident.resolved_at).collect::<Vec<_>>(), [Some(at(9))]);
    // What was to be sent is sent.
    assert_eq!(store.outbox(&case.tenant, &page(9)).await?.len(), 1);

    let other = &bystander;
    assert_eq!(store.timers(&other.tenant, other.instance.id).await?.len(), 1);
    assert_eq!(store.events(&other.tenant, other.step.id).await?.len(), 1);
    assert_eq!(store.matching(&other.tenant, "paid", None, T0, 9).await?.len(), 1);
    assert_eq!(store.incidents(&other.tenant, None, true, &page(9)).await?.len(), 1);
    assert_eq!(store.claim_tasks(&claim(&other.tenant, at(10), 9)).await?.len(), 1);
    Ok(())
}

async fn a_withdrawn_task_is_cancelled(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let mut failed = case.task("failed");
    failed.status = TaskStatus::Failed;
    let open = case.task("open");
    case.write(&*store, vec![Write::InsertTask(failed.clone()), Write::InsertTask(open.clone())]).await?;
    let cancel = |key: &str| {
        let tenant = case.tenant.clone();
        Write::CancelTask(StepKey { tenant, step_execution_id: case.step.id, key: key.into(), at: at(3) })
    };
    apply(&*store, vec![cancel("failed"), cancel("open"), cancel("unknown")]).await?;
    assert_eq!(store.task(&case.tenant, failed.id).await?, Some(failed));
    let found = store.task(&case.tenant, open.id).await?.expect("the task");
    assert_eq!((found.status, found.completed_at, found.version), (TaskStatus::Cancelled, Some(at(3)), 2));
    Ok(())
}

async fn a_removed_instance_leaves_nothing(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (gone, kept) = (Case::new(), Case::new());
    for case in [&gone, &kept] {
        let mut rows = everything(case, "k");
        rows.extend([
            Write::InsertIncident(case.incident()),
            Write::InsertOutbox(case.outgoing("k", T0)),
            Write::InsertDead(DeadItem { item: case.outgoing("k", T0), died_at: T0 }),
            Write::InsertJournal(case.journal(1)),
            Write::InsertBlob(case.blob("big")),
            Write::InsertKept(crate::events::kept(case, "c", T0)),
        ]);
        rows.extend(case.started_with(&case.instance.id.to_string()).writes.split_off(1));
        case.write(&*store, rows).await?;
        // Tables that are written by others.
        let timer = store.timers(&case.tenant, case.instance.id).await?[0].id;
        db.execute(&format!(
            "insert into workflow_timer_reminders (id, tenant, timer_id, workflow_instance_id, step_execution_id, step_id, key,
               attempt, channel, recipients, message, sent_at, status, created_at)
             values ('{}', 'default', '{timer}', '{}', '{}', 's', 'k', 1, 'EMAIL', '[]', 'm', '{T0}', 'SENT', '{T0}');
             insert into execution_wait_states (id, tenant, execution_id, node_id, correlation_id,
               aggregation_strategy, created_at, updated_at, expires_at)
             values ('{}', 'default', '{}', 'n', 'c', 'all', '{T0}', '{T0}', '{T0}');",
            uuid::Uuid::now_v7(),
            case.instance.id,
            case.step.id,
            uuid::Uuid::now_v7(),
            case.instance.id
        ))
        .await?;
    }
    let row = InstanceGone { tenant: gone.tenant.clone(), instance_id: gone.instance.id };
    apply(&*store, vec![Write::DeleteInstance(row)]).await?;
    // Belongs to a host, a tenant or nobody: nothing of an instance.
    let not_of_instances = [
        "workflow_batches",
        "workflow_definitions",
        "workflow_event_triggers",
        "workflow_external_workers",
        "workflow_lanes",
        "workflow_plugins",
        "workflow_rejected_events",
        "workflow_schedules",
        "workflow_secrets",
        "workflow_senders",
        "workflow_tenants",
        "workflow_tokens",
        "workflow_topics",
    ];
    let tables = db.tables().await?;
    assert!(tables.len() > not_of_instances.len());
    for table in tables.iter().filter(|table| !not_of_instances.contains(&table.as_str())) {
        assert_eq!(db.count(table).await?, 1, "{table}: the other instance's row, and no other");
    }
    assert!(store.instance(&kept.tenant, kept.instance.id).await?.is_some());
    Ok(())
}

async fn a_removed_journal_is_not_asked_for_again(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let cases: Vec<Case> = (0..3).map(|_| Case::new()).collect();
    for (case, ended) in cases.iter().zip([30, 10, 20]) {
        let update = InstanceUpdate {
            id: case.instance.id,
            tenant: case.tenant.clone(),
            status: stepwell::domain::instance::InstanceStatus::Completed,
            version: 2,
            open_steps: 0,
            open_incidents: 0,
            error: None,
            context: None,
            updated_at: at(ended),
            ended_at: Some(at(ended)),
            turns: None,
        };
        let rows = vec![
            Write::InsertJournal(case.journal(1)),
            Write::InsertBlob(case.blob("big")),
            Write::UpdateInstance(update),
        ];
        case.write(&*store, rows).await?;
    }
    apply(&*store, vec![Write::InsertInstance(instance(&cases[0].tenant))]).await?;
    let ended = async |before: i64, journal_only: bool, rows_max: u32| -> Result<Vec<_>> {
        let found = store.ended_before(at(before), journal_only, rows_max).await?;
        Ok(found.iter().map(|found| found.id).collect())
    };
    let ids: Vec<_> = cases.iter().map(|case| case.instance.id).collect();
    assert_eq!(ended(30, true, 9).await?, [ids[1], ids[2]]);
    assert_eq!(ended(31, false, 2).await?, [ids[1], ids[2]]);
    let row = InstanceGone { tenant: cases[1].tenant.clone(), instance_id: ids[1] };
    apply(&*store, vec![Write::DeleteJournal(row)]).await?;
    assert_eq!(ended(31, true, 9).await?, [ids[2], ids[0]]);
    assert_eq!(ended(31, false, 9).await?, [ids[1], ids[2], ids[0]]);
    assert_eq!(store.journal(&cases[1].tenant, ids[1], &page(9)).await?, []);
    assert_eq!((db.count("workflow_journal").await?, db.count("workflow_blobs").await?), (2, 2));
    Ok(())
}

fn page(limit: u32) -> stepwell::domain::page::PageRequest {
    stepwell::domain::page::PageRequest { after: None, limit }
}
