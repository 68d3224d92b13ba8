//! Whose turn it is: tenants take turns, and within a tenant, calls do.

use std::collections::VecDeque;

use crate::domain::TenantId;

/// What waits for a turn.
pub(super) struct Turns<T> {
    tenants: VecDeque<(TenantId, VecDeque<T>)>,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { tenants: VecDeque::new() }
    }
}

impl<T> Turns<T> {
    /// Gets in line, behind what the tenant has there.
    pub(super) fn push(&mut self, tenant: &TenantId, item: T) {
        match self.tenants.iter_mut().find(|(name, _)| name == tenant) {
            Some((_, line)) => line.push_back(item),
            None => self.tenants.push_back((tenant.clone(), VecDeque::from([item]))),
        }
    }

    /// The next, after which it is another tenant's turn.
    pub(super) fn pop(&mut self) -> Option<T> {
        let (tenant, mut line) = self.tenants.pop_front()?;
        let item = line.pop_front();
        if !line.is_empty() {
            self.tenants.push_back((tenant, line));
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_with_much_to_do_does_not_keep_another_waiting() {
        let (busy, other): (TenantId, TenantId) = ("busy".parse().unwrap(), "other".parse().unwrap());
        let mut turns = Turns::default();
        for item in 1..=3 {
            turns.push(&busy, item);
        }
        turns.push(&other, 10);
        turns.push(&other, 11);
        let order: Vec<_> = std::iter::from_fn(|| turns.pop()).collect();
        assert_eq!(order, [1, 10, 2, 11, 3]);
    }
}
