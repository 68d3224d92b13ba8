//! Trouble at random times, under load: hosts are killed, and the database is restarted.

use std::time::Duration;

use anyhow::{Error, Result};
use rand::RngExt as _;
use stepwell_tests::db::TestDb;
use stepwell_tests::postgres::Server;

use crate::clients::Load;
use crate::crew::Crew;

/// Kills in each scenario of the usual test run.
const KILLS: u32 = 3;
/// Never fewer than 500 cycles are in flight when something dies.
const LOAD: Load = Load { low: 500, high: 700, starters: 12, workers: 12 };
/// The longest time between two kills, beyond what it takes to have enough in flight.
const BUSY_MS_MAX: u64 = 2_000;
/// The longest time that something stays dead.
const DEAD_MS_MAX: u64 = 1_000;

/// How many kills each scenario has.
pub fn kills() -> u32 {
    std::env::var("STEPWELL_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS)
}

/// Kills one of the hosts at a time, and starts it again.
pub async fn kill_hosts(name: &str, db: TestDb, hosts: usize) -> Result<()> {
    let mut crew = Crew::begin(name, db, hosts, LOAD).await?;
    for _ in 0..kills() {
        let number = crew.random.random_range(0..hosts);
        crew.busy(BUSY_MS_MAX).await?;
        crew.run.fleet.kill(number).await?;
        crew.tell(kills(), &format!("host {number} was killed"));
        dead_for_a_while(&mut crew).await;
        crew.run.fleet.start(number).await?;
    }
    crew.end().await
}

/// Stops the database, in order and with no warning in turn, and starts it again.
pub async fn restart_database(name: &str, server: Server) -> Result<()> {
    let db = TestDb::on(&server).await?;
    let mut crew = Crew::begin(name, db, 2, LOAD).await?;
    for kill in 0..kills() {
        crew.busy(BUSY_MS_MAX).await?;
        // Waits for another program: not on a thread that clients need.
        let how = if kill % 2 == 0 { Server::stop } else { Server::crash };
        tokio::task::block_in_place(|| how(&server)).map_err(Error::msg)?;
        crew.tell(kills(), "the database was ended");
        dead_for_a_while(&mut crew).await;
        tokio::task::block_in_place(|| server.resume()).map_err(Error::msg)?;
    }
    crew.end().await
}

/// Clients meanwhile meet whoever is left, or nobody.
async fn dead_for_a_while(crew: &mut Crew) {
    let pause = Duration::from_millis(crew.random.random_range(0..DEAD_MS_MAX));
    tokio::time::sleep(pause).await;
}
