//! Guards: what must still be so when a transition is written, checked under locks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::driver::Transaction;
use super::error::Fault;
use super::order;
use super::prepare::{Prepared, array};
use super::statement::{self, Statement};
use crate::domain::{InstanceId, Timestamp};
use crate::engine::port::write::StartKey;
use crate::engine::port::{Guard, Verdict, Write, WriteSet};

/// A verdict for each transition; `Applied` means that it may be written.
///
/// Of two transitions that guard the same row, the first one wins: the second was decided without knowing it.
pub(super) async fn check(tx: &mut dyn Transaction, sets: &[Arc<Prepared>]) -> Result<Vec<Verdict>, Fault> {
    sets.iter().try_for_each(|set| follows(&set.set))?;
    let guards = || sets.iter().flat_map(|set| &set.set.guards);
    let found = look(tx, guards()).await?;
    let mut taken = HashSet::new();
    let mut verdicts = Vec::with_capacity(sets.len());
    for set in sets {
        let names: Vec<String> = set
            .set
            .guards
            .iter()
            .filter(|guard| exclusive(guard))
            .filter_map(subject)
            .map(Subject::name)
            .collect();
        let free = names.iter().all(|name| !taken.contains(name));
        let verdict = if free && set.set.guards.iter().all(|guard| holds(guard, &found)) {
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

/// Verdicts that hold if every update finds the version that it starts from: those guards are not looked at. None if
/// the batch has others, or two transitions for one row.
pub(super) async fn presume(
    tx: &mut dyn Transaction,
    sets: &[Arc<Prepared>],
) -> Result<Option<Vec<Verdict>>, Fault> {
    if !presumable(sets) {
        return Ok(None);
    }
    let shared = || sets.iter().flat_map(|set| &set.set.guards).filter(|guard| !exclusive(guard));
    let found = look(tx, shared()).await?;
    let fine = |set: &Arc<Prepared>| {
        set.set.guards.iter().filter(|guard| !exclusive(guard)).all(|guard| holds(guard, &found))
    };
    let mut verdicts: Vec<Verdict> =
        sets.iter().map(|set| if fine(set) { Verdict::Applied } else { Verdict::Conflict }).collect();
    take_start_keys(tx, sets, &mut verdicts).await?;
    Ok(Some(verdicts))
}

/// Whether every guard of a batch is on a row that its own transition changes from the version before, and on no row
/// that another one changes; or on something that any number of them may rely on.
pub(super) fn presumable(sets: &[Arc<Prepared>]) -> bool {
    let mut taken: HashSet<Uuid> = HashSet::new();
    for set in sets {
        let updates = |write: &&Write| {
            matches!(
                write,
                Write::UpdateInstance(_) | Write::UpdateTask(_) | Write::LockTask(_) | Write::FireTimer(_)
            )
        };
        let mut unguarded = set.set.writes.iter().filter(updates).count();
        for guard in &set.set.guards {
            let (id, from_there) = match guard {
                Guard::Instance { id, version, .. } => {
                    (id.0, written_version(&set.set, id.0) == Some(version + 1))
                }
                Guard::Task { id, version, .. } => {
                    (id.0, written_version(&set.set, id.0) == Some(version + 1))
                }
                Guard::Timer { id, trigger_at, .. } => (id.0, fires(&set.set, id.0, *trigger_at)),
                Guard::NewestVersion { .. } | Guard::StartKey { .. } => continue,
                _ => return false,
            };
            if !taken.insert(id) || !from_there {
                return false;
            }
            unguarded -= 1;
        }
        if unguarded > 0 {
            return false;
        }
    }
    true
}

/// The version that a transition gives to an instance or a task.
fn written_version(set: &WriteSet, id: Uuid) -> Option<i64> {
    set.writes.iter().find_map(|write| match write {
        Write::UpdateInstance(row) if row.id.0 == id => Some(row.version),
        Write::UpdateTask(row) if row.id.0 == id => Some(row.version),
        Write::LockTask(row) if row.id.0 == id => Some(row.version),
        _ => None,
    })
}

/// Whether a transition fires a timer, as it was read.
fn fires(set: &WriteSet, id: Uuid, trigger_at: Timestamp) -> bool {
    set.writes.iter().any(|write| match write {
        Write::FireTimer(fired) => fired.id.0 == id && fired.trigger_at == trigger_at,
        _ => false,
    })
}

/// Rows are changed only from the version before: a transition that leaves one out would be written in part.
fn follows(set: &WriteSet) -> Result<(), Fault> {
    for guard in &set.guards {
        let (id, version) = match guard {
            Guard::Instance { id, version, .. } => (id.0, version),
            Guard::Task { id, version, .. } => (id.0, version),
            _ => continue,
        };
        if let Some(written) = written_version(set, id).filter(|written| *written != version + 1) {
            return Err(Fault::Broken(format!("{id} would go from version {version} to {written}")));
        }
    }
    Ok(())
}

/// Whether only one transition of a batch may rely on it.
fn exclusive(guard: &Guard) -> bool {
    !matches!(guard, Guard::NewestVersion { .. })
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
static LOOKS: [&Statement; 8] = [
    &statement::GUARD_INSTANCES,
    &statement::GUARD_TASKS,
    &statement::GUARD_TIMERS,
    &statement::GUARD_SUBSCRIPTIONS,
    &statement::GUARD_OUTBOX,
    &statement::GUARD_DEFINITIONS,
    &statement::GUARD_NEWEST,
    &statement::GUARD_SCHEDULES,
];

fn subject(guard: &Guard) -> Option<Subject<'_>> {
    let (rank, tenant, id) = match guard {
        Guard::Instance { tenant, id, .. } => (0, tenant, id.to_string()),
        Guard::Task { tenant, id, .. } => (1, tenant, id.to_string()),
        Guard::Timer { tenant, id, .. } => (2, tenant, id.to_string()),
        Guard::Subscription { tenant, id } => (3, tenant, id.to_string()),
        Guard::Outbox { tenant, id } => (4, tenant, id.to_string()),
        Guard::DefinitionVersion { tenant, key, .. } => (5, tenant, key.clone()),
        Guard::NewestVersion { tenant, key, .. } => (6, tenant, key.clone()),
        Guard::Schedule { tenant, id, .. } => (7, tenant, id.to_string()),
        Guard::StartKey { .. } => return None,
    };
    Some(Subject { rank, tenant: tenant.as_str(), id })
}

/// What is there now, by name.
type Found = HashMap<String, Value>;

async fn look<'a>(tx: &mut dyn Transaction, guards: impl Iterator<Item = &'a Guard>) -> Result<Found, Fault> {
    #[derive(Deserialize)]
    struct Row {
        tenant: String,
        id: String,
        found: Value,
    }
    // Each row once: a name may be guarded by many transitions.
    let mut asked: [BTreeMap<String, &Guard>; LOOKS.len()] = Default::default();
    for guard in guards {
        if let Some(subject) = subject(guard) {
            asked[subject.rank].insert(subject.name(), guard);
        }
    }
    let mut found = Found::new();
    for (rank, rows) in asked.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
        let rows: Vec<&Guard> = rows.values().copied().collect();
        for text in tx.query(LOOKS[rank], &array(&rows)?).await? {
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
        Guard::Instance { version, .. } | Guard::Task { version, .. } | Guard::Schedule { version, .. } => {
            found.as_i64() == Some(*version)
        }
        Guard::DefinitionVersion { version, .. } | Guard::NewestVersion { version, .. } => {
            found.as_i64() == Some(i64::from(*version))
        }
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
    let mut first: BTreeMap<String, &StartKey> = BTreeMap::new();
    for (set, verdict) in sets.iter().zip(verdicts.iter()) {
        if *verdict == Verdict::Applied {
            for key in start_keys(set) {
                first.entry(name_of(key)).or_insert(key);
            }
        }
    }
    let mut owners: HashMap<String, InstanceId> = HashMap::new();
    if !first.is_empty() {
        let rows: Vec<&StartKey> = first.values().copied().collect();
        owners.extend(key_rows(tx.query(&statement::CLAIM_START_KEYS, &array(&rows)?).await?)?);
    }
    // Whatever is guarded and was not free, or is guarded only, was used before or by somebody just now.
    let mut used: BTreeMap<String, &Guard> = BTreeMap::new();
    for (set, _) in sets.iter().zip(verdicts.iter()).filter(|(_, verdict)| **verdict == Verdict::Applied) {
        for guard in &set.set.guards {
            if let Some(name) = guarded_key(guard)
                && !owners.contains_key(&name)
            {
                used.insert(name, guard);
            }
        }
    }
    if !used.is_empty() {
        let rows: Vec<&Guard> = used.values().copied().collect();
        owners.extend(key_rows(tx.query(&statement::USED_START_KEYS, &array(&rows)?).await?)?);
    }
    for (set, verdict) in sets.iter().zip(verdicts.iter_mut()) {
        if *verdict != Verdict::Applied {
            continue;
        }
        for name in set.set.guards.iter().filter_map(guarded_key) {
            let own = start_keys(set).find(|key| name_of(key) == name).map(|key| key.instance_id);
            match owners.get(&name) {
                Some(owner) if Some(*owner) != own => *verdict = Verdict::Started(*owner),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Idempotency keys that a transition takes.
fn start_keys(set: &Prepared) -> impl Iterator<Item = &StartKey> {
    set.set.writes.iter().filter_map(|write| match write {
        Write::InsertStartKey(key) => Some(key),
        _ => None,
    })
}

fn name_of(key: &StartKey) -> String {
    order::start_key(key.tenant.as_str(), &key.workflow_key, &key.key)
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
