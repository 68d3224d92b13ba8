//! No tenant sees or changes what is another's.

use anyhow::Result;
use serde_json::json;
use stepwell::domain::definition::DefinitionRow;
use stepwell::domain::page::PageRequest;
use stepwell::domain::token::{Role, Token};
use stepwell::domain::{Digest, TokenId};
use stepwell::engine::port::store::{InstanceFilter, TaskFilter, TaskLease};
use stepwell::engine::port::write::{
    EventDone, IncidentDone, InstanceClosed, InstanceGone, OutboxDone, StepClosed, StepKey, TimerFired,
    TokenRevoked,
};
use stepwell::engine::port::{Guard, Verdict, Write};
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;

use crate::fixture::{Case, T0, apply, at, claim, commit_one, set, tenant};

on_both_databases!(no_read_crosses, no_guard_crosses, no_write_crosses, tokens_are_listed_by_tenant);

/// One of everything, of tenant `one`.
struct World {
    case: Case,
    rows: Vec<Write>,
}

impl World {
    fn new() -> Self {
        let case = Case::of("one");
        let definition = DefinitionRow {
            tenant: case.tenant.clone(),
            key: "order".into(),
            version: 1,
            name: None,
            digest: Digest::of(b"d"),
            source: "s".into(),
            document: json!({}),
            created_at: T0,
        };
        let mut rows = vec![
            Write::InsertDefinition(definition),
            Write::InsertTask(case.task("k")),
            Write::UpsertTimer(case.timer("k", at(9))),
            Write::InsertSubscription(case.subscription("k", "paid", None)),
            Write::InsertEvent(case.event("{}")),
            Write::InsertIncident(case.incident()),
            Write::InsertOutbox(case.outgoing("k", at(9))),
            Write::InsertJournal(case.journal(1)),
            Write::InsertBlob(case.blob("big")),
        ];
        rows.extend(case.started_with("start").writes.split_off(1));
        Self { case, rows }
    }
}

async fn no_read_crosses(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let World { case, rows } = World::new();
    let hash = case.blob("big").hash;
    let ids = rows.clone();
    case.write(&*store, rows).await?;
    let page = PageRequest { after: None, limit: 9 };
    for (who, sees) in [(case.tenant.clone(), 1), (tenant("two"), 0)] {
        let id = case.instance.id;
        let mut counts = vec![
            ("definition", usize::from(store.definition(&who, "order", None).await?.is_some())),
            ("definition 1", usize::from(store.definition(&who, "order", Some(1)).await?.is_some())),
            ("definitions", store.definitions(&who, None, 9).await?.len()),
            ("instance", usize::from(store.instance(&who, id).await?.is_some())),
            ("instances", store.instances(&who, &InstanceFilter::default(), &page).await?.len()),
            ("steps", store.steps(&who, id, None).await?.len()),
            ("newest steps", store.steps(&who, id, Some(&["first".into()])).await?.len()),
            ("step", usize::from(store.step_execution(&who, case.step.id).await?.is_some())),
            ("tasks", store.tasks(&who, &TaskFilter::default(), &page).await?.len()),
            ("events", store.events(&who, case.step.id).await?.len()),
            ("incidents", store.incidents(&who, Some(id), false, &page).await?.len()),
            ("matching", store.matching(&who, "paid", None, T0, 9).await?.len()),
            ("start key", usize::from(store.start_key(&who, "order", "start").await?.is_some())),
            ("timers", store.timers(&who, id).await?.len()),
            ("journal", store.journal(&who, id, &page).await?.len()),
            ("blobs", store.blobs(&who, id, std::slice::from_ref(&hash)).await?.len()),
            ("outbox", store.outbox(&who, &page).await?.len()),
        ];
        for row in &ids {
            match row {
                Write::InsertTask(task) => {
                    counts.push(("task", usize::from(store.task(&who, task.id).await?.is_some())));
                }
                Write::InsertIncident(incident) => {
                    counts
                        .push(("incident", usize::from(store.incident(&who, incident.id).await?.is_some())));
                }
                _ => {}
            }
        }
        for (what, count) in counts {
            assert_eq!(count, sees, "{what} as {who} sees it");
        }
    }
    assert_eq!(store.claim_tasks(&claim(&tenant("two"), at(1), 9)).await?, []);
    assert_eq!(store.claim_tasks(&claim(&case.tenant, at(1), 9)).await?.len(), 1);
    Ok(())
}

async fn no_guard_crosses(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let World { case, rows } = World::new();
    case.write(&*store, rows.clone()).await?;
    for (who, verdict) in [(case.tenant.clone(), Verdict::Applied), (tenant("two"), Verdict::Conflict)] {
        let mut guards = vec![Guard::Instance { tenant: who.clone(), id: case.instance.id, version: 1 }];
        for row in &rows {
            let tenant = who.clone();
            match row {
                Write::InsertTask(task) => guards.push(Guard::Task { tenant, id: task.id, version: 1 }),
                Write::UpsertTimer(timer) => {
                    guards.push(Guard::Timer { tenant, id: timer.id, trigger_at: timer.trigger_at });
                }
                Write::InsertSubscription(found) => guards.push(Guard::Subscription { tenant, id: found.id }),
                Write::InsertOutbox(item) => guards.push(Guard::Outbox { tenant, id: item.id }),
                Write::InsertDefinition(row) => {
                    guards.push(Guard::DefinitionVersion { tenant, key: row.key.clone(), version: 1 });
                }
                _ => {}
            }
        }
        assert_eq!(guards.len(), 6);
        for guard in guards {
            let found = commit_one(&*store, set(vec![guard.clone()], vec![])).await?;
            assert_eq!(found, verdict, "{guard:?}");
        }
    }
    Ok(())
}

async fn no_write_crosses(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let World { case, rows } = World::new();
    case.write(&*store, rows.clone()).await?;
    let before = dump(&db).await?;
    let (two, id, step_execution_id) = (tenant("two"), case.instance.id, case.step.id);
    let key = || StepKey { tenant: two.clone(), step_execution_id, key: "k".into(), at: at(1) };
    let mut stolen_step = case.step.clone();
    (stolen_step.tenant, stolen_step.state) = (two.clone(), Some("stolen".into()));
    let mut moved = case.moved_on(9);
    if let Write::UpdateInstance(update) = &mut moved {
        (update.tenant, update.context) = (two.clone(), Some(json!("stolen")));
    }
    let mut attacks = vec![
        moved,
        Write::UpsertStep(stolen_step),
        Write::CancelTask(key()),
        Write::CancelTimer(key()),
        Write::DeleteSubscription(key()),
        Write::CloseStep(StepClosed { tenant: two.clone(), step_execution_id, at: at(1) }),
        Write::CloseInstance(InstanceClosed { tenant: two.clone(), instance_id: id, at: at(1) }),
        Write::DeleteJournal(InstanceGone { tenant: two.clone(), instance_id: id }),
        Write::DeleteInstance(InstanceGone { tenant: two.clone(), instance_id: id }),
    ];
    for row in &rows {
        let tenant = two.clone();
        match row {
            Write::InsertTask(task) => {
                let mut task = task.clone();
                (task.tenant, task.version) = (tenant, 9);
                let lease = TaskLease { task: task.clone(), read_version: 1 };
                assert_eq!(store.lease_tasks(&[lease]).await?, [false]);
                attacks.push(Write::UpdateTask(task));
            }
            Write::UpsertTimer(timer) => {
                let trigger_at = timer.trigger_at;
                attacks.push(Write::FireTimer(TimerFired { id: timer.id, tenant, trigger_at, at: at(1) }));
            }
            Write::InsertOutbox(item) => {
                let mut item = item.clone();
                (item.tenant, item.attempts) = (tenant.clone(), 9);
                attacks.push(Write::DeleteOutbox(OutboxDone { tenant, id: item.id }));
                attacks.push(Write::UpdateOutbox(item));
            }
            Write::InsertEvent(event) => attacks.push(Write::DeleteEvent(EventDone { tenant, id: event.id })),
            Write::InsertIncident(incident) => {
                attacks.push(Write::ResolveIncident(IncidentDone { tenant, id: incident.id, at: at(1) }));
            }
            _ => {}
        }
    }
    for attack in attacks {
        let name = format!("{attack:?}");
        apply(&*store, vec![attack]).await?;
        assert_eq!(dump(&db).await?, before, "{name}");
    }
    Ok(())
}

async fn tokens_are_listed_by_tenant(db: TestDb) -> Result<()> {
    let store = db.open().await;
    assert!(!store.has_tokens().await?);
    let token = |name: &str| Token {
        id: TokenId::new(),
        tenant: tenant(name),
        role: Role::Operator,
        name: name.into(),
        secret_hash: "hash".into(),
        created_at: T0,
        expires_at: Some(at(9)),
        revoked_at: None,
    };
    let (one, two) = (token("one"), token("two"));
    apply(&*store, vec![Write::InsertToken(one.clone()), Write::InsertToken(two.clone())]).await?;
    assert!(store.has_tokens().await?);
    let listed = store.tokens(&one.tenant).await?;
    assert_eq!(listed.iter().map(|token| token.id).collect::<Vec<_>>(), [one.id]);
    let found = store.token(two.id).await?.expect("the token");
    assert_eq!(serde_json::to_value(&found)?, serde_json::to_value(&two)?);
    assert!(store.token(TokenId::new()).await?.is_none());

    let revoke = |tenant, id, ms| Write::RevokeToken(TokenRevoked { tenant, id, at: at(ms) });
    apply(&*store, vec![revoke(one.tenant.clone(), two.id, 1)]).await?;
    assert!(store.token(two.id).await?.is_some_and(|token| token.revoked_at.is_none()), "another's token");
    apply(&*store, vec![revoke(one.tenant.clone(), one.id, 2)]).await?;
    apply(&*store, vec![revoke(one.tenant.clone(), one.id, 3)]).await?;
    assert_eq!(store.token(one.id).await?.and_then(|token| token.revoked_at), Some(at(2)));
    assert!(store.has_tokens().await?);
    apply(&*store, vec![revoke(two.tenant.clone(), two.id, 4)]).await?;
    assert!(!store.has_tokens().await?);
    Ok(())
}

/// Every row of every table, as text.
async fn dump(db: &TestDb) -> Result<Vec<String>> {
    let mut rows = Vec::new();
    // A lane's row changes with every commit.
    for table in db.tables().await?.iter().filter(|table| *table != "workflow_lanes") {
        let columns = if db.is_postgres() {
            vec![format!("select row_to_json(t)::text from {table} as t order by 1")]
        } else {
            let names = db.texts(&format!("select name from pragma_table_info('{table}')")).await?;
            let pairs: Vec<_> = names.iter().map(|name| format!("'{name}', \"{name}\"")).collect();
            vec![format!("select json_object({}) from {table} order by 1", pairs.join(", "))]
        };
        for sql in columns {
            rows.extend(db.texts(&sql).await?.into_iter().map(|row| format!("{table}: {row}")));
        }
    }
    Ok(rows)
}
