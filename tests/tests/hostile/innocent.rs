//! A tenant that means no harm: whole cycles of external tasks at a steady rate, each operation timed.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use stepwell_tests::host::{Client, one_task};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

/// From the beginning of a cycle to that of the next.
const EVERY: Duration = Duration::from_millis(25);

/// What is timed.
pub const OPERATIONS: [&str; 3] = ["start", "poll", "complete"];

/// How long each operation of each cycle took.
#[derive(Debug, Default)]
pub struct Times([Vec<Duration>; 3]);

impl Times {
    /// The time within which 99 of 100 were done, of each operation.
    pub fn p99_ms(mut self) -> [f64; 3] {
        self.0.each_mut().map(|times| {
            times.sort_unstable();
            let at = (times.len() * 99).div_ceil(100).saturating_sub(1);
            times.get(at).map_or(0.0, Duration::as_secs_f64) * 1_000.0
        })
    }

    /// How many cycles there were.
    pub fn cycles(&self) -> usize {
        self.0[0].len()
    }
}

/// Deploys what the cycles need.
pub async fn prepare(client: &Client) -> Result<()> {
    client.deploy("one", one_task("t", &[])).await.map(drop)
}

/// Begins cycles at a steady rate, however long each takes, until it is told to stop; every one must go well.
pub async fn cycles(client: Client, stop: CancellationToken) -> Result<Times> {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut running = JoinSet::new();
    while !stop.is_cancelled() {
        ticks.tick().await;
        running.spawn(cycle(client.clone()));
    }
    let mut times = Times::default();
    while let Some(done) = running.join_next().await {
        for (all, one) in times.0.iter_mut().zip(done??) {
            all.push(one);
        }
    }
    Ok(times)
}

async fn cycle(client: Client) -> Result<[Duration; 3]> {
    let begun = Instant::now();
    client.start("one", json!({ "n": 1 })).await?;
    let started = Instant::now();
    // Any task of the type: there are as many as cycles.
    let task = client.poll("t", "innocent").await?;
    let polled = Instant::now();
    client.complete(&task, &json!({ "ok": true })).await?;
    Ok([started - begun, polled - started, polled.elapsed()])
}
