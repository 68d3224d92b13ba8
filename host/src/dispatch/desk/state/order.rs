//! A claim to make for many polls at once, which share what it finds.

use std::collections::HashMap;

use super::{Poller, PollerId};
use crate::domain::LockToken;
use crate::engine::Trust;
use crate::engine::port::store::ClaimSlot;

/// A claim to make: its slots, in order, and whose they are.
pub(in super::super) struct Order {
    pub(in super::super) slots: Vec<ClaimSlot>,
    pub(in super::super) trust: Trust,
    pub(super) owners: HashMap<LockToken, PollerId>,
    pub(super) announced: usize,
}

impl Order {
    pub(super) fn new(trust: Trust, announced: usize) -> Self {
        Self { slots: Vec::new(), trust, owners: HashMap::new(), announced }
    }

    /// A slot for each poll, then another for each, as far as they want more: so nobody goes away empty while somebody
    /// else gets two.
    pub(super) fn share_out<W>(&mut self, slots_max: usize, mut polls: Vec<(PollerId, &mut Poller<W>)>) {
        for round in 0..slots_max {
            polls.truncate(slots_max - self.slots.len());
            polls.retain(|(_, poller)| poller.tasks_max > round);
            if polls.is_empty() {
                return;
            }
            for (id, poller) in &mut polls {
                let (worker_id, lock_token) = (poller.worker_id.clone(), LockToken::new());
                self.slots.push(ClaimSlot { worker_id, lock_token, lock_ms: poller.lock_ms });
                self.owners.insert(lock_token, *id);
                poller.in_claim = true;
            }
        }
    }
}
