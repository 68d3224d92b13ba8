//! A host dies at each place that it can be told, one after the other.

use anyhow::{Context as _, Result};
use futures::{StreamExt as _, TryStreamExt as _};
use rand::RngExt as _;
use stepwell::failpoint::{Point, VARIABLE};
use stepwell_tests::db::TestDb;

use crate::clients::Load;
use crate::crew::{Crew, wait};
use crate::trouble::kills;

/// Places that are tried at once: most of the time of each is waiting for a lease to run out.
const AT_ONCE: usize = 4;
/// A modest load: what matters is where, not how much.
const LOAD: Load = Load { low: 30, high: 60, starters: 3, workers: 4 };

/// A host dies at each place; a database of its own for each.
pub async fn each(make: impl AsyncFn() -> Result<Option<TestDb>>) -> Result<()> {
    // Once is enough for the usual test run; the long one dies at each place at several times.
    for _ in 0..kills().div_ceil(10) {
        let cases = Point::ALL.into_iter().filter(|point| wanted(*point)).map(|point| {
            let make = &make;
            async move {
                let Some(db) = make().await? else { return Ok(()) };
                die_at(db, point).await.with_context(|| format!("a host that died at {}", point.label()))
            }
        });
        futures::stream::iter(cases).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    }
    Ok(())
}

/// All of them, unless one is named.
fn wanted(point: Point) -> bool {
    std::env::var(VARIABLE).map_or(true, |name| name == point.label())
}

async fn die_at(db: TestDb, point: Point) -> Result<()> {
    let kind = if db.is_postgres() { "PostgreSQL" } else { "SQLite" };
    let mut crew = Crew::begin(&format!("{kind}, {}", point.label()), db, 1, LOAD).await?;
    let fleet = &crew.run.clone().fleet;
    fleet.kill(0).await?;
    let nth = crew.random.random_range(passes(point));
    fleet.start_to_die(0, point, nth).await?;
    let book = &crew.run.book;
    wait(&format!("{} was passed {nth} times", point.label()), || fleet.has_died(0), || book.progress())
        .await?;
    crew.kills += 1;
    crew.in_flight_min = book.in_flight();
    fleet.bury(0).await?;
    fleet.start(0).await?;
    crew.end().await
}

/// How often a place is passed before it is the last time. A host commits a little while it starts: that is not meant.
fn passes(point: Point) -> std::ops::Range<u64> {
    match point {
        // The first of two letters: the step still listens when it comes again.
        Point::OutboxSent => 1..2,
        Point::DeadlinesClaimed => 1..4,
        Point::TimersClaimed | Point::OutboxClaimed | Point::LockExtended => 1..10,
        _ => 30..90,
    }
}
