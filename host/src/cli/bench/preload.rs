//! Finished instances before a measurement: one is really run, the others are its copies.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::super::Error;
use super::super::print::Output;
use super::bar;
use super::cycle::{BUSY, Client};
use super::host::Host;
use super::http::Connection;
use crate::store;

/// How long the one instance may take.
const FINISH_MAX: Duration = Duration::from_secs(60);

/// Loads so many finished instances into the host's database.
pub(super) async fn fill(host: &Host, database: &str, instances: u64, output: &Output) -> Result<(), Error> {
    if instances == 0 {
        return Ok(());
    }
    let failed = |why: String| Error::refused("bench_preload", format!("nothing was preloaded: {why}"));
    let original = finished(&host.address).await.map_err(failed)?;
    let bar = bar::of(instances, "preloading", output);
    let copied =
        store::preload::copy_instance(database, original, instances, |done| bar.set_position(done)).await;
    bar.finish_and_clear();
    copied.map_err(failed)
}

/// Runs an instance to its end.
async fn finished(address: &str) -> Result<Uuid, String> {
    let told = |error: std::io::Error| error.to_string();
    let mut client = Client::open(address, BUSY, 0, 30).await.map_err(told)?;
    let id = client.start().await.map_err(told)?.ok_or("an instance was not started")?;
    let task = client.poll().await.map_err(told)?.ok_or("no task came")?;
    client.complete(&task).await.map_err(told)?;
    let mut connection = Connection::open(address).await.map_err(told)?;
    let patience = Instant::now() + FINISH_MAX;
    loop {
        let answer = connection.send("GET", &format!("/api/v1/instances/{id}"), "").await.map_err(told)?;
        if answer.json()["status"] == "completed" {
            return Ok(id);
        }
        if Instant::now() > patience {
            return Err("an instance did not end".into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
