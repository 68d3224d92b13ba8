//! Hosts die, at every boundary and at random times under load; clients know only what they were told.
//!
//! `make test` runs a short form. `make crash` runs 20 kills in each scenario (`KILLS=100` for more), and tells how it
//! goes; `STEPWELL_SEED=7` gives the same chances again, though never quite the same run.

mod book;
mod calm;
mod clients;
mod crew;
mod fleet;
mod places;
mod shapes;
mod trouble;
mod verify;
mod workers;

use anyhow::Result;
use stepwell_tests::db::TestDb;
use stepwell_tests::postgres::Server;

#[test]
fn a_host_may_die_at_every_place_on_sqlite() {
    run(async { places::each(async || TestDb::sqlite().map(Some)).await });
}

#[test]
fn a_host_may_die_at_every_place_on_postgres() {
    run(async { places::each(TestDb::postgres).await });
}

#[test]
fn a_host_may_be_killed_at_any_time_on_sqlite() {
    run(async { trouble::kill_hosts("SQLite, one host", TestDb::sqlite()?, 1).await });
}

#[test]
fn a_host_may_be_killed_at_any_time_on_postgres() {
    run(async {
        let Some(db) = TestDb::postgres().await? else { return Ok(()) };
        trouble::kill_hosts("PostgreSQL, one host", db, 1).await
    });
}

#[test]
fn one_of_three_hosts_may_be_killed_at_any_time() {
    run(async {
        let Some(db) = TestDb::postgres().await? else { return Ok(()) };
        trouble::kill_hosts("PostgreSQL, one of three hosts", db, 3).await
    });
}

#[test]
fn the_database_may_restart_at_any_time() {
    run(async {
        // Says loudly that the test is skipped, or fails.
        if TestDb::postgres().await?.is_none() {
            return Ok(());
        }
        let server = Server::start().map_err(anyhow::Error::msg)?;
        trouble::restart_database("PostgreSQL itself, two hosts", server).await
    });
}

#[test]
fn only_the_binary_for_tests_can_be_told_to_die() {
    let holds = |path: std::path::PathBuf| {
        let bytes = std::fs::read(path).expect("the binary can be read");
        let name = stepwell::failpoint::VARIABLE.as_bytes();
        bytes.windows(name.len()).any(|window| window == name)
    };
    assert!(holds(stepwell_tests::command::crash_binary()));
    assert!(!holds(stepwell_tests::command::binary()));
}

/// Runs a scenario for as long as it takes: each wait in it has an end of its own.
fn run(scenario: impl Future<Output = Result<()>>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    if let Err(error) = runtime.expect("a runtime").block_on(scenario) {
        panic!("{error:?}");
    }
}
