//! Cron triggers in virtual time: one start for each due time, whatever becomes of hosts, versions and instances.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell::domain::instance::Instance;
use stepwell::domain::page::PageRequest;
use stepwell::domain::schedule::Schedule;
use stepwell::domain::{TenantId, Timestamp};
use stepwell_tests::db::TestDb;

use crate::still::{HOUR_MS, NOON_MS, Still};

const DAY_MS: i64 = 24 * HOUR_MS;

/// A workflow with a trigger that ends at once, or waits until its timer is fired.
fn workflow(trigger: &str, delay: Option<&str>) -> String {
    let config = match delay {
        Some(delay) => format!("{{ delay: {delay} }}"),
        None => "{ scheduleAt: \"2020-01-01T00:00:00Z\" }".to_owned(),
    };
    format!("triggers:\n  - {{ {trigger} }}\nsteps:\n  - {{ id: wait, type: TIMER, config: {config} }}\n")
}

async fn schedules(host: &Still) -> Result<Vec<Schedule>> {
    let page = PageRequest { after: None, limit: 100 };
    Ok(host.node.store.schedules(&TenantId::default(), None, &page).await?)
}

async fn schedule(host: &Still) -> Result<Schedule> {
    schedules(host).await?.pop().context("there is a schedule")
}

/// Rounds until nothing is due.
async fn settle(host: &Still) -> Result<()> {
    while !host.round().await?.idle() {}
    Ok(())
}

/// The due times that were started, oldest first, as hours after noon.
async fn started(host: &Still) -> Result<Vec<i64>> {
    due_hours(host.instances().await?.iter())
}

fn due_hours<'a>(instances: impl Iterator<Item = &'a Instance>) -> Result<Vec<i64>> {
    let due = |instance: &Instance| {
        let at: Timestamp = serde_json::from_value(instance.trigger["scheduledAt"].clone())?;
        Ok((at.millis() - NOON_MS) / HOUR_MS)
    };
    let mut found: Vec<i64> = instances.map(due).collect::<Result<_>>()?;
    found.sort_unstable();
    Ok(found)
}

/// A start for each due time, at its millisecond, with its context; and the night of the change has its own time.
async fn the_clock_starts_a_workflow(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    let source = workflow("id: nightly, cron: 30 2 * * *, timeZone: Europe/Prague, context: { a: 1 }", None);
    host.deploy_source("w", &source).await?;
    // The night has no half past two: the first run is when the gap ends, at one o'clock UTC.
    let first = NOON_MS + 13 * HOUR_MS;
    assert_eq!(schedule(&host).await?.next_at, Some(Timestamp::from_millis(first)));
    host.clock.turn(13 * HOUR_MS - 1);
    settle(&host).await?;
    assert_eq!(host.instances().await?.len(), 0, "not before its time");
    host.clock.turn(1);
    settle(&host).await?;
    let instances = host.instances().await?;
    let instance = instances.first().context("it was started")?;
    assert_eq!((instances.len(), &instance.context), (1, &json!({ "a": 1 })));
    let trigger = json!({ "a": 1, "trigger": "nightly", "scheduledAt": "2026-03-29T01:00:00.000Z" });
    assert_eq!(instance.trigger, trigger);
    let row = schedule(&host).await?;
    assert_eq!((row.last_at, row.last_instance_id), (Some(Timestamp::from_millis(first)), Some(instance.id)));
    assert_eq!(row.next_at.map(|at| at.to_string()).as_deref(), Some("2026-03-30T00:30:00.000Z"));
    Ok(())
}

/// Hosts that look at once start one instance for each due time.
async fn two_hosts_start_each_due_time_once(db: TestDb) -> Result<()> {
    let left = Still::on(&db).await?;
    let right = Still::new(Arc::clone(&left.node.store), Arc::clone(&left.clock)).await?;
    for key in ["a", "b", "c"] {
        left.deploy_source(key, &workflow("cron: 0 * * * *", None)).await?;
    }
    for _ in 0..5 {
        left.clock.turn(HOUR_MS);
        // Both hold the same rows, as if one had been slow: the second finds them changed.
        let rows = schedules(&left).await?;
        for row in rows {
            let (one, other) =
                (left.node.engine.schedule_due(row.clone()), right.node.engine.schedule_due(row));
            tokio::try_join!(one, other)?;
        }
        tokio::try_join!(left.round(), right.round())?;
    }
    settle(&left).await?;
    assert_eq!(started(&left).await?, [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5]);
    Ok(())
}

/// What no host was there for is made up for as the trigger says.
async fn missed_due_times_are_made_up_for(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    let ways = [("skip", vec![]), ("fire_once", vec![84]), ("fire_all", vec![12, 36, 60, 84])];
    for (misfire, _) in &ways {
        let source = workflow(&format!("cron: 0 0 * * *, misfire: {misfire}"), None);
        host.deploy_source(misfire, &source).await?;
    }
    host.clock.turn(4 * DAY_MS);
    settle(&host).await?;
    let instances = host.instances().await?;
    for (misfire, expected) in ways {
        let of_key = instances.iter().filter(|instance| instance.workflow_key == misfire);
        assert_eq!(due_hours(of_key)?, expected, "{misfire}");
    }
    for row in schedules(&host).await? {
        assert_eq!(row.next_at, Some(Timestamp::from_millis(NOON_MS + 108 * HOUR_MS)), "{row:?}");
    }
    Ok(())
}

/// Of instances that outlast the next due time.
async fn an_instance_that_still_runs_is_minded(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    for overlap in ["allow", "skip", "queue"] {
        let source = workflow(&format!("cron: 0 * * * *, overlap: {overlap}"), Some("150m"));
        host.deploy_source(overlap, &source).await?;
    }
    let of = async |key: &str| -> Result<Vec<i64>> {
        let all = host.instances().await?;
        let of_key = all.iter().filter(|instance| instance.workflow_key == key);
        Ok(of_key.map(|instance| (instance.created_at.millis() - NOON_MS) / (HOUR_MS / 2)).collect())
    };
    // In steps of half an hour, for six hours: an instance takes five of them.
    for _ in 0..12 {
        host.clock.turn(HOUR_MS / 2);
        settle(&host).await?;
    }
    assert_eq!(of("allow").await?, [2, 4, 6, 8, 10, 12], "every hour");
    assert_eq!(of("skip").await?, [2, 8], "the first hour at which none runs");
    assert_eq!(of("queue").await?, [2, 7, 12], "as soon as the one before has ended");
    let queued: Vec<_> =
        host.instances().await?.into_iter().filter(|one| one.workflow_key == "queue").collect();
    let due =
        |instance: &Instance| instance.trigger["scheduledAt"].as_str().map(|text| text[11..16].to_owned());
    assert_eq!(
        queued.iter().filter_map(due).collect::<Vec<_>>(),
        ["13:00", "14:00", "15:00"],
        "no due time is lost"
    );
    Ok(())
}

/// A new version takes the place of the old one's triggers; one without triggers stops.
async fn schedules_follow_deployments(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    host.deploy_source("w", &workflow("id: x, cron: 0 * * * *", None)).await?;
    let first = schedule(&host).await?;
    host.clock.turn(HOUR_MS / 2);
    host.deploy_source("w", &workflow("id: x, cron: 0 * * * *, context: { v: 2 }", None)).await?;
    let second = schedule(&host).await?;
    assert_eq!((second.id, second.next_at, second.workflow_version), (first.id, first.next_at, 2));
    host.node.engine.pause_schedule(&TenantId::default(), first.id).await?;
    host.deploy_source("w", &workflow("id: x, cron: 15 * * * *", None)).await?;
    let third = schedule(&host).await?;
    assert!(third.paused && third.due_at.is_none(), "an operator's pause outlasts a deployment: {third:?}");
    host.clock.turn(10 * HOUR_MS);
    settle(&host).await?;
    assert_eq!(host.instances().await?.len(), 0, "nothing is started meanwhile");
    let resumed = host.node.engine.resume_schedule(&TenantId::default(), first.id).await?;
    let expected = Timestamp::from_millis(NOON_MS + 10 * HOUR_MS + HOUR_MS * 3 / 4 + HOUR_MS / 2);
    assert_eq!(resumed.next_at, Some(expected), "what was due while it was paused is not made up for");
    host.clock.turn(HOUR_MS);
    settle(&host).await?;
    assert_eq!(host.instances().await?.len(), 1);

    host.deploy_source("w", "steps:\n  - { id: wait, type: TIMER, config: { delay: 1h } }\n").await?;
    assert_eq!(schedules(&host).await?.len(), 0);
    host.clock.turn(DAY_MS);
    settle(&host).await?;
    assert_eq!(host.instances().await?.len(), 1, "a workflow without triggers is not started");
    Ok(())
}

/// A due time whose start is refused is over, with the reason, and the schedule goes on.
async fn a_start_that_is_refused_is_shown(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    let source = "triggers:\n  - { cron: 0 * * * * }\nsteps:\n  - { id: wait, type: TIMER, config: { delay: \
                  \"${workflow.context.missing}\" } }\n";
    host.deploy_source("w", source).await?;
    host.clock.turn(HOUR_MS);
    settle(&host).await?;
    let row = schedule(&host).await?;
    assert!(row.last_error.as_ref().is_some_and(|why| why.contains("missing")), "{row:?}");
    assert_eq!(
        (row.last_instance_id, row.next_at),
        (None, Some(Timestamp::from_millis(NOON_MS + 2 * HOUR_MS)))
    );
    assert_eq!(host.instances().await?.len(), 0);
    Ok(())
}

/// A clock that steps back starts nothing twice.
async fn steps_of_the_clock_start_nothing_twice(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    host.deploy_source("w", &workflow("cron: 0 * * * *", None)).await?;
    host.clock.turn(HOUR_MS);
    settle(&host).await?;
    host.clock.turn(-5 * HOUR_MS);
    settle(&host).await?;
    for _ in 0..6 {
        host.clock.turn(HOUR_MS);
        settle(&host).await?;
    }
    assert_eq!(started(&host).await?, [1, 2]);
    // Even if the schedule itself were set back: the start has the due time in its key.
    let sql =
        if db.is_postgres() { "timestamptz '2026-03-28T13:00:00Z'" } else { "'2026-03-28T13:00:00.000Z'" };
    db.execute(&format!("update workflow_schedules set next_at = {sql}, due_at = {sql}")).await?;
    settle(&host).await?;
    assert_eq!(started(&host).await?, [1, 2]);
    assert_eq!(schedule(&host).await?.next_at, Some(Timestamp::from_millis(NOON_MS + 3 * HOUR_MS)));
    Ok(())
}

stepwell_tests::on_both_databases!(
    the_clock_starts_a_workflow,
    two_hosts_start_each_due_time_once,
    missed_due_times_are_made_up_for,
    an_instance_that_still_runs_is_minded,
    schedules_follow_deployments,
    a_start_that_is_refused_is_shown,
    steps_of_the_clock_start_nothing_twice,
);
