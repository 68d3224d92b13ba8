//! Idempotency keys: a start that is repeated gives the same instance.

use anyhow::Result;
use stepwell::engine::port::Verdict;
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;

use crate::fixture::{Case, commit_one};

on_both_databases!(a_key_starts_once, within_a_batch_too, at_the_same_time_too, keys_belong_to_a_tenant);

async fn a_key_starts_once(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::new(), Case::new());
    assert_eq!(commit_one(&*store, one.started_with("k")).await?, Verdict::Applied);
    assert_eq!(commit_one(&*store, two.started_with("k")).await?, Verdict::Started(one.instance.id));
    assert!(store.instance(&two.tenant, two.instance.id).await?.is_none());
    assert_eq!(store.start_key(&one.tenant, "order", "k").await?, Some(one.instance.id));
    assert_eq!(store.start_key(&one.tenant, "order", "other").await?, None);
    assert_eq!(store.start_key(&one.tenant, "another", "k").await?, None);
    Ok(())
}

async fn within_a_batch_too(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let cases: Vec<Case> = (0..4).map(|_| Case::new()).collect();
    assert_eq!(commit_one(&*store, cases[0].started_with("old")).await?, Verdict::Applied);
    let batch = [cases[1].started_with("new"), cases[2].started_with("new"), cases[3].started_with("old")];
    let verdicts = store.commit(batch.to_vec()).await?;
    let (old, new) = (cases[0].instance.id, cases[1].instance.id);
    assert_eq!(verdicts, [Verdict::Applied, Verdict::Started(new), Verdict::Started(old)]);
    assert_eq!(db.count("workflow_instances").await?, 2);
    Ok(())
}

async fn at_the_same_time_too(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let cases: Vec<Case> = (0..16).map(|_| Case::new()).collect();
    let mut starts = tokio::task::JoinSet::new();
    for case in &cases {
        let (store, set, id) = (store.clone(), case.started_with("k"), case.instance.id);
        starts.spawn(async move { commit_one(&*store, set).await.map(|verdict| (id, verdict)) });
    }
    let mut winner = None;
    let mut others = Vec::new();
    while let Some(ended) = starts.join_next().await {
        match ended?? {
            (id, Verdict::Applied) => assert_eq!(winner.replace(id), None),
            (_, Verdict::Started(id)) => others.push(id),
            other => panic!("{other:?}"),
        }
    }
    let winner = winner.expect("one of them started");
    assert_eq!(others, vec![winner; 15]);
    assert_eq!(db.count("workflow_instances").await?, 1);
    Ok(())
}

async fn keys_belong_to_a_tenant(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::of("one"), Case::of("two"));
    assert_eq!(commit_one(&*store, one.started_with("k")).await?, Verdict::Applied);
    assert_eq!(commit_one(&*store, two.started_with("k")).await?, Verdict::Applied);
    assert_eq!(store.start_key(&two.tenant, "order", "k").await?, Some(two.instance.id));
    Ok(())
}
