//! Lists: order, filters and pages; what a message matches; the newest of many.

use anyhow::Result;
use serde_json::json;
use stepwell::domain::Digest;
use stepwell::domain::definition::DefinitionRow;
use stepwell::domain::id::successor;
use stepwell::domain::instance::InstanceStatus;
use stepwell::domain::json::JsonText;
use stepwell::domain::page::{Page, PageRequest};
use stepwell::domain::task::TaskStatus;
use stepwell::engine::port::Write;
use stepwell::engine::port::store::{InstanceFilter, TaskFilter};
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;
use uuid::Uuid;

use crate::fixture::{Case, T0, apply, at, step, tenant};

on_both_databases!(
    instances_come_in_pages,
    instances_are_filtered,
    tasks_are_filtered,
    incidents_are_filtered,
    the_journal_comes_in_pages,
    lines_of_one_decision_are_one_row,
    a_message_finds_who_waits,
    the_newest_attempt_is_found,
    the_newest_definitions_are_listed,
    a_ping_is_answered,
);

fn first(limit: u32) -> PageRequest {
    PageRequest { after: None, limit }
}

async fn instances_come_in_pages(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let cases: Vec<Case> = (0..7).map(|_| Case::new()).collect();
    for case in &cases {
        case.write(&*store, vec![]).await?;
    }
    let mut seen = Vec::new();
    let mut request = first(3);
    let mut pages = 0;
    loop {
        let rows = store.instances(&tenant("default"), &InstanceFilter::default(), &request).await?;
        assert!(rows.len() <= 4, "never more than one row beyond the page");
        let page = Page::from_rows(rows, request.limit, |row| row.id.0);
        seen.extend(page.items.iter().map(|row| row.id));
        pages += 1;
        match page.next {
            Some(next) => request.after = Some(next),
            None => break,
        }
    }
    assert_eq!(pages, 3);
    assert_eq!(seen, cases.iter().rev().map(|case| case.instance.id).collect::<Vec<_>>(), "newest first");
    Ok(())
}

async fn instances_are_filtered(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let mut cases: Vec<Case> = (0..3).map(|_| Case::new()).collect();
    cases[0].instance.workflow_key = "invoice".into();
    cases[1].instance.business_key = None;
    cases[2].instance.status = InstanceStatus::Failed;
    for case in &cases {
        case.write(&*store, vec![]).await?;
    }
    let ids: Vec<_> = cases.iter().map(|case| case.instance.id).collect();
    let found = async |filter: InstanceFilter| -> Result<Vec<_>> {
        let rows = store.instances(&tenant("default"), &filter, &first(9)).await?;
        Ok(rows.iter().map(|row| row.id).collect())
    };
    let any = InstanceFilter::default;
    assert_eq!(found(any()).await?, [ids[2], ids[1], ids[0]]);
    assert_eq!(found(InstanceFilter { workflow_key: Some("invoice".into()), ..any() }).await?, [ids[0]]);
    assert_eq!(
        found(InstanceFilter { business_key: Some("order-1".into()), ..any() }).await?,
        [ids[2], ids[0]]
    );
    assert_eq!(found(InstanceFilter { status: Some(InstanceStatus::Failed), ..any() }).await?, [ids[2]]);
    let both = InstanceFilter {
        workflow_key: Some("order".into()),
        status: Some(InstanceStatus::Running),
        business_key: None,
    };
    assert_eq!(found(both).await?, [ids[1]]);
    Ok(())
}

async fn tasks_are_filtered(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::new(), Case::new());
    let (mut dead, mut fax) = (one.task("dead"), one.task("fax"));
    dead.status = TaskStatus::Failed;
    fax.task_type = "fax".into();
    let other = two.task("other");
    one.write(&*store, vec![Write::InsertTask(dead.clone()), Write::InsertTask(fax.clone())]).await?;
    two.write(&*store, vec![Write::InsertTask(other.clone())]).await?;
    let found = async |filter: TaskFilter, limit: u32| -> Result<Vec<_>> {
        let rows = store.tasks(&tenant("default"), &filter, &first(limit)).await?;
        Ok(rows.iter().map(|row| row.id).collect())
    };
    let any = TaskFilter::default;
    assert_eq!(found(any(), 9).await?, [other.id, fax.id, dead.id]);
    assert_eq!(found(any(), 1).await?, [other.id, fax.id]);
    assert_eq!(
        found(TaskFilter { instance_id: Some(one.instance.id), ..any() }, 9).await?,
        [fax.id, dead.id]
    );
    assert_eq!(found(TaskFilter { status: Some(TaskStatus::Failed), ..any() }, 9).await?, [dead.id]);
    assert_eq!(found(TaskFilter { task_type: Some("fax".into()), ..any() }, 9).await?, [fax.id]);
    Ok(())
}

async fn incidents_are_filtered(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::new(), Case::new());
    let (mut over, open, other) = (one.incident(), one.incident(), two.incident());
    over.resolved_at = Some(at(4));
    one.write(&*store, vec![Write::InsertIncident(over.clone()), Write::InsertIncident(open.clone())])
        .await?;
    two.write(&*store, vec![Write::InsertIncident(other.clone())]).await?;
    let who = tenant("default");
    let all = store.incidents(&who, None, false, &first(9)).await?;
    assert_eq!(all, [other.clone(), open.clone(), over.clone()]);
    assert_eq!(store.incidents(&who, None, true, &first(9)).await?, [other, open.clone()]);
    assert_eq!(
        store.incidents(&who, Some(one.instance.id), true, &first(9)).await?,
        std::slice::from_ref(&open)
    );
    let after = PageRequest { after: Some(open.id.0), limit: 9 };
    assert_eq!(store.incidents(&who, None, false, &after).await?, [over]);
    Ok(())
}

async fn the_journal_comes_in_pages(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let entries: Vec<_> = (1..=5).map(|seq| case.journal(seq)).collect();
    case.write(&*store, entries.iter().cloned().map(Write::InsertJournal).collect()).await?;
    let who = &case.tenant;
    assert_eq!(
        store.journal(who, case.instance.id, &first(2)).await?,
        entries[..3],
        "oldest first, and one more"
    );
    let after = PageRequest { after: Some(entries[2].id), limit: 2 };
    assert_eq!(store.journal(who, case.instance.id, &after).await?, entries[3..]);
    Ok(())
}

/// Lines whose ids follow one another are one row, and nobody who reads the journal can tell.
async fn lines_of_one_decision_are_one_row(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let mut entries: Vec<_> = (1..=5).map(|seq| case.journal(seq)).collect();
    for at in [1, 2, 4] {
        entries[at].id = successor(entries[at - 1].id);
    }
    entries[1].note = Some("\"quoted\" \u{1} ä".into());
    entries[1].call = Some(JsonText::parse(r#"{ "as it" : "was\u0041" }"#.into())?);
    (entries[2].subject_id, entries[2].at) = (case.instance.id.0, T0);
    (entries[3].step_id, entries[3].plugin_digest, entries[3].fuel) = (None, None, None);
    case.write(&*store, entries.iter().cloned().map(Write::InsertJournal).collect()).await?;
    assert_eq!(db.count("workflow_journal").await?, 2);
    for taken in 0_usize..=5 {
        for limit in 1..=6 {
            let after = taken.checked_sub(1).map(|last| entries[last].id);
            let page = PageRequest { after, limit };
            let found = store.journal(&case.tenant, case.instance.id, &page).await?;
            let end = entries.len().min(taken + usize::try_from(limit)? + 1);
            assert_eq!(found, entries[taken..end], "{limit} after {taken}");
        }
    }
    let before = PageRequest { after: Some(Uuid::nil()), limit: 9 };
    assert_eq!(store.journal(&case.tenant, case.instance.id, &before).await?, entries);
    assert_eq!(store.journal(&tenant("other"), case.instance.id, &first(9)).await?, []);
    Ok(())
}

async fn a_message_finds_who_waits(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let (any, exact) =
        (case.subscription("any", "paid", None), case.subscription("exact", "paid", Some("o-1")));
    let other = case.subscription("other", "paid", Some("o-2"));
    let mut over = case.subscription("over", "paid", None);
    over.expires_at = Some(at(10));
    let named = case.subscription("named", "shipped", None);
    let again = case.subscription("any", "another", None);
    let rows = [&any, &exact, &other, &over, &named].map(|row| Write::InsertSubscription(row.clone()));
    case.write(&*store, rows.into()).await?;
    // The same key of the same step is left as it is.
    apply(&*store, vec![Write::InsertSubscription(again)]).await?;
    let found = async |correlation: Option<&str>, ms: i64, rows_max: u32| -> Result<Vec<String>> {
        let rows = store.matching(&case.tenant, "paid", correlation, at(ms), rows_max).await?;
        Ok(rows.into_iter().map(|row| row.key).collect())
    };
    assert_eq!(found(Some("o-1"), 9, 9).await?, ["any", "exact", "over"]);
    assert_eq!(found(Some("o-1"), 10, 9).await?, ["any", "exact"]);
    assert_eq!(found(Some("o-1"), 9, 1).await?, ["any"]);
    assert_eq!(found(None, 10, 9).await?, ["any"]);
    assert_eq!(store.matching(&case.tenant, "another", None, T0, 9).await?, []);
    Ok(())
}

async fn the_newest_attempt_is_found(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let (second, third) = (step(&case.instance, "first", 2), step(&case.instance, "other", 1));
    case.write(&*store, vec![Write::UpsertStep(second.clone()), Write::UpsertStep(third.clone())]).await?;
    let (who, id) = (&case.tenant, case.instance.id);
    assert_eq!(store.steps(who, id, None).await?, [case.step.clone(), second.clone(), third.clone()]);
    let names = ["first".to_owned(), "unknown".to_owned()];
    assert_eq!(store.steps(who, id, Some(&names)).await?, [second]);
    assert_eq!(store.steps(who, id, Some(&["other".to_owned()])).await?, [third]);
    assert_eq!(store.steps(who, id, Some(&[])).await?, []);
    Ok(())
}

async fn the_newest_definitions_are_listed(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let who = tenant("default");
    let row = |key: &str, version: i32| {
        Write::InsertDefinition(DefinitionRow {
            tenant: who.clone(),
            key: key.into(),
            version,
            name: Some(format!("{key} {version}")),
            digest: Digest::of(b"d"),
            source: "s".into(),
            document: json!({}),
            created_at: T0,
        })
    };
    apply(&*store, vec![row("b", 1), row("a", 1), row("b", 2), row("c", 1), row("b", 10)]).await?;
    let found = async |after: Option<&str>, rows_max: u32| -> Result<Vec<(String, i32)>> {
        let rows = store.definitions(&who, after, rows_max).await?;
        Ok(rows.into_iter().map(|row| (row.key, row.version)).collect())
    };
    let pairs = [("a".to_owned(), 1), ("b".to_owned(), 10), ("c".to_owned(), 1)];
    assert_eq!(found(None, 9).await?, pairs);
    assert_eq!(found(None, 2).await?, pairs[..2]);
    assert_eq!(found(Some("a"), 9).await?, pairs[1..]);
    assert!(store.definition(&who, "b", Some(3)).await?.is_none());
    assert_eq!(store.definition(&who, "b", None).await?.map(|row| row.version), Some(10));
    Ok(())
}

async fn a_ping_is_answered(db: TestDb) -> Result<()> {
    let store = db.open().await;
    store.ping().await?;
    store.close().await;
    assert!(store.ping().await.is_err(), "it was closed");
    Ok(())
}
