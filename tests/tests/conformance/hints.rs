//! Hints from host to host.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Context as _, Result};
use stepwell::domain::InstanceId;
use stepwell::engine::port::{Hint, Store, Write, WriteSet};
use stepwell_tests::db::TestDb;
use stepwell_tests::on_postgres;

use crate::fixture::Case;

on_postgres!(a_host_hears_the_others, many_hints_are_heard_or_everything_is, losers_are_not_announced);

/// Hears until `enough` says so.
async fn hear(store: &dyn Store, enough: impl Fn(&[Hint]) -> bool) -> Result<Vec<Hint>> {
    let mut heard = Vec::new();
    let hearing = async {
        while !enough(&heard) {
            heard.extend(store.next_hints().await);
        }
    };
    tokio::time::timeout(Duration::from_secs(120), hearing).await.context("nothing was heard")?;
    Ok(heard)
}

fn started(case: &Case, hints: Vec<Hint>) -> WriteSet {
    WriteSet { guards: vec![], writes: vec![Write::InsertInstance(case.instance.clone())], hints }
}

async fn a_host_hears_the_others(db: TestDb) -> Result<()> {
    let (here, there) = (db.open().await, db.open().await);
    let (one, two) = (Case::new(), Case::new());
    let hint = |case: &Case| Hint::Instance { tenant: case.tenant.clone(), id: case.instance.id };
    let tasks = |count| Hint::Tasks { tenant: one.tenant.clone(), task_type: "mail".into(), count };
    here.commit(vec![started(&one, vec![hint(&one), tasks(2)])]).await?;
    let heard = hear(&*there, |heard| heard.len() >= 2).await?;
    assert_eq!(heard, [hint(&one), tasks(2)]);
    // What the first host hears next is the other's word, so it did not hear its own.
    there.commit(vec![started(&two, vec![hint(&two)])]).await?;
    assert_eq!(hear(&*here, |heard| !heard.is_empty()).await?, [hint(&two)]);
    Ok(())
}

async fn many_hints_are_heard_or_everything_is(db: TestDb) -> Result<()> {
    let (here, there) = (db.open().await, db.open().await);
    let case = Case::new();
    let ids: HashSet<InstanceId> = (0..200).map(|_| InstanceId::new()).collect();
    let hints = ids.iter().map(|id| Hint::Instance { tenant: case.tenant.clone(), id: *id }).collect();
    here.commit(vec![started(&case, hints)]).await?;
    let heard = hear(&*there, |heard| heard.len() >= ids.len()).await?;
    let found: HashSet<InstanceId> = heard
        .iter()
        .filter_map(|hint| match hint {
            Hint::Instance { id, .. } => Some(*id),
            _ => None,
        })
        .collect();
    assert_eq!(found, ids, "more than one message, and nothing lost");

    let case = Case::new();
    let far_too_many =
        (0..5_000).map(|_| Hint::Instance { tenant: case.tenant.clone(), id: InstanceId::new() });
    here.commit(vec![started(&case, far_too_many.collect())]).await?;
    assert_eq!(hear(&*there, |heard| !heard.is_empty()).await?, [Hint::Everything]);
    Ok(())
}

async fn losers_are_not_announced(db: TestDb) -> Result<()> {
    let (here, there) = (db.open().await, db.open().await);
    let (one, two) = (Case::new(), Case::new());
    let mut lost = started(&one, vec![Hint::Plugins]);
    lost.guards.push(one.guard(7));
    let hint = Hint::Instance { tenant: two.tenant.clone(), id: two.instance.id };
    here.commit(vec![lost, started(&two, vec![hint.clone()])]).await?;
    assert_eq!(hear(&*there, |heard| !heard.is_empty()).await?, [hint]);
    Ok(())
}
