//! A tenant that means harm: instances of every kind, a thousand at once.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use stepwell_tests::host::Client;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::kinds::{self, Kind};

/// Instances that are started at once.
pub const AT_ONCE: usize = 1_000;

/// Faults that are the machine's: a host that is short of time says so instead of blaming the plugin.
const SHORT_OF_TIME: [&str; 2] = ["plugin_timeout", "plugin_busy"];

/// How many instances ended in which way.
pub type Ends = BTreeMap<String, usize>;

/// Deploys a workflow of each kind.
pub async fn prepare(client: &Client) -> Result<()> {
    for kind in kinds::ALL.into_iter().chain(kinds::HARMLESS) {
        client.deploy(kind.mode, kind.workflow(false)).await?;
    }
    Ok(())
}

/// Lets one mob after the other rush in for a while, until the last of them has ended. It has a thread of its own: how
/// busy these clients are must not show in what others measure.
pub async fn rush(url: String, kinds: &'static [Kind], window: Duration) -> Result<Ends> {
    let rushes = async move {
        let client = Client::new(url).tenant("hostile");
        let (begun, mut ends) = (Instant::now(), Ends::new());
        while begun.elapsed() < window {
            once(&client, kinds, &mut ends).await?;
        }
        Ok(ends)
    };
    let thread = move || tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(rushes);
    tokio::task::spawn_blocking(thread).await?
}

/// All at once.
async fn once(client: &Client, kinds: &[Kind], ends: &mut Ends) -> Result<()> {
    let mut running = JoinSet::new();
    for kind in kinds.iter().cycle().take(AT_ONCE) {
        running.spawn(end(client.clone(), *kind));
    }
    while let Some(end) = running.join_next().await {
        *ends.entry(end??).or_default() += 1;
    }
    Ok(())
}

/// A start answers when its first steps are decided: the instance has ended, or is held.
async fn end(client: Client, kind: Kind) -> Result<String> {
    let id = client.start(kind.mode, json!({ "from": "before" })).await?;
    let instance = client.instance_is(&id, kind.status()).await.with_context(|| format!("{kind:?}"))?;
    let Some(code) = kind.code else { return Ok("completed".into()) };
    let found = instance["incidents"][0]["code"].as_str().unwrap_or_default();
    ensure!(found == code || SHORT_OF_TIME.contains(&found), "expected {code} of {kind:?}: {instance}");
    ensure!(instance["steps"][0]["output"] == Value::Null, "{instance}");
    ensure!(instance["context"] == json!({ "from": "before" }), "{instance}");
    Ok(found.to_owned())
}
