//! A database that restarts: nobody who comes afterwards notices, and what was promised is kept.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use stepwell::domain::InstanceId;
use stepwell::engine::port::{Hint, Store, StoreError, Verdict, Write};
use stepwell_tests::db::{TestDb, run};
use stepwell_tests::postgres::Server;

use crate::fixture::{Case, apply, at, claim, set};

/// A server that this test alone uses, since it restarts it; none if PostgreSQL is not to be had.
async fn own_server() -> Result<Option<(Server, TestDb)>> {
    // Says loudly that the test is skipped, or fails.
    if TestDb::postgres().await?.is_none() {
        return Ok(None);
    }
    let server = Server::start().map_err(anyhow::Error::msg)?;
    let db = TestDb::on(&server).await?;
    Ok(Some((server, db)))
}

#[test]
fn dead_connections_cost_nobody_a_request() {
    run(async {
        let Some((server, db)) = own_server().await? else { return Ok(()) };
        let store = db.open().await;
        let case = Case::new();
        case.write(&*store, vec![Write::InsertTask(case.task("a")), Write::InsertTask(case.task("b"))])
            .await?;
        warm_up(&store, &case).await?;
        for round in 0..3 {
            server.stop().map_err(anyhow::Error::msg)?;
            server.resume().map_err(anyhow::Error::msg)?;
            // The first try of each verb, on connections that died long ago.
            store.ping().await.context("a read")?;
            store.claim_due_tasks(at(0), at(1), 1).await.context("a claim")?;
            apply(&*store, vec![Write::InsertJournal(case.journal(round))]).await.context("a commit")?;
            warm_up(&store, &case).await.context("many at once")?;
            let hints = tokio::time::timeout(Duration::from_secs(120), store.next_hints()).await?;
            assert!(hints.contains(&Hint::Everything), "hints may have been missed: {hints:?}");
        }
        assert_eq!(db.count("workflow_journal").await?, 3);
        Ok(())
    });
}

/// Fills every pool with connections.
async fn warm_up(store: &Arc<dyn Store>, case: &Case) -> Result<()> {
    let mut work = tokio::task::JoinSet::new();
    for n in 0..30 {
        let (store, tenant, id) = (Arc::clone(store), case.tenant.clone(), case.instance.id);
        work.spawn(async move {
            match n % 3 {
                0 => drop(store.instance(&tenant, id).await?.context("the instance")?),
                1 => drop(store.claim_timers(at(0), at(1), 1).await?),
                _ => Case::new().write(&*store, vec![]).await?,
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = work.join_next().await {
        ended??;
    }
    Ok(())
}

#[test]
fn under_load_every_promise_is_kept() {
    run(async {
        let Some((server, db)) = own_server().await? else { return Ok(()) };
        let store = db.open().await;
        let stop = Arc::new(AtomicBool::new(false));
        let mut writers = tokio::task::JoinSet::new();
        for _ in 0..6 {
            writers.spawn(write_until(Arc::clone(&store), Arc::clone(&stop)));
        }
        for _ in 0..2 {
            // Some work before, between and after.
            wait_for_rows(&db).await?;
            server.stop().map_err(anyhow::Error::msg)?;
            server.resume().map_err(anyhow::Error::msg)?;
        }
        wait_for_rows(&db).await?;
        stop.store(true, Ordering::SeqCst);
        let mut promised = HashSet::new();
        let mut denied = HashSet::new();
        while let Some(ended) = writers.join_next().await {
            let (yes, no) = ended??;
            promised.extend(yes);
            denied.extend(no);
        }
        let found: HashSet<InstanceId> = db
            .texts("select id::text from workflow_instances")
            .await?
            .iter()
            .map(|id| id.parse().expect("an id"))
            .collect();
        assert!(!promised.is_empty());
        assert!(promised.is_subset(&found), "written, it was said");
        assert!(denied.is_disjoint(&found), "not written, it was said");
        Ok(())
    });
}

/// Starts instances; which were written, and which were certainly not.
async fn write_until(
    store: Arc<dyn Store>,
    stop: Arc<AtomicBool>,
) -> Result<(Vec<InstanceId>, Vec<InstanceId>)> {
    let (mut promised, mut denied) = (Vec::new(), Vec::new());
    while !stop.load(Ordering::SeqCst) {
        let cases: Vec<Case> = (0..5).map(|_| Case::new()).collect();
        let batch: Vec<_> = cases
            .iter()
            .map(|case| set(vec![], vec![Write::InsertInstance(case.instance.clone())]))
            .collect();
        let ids = cases.iter().map(|case| case.instance.id);
        match store.commit(batch.to_vec()).await {
            Ok(verdicts) => {
                assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Applied), "{verdicts:?}");
                promised.extend(ids);
            }
            Err(StoreError::Unavailable(_)) => denied.extend(ids),
            Err(StoreError::Unknown(_)) => {}
            Err(error) => return Err(error.into()),
        }
        match store.claim_tasks(&claim(&cases[0].tenant, at(1), 1)).await {
            Ok(_) | Err(StoreError::Unavailable(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok((promised, denied))
}

/// Waits until more rows than now are there.
async fn wait_for_rows(db: &TestDb) -> Result<()> {
    let before = db.count("workflow_instances").await?;
    let growth = async {
        while db.count("workflow_instances").await? < before + 50 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(Duration::from_secs(120), growth).await.context("nothing is written any more")?
}
