//! Cancellations, for the workers that hold the tasks: a list that can be waited for.

use std::collections::HashSet;
use std::time::Duration;

use axum::Json as JsonAnswer;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::AppState;
use super::access::Worker;
use super::error::{Problem, ProblemBody};
use super::extract::{Name, Query};
use crate::dispatch::SWEEP_SECONDS;
use crate::domain::worker::Cancellation;
use crate::domain::{TaskId, TenantId, Timestamp};

/// New cancellations of one answer, and told ones that a cursor remembers.
const ROWS_MAX: usize = 200;
/// How far back each answer looks behind the one before: clocks of hosts differ, and commits overtake one another.
const OVERLAP_MS: i64 = 60_000;
/// The longest cursor.
const CURSOR_BYTES_MAX: usize = 8_192;

/// A task that was withdrawn from a worker that held it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Cancellation)]
pub(super) struct CancellationView {
    /// The task.
    id: Uuid,
    task_type: String,
    workflow_instance_id: Uuid,
    step_id: String,
    #[schema(value_type = String, format = DateTime)]
    cancelled_at: Timestamp,
}

/// What was withdrawn.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CancellationsView {
    /// Oldest first.
    items: Vec<CancellationView>,
    /// Pass it as `after` the next time.
    next: String,
}

/// Waits for tasks of a worker that were withdrawn while it held them: it should stop working on them.
#[utoipa::path(get, path = "/api/v1/workers/{id}/cancellations", tag = "workers",
    params(("id" = String, Path, description = "The name that it gave as `workerId`"),
        ("after" = Option<String>, Query, description = "The `next` of the answer before; without it, the last minute"),
        ("waitSeconds" = Option<u64>, Query, description = "How long to wait if there are none, 0 if absent")),
    responses((status = 200, body = CancellationsView), (status = 429, body = ProblemBody)))]
pub(super) async fn cancellations(
    State(state): State<AppState>,
    Worker(tenant): Worker,
    Name(worker_id): Name,
    query: Query,
) -> Result<JsonAnswer<CancellationsView>, Problem> {
    let longest = state.node.limits.poll_wait_seconds_max;
    let wait = query.parsed::<u64>("waitSeconds", "a whole number of seconds")?.unwrap_or(0);
    if wait > longest {
        let message =
            format!("is {wait}; expected 0 to {longest} seconds (the limit is poll_wait_seconds_max)");
        return Err(Problem::field("waitSeconds", message));
    }
    let mut cursor = match query.text("after") {
        Some(text) => Cursor::read(&text)?,
        None => Cursor::from(state.node.clock.now()),
    };
    let mut listener = state.node.hub.withdrawals().listen(&tenant)?;
    let end = tokio::time::Instant::now() + Duration::from_secs(wait);
    loop {
        let items = look(&state, &tenant, &worker_id, &mut cursor).await?;
        if !items.is_empty() || tokio::time::Instant::now() >= end {
            return Ok(JsonAnswer(CancellationsView { items, next: cursor.text() }));
        }
        tokio::select! {
            () = listener.changed() => {}
            () = tokio::time::sleep(Duration::from_secs(SWEEP_SECONDS)) => {}
            () = tokio::time::sleep_until(end) => {}
            () = state.node.stopping.cancelled() => {
                return Ok(JsonAnswer(CancellationsView { items, next: cursor.text() }));
            }
        }
    }
}

/// What is new since the cursor, which moves on.
async fn look(
    state: &AppState,
    tenant: &TenantId,
    worker_id: &str,
    cursor: &mut Cursor,
) -> Result<Vec<CancellationView>, Problem> {
    let rows_max = u32::try_from(ROWS_MAX + cursor.told.len()).unwrap_or(u32::MAX);
    let rows = state.node.store.withdrawn_from(tenant, worker_id, cursor.after, rows_max).await?;
    Ok(cursor.take(rows).into_iter().map(view).collect())
}

fn view(row: Cancellation) -> CancellationView {
    CancellationView {
        id: row.id.0,
        task_type: row.task_type,
        workflow_instance_id: row.workflow_instance_id.0,
        step_id: row.step_id,
        cancelled_at: row.cancelled_at,
    }
}

/// Everything up to a row was told; of what is after it, these.
#[derive(Debug, PartialEq)]
struct Cursor {
    after: (Timestamp, TaskId),
    told: HashSet<u32>,
}

impl Cursor {
    /// Begins a minute before a time.
    fn from(now: Timestamp) -> Self {
        Self { after: (now.plus_millis(-OVERLAP_MS), TaskId(Uuid::max())), told: HashSet::new() }
    }

    /// Those of some rows, oldest first, that were not told; all of them are told then.
    fn take(&mut self, rows: Vec<Cancellation>) -> Vec<Cancellation> {
        let Some(newest) = rows.last().map(|row| row.cancelled_at) else { return rows };
        let told = std::mem::take(&mut self.told);
        let recent = newest.plus_millis(-OVERLAP_MS);
        // What a cursor remembers is bounded: where very much is withdrawn at once, it looks back less far.
        let old =
            rows.partition_point(|row| row.cancelled_at <= recent).max(rows.len().saturating_sub(ROWS_MAX));
        if let Some(last) = old.checked_sub(1).and_then(|at| rows.get(at)) {
            self.after = (last.cancelled_at, last.id);
        }
        self.told = rows.iter().skip(old).map(|row| short(row.id.0)).collect();
        rows.into_iter().filter(|row| !told.contains(&short(row.id.0))).collect()
    }

    fn text(&self) -> String {
        let mut text = format!("{}.{}", self.after.0.millis(), self.after.1.0.simple());
        let mut told: Vec<_> = self.told.iter().collect();
        told.sort_unstable();
        told.iter().for_each(|id| text.push_str(&format!(".{id:x}")));
        text
    }

    fn read(text: &str) -> Result<Self, Problem> {
        let wrong = || Problem::field("after", "is not the `next` of an earlier answer");
        if text.len() > CURSOR_BYTES_MAX {
            return Err(wrong());
        }
        let mut parts = text.split('.');
        let at = parts.next().and_then(|millis| millis.parse().ok()).ok_or_else(wrong)?;
        let id = parts.next().and_then(|id| id.parse().ok()).ok_or_else(wrong)?;
        let told: HashSet<u32> =
            parts.map(|id| u32::from_str_radix(id, 16).map_err(|_| wrong())).collect::<Result<_, _>>()?;
        if told.len() > ROWS_MAX {
            return Err(wrong());
        }
        Ok(Self { after: (Timestamp::from_millis(at), TaskId(id)), told })
    }
}

/// The random end of an id.
#[expect(clippy::cast_possible_truncation, reason = "the lowest bits are what is wanted")]
fn short(id: Uuid) -> u32 {
    id.as_u128() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::InstanceId;

    fn row(id: u128, at: i64) -> Cancellation {
        Cancellation {
            id: TaskId(Uuid::from_u128(id)),
            task_type: "t".into(),
            workflow_instance_id: InstanceId::new(),
            step_id: "s".into(),
            cancelled_at: Timestamp::from_millis(at),
        }
    }

    fn ids(rows: &[Cancellation]) -> Vec<u128> {
        rows.iter().map(|row| row.id.0.as_u128()).collect()
    }

    #[test]
    fn a_late_one_is_told_and_none_is_told_twice() {
        let mut cursor = Cursor::from(Timestamp::from_millis(100_000));
        assert_eq!(cursor.take(vec![row(1, 100_500), row(2, 101_000)]).len(), 2);
        let mut again = Cursor::read(&cursor.text()).unwrap();
        assert_eq!(again, cursor);
        assert_eq!(ids(&again.take(vec![row(3, 99_000), row(1, 100_500), row(2, 101_000)])), [3]);
        assert!(again.take(vec![row(3, 99_000), row(1, 100_500), row(2, 101_000)]).is_empty());
        assert!(again.take(Vec::new()).is_empty());
        for wrong in ["soon", "5", "5.x", "5.00000000000000000000000000000001.zz"] {
            assert!(Cursor::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn many_at_the_same_moment_are_all_told() {
        const MANY: usize = 1_000;
        let all: Vec<_> = (0..MANY).map(|n| row(n as u128 + 1, 5_000)).collect();
        let mut cursor = Cursor::from(Timestamp::from_millis(6_000));
        let mut told = Vec::new();
        loop {
            let (at, id) = cursor.after;
            let rows = all.iter().filter(|row| (row.cancelled_at, row.id) > (at, id));
            let rows: Vec<_> = rows.take(ROWS_MAX + cursor.told.len()).cloned().collect();
            let new = ids(&cursor.take(rows));
            if new.is_empty() {
                break;
            }
            told.extend(new);
            cursor = Cursor::read(&cursor.text()).unwrap();
        }
        assert_eq!(told, ids(&all));
    }
}
