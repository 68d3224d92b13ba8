//! Gauges: what stands in the database and at the desk now.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::workers::Workers;
use crate::domain::task::TaskStatus;
use crate::domain::worker::WorkerStatus;
use crate::domain::{Clock, Timestamp};
use crate::engine::port::Store;
use crate::metrics as names;

/// The time between two rounds, at least.
const ROUND: Duration = Duration::from_secs(15);
/// How many times as long as counting took a host rests from it: counting a million tasks takes a core for a while,
/// which others must not notice.
const REST: u32 = 1_000;

/// Sets the gauges every 15 seconds until the shutdown, and those of tasks less often where there are very many.
pub async fn run(
    store: &dyn Store,
    desk: &Desk,
    workers: &Workers,
    clock: &dyn Clock,
    shutdown: CancellationToken,
) {
    let mut shown = HashSet::new();
    let mut count_at = Instant::now();
    loop {
        desk_gauges(desk);
        worker_gauges(workers, clock.now());
        let begun = Instant::now();
        if begun >= count_at {
            if let Err(error) = task_gauges(store, &mut shown).await {
                tracing::debug!(%error, "task gauges keep their values");
            }
            if let Err(error) = wait_gauges(store, clock.now()).await {
                tracing::debug!(%error, "gauges of waits keep their values");
            }
            count_at = Instant::now() + begun.elapsed() * REST;
        }
        tokio::select! {
            () = tokio::time::sleep(ROUND) => {}
            () = shutdown.cancelled() => return,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn desk_gauges(desk: &Desk) {
    metrics::gauge!(names::POLLS_PARKED).set(desk.parked() as f64);
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn worker_gauges(workers: &Workers, now: Timestamp) {
    for status in WorkerStatus::ALL {
        let count = workers.count(status, now);
        metrics::gauge!(names::WORKERS, "status" => status.label()).set(count as f64);
        if status == WorkerStatus::Active {
            metrics::gauge!(names::WORKERS_ACTIVE).set(count as f64);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and ages are far below 2^52")]
async fn wait_gauges(store: &dyn Store, now: Timestamp) -> crate::engine::port::store::Result<()> {
    let count = store.wait_count(now).await?;
    let age_ms = count.oldest.map_or(0, |oldest| (now.millis() - oldest.millis()).max(0));
    metrics::gauge!(names::WAITS_ACTIVE).set(count.active as f64);
    metrics::gauge!(names::WAITS_OVERDUE).set(count.overdue as f64);
    metrics::gauge!(names::WAITS_OLDEST).set(age_ms as f64 / 1_000.0);
    Ok(())
}

/// `shown` has every series that was set before: one that has no rows any more is zero, not gone.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
async fn task_gauges(
    store: &dyn Store,
    shown: &mut HashSet<(&'static str, String)>,
) -> crate::engine::port::store::Result<()> {
    let mut stale = shown.clone();
    for row in store.task_counts().await? {
        let name = match row.status {
            TaskStatus::Pending => names::TASKS_PENDING,
            TaskStatus::Locked => names::TASKS_LOCKED,
            TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled => continue,
        };
        metrics::gauge!(name, "task_type" => row.task_type.clone()).set(row.count as f64);
        stale.remove(&(name, row.task_type.clone()));
        shown.insert((name, row.task_type));
    }
    for (name, task_type) in stale {
        metrics::gauge!(name, "task_type" => task_type).set(0.0);
    }
    Ok(())
}
