//! Guards: what must still be so when a transition is written, checked under locks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::driver::Transaction;
use super::error::Fault;
use super::order;
use super::prepare::{Prepared, PreparedGuard, PreparedStartKey, array};
use super::statement::{self, Statement};
use crate::domain::{InstanceId, Timestamp};
use crate::engine::port::{Guard, Verdict};

/// A verdict for each transition; `Applied` means that it may be written.
///
/// Of two transitions that guard the same row, the first one wins: the second was decided without knowing it.
pub(super) async fn check(tx: &mut dyn Transaction, sets: &[Arc<Prepared>]) -> Result<Vec<Verdict>, Fault> {
    let found = look(tx, sets).await?;
    let mut taken = HashSet::new();
    let mut verdicts = Vec::with_capacity(sets.len());
    for set in sets {
        let names: Vec<String> =
            set.guards.iter().filter_map(|guard| subject(&guard.guard)).map(Subject::name).collect();
        let free = names.iter().all(|name| !taken.contains(name));
        let verdict = if free && set.guards.iter().all(|guard| holds(&guard.guard, &found)) {
            taken.extend(names);
            Verdict::Applied
        } else {
            Verdict::Conflict
        };
        verdicts.push(verdict);
    }
    take_start_keys(tx, sets, &mut verdicts).await?;
    Ok(verdicts)
}

/// What a guard looks at: the statement that finds and locks it, and its name.
struct Subject<'a> {
    /// Locks are taken in this order, so that two batches never wait for each other in a circle.
    rank: usize,
    tenant: &'a str,
    id: String,
}

impl Subject<'_> {
    fn name(self) -> String {
        name(self.rank, self.tenant, &self.id)
    }
}

fn name(rank: usize, tenant: &str, id: &str) -> String {
    format!("{rank}/{tenant}/{id}")
}

/// The statements that find what is guarded, by rank.
static LOOKS: [&Statement; 6] = [
    &statement::GUARD_INSTANCES,
    &statement::GUARD_TASKS,
    &statement::GUARD_TIMERS,
    &statement::GUARD_SUBSCRIPTIONS,
    &statement::GUARD_OUTBOX,
    &statement::GUARD_DEFINITIONS,
];

fn subject(guard: &Guard) -> Option<Subject<'_>> {
    let (rank, tenant, id) = match guard {
        Guard::Instance { tenant, id, .. } => (0, tenant, id.to_string()),
        Guard::Task { tenant, id, .. } => (1, tenant, id.to_string()),
        Guard::Timer { tenant, id, .. } => (2, tenant, id.to_string()),
        Guard::Subscription { tenant, id } => (3, tenant, id.to_string()),
        Guard::Outbox { tenant, id } => (4, tenant, id.to_string()),
        Guard::DefinitionVersion { tenant, key, .. } => (5, tenant, key.clone()),
        Guard::StartKey { .. } => return None,
    };
    Some(Subject { rank, tenant: tenant.as_str(), id })
}

/// What is there now, by name.
type Found = HashMap<String, Value>;

async fn look(tx: &mut dyn Transaction, sets: &[Arc<Prepared>]) -> Result<Found, Fault> {
    #[derive(Deserialize)]
    struct Row {
        tenant: String,
        id: String,
        found: Value,
    }
    // Each row once: a name may be guarded by many transitions.
    let mut asked: [BTreeMap<String, &str>; LOOKS.len()] = Default::default();
    for PreparedGuard { guard, row } in sets.iter().flat_map(|set| &set.guards) {
        if let Some(subject) = subject(guard) {
            asked[subject.rank].insert(subject.name(), row);
        }
    }
    let mut found = Found::new();
    for (rank, rows) in asked.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
        for text in tx.query(LOOKS[rank], &array(rows.values().copied())).await? {
            let row: Row = read(&text)?;
            found.insert(name(rank, &row.tenant, &row.id), row.found);
        }
    }
    Ok(found)
}

fn holds(guard: &Guard, found: &Found) -> bool {
    let Some(subject) = subject(guard) else { return true };
    let Some(found) = found.get(&subject.name()) else { return false };
    match guard {
        Guard::Instance { version, .. } | Guard::Task { version, .. } => found.as_i64() == Some(*version),
        Guard::DefinitionVersion { version, .. } => found.as_i64() == Some(i64::from(*version)),
        Guard::Timer { trigger_at, .. } => {
            Timestamp::deserialize(found).is_ok_and(|found| found == *trigger_at)
        }
        Guard::Subscription { .. } | Guard::Outbox { .. } | Guard::StartKey { .. } => true,
    }
}

/// Takes the idempotency keys of those transitions that may be written so far. A key that was used before gives
/// its transition the instance that it was used for.
async fn take_start_keys(
    tx: &mut dyn Transaction,
    sets: &[Arc<Prepared>],
    verdicts: &mut [Verdict],
) -> Result<(), Fault> {
    // The first transition of the batch to take a key is the one that may have it.
    let mut first: BTreeMap<&str, &PreparedStartKey> = BTreeMap::new();
    for (set, verdict) in sets.iter().zip(verdicts.iter()) {
        if *verdict == Verdict::Applied {
            for key in &set.start_keys {
                first.entry(&key.name).or_insert(key);
            }
        }
    }
    let mut owners: HashMap<String, InstanceId> = HashMap::new();
    if !first.is_empty() {
        let rows = array(first.values().map(|key| key.row.as_str()));
        owners.extend(key_rows(tx.query(&statement::CLAIM_START_KEYS, &rows).await?)?);
    }
    // Whatever is guarded and was not free, or is guarded only, was used before or by somebody just now.
    let mut used: BTreeMap<String, &str> = BTreeMap::new();
    for (set, _) in sets.iter().zip(verdicts.iter()).filter(|(_, verdict)| **verdict == Verdict::Applied) {
        for PreparedGuard { guard, row } in &set.guards {
            if let Some(name) = guarded_key(guard)
                && !owners.contains_key(&name)
            {
                used.insert(name, row);
            }
        }
    }
    if !used.is_empty() {
        let rows = array(used.values().copied());
        owners.extend(key_rows(tx.query(&statement::USED_START_KEYS, &rows).await?)?);
    }
    for (set, verdict) in sets.iter().zip(verdicts.iter_mut()) {
        if *verdict != Verdict::Applied {
            continue;
        }
        for name in set.guards.iter().filter_map(|guard| guarded_key(&guard.guard)) {
            let own = set.start_keys.iter().find(|key| key.name == name).map(|key| key.instance_id);
            match owners.get(&name) {
                Some(owner) if Some(*owner) != own => *verdict = Verdict::Started(*owner),
                _ => {}
            }
        }
    }
    Ok(())
}

fn guarded_key(guard: &Guard) -> Option<String> {
    match guard {
        Guard::StartKey { tenant, workflow_key, key } => {
            Some(order::start_key(tenant.as_str(), workflow_key, key))
        }
        _ => None,
    }
}

fn key_rows(rows: Vec<String>) -> Result<Vec<(String, InstanceId)>, Fault> {
    #[derive(Deserialize)]
    struct Row {
        tenant: String,
        workflow_key: String,
        key: String,
        instance_id: InstanceId,
    }
    rows.iter()
        .map(|text| {
            let row: Row = read(text)?;
            Ok((order::start_key(&row.tenant, &row.workflow_key, &row.key), row.instance_id))
        })
        .collect()
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::Broken(format!("a row cannot be read: {error}")))
}
