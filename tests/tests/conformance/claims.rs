//! Claims of pending tasks, and leases on them.

use std::collections::HashSet;

use anyhow::Result;
use stepwell::domain::task::{Task, TaskStatus};
use stepwell::domain::turn::Turns;
use stepwell::engine::port::store::TaskLease;
use stepwell::engine::port::{Hint, Verdict, Write, WriteSet};
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;

use crate::fixture::{Case, T0, at, claim};

on_both_databases!(
    a_claim_locks,
    tasks_are_handed_out_in_order,
    a_task_that_is_not_available_yet_waits,
    two_claimers_never_share_a_task,
    several_types_are_one_queue,
    deadlines_are_those_of_the_domain,
    a_lease_is_extended_and_given_back,
    nobody_pays_for_an_empty_claim,
    a_low_priority_is_not_starved,
    an_instance_keeps_its_turns,
);

async fn a_claim_locks(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let mut task = case.task("a");
    task.lock_duration_seconds = 1.5;
    case.write(&*store, vec![Write::InsertTask(task.clone())]).await?;
    let wish = claim(&case.tenant, at(1_000), 2);
    let claimed = store.claim_tasks(&wish).await?;

    let mut expected = task.clone();
    expected.status = TaskStatus::Locked;
    expected.worker_id = Some("worker-0".into());
    expected.lock_token = Some(wish.slots[0].lock_token);
    expected.locked_at = Some(at(1_000));
    expected.last_heartbeat_at = Some(at(1_000));
    expected.lock_expires_at = Some(at(2_500));
    expected.due_at = Some(at(2_500));
    expected.updated_at = at(1_000);
    expected.version = 2;
    assert_eq!(claimed, [expected.clone()]);
    assert_eq!(store.task(&case.tenant, task.id).await?, Some(expected));
    assert_eq!(store.claim_tasks(&claim(&case.tenant, at(1_001), 2)).await?, []);
    Ok(())
}

async fn tasks_are_handed_out_in_order(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let make = |key: &str, priority: i64, created_ms: i64| {
        let mut task = case.task(key);
        (task.priority, task.created_at) = (priority, at(created_ms));
        task.turn_at = Turns::default().next(&task.task_type, priority, task.created_at);
        task
    };
    let tasks = [make("c", 5, 20), make("d", 9, 0), make("b", 5, 10), make("a", -3, 99)];
    case.write(&*store, tasks.iter().cloned().map(Write::InsertTask).collect()).await?;
    let wish = claim(&case.tenant, at(100), 3);
    let claimed = store.claim_tasks(&wish).await?;
    assert_eq!(claimed.iter().map(|task| task.key.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    // The first slot has the first task, and so on.
    let tokens: Vec<_> = claimed.iter().filter_map(|task| task.lock_token).collect();
    assert_eq!(tokens, wish.slots.iter().map(|slot| slot.lock_token).collect::<Vec<_>>());
    let workers: Vec<_> = claimed.iter().filter_map(|task| task.worker_id.as_deref()).collect();
    assert_eq!(workers, ["worker-0", "worker-1", "worker-2"]);
    let rest = store.claim_tasks(&claim(&case.tenant, at(100), 3)).await?;
    assert_eq!(rest.iter().map(|task| task.key.as_str()).collect::<Vec<_>>(), ["d"]);
    Ok(())
}

/// Every hour one more task of the usual priority, and one is taken: one that is four levels below waits for four hours
/// and what was there then, not for ever.
async fn a_low_priority_is_not_starved(db: TestDb) -> Result<()> {
    const HOUR_MS: i64 = 3_600_000;
    let store = db.open().await;
    let case = Case::new();
    let make = |key: &str, priority: i64, hour: i64| {
        let mut task = case.task(key);
        (task.priority, task.created_at, task.available_at) =
            (priority, at(hour * HOUR_MS), at(hour * HOUR_MS));
        task.turn_at = Turns::default().next(&task.task_type, priority, task.created_at);
        Write::InsertTask(task)
    };
    case.write(&*store, vec![make("low", 9, 0), make("0", 5, 0)]).await?;
    let mut taken = Vec::new();
    for hour in 1..12 {
        let more = vec![make(&hour.to_string(), 5, hour)];
        let set = WriteSet { writes: more, ..WriteSet::default() };
        assert_eq!(store.commit(vec![set]).await?, [Verdict::Applied]);
        let claimed = store.claim_tasks(&claim(&case.tenant, at(hour * HOUR_MS), 1)).await?;
        taken.extend(claimed.into_iter().map(|task| task.key));
    }
    let place = taken.iter().position(|key| key == "low");
    assert!(place.is_some_and(|place| (4..=5).contains(&place)), "{taken:?}");
    Ok(())
}

async fn an_instance_keeps_its_turns(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let mut case = Case::new();
    let mut turns = Turns::default();
    turns.next("mail", 5, T0);
    case.instance.turns = Some(turns.clone());
    case.write(&*store, Vec::new()).await?;
    let kept = async || -> Result<Option<Turns>> {
        Ok(store.instance(&case.tenant, case.instance.id).await?.and_then(|instance| instance.turns))
    };
    assert_eq!(kept().await?, Some(turns.clone()));
    turns.next("mail", 5, T0);
    let Write::UpdateInstance(mut update) = case.moved_on(2) else { unreachable!("an update") };
    update.turns = Some(turns.clone());
    let set = WriteSet { writes: vec![Write::UpdateInstance(update)], ..WriteSet::default() };
    assert_eq!(store.commit(vec![set]).await?, [Verdict::Applied]);
    assert_eq!(kept().await?, Some(turns));
    Ok(())
}

async fn a_task_that_is_not_available_yet_waits(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let mut task = case.task("a");
    task.available_at = at(500);
    case.write(&*store, vec![Write::InsertTask(task)]).await?;
    assert_eq!(store.claim_tasks(&claim(&case.tenant, at(499), 1)).await?, []);
    assert_eq!(store.next_due(at(499)).await?, Some(at(500)));
    assert_eq!(store.available_since(T0, at(499)).await?, []);
    let hint = Hint::Tasks { tenant: case.tenant.clone(), task_type: "mail".into(), count: 1 };
    assert_eq!(store.available_since(T0, at(500)).await?, [hint]);
    assert_eq!(store.available_since(at(500), at(900)).await?, []);
    // It is available, though nobody came for it: nothing is due any more.
    assert_eq!(store.next_due(at(500)).await?, None);
    assert_eq!(store.claim_tasks(&claim(&case.tenant, at(500), 1)).await?.len(), 1);
    Ok(())
}

async fn two_claimers_never_share_a_task(db: TestDb) -> Result<()> {
    const TASKS: usize = 300;
    let store = db.open().await;
    let case = Case::new();
    let tasks = (0..TASKS).map(|n| Write::InsertTask(case.task(&n.to_string())));
    case.write(&*store, tasks.collect()).await?;
    let mut claimers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (store, tenant) = (store.clone(), case.tenant.clone());
        claimers.spawn(async move {
            let mut mine = Vec::new();
            let mut tries = 0;
            // None may mean that others held the rows for a moment: ask until all are gone for sure.
            while tries < 3 {
                let claimed = store.claim_tasks(&claim(&tenant, at(1), 7)).await?;
                tries = if claimed.is_empty() { tries + 1 } else { 0 };
                mine.extend(claimed.into_iter().map(|task| task.id));
            }
            anyhow::Ok(mine)
        });
    }
    let mut all = Vec::new();
    while let Some(mine) = claimers.join_next().await {
        all.extend(mine??);
    }
    // What a crowd passed over is still there for one who comes later.
    while all.len() < TASKS {
        let rest = store.claim_tasks(&claim(&case.tenant, at(1), 50)).await?;
        assert!(!rest.is_empty(), "{} tasks were claimed, the rest is gone", all.len());
        all.extend(rest.into_iter().map(|task| task.id));
    }
    assert_eq!(all.len(), TASKS);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), TASKS, "a task was handed out twice");
    Ok(())
}

async fn several_types_are_one_queue(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let make = |key: &str, task_type: &str, created_ms: i64| {
        let mut task = case.task(key);
        (task.task_type, task.created_at) = (task_type.into(), at(created_ms));
        task
    };
    let tasks = [
        make("a", "mail", 1),
        make("b", "fax", 2),
        make("c", "mail", 3),
        make("d", "fax", 4),
        make("e", "pigeon", 0),
    ];
    case.write(&*store, tasks.iter().cloned().map(Write::InsertTask).collect()).await?;
    let mut wish = claim(&case.tenant, at(100), 3);
    wish.task_types = vec!["mail".into(), "fax".into(), "mail".into(), "drum".into()];
    let keys = |tasks: Vec<Task>| tasks.into_iter().map(|task| task.key).collect::<Vec<_>>();
    assert_eq!(keys(store.claim_tasks(&wish).await?), ["a", "b", "c"]);
    assert_eq!(keys(store.claim_tasks(&wish).await?), ["d"]);
    let counts = store.task_counts().await?;
    let mut counts: Vec<_> =
        counts.iter().map(|count| (count.task_type.as_str(), count.status.label(), count.count)).collect();
    counts.sort_unstable();
    assert_eq!(counts, [("fax", "LOCKED", 2), ("mail", "LOCKED", 2), ("pigeon", "PENDING", 1)]);
    Ok(())
}

async fn deadlines_are_those_of_the_domain(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let mut tasks = Vec::new();
    let heartbeats = [None, Some((0.25, 2)), Some((10.0, 0)), Some((1_000.0, 3))];
    for (n, (timeout_at, heartbeat)) in [None, Some(at(1)), Some(at(7_000)), Some(at(1 << 40))]
        .into_iter()
        .flat_map(|timeout_at| heartbeats.map(|heartbeat| (timeout_at, heartbeat)))
        .enumerate()
    {
        let mut task = case.task(&format!("{n:02}"));
        task.timeout_at = timeout_at;
        task.lock_duration_seconds = [0.001, 5.0, 1e9, 1e15][n % 4];
        if let Some((interval, missed)) = heartbeat {
            (task.heartbeat_interval_seconds, task.heartbeat_max_missed) = (Some(interval), missed);
        }
        tasks.push(task);
    }
    case.write(&*store, tasks.iter().cloned().map(Write::InsertTask).collect()).await?;
    let mut wish = claim(&case.tenant, at(3), tasks.len());
    wish.slots[0].lock_ms = Some(1_234);
    wish.slots[1].lock_ms = Some(1);
    wish.slots[2].lock_ms = Some(86_400_000 * 365);
    let claimed = store.claim_tasks(&wish).await?;
    assert_eq!(claimed.len(), tasks.len());
    assert!(claimed.iter().any(|task| task.lock_expires_at == Some(at(3 + 1_234))));
    for task in claimed {
        assert_eq!(task.due_at, task.deadline(), "{task:?}");
    }
    Ok(())
}

async fn a_lease_is_extended_and_given_back(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let tasks = [case.task("a"), case.task("b")];
    case.write(&*store, tasks.iter().cloned().map(Write::InsertTask).collect()).await?;
    let claimed = store.claim_tasks(&claim(&case.tenant, at(1), 2)).await?;
    let extended = |task: &Task, ms: i64| {
        let mut task = task.clone();
        let read_version = task.version;
        task.lock_expires_at = Some(at(ms));
        task.due_at = task.deadline();
        task.version += 1;
        TaskLease { task, read_version }
    };
    let leases = [extended(&claimed[1], 50), extended(&claimed[0], 60), extended(&claimed[0], 70)];
    assert_eq!(store.lease_tasks(&leases).await?, [true, true, false]);
    assert_eq!(store.lease_tasks(&[extended(&claimed[0], 80)]).await?, [false], "the version has moved on");
    let found = store.task(&case.tenant, claimed[0].id).await?.expect("the task");
    assert_eq!((found.lock_expires_at, found.due_at, found.version), (Some(at(60)), Some(at(60)), 3));

    let mut given_back = TaskLease { read_version: found.version, task: found };
    given_back.task.status = TaskStatus::Pending;
    (given_back.task.lock_token, given_back.task.lock_expires_at) = (None, None);
    given_back.task.due_at = given_back.task.deadline();
    given_back.task.version += 1;
    assert_eq!(store.lease_tasks(&[given_back]).await?, [true]);
    let again = store.claim_tasks(&claim(&case.tenant, at(90), 5)).await?;
    assert_eq!(again.iter().map(|task| task.id).collect::<Vec<_>>(), [claimed[0].id]);
    assert_eq!(store.lease_tasks(&[]).await?, Vec::<bool>::new());
    Ok(())
}

async fn nobody_pays_for_an_empty_claim(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    case.write(&*store, vec![Write::InsertTask(case.task("a"))]).await?;
    assert_eq!(store.claim_tasks(&claim(&case.tenant, at(1), 0)).await?, []);
    let mut nothing = claim(&case.tenant, at(1), 1);
    nothing.task_types.clear();
    assert_eq!(store.claim_tasks(&nothing).await?, []);
    assert_eq!(store.claim_tasks(&claim(&case.tenant, at(1), 1)).await?.len(), 1);
    Ok(())
}
