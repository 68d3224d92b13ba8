//! Who polled this host lately, for the gauge.

use std::collections::HashMap;

use crate::domain::{TenantId, Timestamp};

/// A worker that has been silent for longer is not counted.
const SEEN_MS: i64 = 300_000;
/// How many workers are remembered.
const WORKERS_MAX: usize = 20_000;

#[derive(Default)]
pub(super) struct Workers {
    seen: HashMap<(TenantId, String), Timestamp>,
}

impl Workers {
    pub(super) fn saw(&mut self, tenant: &TenantId, worker_id: &str, now: Timestamp) {
        let name = (tenant.clone(), worker_id.to_owned());
        if self.seen.len() >= WORKERS_MAX && !self.seen.contains_key(&name) {
            self.forget_silent(now);
            if self.seen.len() >= WORKERS_MAX {
                return;
            }
        }
        self.seen.insert(name, now);
    }

    pub(super) fn active(&mut self, now: Timestamp) -> usize {
        self.forget_silent(now);
        self.seen.len()
    }

    fn forget_silent(&mut self, now: Timestamp) {
        let silent = now.plus_millis(-SEEN_MS);
        self.seen.retain(|_, at| *at >= silent);
    }
}
