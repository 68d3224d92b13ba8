//! A tenant that means harm: instances of every kind, a thousand at once, all the while.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use stepwell_tests::host::Client;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::kinds::{self, Kind};

/// Instances that are under way at once.
const AT_ONCE: usize = 1_000;

/// Faults that are the machine's: a host that is short of time says so instead of blaming the plugin.
pub const SHORT_OF_TIME: [&str; 2] = ["plugin_timeout", "plugin_busy"];

/// How long a start may take. A machine that is short of time must not fail the test.
const START_PATIENCE: Duration = Duration::from_secs(900);

/// How far the mob's clients stand back, on this machine that is also the host's and everybody's: as far as can be.
const NICE: i32 = 19;

/// How many instances ended in which way.
pub type Ends = BTreeMap<String, usize>;

/// Deploys a workflow of each kind.
pub async fn prepare(client: &Client) -> Result<()> {
    for kind in kinds::ALL.into_iter().chain(kinds::HARMLESS) {
        client.deploy(kind.mode, kind.workflow(false)).await?;
    }
    Ok(())
}

/// Lets a mob rush in and keeps it at its size for a while: where one ends, the next begins. Those that are still in line
/// after it hang up. It has a thread of its own, behind all others: how busy these clients are must not show in what others
/// measure, as if they were on another machine.
pub async fn rush(url: String, kinds: &'static [Kind], window: Duration) -> Result<Ends> {
    let rushes = async move {
        let client = Client::new(url).tenant("hostile");
        let (begun, mut ends, mut running) = (Instant::now(), Ends::new(), JoinSet::new());
        let mut next = kinds.iter().copied().cycle();
        for kind in next.by_ref().take(AT_ONCE) {
            running.spawn(end(client.clone(), kind));
        }
        while let Some(end_of_one) = within(begun + window, running.join_next()).await {
            *ends.entry(end_of_one??).or_default() += 1;
            if let Some(kind) = next.next() {
                running.spawn(end(client.clone(), kind));
            }
        }
        Ok(ends)
    };
    let thread = move || {
        rustix::process::setpriority_process(None, NICE)?;
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(rushes)
    };
    // A thread of the runtime's pool would stand back for ever.
    let joined = tokio::task::spawn_blocking(|| std::thread::spawn(thread).join()).await?;
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What comes before a moment; nothing after it.
async fn within<T>(end: Instant, next: impl Future<Output = Option<T>>) -> Option<T> {
    tokio::time::timeout_at(end, next).await.ok().flatten()
}

/// It may wait for long: there are a thousand in line, in a host that gives them little.
async fn start(client: &Client, kind: Kind) -> Result<String> {
    let request = client.request("POST", &format!("/api/v1/workflows/{}/instances", kind.mode));
    let request = request.timeout(START_PATIENCE).json(&json!({ "context": { "from": "before" } }));
    let started: Value = request.send().await?.error_for_status()?.json().await?;
    Ok(started["id"].as_str().context("an id")?.to_owned())
}

/// A start answers when its first steps are decided: the instance has ended, or is held.
async fn end(client: Client, kind: Kind) -> Result<String> {
    let id = start(&client, kind).await.with_context(|| format!("{kind:?}"))?;
    let instance = client.instance_is(&id, kind.status()).await.with_context(|| format!("{kind:?}"))?;
    let Some(code) = kind.code else { return Ok("completed".into()) };
    let found = instance["incidents"][0]["code"].as_str().unwrap_or_default();
    ensure!(found == code || SHORT_OF_TIME.contains(&found), "expected {code} of {kind:?}: {instance}");
    ensure!(instance["steps"][0]["output"] == Value::Null, "{instance}");
    ensure!(instance["context"] == json!({ "from": "before" }), "{instance}");
    Ok(found.to_owned())
}
