//! Promises: a poll that waits is kept for a task that is being made.

use super::{GroupKey, Poller, PollerId, State};
use crate::domain::TenantId;

/// A poll that was promised a task.
#[derive(Debug)]
pub(in crate::dispatch::desk) struct Promised {
    pub(in crate::dispatch::desk) key: GroupKey,
    pub(in crate::dispatch::desk) id: PollerId,
    pub(in crate::dispatch::desk) worker_id: Option<String>,
    pub(in crate::dispatch::desk) lock_ms: Option<i64>,
    pub(in crate::dispatch::desk) tasks_max: usize,
}

impl<W> State<W> {
    /// Promises a task that is being made to the poll that has waited longest under one of some names. Whoever promises
    /// knows that nothing else waits, so it need not have been asked for; but who will not wait is not made to.
    pub(in crate::dispatch::desk) fn promise(
        &mut self,
        tenant: &TenantId,
        names: &[String],
    ) -> Option<Promised> {
        let of_name = |name: &String| self.interest.get(&(tenant.clone(), name.clone()));
        let waits = |poller: &Poller<W>| !poller.impatient && !poller.in_claim && !poller.promised;
        let (id, key) = names
            .iter()
            .filter_map(of_name)
            .flatten()
            .filter_map(|key| {
                let mut pollers = self.groups.get(key)?.pollers.iter();
                Some((*pollers.find(|(_, poller)| waits(poller))?.0, key.clone()))
            })
            .min()?;
        let poller = self.groups.get_mut(&key)?.pollers.get_mut(&id)?;
        poller.promised = true;
        let (worker_id, lock_ms, tasks_max) = (poller.worker_id.clone(), poller.lock_ms, poller.tasks_max);
        Some(Promised { key, id, worker_id, lock_ms, tasks_max })
    }

    /// A promise is kept: the poll's waiter, if it is still there.
    pub(in crate::dispatch::desk) fn keep(&mut self, key: &GroupKey, id: PollerId) -> Option<W> {
        self.leave(key, id).map(|poller| poller.waiter)
    }

    /// A promise came to nothing: the poll waits on, or is let go if its time is over.
    pub(in crate::dispatch::desk) fn take_back(&mut self, key: &GroupKey, id: PollerId) -> Option<W> {
        let poller = self.groups.get_mut(key)?.pollers.get_mut(&id)?;
        poller.promised = false;
        if poller.impatient { self.keep(key, id) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polls for the type `a` that wait for an announcement, the first of them the longest.
    fn waiting(names: &[&'static str]) -> (State<&'static str>, GroupKey, Vec<PollerId>) {
        let (mut state, key) = (State::default(), (TenantId::default(), ["a".to_owned()].into()));
        let mut park = |name: &&'static str| {
            let poller = Poller::new(Some((*name).into()), 1, None, *name);
            state.park(&key, poller, 100, 100).unwrap()
        };
        let ids = names.iter().map(&mut park).collect();
        assert!(state.begin(&key, Some(0)).is_none(), "nothing is known to wait");
        (state, key, ids)
    }

    fn promise(state: &mut State<&'static str>) -> Option<PollerId> {
        state.promise(&TenantId::default(), &["a".to_owned()]).map(|promised| promised.id)
    }

    #[test]
    fn who_has_waited_longest_is_promised_the_next_task() {
        let (mut state, key, ids) = waiting(&["first", "second"]);
        assert_eq!(promise(&mut state), Some(ids[0]));
        assert_eq!(promise(&mut state), Some(ids[1]));
        assert_eq!(promise(&mut state), None, "nobody is promised two");
        assert_eq!(state.keep(&key, ids[0]), Some("first"));
        assert_eq!(state.parked(), 1);
    }

    #[test]
    fn a_claim_leaves_out_who_was_promised_a_task() {
        let (mut state, key, ids) = waiting(&["first", "second"]);
        assert_eq!(promise(&mut state), Some(ids[0]));
        state.announce(&key.0, "a", 1);
        let order = state.begin(&key, None).unwrap();
        assert_eq!(order.owners.values().collect::<Vec<_>>(), [&ids[1]]);
        assert_eq!(promise(&mut state), None, "who is being claimed for is not promised anything");
    }

    #[test]
    fn who_was_promised_in_vain_waits_on_or_leaves_if_its_time_is_over() {
        let (mut state, key, ids) = waiting(&["first"]);
        assert_eq!(promise(&mut state), Some(ids[0]));
        assert_eq!(state.take_back(&key, ids[0]), None);
        assert_eq!(promise(&mut state), Some(ids[0]), "it waits as before");
        assert!(!state.expire(&key, ids[0]), "its answer is under way");
        assert_eq!(state.take_back(&key, ids[0]), Some("first"));
        assert_eq!(state.parked(), 0);
    }

    #[test]
    fn who_leaves_is_not_there_when_the_promise_is_kept() {
        let (mut state, key, ids) = waiting(&["first"]);
        assert_eq!(promise(&mut state), Some(ids[0]));
        state.leave(&key, ids[0]);
        assert_eq!(state.keep(&key, ids[0]), None);
    }
}
