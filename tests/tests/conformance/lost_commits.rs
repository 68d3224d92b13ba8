//! A COMMIT whose answer is lost: it is found out whether it was done, never repeated blindly.

use anyhow::Result;
use stepwell::domain::task::Task;
use stepwell::engine::port::store::TaskLease;
use stepwell::engine::port::{StoreError, Verdict, Write};
use stepwell_tests::db::TestDb;
use stepwell_tests::on_postgres;
use uuid::Uuid;

use crate::fixture::{Case, at, claim, commit_one, set, tenant};
use crate::proxy::{Cut, Proxy};

on_postgres!(
    a_commit_that_was_done_is_not_repeated,
    a_commit_that_was_not_done_is_repeated,
    every_commit_may_be_cut,
    nobody_knows_while_the_database_is_away,
    a_claim_whose_answer_was_lost_is_found_again,
    a_lease_whose_answer_was_lost_is_held,
);

async fn a_commit_that_was_done_is_not_repeated(db: TestDb) -> Result<()> {
    check(db, Cut::BeforeTheAnswer).await
}

async fn a_commit_that_was_not_done_is_repeated(db: TestDb) -> Result<()> {
    check(db, Cut::BeforeTheServer).await
}

async fn check(db: TestDb, cut: Cut) -> Result<()> {
    let (proxy, url) = Proxy::start(db.url()).await?;
    let store = stepwell::store::open(&url, Uuid::now_v7()).await?;
    let (case, stale) = (Case::new(), Case::new());
    case.write(&*store, vec![]).await?;
    stale.write(&*store, vec![]).await?;
    proxy.cut_next(cut);
    // A transition that does not hold sends the batch the longer way, which ends with COMMIT.
    // A repetition of what was done would be a conflict, and the journal's line a second one.
    let batch = [
        set(vec![case.guard(1)], vec![case.moved_on(2), Write::InsertJournal(case.journal(1))]),
        set(vec![stale.guard(9)], vec![stale.moved_on(10)]),
    ];
    assert_eq!(store.commit(batch.to_vec()).await?, [Verdict::Applied, Verdict::Conflict]);
    assert_eq!(proxy.cuts(), 1, "the commit was cut");
    let found = store.instance(&case.tenant, case.instance.id).await?.expect("the instance");
    assert_eq!(found.version, 2);
    assert_eq!(db.count("workflow_journal").await?, 1);
    Ok(())
}

async fn every_commit_may_be_cut(db: TestDb) -> Result<()> {
    let (proxy, url) = Proxy::start(db.url()).await?;
    let store = stepwell::store::open(&url, Uuid::now_v7()).await?;
    let case = Case::new();
    case.write(&*store, vec![]).await?;
    proxy.commits_name(case.tenant.as_str());
    for version in 1..=20 {
        proxy.cut_next(if version % 2 == 0 { Cut::BeforeTheAnswer } else { Cut::BeforeTheServer });
        let step = set(
            vec![case.guard(version)],
            vec![case.moved_on(version + 1), Write::InsertJournal(case.journal(version))],
        );
        assert_eq!(commit_one(&*store, step).await?, Verdict::Applied);
    }
    assert_eq!(proxy.cuts(), 20);
    assert_eq!(db.count("workflow_journal").await?, 20);
    Ok(())
}

async fn nobody_knows_while_the_database_is_away(db: TestDb) -> Result<()> {
    let (proxy, url) = Proxy::start(db.url()).await?;
    let store = stepwell::store::open(&url, Uuid::now_v7()).await?;
    let case = Case::new();
    case.write(&*store, vec![]).await?;
    proxy.commits_name(case.tenant.as_str());
    proxy.cut_for_good(Cut::BeforeTheAnswer);
    let ended = store.commit(vec![set(vec![case.guard(1)], vec![case.moved_on(2)])]).await;
    assert!(matches!(ended, Err(StoreError::Unknown(_))), "{ended:?}");
    // Without a COMMIT under way, it is clear that nothing was done.
    let ended = store.commit(vec![set(vec![case.guard(2)], vec![case.moved_on(3)])]).await;
    assert!(matches!(ended, Err(StoreError::Unavailable(_))), "{ended:?}");
    let versions = db.numbers("select version from workflow_instances").await?;
    assert_eq!(versions, [2], "it was done after all, once");
    Ok(())
}

async fn a_claim_whose_answer_was_lost_is_found_again(db: TestDb) -> Result<()> {
    let (proxy, url) = Proxy::start(db.url()).await?;
    let store = stepwell::store::open(&url, Uuid::now_v7()).await?;
    let case = Case::new();
    let tasks = [case.task("a"), case.task("b")];
    case.write(&*store, tasks.iter().cloned().map(Write::InsertTask).collect()).await?;
    // The statement is known to the connection before the claim that counts: only its parameters travel then.
    assert_eq!(store.claim_tasks(&claim(&tenant("nobody"), at(1), 1)).await?, []);
    let wish = claim(&case.tenant, at(2), 1);
    proxy.cut_answer_to(&wish.slots[0].lock_token.to_string());
    let claimed = store.claim_tasks(&wish).await?;
    assert_eq!(proxy.cuts(), 1);
    assert_eq!(claimed.len(), 1);
    assert_eq!((claimed[0].id, claimed[0].lock_token), (tasks[0].id, Some(wish.slots[0].lock_token)));
    assert_eq!(
        db.count("workflow_external_tasks where status = 'LOCKED'").await?,
        1,
        "and no other was taken"
    );
    Ok(())
}

async fn a_lease_whose_answer_was_lost_is_held(db: TestDb) -> Result<()> {
    let (proxy, url) = Proxy::start(db.url()).await?;
    let store = stepwell::store::open(&url, Uuid::now_v7()).await?;
    let case = Case::new();
    case.write(&*store, vec![Write::InsertTask(case.task("a"))]).await?;
    let mut task = store.claim_tasks(&claim(&case.tenant, at(2), 1)).await?.remove(0);
    let lease = |task: &mut Task, ms: i64| {
        let read_version = task.version;
        (task.lock_expires_at, task.updated_at, task.version) = (Some(at(ms)), at(ms), read_version + 1);
        TaskLease { task: task.clone(), read_version }
    };
    let first = lease(&mut task, 50);
    assert_eq!(store.lease_tasks(&[first]).await?, [true]);
    let second = lease(&mut task, 60);
    proxy.cut_answer_to(&task.id.to_string());
    assert_eq!(store.lease_tasks(&[second]).await?, [true]);
    assert_eq!(proxy.cuts(), 1);
    assert_eq!(store.task(&case.tenant, task.id).await?, Some(task));
    Ok(())
}
