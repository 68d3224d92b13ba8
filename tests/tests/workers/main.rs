//! Workers as processes of their own: many at once and killed at random, the examples, and n8n itself.
//!
//! `make test` runs a short form of the crowd. `make workers` runs 100,000 tasks (`TASKS=N` for more, `STEPWELL_SEED=N`
//! for the same chances again) and tells how it went; `make test-n8n` runs the part with n8n.

mod crowd;
mod examples;
mod holdings;
mod n8n;
mod note;
mod process;

use anyhow::Result;
use stepwell_tests::db::TestDb;

#[test]
fn no_task_has_two_holders_while_workers_are_killed() {
    run(async {
        let Some(db) = TestDb::postgres().await? else { return Ok(()) };
        crowd::work(&db).await
    });
}

/// Runs for as long as it takes: each wait in it has an end of its own.
fn run(scenario: impl Future<Output = Result<()>>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    if let Err(error) = runtime.expect("a runtime").block_on(scenario) {
        panic!("{error:?}");
    }
}
