//! Tasks that a host knows to wait are locked by a commit: the row is the one that a claim would have made.

use anyhow::Result;
use stepwell::domain::task::{Task, TaskStatus};
use stepwell::engine::port::write::TaskLocked;
use stepwell::engine::port::{Guard, Verdict, Write, WriteSet};
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;

use crate::fixture::{Case, at, claim, commit_one, set, tenant};

on_both_databases!(
    a_lock_makes_the_row_that_a_claim_makes,
    a_lock_from_another_version_is_a_conflict_and_its_company_is_written,
    what_waits_can_be_looked_at,
);

async fn a_lock_makes_the_row_that_a_claim_makes(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::new(), Case::new());
    let mut tasks = [one.task("k"), two.task("k")];
    for task in &mut tasks {
        (task.heartbeat_interval_seconds, task.heartbeat_max_missed) = (Some(2.5), 3);
    }
    for (case, task) in [&one, &two].into_iter().zip(&tasks) {
        case.write(&*store, vec![Write::InsertTask(task.clone())]).await?;
    }
    let wish = claim(&one.tenant, at(1_000), 1);
    let claimed = store.claim_tasks(&wish).await?.remove(0);

    let mut held = tasks[1].clone();
    held.status = TaskStatus::Locked;
    (held.worker_id, held.lock_token) = (claimed.worker_id.clone(), claimed.lock_token);
    (held.locked_at, held.last_heartbeat_at, held.updated_at) = (Some(at(1_000)), Some(at(1_000)), at(1_000));
    held.lock_expires_at = claimed.lock_expires_at;
    held.version += 1;
    held.due_at = held.deadline();
    assert_eq!(commit_one(&*store, lock(&tasks[1], &held)).await?, Verdict::Applied);
    let found = store.task(&two.tenant, held.id).await?.expect("the task");
    assert_eq!(found, held);
    let by_claim = Task { id: held.id, ..claimed };
    let owner = |task: Task| Task {
        tenant: held.tenant.clone(),
        workflow_instance_id: held.workflow_instance_id,
        step_execution_id: held.step_execution_id,
        ..task
    };
    assert_eq!(owner(by_claim), found);
    Ok(())
}

async fn a_lock_from_another_version_is_a_conflict_and_its_company_is_written(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (stale, sound) = (Case::new(), Case::new());
    let (taken, free) = (stale.task("k"), sound.task("k"));
    stale.write(&*store, vec![Write::InsertTask(taken.clone())]).await?;
    sound.write(&*store, vec![Write::InsertTask(free.clone())]).await?;
    let holder = store.claim_tasks(&claim(&stale.tenant, at(1), 1)).await?.remove(0);
    let locked = |task: &Task| Task {
        status: TaskStatus::Locked,
        lock_expires_at: Some(at(90)),
        locked_at: Some(at(2)),
        version: task.version + 1,
        ..task.clone()
    };
    let started = Case::new();
    let batch = vec![
        lock(&taken, &locked(&taken)),
        lock(&free, &locked(&free)),
        set(vec![], vec![Write::InsertInstance(started.instance.clone())]),
        set(vec![sound.guard(1)], vec![sound.moved_on(2), Write::InsertJournal(sound.journal(1))]),
    ];
    let verdicts = store.commit(batch).await?;
    assert_eq!(verdicts, [Verdict::Conflict, Verdict::Applied, Verdict::Applied, Verdict::Applied]);
    assert_eq!(store.task(&stale.tenant, taken.id).await?, Some(holder), "who was first holds it");
    assert_eq!(store.task(&sound.tenant, free.id).await?.map(|task| task.status), Some(TaskStatus::Locked));
    let instance = store.instance(&sound.tenant, sound.instance.id).await?.expect("the instance");
    assert_eq!(instance.version, 2);
    assert!(store.instance(&started.tenant, started.instance.id).await?.is_some());
    Ok(())
}

async fn what_waits_can_be_looked_at(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let [first, second, later, fax] = ["a", "b", "c", "d"].map(|key| case.task(key));
    let later = Task { available_at: at(500), ..later };
    let fax = Task { task_type: "fax".into(), ..fax };
    let rows = [&first, &second, &later, &fax].map(|task| Write::InsertTask(task.clone()));
    case.write(&*store, rows.to_vec()).await?;
    let types = [first.task_type.clone()];
    let mut found = store.pending_tasks(&case.tenant, &types, at(100), 9).await?;
    found.sort_by_key(|task| task.key.clone());
    assert_eq!(found, [first.clone(), second]);
    assert_eq!(store.pending_tasks(&case.tenant, &types, at(100), 1).await?.len(), 1);
    assert_eq!(store.pending_tasks(&case.tenant, &types, at(500), 9).await?.len(), 3);
    let both = [first.task_type.clone(), "fax".to_owned()];
    assert_eq!(store.pending_tasks(&case.tenant, &both, at(500), 9).await?.len(), 4);
    assert_eq!(store.pending_tasks(&tenant("nobody"), &both, at(500), 9).await?, []);
    assert_eq!(store.claim_tasks(&claim(&case.tenant, at(500), 9)).await?.len(), 3, "nothing was taken");
    Ok(())
}

fn lock(from: &Task, to: &Task) -> WriteSet {
    let guard = Guard::Task { tenant: from.tenant.clone(), id: from.id, version: from.version };
    set(vec![guard], vec![Write::LockTask(TaskLocked::of(to))])
}
