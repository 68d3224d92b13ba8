//! Commits: guards, verdicts, and a batch in which some lose.

use anyhow::Result;
use stepwell::domain::definition::DefinitionRow;
use stepwell::domain::instance::InstanceStatus;
use stepwell::domain::{Digest, TimerId};
use stepwell::engine::port::write::{OutboxDone, StepKey, TimerFired};
use stepwell::engine::port::{Guard, StoreError, Verdict, Write};
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;

use crate::fixture::{Case, T0, apply, at, claim, commit_one, set};

on_both_databases!(
    a_stale_version_loses,
    of_two_in_a_batch_the_first_wins,
    losers_cost_the_others_nothing,
    a_task_guard_sees_claims,
    timers_subscriptions_and_outgoing_items_are_guarded,
    versions_of_a_workflow_are_guarded,
    any_number_of_starts_may_rely_on_the_newest_version,
    refused_data_costs_its_own_transition_only,
    a_decision_is_recorded_once,
    the_last_write_of_a_row_counts,
    a_timer_that_was_set_and_withdrawn_never_was,
    an_empty_batch_is_nothing,
    many_writers_of_one_instance_take_turns,
);

async fn a_stale_version_loses(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    case.write(&*store, vec![]).await?;
    let moved_on = |n: i64| {
        let mut write = case.moved_on(n);
        if let Write::UpdateInstance(update) = &mut write {
            update.context = Some(serde_json::json!({ "n": n }));
        }
        write
    };
    let won = commit_one(&*store, set(vec![case.guard(1)], vec![moved_on(2)])).await?;
    assert_eq!(won, Verdict::Applied);
    let lost = commit_one(&*store, set(vec![case.guard(1)], vec![moved_on(2)])).await?;
    assert_eq!(lost, Verdict::Conflict);
    let leap = store.commit(vec![set(vec![case.guard(2)], vec![moved_on(9)])]).await;
    assert!(matches!(leap, Err(StoreError::Broken(_))), "{leap:?}");

    let found = store.instance(&case.tenant, case.instance.id).await?.expect("the instance");
    assert_eq!((found.version, found.status), (2, InstanceStatus::Waiting));
    assert_eq!(found.context, serde_json::json!({ "n": 2 }));
    assert_eq!(found.updated_at, at(2));
    assert_eq!(found.trigger, case.instance.trigger);
    Ok(())
}

async fn of_two_in_a_batch_the_first_wins(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::new(), Case::new());
    one.write(&*store, vec![]).await?;
    two.write(&*store, vec![]).await?;
    let batch = [
        set(vec![one.guard(1)], vec![one.moved_on(2)]),
        set(vec![one.guard(1)], vec![one.moved_on(2)]),
        set(vec![two.guard(1), one.guard(1)], vec![two.moved_on(2)]),
        set(vec![two.guard(1)], vec![two.moved_on(2)]),
    ];
    let verdicts = store.commit(batch.to_vec()).await?;
    assert_eq!(verdicts, [Verdict::Applied, Verdict::Conflict, Verdict::Conflict, Verdict::Applied]);
    assert_eq!(store.instance(&one.tenant, one.instance.id).await?.map(|found| found.version), Some(2));
    assert_eq!(store.instance(&two.tenant, two.instance.id).await?.map(|found| found.version), Some(2));
    Ok(())
}

async fn losers_cost_the_others_nothing(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let cases: Vec<Case> = (0..20).map(|_| Case::new()).collect();
    for case in &cases {
        case.write(&*store, vec![]).await?;
    }
    // Every third was decided on an old version; the order of the batch is not that of the ids.
    let batch: Vec<_> = cases
        .iter()
        .rev()
        .enumerate()
        .map(|(n, case)| (case, i64::from(n % 3 != 0)))
        .map(|(case, version)| set(vec![case.guard(version)], vec![case.moved_on(version + 1)]))
        .collect();
    let verdicts = store.commit(batch.to_vec()).await?;
    for (n, (case, verdict)) in cases.iter().rev().zip(verdicts).enumerate() {
        let applied = n % 3 != 0;
        assert_eq!(verdict, if applied { Verdict::Applied } else { Verdict::Conflict });
        let found = store.instance(&case.tenant, case.instance.id).await?.expect("the instance");
        assert_eq!(found.version, if applied { 2 } else { 1 });
    }
    Ok(())
}

async fn a_task_guard_sees_claims(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let task = case.task("a");
    case.write(&*store, vec![Write::InsertTask(task.clone())]).await?;
    assert_eq!(store.claim_tasks(&claim(&case.tenant, at(1), 1)).await?.len(), 1);

    let guard = |version| Guard::Task { tenant: case.tenant.clone(), id: task.id, version };
    let mut changed = task.clone();
    (changed.error_message, changed.version) = (Some("late".into()), 2);
    let stale = set(vec![guard(1)], vec![Write::UpdateTask(changed.clone())]);
    assert_eq!(commit_one(&*store, stale).await?, Verdict::Conflict);
    changed.version = 3;
    let fresh = set(vec![guard(2)], vec![Write::UpdateTask(changed)]);
    assert_eq!(commit_one(&*store, fresh).await?, Verdict::Applied);
    let found = store.task(&case.tenant, task.id).await?.expect("the task");
    assert_eq!(found.error_message.as_deref(), Some("late"));
    Ok(())
}

async fn timers_subscriptions_and_outgoing_items_are_guarded(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let timer = case.timer("t", at(10));
    let subscription = case.subscription("s", "paid", None);
    let item = case.outgoing("k", T0);
    let rows = vec![
        Write::UpsertTimer(timer.clone()),
        Write::InsertSubscription(subscription.clone()),
        Write::InsertOutbox(item.clone()),
    ];
    case.write(&*store, rows).await?;
    let tenant = case.tenant.clone();
    let by_time = |trigger_at| Guard::Timer { tenant: tenant.clone(), id: timer.id, trigger_at };
    let by_subscription = Guard::Subscription { tenant: tenant.clone(), id: subscription.id };
    let by_item = Guard::Outbox { tenant: tenant.clone(), id: item.id };

    assert_eq!(commit_one(&*store, set(vec![by_time(at(11))], vec![])).await?, Verdict::Conflict);
    let all = vec![by_time(at(10)), by_subscription, by_item];
    let consume = vec![
        Write::FireTimer(TimerFired { id: timer.id, tenant: tenant.clone(), trigger_at: at(10), at: at(12) }),
        Write::DeleteSubscription(StepKey {
            tenant: tenant.clone(),
            step_execution_id: case.step.id,
            key: "s".into(),
            at: at(12),
        }),
        Write::DeleteOutbox(OutboxDone { tenant: tenant.clone(), id: item.id }),
    ];
    assert_eq!(commit_one(&*store, set(all.clone(), consume)).await?, Verdict::Applied);
    // What was consumed is not there a second time, each of the three.
    for guard in all {
        assert_eq!(commit_one(&*store, set(vec![guard], vec![])).await?, Verdict::Conflict);
    }
    let unknown = Guard::Timer { tenant, id: TimerId::new(), trigger_at: T0 };
    assert_eq!(commit_one(&*store, set(vec![unknown], vec![])).await?, Verdict::Conflict);
    Ok(())
}

async fn versions_of_a_workflow_are_guarded(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let tenant = Case::new().tenant;
    let deploy = |read: i32, source: &str| {
        let guard = Guard::DefinitionVersion { tenant: tenant.clone(), key: "order".into(), version: read };
        let row = DefinitionRow {
            tenant: tenant.clone(),
            key: "order".into(),
            version: read + 1,
            name: None,
            digest: Digest::of(source.as_bytes()),
            source: source.into(),
            document: serde_json::json!({ "source": source }),
            created_at: T0,
        };
        set(vec![guard], vec![Write::InsertDefinition(row)])
    };
    assert_eq!(commit_one(&*store, deploy(0, "a")).await?, Verdict::Applied);
    assert_eq!(commit_one(&*store, deploy(0, "b")).await?, Verdict::Conflict);
    assert_eq!(
        store.commit(vec![deploy(1, "c"), deploy(1, "d")]).await?,
        [Verdict::Applied, Verdict::Conflict]
    );
    let newest = store.definition(&tenant, "order", None).await?.expect("the newest");
    assert_eq!((newest.version, newest.source.as_str()), (2, "c"));
    let first = store.definition(&tenant, "order", Some(1)).await?.expect("the first");
    assert_eq!(first.document, serde_json::json!({ "source": "a" }));
    // Two at once, each on its own: one of them reads too early and loses, without an error.
    let (left, right) = ([deploy(2, "e")], [deploy(2, "f")]);
    let (left, right) = tokio::join!(store.commit(left.to_vec()), store.commit(right.to_vec()));
    let mut verdicts = [left?, right?].concat();
    verdicts.sort_by_key(|verdict| *verdict != Verdict::Applied);
    assert_eq!(verdicts, [Verdict::Applied, Verdict::Conflict]);
    Ok(())
}

async fn any_number_of_starts_may_rely_on_the_newest_version(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let definition = |version| {
        Write::InsertDefinition(DefinitionRow {
            tenant: Case::new().tenant,
            key: "relied-on".into(),
            version,
            name: None,
            digest: Digest::of(b"x"),
            source: "x".into(),
            document: serde_json::json!({}),
            created_at: at(0),
        })
    };
    let start = |version| {
        let case = Case::new();
        let guard = Guard::NewestVersion { tenant: case.tenant.clone(), key: "relied-on".into(), version };
        set(vec![guard], vec![Write::InsertInstance(case.instance)])
    };
    assert_eq!(store.commit(vec![start(1)]).await?, [Verdict::Conflict], "there is none");
    apply(&*store, vec![definition(1)]).await?;
    assert_eq!(store.commit(vec![start(1), start(1)]).await?, [Verdict::Applied, Verdict::Applied]);
    apply(&*store, vec![definition(2)]).await?;
    let verdicts = store.commit(vec![start(1), start(2), start(1)]).await?;
    assert_eq!(verdicts, [Verdict::Conflict, Verdict::Applied, Verdict::Conflict]);
    Ok(())
}

async fn refused_data_costs_its_own_transition_only(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let cases: Vec<Case> = (0..9).map(|_| Case::new()).collect();
    let twice = cases[4].instance.clone();
    let batch: Vec<_> = cases
        .iter()
        .enumerate()
        .map(|(n, case)| {
            let mut writes = vec![Write::InsertInstance(case.instance.clone())];
            if n == 2 || n == 7 {
                // An id that is there already: the whole transition is refused, its own instance included.
                writes.push(Write::InsertInstance(twice.clone()));
            }
            set(vec![], writes)
        })
        .collect();
    let verdicts = store.commit(batch.to_vec()).await?;
    let mut refused = Vec::new();
    for (n, (case, verdict)) in cases.iter().zip(&verdicts).enumerate() {
        let found = store.instance(&case.tenant, case.instance.id).await?;
        match verdict {
            Verdict::Applied => assert!(found.is_some(), "{n} was applied"),
            Verdict::Refused(why) => {
                assert!(!why.is_empty());
                // The instance that stands for the quarrel is there by another's hand.
                assert!(found.is_none() || n == 4, "{n} was refused");
                refused.push(n);
            }
            other => panic!("{other:?}"),
        }
    }
    // One of the three that want the same id has it.
    assert_eq!(refused.len(), 2, "{verdicts:?}");
    assert!(refused.iter().all(|n| [2, 4, 7].contains(n)), "{refused:?}");
    Ok(())
}

async fn a_decision_is_recorded_once(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    case.write(&*store, vec![Write::InsertJournal(case.journal(1))]).await?;
    let again = commit_one(&*store, set(vec![], vec![Write::InsertJournal(case.journal(1))])).await?;
    assert!(matches!(again, Verdict::Refused(_)), "{again:?}");
    apply(&*store, vec![Write::InsertJournal(case.journal(2))]).await?;
    assert_eq!(db.count("workflow_journal").await?, 2);
    Ok(())
}

async fn the_last_write_of_a_row_counts(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let (mut one, mut two) = (case.step.clone(), case.step.clone());
    one.state = Some("1".into());
    two.state = Some("2".into());
    let (early, late) = (case.timer("t", at(1)), case.timer("t", at(2)));
    let rows = vec![
        Write::UpsertStep(one),
        Write::UpsertStep(two),
        Write::UpsertTimer(early),
        Write::UpsertTimer(late),
    ];
    case.write(&*store, rows).await?;
    let step = store.step_execution(&case.tenant, case.step.id).await?.expect("the step");
    assert_eq!(step.state.as_deref(), Some("2"));
    let timers = store.timers(&case.tenant, case.instance.id).await?;
    assert_eq!(timers.iter().map(|timer| timer.trigger_at).collect::<Vec<_>>(), [at(2)]);
    Ok(())
}

async fn a_timer_that_was_set_and_withdrawn_never_was(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    case.write(&*store, vec![Write::UpsertTimer(case.timer("old", at(1)))]).await?;
    let cancel = |key: &str| {
        Write::CancelTimer(StepKey {
            tenant: case.tenant.clone(),
            step_execution_id: case.step.id,
            key: key.into(),
            at: T0,
        })
    };
    let writes = vec![
        Write::UpsertTimer(case.timer("gone", at(2))),
        cancel("gone"),
        cancel("old"),
        Write::UpsertTimer(case.timer("old", at(3))),
    ];
    apply(&*store, writes).await?;
    let timers = store.timers(&case.tenant, case.instance.id).await?;
    let timers: Vec<_> = timers.iter().map(|timer| (timer.key.as_str(), timer.trigger_at)).collect();
    assert_eq!(timers, [("old", at(3))]);
    Ok(())
}

async fn an_empty_batch_is_nothing(db: TestDb) -> Result<()> {
    let store = db.open().await;
    assert_eq!(store.commit(vec![]).await?, []);
    assert_eq!(commit_one(&*store, set(vec![], vec![])).await?, Verdict::Applied);
    Ok(())
}

async fn many_writers_of_one_instance_take_turns(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let cases: std::sync::Arc<Vec<Case>> = std::sync::Arc::new((0..5).map(|_| Case::new()).collect());
    for case in cases.iter() {
        case.write(&*store, vec![]).await?;
    }
    // Each writer raises every instance, in an order of its own, until it has been heard ten times.
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..4_usize {
        let (store, cases) = (std::sync::Arc::clone(&store), std::sync::Arc::clone(&cases));
        writers.spawn(async move {
            let mut heard = [0; 5];
            while heard.iter().any(|times| *times < 10) {
                let mut batch = Vec::new();
                for n in 0..cases.len() {
                    let case = &cases[(n + writer) % cases.len()];
                    let version =
                        store.instance(&case.tenant, case.instance.id).await?.expect("the instance").version;
                    batch.push(set(vec![case.guard(version)], vec![case.moved_on(version + 1)]));
                }
                for (n, verdict) in store.commit(batch.to_vec()).await?.into_iter().enumerate() {
                    heard[(n + writer) % cases.len()] += i64::from(verdict == Verdict::Applied);
                }
            }
            anyhow::Ok(heard)
        });
    }
    let mut sums = [0; 5];
    while let Some(heard) = writers.join_next().await {
        for (sum, times) in sums.iter_mut().zip(heard??) {
            *sum += times;
        }
    }
    for (case, sum) in cases.iter().zip(sums) {
        let found = store.instance(&case.tenant, case.instance.id).await?.expect("the instance");
        assert_eq!(found.version, 1 + sum, "no turn is lost, none counted twice");
    }
    Ok(())
}
