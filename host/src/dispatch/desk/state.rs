//! Who waits for which tasks, and who is served next. Pure: no IO, no time.

mod order;
mod promises;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(super) use self::order::Order;

use crate::domain::{LockToken, TenantId};
use crate::engine::Trust;

/// Slots of one claim at most.
const SLOTS_MAX: usize = 256;
/// Slots of a claim at least, where that many tasks are wanted: a place that stays empty costs nothing.
const SLOTS_MIN: usize = 16;
/// How often a claim is repeated that found less than was announced.
const REPEATS_MAX: u32 = 2;

/// Names a group: everyone of a tenant who waits for the same task types.
pub(super) type GroupKey = (TenantId, Arc<[String]>);
/// Names a parked poll; later polls have larger numbers.
pub(super) type PollerId = u64;

/// A poll that waits, with what wakes it.
pub(super) struct Poller<W> {
    pub(super) worker_id: Option<String>,
    pub(super) tasks_max: usize,
    pub(super) lock_ms: Option<i64>,
    /// Answered as soon as the database was asked once after its arrival.
    pub(super) impatient: bool,
    pub(super) waiter: W,
    asked: bool,
    in_claim: bool,
    /// It was promised a task that is being made: claims leave it out.
    promised: bool,
    /// It was parked when the claim under way began: a claim that finds all there is has asked for it, too.
    covered: bool,
}

impl<W> Poller<W> {
    pub(super) fn new(worker_id: Option<String>, tasks_max: usize, lock_ms: Option<i64>, waiter: W) -> Self {
        Self {
            worker_id,
            tasks_max,
            lock_ms,
            impatient: false,
            waiter,
            asked: false,
            in_claim: false,
            promised: false,
            covered: false,
        }
    }
}

struct Group<W> {
    /// In order of arrival.
    pollers: BTreeMap<PollerId, Poller<W>>,
    claiming: bool,
    announced: usize,
    ask: bool,
    /// The next claim shall ask the database, whatever this host believes.
    verify: bool,
    repeats: u32,
}

/// What a claim led to.
pub(super) struct Settled<W, T> {
    /// Answers, the first parked first.
    pub(super) answers: Vec<(W, Vec<T>)>,
    /// Tasks whose poll is gone.
    pub(super) unwanted: Vec<T>,
    /// Less was found than announced: ask again after a moment.
    pub(super) repeat: Option<Repeat>,
}

/// A question to be asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeat {
    /// From 1.
    pub(super) nth: u32,
    /// Announced and not found.
    pub(super) missing: usize,
}

/// Why a poll cannot be parked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Full {
    Host,
    Tenant,
    Closed,
}

pub(super) struct State<W> {
    groups: HashMap<GroupKey, Group<W>>,
    interest: HashMap<(TenantId, String), Vec<GroupKey>>,
    per_tenant: HashMap<TenantId, usize>,
    parked: usize,
    last_id: PollerId,
    /// Where the next sweep begins, if it cannot ask for all groups at once.
    asked_groups: usize,
    closed: bool,
}

impl<W> Default for State<W> {
    fn default() -> Self {
        Self {
            groups: HashMap::new(),
            interest: HashMap::new(),
            per_tenant: HashMap::new(),
            parked: 0,
            last_id: 0,
            asked_groups: 0,
            closed: false,
        }
    }
}

impl<W> State<W> {
    /// Parks a poll, within the bounds of the host and of its tenant.
    pub(super) fn park(
        &mut self,
        key: &GroupKey,
        poller: Poller<W>,
        host_max: usize,
        tenant_max: usize,
    ) -> Result<PollerId, Full> {
        let of_tenant = self.per_tenant.get(&key.0).copied().unwrap_or(0);
        if self.closed {
            return Err(Full::Closed);
        } else if self.parked >= host_max {
            return Err(Full::Host);
        } else if of_tenant >= tenant_max {
            return Err(Full::Tenant);
        }
        self.last_id += 1;
        self.parked += 1;
        self.per_tenant.insert(key.0.clone(), of_tenant + 1);
        if !self.groups.contains_key(key) {
            for task_type in key.1.iter() {
                self.interest.entry((key.0.clone(), task_type.clone())).or_default().push(key.clone());
            }
        }
        let group = self.groups.entry(key.clone()).or_insert_with(|| Group {
            pollers: BTreeMap::new(),
            claiming: false,
            announced: 0,
            ask: false,
            verify: false,
            repeats: 0,
        });
        group.pollers.insert(self.last_id, poller);
        Ok(self.last_id)
    }

    /// Frees a poll's place at once. What is being claimed for it becomes unwanted.
    pub(super) fn leave(&mut self, key: &GroupKey, id: PollerId) -> Option<Poller<W>> {
        let poller = self.groups.get_mut(key)?.pollers.remove(&id)?;
        self.freed(key, 1);
        Some(poller)
    }

    /// A poll's time is over. It leaves, or, if a claim is under way for it, as soon as that has ended.
    pub(super) fn expire(&mut self, key: &GroupKey, id: PollerId) -> bool {
        match self.groups.get_mut(key).and_then(|group| group.pollers.get_mut(&id)) {
            Some(poller) if poller.in_claim || poller.promised || !poller.asked => {
                poller.impatient = true;
                false
            }
            _ => self.leave(key, id).is_some(),
        }
    }

    /// Tasks of a type were announced: the groups that should ask.
    pub(super) fn announce(&mut self, tenant: &TenantId, task_type: &str, count: u32) -> Vec<GroupKey> {
        let keys = self.interest.get(&(tenant.clone(), task_type.to_owned())).cloned().unwrap_or_default();
        for key in &keys {
            if let Some(group) = self.groups.get_mut(key) {
                group.announced = group.announced.saturating_add(count as usize);
                group.repeats = 0;
            }
        }
        keys
    }

    /// What was announced and not found may be there by now.
    pub(super) fn announce_again(&mut self, key: &GroupKey, missing: usize) {
        if let Some(group) = self.groups.get_mut(key) {
            group.announced = group.announced.saturating_add(missing);
            group.verify = true;
        }
    }

    /// Groups that shall ask whatever was announced: up to so many, those with the oldest polls first.
    pub(super) fn ask(&mut self, groups_max: usize) -> Vec<GroupKey> {
        let first = |group: &Group<W>| group.pollers.keys().next().copied();
        let mut keys: Vec<_> =
            self.groups.iter().filter_map(|(key, group)| Some((first(group)?, key.clone()))).collect();
        keys.sort_unstable_by_key(|(first, _)| *first);
        if keys.len() > groups_max {
            // Whoever is left out this time is among the first the next time.
            let begin = self.asked_groups % keys.len();
            keys.rotate_left(begin);
            keys.truncate(groups_max);
            self.asked_groups = begin + groups_max;
        }
        for (_, key) in &keys {
            if let Some(group) = self.groups.get_mut(key) {
                (group.ask, group.verify) = (true, true);
            }
        }
        keys.into_iter().map(|(_, key)| key).collect()
    }

    /// The next claim of a group, if it needs one and none is under way. `known` is how many tasks it would find, if
    /// that is known.
    pub(super) fn begin(&mut self, key: &GroupKey, known: Option<usize>) -> Option<Order> {
        let group = self.groups.get_mut(key)?;
        let fresh = group.pollers.values().any(|poller| !poller.asked && !poller.promised);
        let wanting = group.pollers.values().any(|poller| !poller.promised);
        if group.claiming || !wanting || !(fresh || group.ask || group.announced > 0) {
            return None;
        }
        // Who will not wait wants to know what is there now; who waits is told of what comes.
        let impatient = group.pollers.values().any(|poller| poller.impatient);
        let trust = match (group.verify, impatient) {
            (true, _) => Trust::Nothing,
            (false, true) => Trust::Tasks,
            (false, false) => Trust::Absence,
        };
        // What was announced since `known` was counted is asked for.
        if known == Some(0) && trust == Trust::Absence && group.announced == 0 {
            group.pollers.values_mut().for_each(|poller| poller.asked = true);
            group.ask = false;
            return None;
        }
        let slots_max = match known {
            Some(known) if trust != Trust::Nothing => known.clamp(1, SLOTS_MAX),
            _ if fresh => SLOTS_MAX,
            _ => group.announced.clamp(SLOTS_MIN, SLOTS_MAX),
        };
        let mut order = Order::new(trust, group.announced);
        group.pollers.values_mut().for_each(|poller| poller.covered = true);
        let wanting = group.pollers.iter_mut().filter(|(_, poller)| !poller.promised);
        order.share_out(slots_max, wanting.map(|(id, poller)| (*id, poller)).collect());
        (group.claiming, group.ask, group.verify, group.announced) = (true, false, false, 0);
        Some(order)
    }

    /// A claim has ended with these tasks, each with the token of its slot; `all_found` if there was no more.
    pub(super) fn settle<T>(
        &mut self,
        key: &GroupKey,
        order: Order,
        mut tasks: Vec<(Option<LockToken>, T)>,
        all_found: bool,
    ) -> Settled<W, T> {
        let found = tasks.len();
        // A database returns rows in any order; the slots were filled in the order of the tasks.
        let places: HashMap<_, _> =
            order.slots.iter().zip(0..).map(|(slot, at)| (slot.lock_token, at)).collect();
        tasks.sort_by_key(|(token, _)| {
            token.and_then(|token| places.get(&token)).copied().unwrap_or(u32::MAX)
        });
        let mut settled = Settled { answers: Vec::new(), unwanted: Vec::new(), repeat: None };
        let mut shares: BTreeMap<PollerId, Vec<T>> = BTreeMap::new();
        for (token, task) in tasks {
            match token.and_then(|token| order.owners.get(&token)) {
                Some(owner) => shares.entry(*owner).or_default().push(task),
                None => settled.unwanted.push(task),
            }
        }
        let Some(group) = self.groups.get_mut(key) else {
            settled.unwanted.extend(shares.into_values().flatten());
            return settled;
        };
        group.claiming = false;
        let before = group.pollers.len();
        for (id, share) in shares {
            match group.pollers.remove(&id) {
                Some(poller) => settled.answers.push((poller.waiter, share)),
                None => settled.unwanted.extend(share),
            }
        }
        for poller in group.pollers.values_mut() {
            poller.in_claim = false;
            poller.asked |= all_found && poller.covered;
            poller.covered = false;
        }
        if all_found {
            let impatient: Vec<_> = group
                .pollers
                .iter()
                .filter(|(_, p)| p.asked && p.impatient && !p.promised)
                .map(|(id, _)| *id)
                .collect();
            for poller in impatient.into_iter().filter_map(|id| group.pollers.remove(&id)) {
                settled.answers.push((poller.waiter, Vec::new()));
            }
            if found < order.announced && !group.pollers.is_empty() && group.repeats < REPEATS_MAX {
                group.repeats += 1;
                settled.repeat = Some(Repeat { nth: group.repeats, missing: order.announced - found });
            }
        } else {
            group.ask = true;
        }
        let left = before - group.pollers.len();
        self.freed(key, left);
        settled
    }

    /// A claim has failed: those who were never served are told, the others wait for the next.
    pub(super) fn failed(&mut self, key: &GroupKey) -> Vec<W> {
        let Some(group) = self.groups.get_mut(key) else { return Vec::new() };
        group.claiming = false;
        let told: Vec<_> = group
            .pollers
            .iter()
            .filter(|(_, p)| !p.promised && (!p.asked || p.impatient))
            .map(|(id, _)| *id)
            .collect();
        for poller in group.pollers.values_mut() {
            (poller.in_claim, poller.covered) = (false, false);
        }
        let told: Vec<_> =
            told.into_iter().filter_map(|id| group.pollers.remove(&id)).map(|p| p.waiter).collect();
        self.freed(key, told.len());
        told
    }

    /// Nobody is parked from now on; whoever no claim is under way for is let go.
    pub(super) fn close(&mut self) -> Vec<W> {
        self.closed = true;
        let mut leaving = Vec::new();
        for (key, group) in &mut self.groups {
            for (id, poller) in &mut group.pollers {
                poller.impatient = true;
                if !poller.in_claim && !poller.promised {
                    leaving.push((key.clone(), *id));
                }
            }
        }
        leaving.into_iter().filter_map(|(key, id)| self.leave(&key, id)).map(|poller| poller.waiter).collect()
    }

    /// Whether somebody waits for a type by its name.
    pub(super) fn interested(&self, tenant: &TenantId, task_type: &str) -> bool {
        self.interest.contains_key(&(tenant.clone(), task_type.to_owned()))
    }

    /// How many polls wait.
    pub(super) fn parked(&self) -> usize {
        self.parked
    }

    fn freed(&mut self, key: &GroupKey, count: usize) {
        self.parked -= count;
        if let Some(of_tenant) = self.per_tenant.get_mut(&key.0) {
            *of_tenant -= count;
            if *of_tenant == 0 {
                self.per_tenant.remove(&key.0);
            }
        }
        let done = self.groups.get(key).is_some_and(|group| group.pollers.is_empty() && !group.claiming);
        if !done {
            return;
        }
        self.groups.remove(key);
        for task_type in key.1.iter() {
            let of_type = (key.0.clone(), task_type.clone());
            if let Some(keys) = self.interest.get_mut(&of_type) {
                keys.retain(|other| other != key);
                if keys.is_empty() {
                    self.interest.remove(&of_type);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
