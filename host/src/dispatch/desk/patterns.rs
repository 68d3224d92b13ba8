//! Polls for patterns of task types: which patterns wait, and which types are meant by them now.
//!
//! A pattern is announced like a type whenever a type that it matches is; before a claim it is resolved to the types
//! that have pending tasks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::state::GroupKey;
use super::{Desk, lock};
use crate::domain::TenantId;
use crate::domain::pattern::{is_pattern, matches};
use crate::engine::port::store::Result;

/// Types that are looked at for one claim; the next one goes on where it ended.
const TYPES_LOOKED_AT_MAX: u32 = 1_000;
/// Types of one claim.
const TYPES_CLAIMED_MAX: usize = 256;

/// Patterns that polls of this host wait for, and where the look at a tenant's types goes on.
#[derive(Default)]
pub(super) struct Patterns {
    waiting: HashMap<TenantId, HashMap<String, usize>>,
    cursors: HashMap<TenantId, String>,
}

impl Patterns {
    fn matching(&self, tenant: &TenantId, task_type: &str) -> Vec<String> {
        let waiting = self.waiting.get(tenant).into_iter().flat_map(HashMap::keys);
        waiting.filter(|pattern| matches(pattern, task_type)).cloned().collect()
    }

    fn leave(&mut self, tenant: &TenantId, task_types: &[String]) {
        let Some(waiting) = self.waiting.get_mut(tenant) else { return };
        for pattern in task_types.iter().filter(|name| is_pattern(name)) {
            if let Some(count) = waiting.get_mut(pattern) {
                *count -= 1;
                if *count == 0 {
                    waiting.remove(pattern);
                }
            }
        }
        if waiting.is_empty() {
            self.waiting.remove(tenant);
            self.cursors.remove(tenant);
        }
    }
}

/// Interest in the patterns of one poll; it ends when this is dropped.
pub(super) struct Interest {
    patterns: Arc<Mutex<Patterns>>,
    tenant: TenantId,
    task_types: Arc<[String]>,
}

impl Drop for Interest {
    fn drop(&mut self) {
        lock(&self.patterns).leave(&self.tenant, &self.task_types);
    }
}

impl Desk {
    /// Registers the patterns of a poll; none if it names types only.
    pub(super) fn interest(&self, key: &GroupKey) -> Option<Interest> {
        let mut wanted = key.1.iter().filter(|name| is_pattern(name)).peekable();
        wanted.peek()?;
        let mut patterns = lock(&self.patterns);
        let waiting = patterns.waiting.entry(key.0.clone()).or_default();
        for pattern in wanted {
            *waiting.entry(pattern.clone()).or_default() += 1;
        }
        let (tenant, task_types) = (key.0.clone(), Arc::clone(&key.1));
        Some(Interest { patterns: Arc::clone(&self.patterns), tenant, task_types })
    }

    /// Patterns that polls wait for and that a type matches.
    pub(super) fn patterns_of(&self, tenant: &TenantId, task_type: &str) -> Vec<String> {
        lock(&self.patterns).matching(tenant, task_type)
    }

    /// The types that a group waits for: those that it names, and those with pending tasks that its patterns match.
    pub(super) async fn types_of(&self, key: &GroupKey) -> Result<Vec<String>> {
        let (patterns, mut types): (Vec<String>, Vec<String>) =
            key.1.iter().cloned().partition(|name| is_pattern(name));
        if patterns.is_empty() {
            return Ok(types);
        }
        let wanted = |name: &String| patterns.iter().any(|pattern| matches(pattern, name));
        let found = self.pending_types(&key.0).await?;
        types.extend(found.into_iter().filter(wanted));
        types.sort_unstable();
        types.dedup();
        // Whatever is left out now is asked for when those before it have been worked on.
        types.truncate(TYPES_CLAIMED_MAX);
        Ok(types)
    }

    /// Types of a tenant's pending tasks: all of them, or the next thousand.
    async fn pending_types(&self, tenant: &TenantId) -> Result<Vec<String>> {
        let cursor = lock(&self.patterns).cursors.get(tenant).cloned();
        let mut found = self.store.pending_task_types(tenant, cursor.as_deref(), TYPES_LOOKED_AT_MAX).await?;
        let full = |found: &Vec<String>| found.len() >= TYPES_LOOKED_AT_MAX as usize;
        let next = if full(&found) { found.last().cloned() } else { None };
        if next.is_none() && cursor.is_some() {
            found.extend(self.store.pending_task_types(tenant, None, TYPES_LOOKED_AT_MAX).await?);
        }
        let mut patterns = lock(&self.patterns);
        match next.filter(|_| patterns.waiting.contains_key(tenant)) {
            Some(next) => patterns.cursors.insert(tenant.clone(), next),
            None => patterns.cursors.remove(tenant),
        };
        Ok(found)
    }
}
