//! The outbox: items of one key leave one after the other.

use anyhow::Result;
use stepwell::engine::port::Write;
use stepwell::engine::port::write::OutboxDone;
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;
use uuid::Uuid;

use crate::fixture::{Case, T0, apply, at};

on_both_databases!(only_the_head_of_a_key_leaves, a_failed_head_holds_its_key, keys_of_tenants_are_apart);

async fn only_the_head_of_a_key_leaves(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let items: Vec<_> = ["a", "a", "b", "a", "b"].map(|key| case.outgoing(key, T0)).into();
    case.write(&*store, items.iter().cloned().map(Write::InsertOutbox).collect()).await?;
    let done = |id: Uuid| Write::DeleteOutbox(OutboxDone { tenant: case.tenant.clone(), id });
    let claimed = async |ms: i64| -> Result<Vec<Uuid>> {
        Ok(store.claim_outbox(at(ms), at(ms + 1_000), 9).await?.iter().map(|item| item.id).collect())
    };
    assert_eq!(claimed(1).await?, [items[0].id, items[2].id]);
    assert_eq!(claimed(2).await?, Vec::<Uuid>::new(), "the heads are under a lease");
    apply(&*store, vec![done(items[0].id)]).await?;
    assert_eq!(claimed(3).await?, [items[1].id]);
    apply(&*store, vec![done(items[1].id), done(items[2].id)]).await?;
    assert_eq!(claimed(4).await?, [items[3].id, items[4].id]);
    Ok(())
}

async fn a_failed_head_holds_its_key(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let items: Vec<_> = ["a", "a"].map(|key| case.outgoing(key, T0)).into();
    case.write(&*store, items.iter().cloned().map(Write::InsertOutbox).collect()).await?;
    let mut failed = store.claim_outbox(at(1), at(10), 9).await?.remove(0);
    (failed.attempts, failed.due_at, failed.last_error) = (1, at(500), Some("refused".into()));
    apply(&*store, vec![Write::UpdateOutbox(failed.clone())]).await?;
    assert_eq!(store.claim_outbox(at(499), at(600), 9).await?, []);
    failed.due_at = at(600);
    assert_eq!(store.claim_outbox(at(500), at(600), 9).await?, [failed]);
    Ok(())
}

async fn keys_of_tenants_are_apart(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::of("one"), Case::of("two"));
    one.write(&*store, vec![Write::InsertOutbox(one.outgoing("k", T0))]).await?;
    two.write(&*store, vec![Write::InsertOutbox(two.outgoing("k", T0))]).await?;
    assert_eq!(store.claim_outbox(at(1), at(10), 9).await?.len(), 2);
    Ok(())
}
