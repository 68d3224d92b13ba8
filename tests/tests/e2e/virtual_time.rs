//! Timers in virtual time: the clock is the test's, the databases and the components are real.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, bail};
use serde_json::json;
use stepwell::domain::{TenantId, Timestamp};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::until;

use crate::still::{HOUR_MS, NOON_MS, Still};

/// Two hours pass in no time, and the timer fires at its millisecond, not before.
async fn a_delay_of_two_hours_takes_no_time(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    host.deploy("w", "{ delay: 2h }").await?;
    let id = host.start("w", json!({})).await?;
    let progress = host.round().await?;
    assert!(progress.idle());
    assert_eq!(progress.next_due, Some(Timestamp::from_millis(NOON_MS + 2 * HOUR_MS)));
    host.clock.turn(2 * HOUR_MS - 1);
    assert!(host.round().await?.idle());
    assert_eq!(host.status(id).await?, "waiting");
    host.clock.turn(1);
    assert_eq!(host.round().await?.timers, 1);
    assert_eq!(host.status(id).await?, "completed");
    let expected = json!({ "triggeredAt": "2026-03-28T14:00:00.000Z", "dueAt": "2026-03-28T14:00:00.000Z" });
    assert_eq!(host.output(id).await?, expected);
    Ok(())
}

/// Zones, calendars and cron are those of the component; the night has an hour less.
async fn the_night_of_the_change_has_an_hour_less(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    for (key, config, due) in [
        ("exact", "{ delay: 24h, timeZone: Europe/Prague }", "2026-03-29T12:00:00.000Z"),
        ("day", "{ delay: P1D, timeZone: Europe/Prague }", "2026-03-29T11:00:00.000Z"),
        ("skipped", "{ cron: 30 2 * * *, timeZone: Europe/Prague }", "2026-03-29T01:00:00.000Z"),
        ("month", "{ delay: P1M }", "2026-04-28T12:00:00.000Z"),
        (
            "local",
            "{ scheduleAt: \"2026-03-29T08:00\", timeZone: Europe/Prague }",
            "2026-03-29T06:00:00.000Z",
        ),
    ] {
        host.deploy(key, config).await?;
        let id = host.start(key, json!({})).await?;
        let timers = host.node.store.timers(&TenantId::default(), id).await?;
        assert_eq!(timers.first().map(|timer| timer.trigger_at.to_string()).as_deref(), Some(due), "{key}");
    }
    Ok(())
}

/// After a long time without a host, what was due is done in order, so many at a time.
async fn what_is_overdue_fires_in_order_at_a_bounded_pace(db: TestDb) -> Result<()> {
    const TIMERS: usize = 600;
    let host = Still::on(&db).await?;
    host.deploy("w", "{ delay: \"${workflow.context.delay}\" }").await?;
    for n in 0..TIMERS {
        // Not in the order of their times.
        let minutes = (n * 7) % TIMERS + 1;
        host.start("w", json!({ "delay": format!("{minutes}m") })).await?;
    }
    host.clock.turn(365 * 24 * HOUR_MS);
    let mut seen = BTreeSet::new();
    for round in 0.. {
        let progress = host.round().await?;
        let fired = host.fired().await?;
        let new: Vec<_> = fired.iter().filter(|timer| !seen.contains(&timer.id)).collect();
        assert!(new.len() <= 256, "round {round} fired {}", new.len());
        let earliest = new.iter().map(|timer| timer.trigger_at).min();
        let before =
            fired.iter().filter(|timer| seen.contains(&timer.id)).map(|timer| timer.trigger_at).max();
        assert!(
            before.is_none_or(|before| earliest.is_none_or(|earliest| before < earliest)),
            "out of order"
        );
        seen.extend(new.iter().map(|timer| timer.id));
        if !progress.more {
            break;
        }
        if round > TIMERS {
            bail!("no end to it");
        }
    }
    assert_eq!(seen.len(), TIMERS);
    assert_eq!(db.count("workflow_instances where status = 'completed'").await?, TIMERS as i64);
    Ok(())
}

/// A clock that steps back fires nothing twice, and one that steps ahead fires what is due by it.
async fn steps_of_the_clock_do_no_harm(db: TestDb) -> Result<()> {
    let host = Still::on(&db).await?;
    host.deploy("w", "{ delay: 1h }").await?;
    let first = host.start("w", json!({})).await?;
    host.clock.turn(HOUR_MS);
    assert_eq!(host.round().await?.timers, 1);
    host.clock.turn(-5 * HOUR_MS);
    let second = host.start("w", json!({})).await?;
    assert!(host.round().await?.idle(), "what has fired does not fire again");
    assert_eq!((host.status(first).await?, host.status(second).await?), ("completed", "waiting"));
    host.clock.turn(48 * HOUR_MS);
    assert_eq!(host.round().await?.timers, 1);
    assert_eq!(host.status(second).await?, "completed");
    assert_eq!(host.fired().await?.len(), 2);
    Ok(())
}

/// Two hosts that look at once: each timer fires once.
async fn two_hosts_fire_each_timer_once(db: TestDb) -> Result<()> {
    const TIMERS: usize = 200;
    let left = Still::on(&db).await?;
    let right = Still::new(Arc::clone(&left.node.store), Arc::clone(&left.clock)).await?;
    left.deploy("w", "{ delay: 1h }").await?;
    for _ in 0..TIMERS {
        left.start("w", json!({})).await?;
    }
    left.clock.turn(HOUR_MS);
    let mut fired = 0;
    while fired < TIMERS {
        let (one, other) = tokio::try_join!(left.round(), right.round())?;
        fired += one.timers + other.timers;
    }
    assert_eq!(fired, TIMERS, "no timer is taken by both");
    until("all have fired", async || Ok(left.fired().await?.len() >= TIMERS)).await?;
    assert_eq!(db.count("workflow_instances where status = 'completed'").await?, TIMERS as i64);
    assert_eq!(db.count("workflow_timers where triggered").await?, TIMERS as i64);
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_delay_of_two_hours_takes_no_time,
    the_night_of_the_change_has_an_hour_less,
    what_is_overdue_fires_in_order_at_a_bounded_pace,
    steps_of_the_clock_do_no_harm,
    two_hosts_fire_each_timer_once,
);
