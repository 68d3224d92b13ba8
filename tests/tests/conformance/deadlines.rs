//! What is due: tasks and timers, taken under a lease.

use std::slice::from_ref;

use anyhow::Result;
use stepwell::engine::port::Write;
use stepwell::engine::port::write::TimerFired;
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;

use crate::fixture::{Case, T0, apply, at, claim};

on_both_databases!(
    due_tasks_are_leased,
    timers_are_leased_and_fire_once,
    a_moved_timer_is_due_then,
    the_next_moment_is_the_least,
    two_sweepers_share_nothing,
);

async fn due_tasks_are_leased(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let mut late = case.task("late");
    (late.timeout_at, late.due_at) = (Some(at(10)), Some(at(10)));
    let task = case.task("endless");
    case.write(&*store, vec![Write::InsertTask(late.clone()), Write::InsertTask(task)]).await?;
    assert_eq!(store.claim_due_tasks(at(9), at(100), 5).await?, []);
    let due = store.claim_due_tasks(at(10), at(100), 5).await?;
    assert_eq!(due.len(), 1);
    assert_eq!((due[0].id, due[0].version, due[0].due_at), (late.id, late.version, Some(at(100))));
    assert_eq!(store.claim_due_tasks(at(99), at(200), 5).await?, [], "under a lease");
    assert_eq!(store.claim_due_tasks(at(100), at(200), 5).await?.len(), 1, "the lease has run out");
    // A lock counts as well as a time-out.
    let locked = store.claim_tasks(&claim(&case.tenant, at(300), 2)).await?;
    let due = store.claim_due_tasks(at(300 + 300_000), at(900_000), 5).await?;
    assert_eq!(due.len(), locked.len());
    Ok(())
}

async fn timers_are_leased_and_fire_once(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let (one, two) = (case.timer("one", at(10)), case.timer("two", at(5)));
    case.write(&*store, vec![Write::UpsertTimer(one.clone()), Write::UpsertTimer(two.clone())]).await?;
    assert_eq!(store.claim_timers(at(4), at(50), 9).await?, []);
    assert_eq!(store.claim_timers(at(20), at(50), 1).await?, from_ref(&two), "the earliest first");
    assert_eq!(store.claim_timers(at(20), at(50), 9).await?, from_ref(&one));
    assert_eq!(store.claim_timers(at(49), at(99), 9).await?, []);
    let fired =
        TimerFired { id: two.id, tenant: case.tenant.clone(), trigger_at: two.trigger_at, at: at(21) };
    apply(&*store, vec![Write::FireTimer(fired)]).await?;
    assert_eq!(store.claim_timers(at(60), at(99), 9).await?, from_ref(&one));
    assert_eq!(store.timers(&case.tenant, case.instance.id).await?, [one]);
    assert_eq!(db.count("workflow_timers where triggered and due_at is null").await?, 1);
    // Its key is free again.
    apply(&*store, vec![Write::UpsertTimer(case.timer("two", at(70)))]).await?;
    assert_eq!(store.timers(&case.tenant, case.instance.id).await?.len(), 2);
    Ok(())
}

async fn a_moved_timer_is_due_then(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let first = case.timer("t", at(10));
    case.write(&*store, vec![Write::UpsertTimer(first.clone())]).await?;
    assert_eq!(store.claim_timers(at(10), at(500), 9).await?.len(), 1);
    apply(&*store, vec![Write::UpsertTimer(case.timer("t", at(30)))]).await?;
    assert_eq!(store.claim_timers(at(29), at(500), 9).await?, []);
    let due = store.claim_timers(at(30), at(500), 9).await?;
    assert_eq!(
        due.iter().map(|timer| (timer.id, timer.trigger_at)).collect::<Vec<_>>(),
        [(first.id, at(30))]
    );
    Ok(())
}

async fn the_next_moment_is_the_least(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    assert_eq!(store.next_due(T0).await?, None);
    let mut delayed = case.task("delayed");
    delayed.available_at = at(40);
    case.write(&*store, vec![Write::InsertTask(delayed)]).await?;
    assert_eq!(store.next_due(T0).await?, Some(at(40)));
    apply(&*store, vec![Write::UpsertTimer(case.timer("t", at(30)))]).await?;
    assert_eq!(store.next_due(T0).await?, Some(at(30)));
    apply(&*store, vec![Write::InsertOutbox(case.outgoing("k", at(20)))]).await?;
    assert_eq!(store.next_due(T0).await?, Some(at(20)));
    let mut task = case.task("deadline");
    task.due_at = Some(at(10));
    apply(&*store, vec![Write::InsertTask(task)]).await?;
    assert_eq!(store.next_due(T0).await?, Some(at(10)));
    // Leases move it on.
    store.claim_due_tasks(at(35), at(1_000), 9).await?;
    store.claim_outbox(at(35), at(1_000), 9).await?;
    store.claim_timers(at(35), at(1_000), 9).await?;
    assert_eq!(store.next_due(at(35)).await?, Some(at(40)));
    assert_eq!(store.next_due(at(40)).await?, Some(at(1_000)));
    // What stands behind a head that waits is not due, whatever it says.
    apply(&*store, vec![Write::InsertOutbox(case.outgoing("k", at(1)))]).await?;
    assert_eq!(store.next_due(at(40)).await?, Some(at(1_000)));
    Ok(())
}

async fn two_sweepers_share_nothing(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let timers = (0..100).map(|n| Write::UpsertTimer(case.timer(&n.to_string(), at(n))));
    case.write(&*store, timers.collect()).await?;
    let mut sweepers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let store = store.clone();
        sweepers.spawn(async move {
            let mut mine = Vec::new();
            for _ in 0..20 {
                mine.extend(store.claim_timers(at(200), at(10_000), 6).await?);
            }
            anyhow::Ok(mine)
        });
    }
    let mut all = std::collections::HashSet::new();
    while let Some(mine) = sweepers.join_next().await {
        for timer in mine?? {
            assert!(all.insert(timer.id), "taken twice");
        }
    }
    for timer in store.claim_timers(at(200), at(10_000), 100).await? {
        assert!(all.insert(timer.id), "taken twice");
    }
    assert_eq!(all.len(), 100);
    Ok(())
}
