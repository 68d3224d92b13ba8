//! What a call may use: the defaults, what the operator set for everyone, for a tenant, for a plugin.

use wasmtime::{StoreLimits, StoreLimitsBuilder};

use super::engine::MEMORY_BYTES_CEILING;
use crate::domain::Digest;
use crate::domain::plugin::{LimitOverrides, PartialPluginLimits, PluginLimits};

/// Entries of all tables of one guest, each.
const TABLE_ELEMENTS_MAX: usize = 20_000;

/// The limits of a call. Where both the tenant and the plugin have a limit set, the smaller counts.
pub(super) fn resolve(
    overrides: &LimitOverrides,
    tenant: Option<&str>,
    types: &[String],
    digest: &Digest,
) -> PluginLimits {
    let everyone = over(PluginLimits::default(), overrides.default);
    let tenant = tenant.and_then(|name| overrides.tenant.get(name)).copied().unwrap_or_default();
    let mut limits = over(everyone, smaller(tenant, of_plugin(overrides, types, digest)));
    limits.memory_bytes_max = limits.memory_bytes_max.min(MEMORY_BYTES_CEILING);
    limits
}

/// What is set for a plugin, by any of its type names or its digest.
pub(super) fn of_plugin(
    overrides: &LimitOverrides,
    types: &[String],
    digest: &Digest,
) -> PartialPluginLimits {
    let names = types.iter().map(String::as_str).chain([&*digest.0]);
    names.filter_map(|name| overrides.plugin.get(name)).copied().fold(PartialPluginLimits::default(), smaller)
}

/// Fuel for a call with so much input.
pub(super) fn fuel(limits: &PluginLimits, input_bytes: usize) -> u64 {
    let input_bytes = u64::try_from(input_bytes).unwrap_or(u64::MAX);
    limits.fuel_base.saturating_add(limits.fuel_per_input_byte.saturating_mul(input_bytes))
}

/// The part of the limits that wasmtime counts for us.
pub(super) fn store_limits(limits: &PluginLimits) -> StoreLimits {
    StoreLimitsBuilder::new()
        .memory_size(limits.memory_bytes_max)
        .table_elements(TABLE_ELEMENTS_MAX)
        .instances(32)
        .tables(8)
        .memories(4)
        .trap_on_grow_failure(true)
        .build()
}

macro_rules! each_limit {
    ($apply:ident) => {
        $apply!(
            memory_bytes_max,
            fuel_base,
            fuel_per_input_byte,
            wall_ms_max,
            step_output_bytes_max,
            mapper_output_bytes_max,
            state_bytes_max,
            effects_max,
            log_bytes_max,
            component_bytes_max,
            concurrent_calls_max
        )
    };
}

fn over(base: PluginLimits, set: PartialPluginLimits) -> PluginLimits {
    macro_rules! apply {
        ($($field:ident),+) => { PluginLimits { $($field: set.$field.unwrap_or(base.$field)),+ } };
    }
    each_limit!(apply)
}

fn smaller(one: PartialPluginLimits, other: PartialPluginLimits) -> PartialPluginLimits {
    macro_rules! apply {
        ($($field:ident),+) => {
            PartialPluginLimits {
                $($field: match (one.$field, other.$field) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                }),+
            }
        };
    }
    each_limit!(apply)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fuel_base(fuel: u64) -> PartialPluginLimits {
        PartialPluginLimits { fuel_base: Some(fuel), ..Default::default() }
    }

    fn resolved(overrides: &LimitOverrides, tenant: &str) -> PluginLimits {
        resolve(overrides, Some(tenant), &["MOODY".into(), "SULKY".into()], &Digest("d1".into()))
    }

    #[test]
    fn nothing_set_means_the_defaults() {
        assert_eq!(resolved(&LimitOverrides::default(), "acme"), PluginLimits::default());
    }

    #[test]
    fn a_tenant_or_a_plugin_may_be_given_more_than_everyone_has() {
        let mut overrides = LimitOverrides { default: fuel_base(5), ..Default::default() };
        assert_eq!(resolved(&overrides, "acme").fuel_base, 5);
        overrides.tenant.insert("acme".into(), fuel_base(50));
        assert_eq!(resolved(&overrides, "acme").fuel_base, 50);
        assert_eq!(resolved(&overrides, "other").fuel_base, 5);
        overrides.plugin.insert("SULKY".into(), fuel_base(500));
        assert_eq!(resolved(&overrides, "other").fuel_base, 500);
    }

    #[test]
    fn where_both_are_set_the_smaller_counts() {
        let mut overrides = LimitOverrides::default();
        overrides.tenant.insert("acme".into(), fuel_base(50));
        overrides.plugin.insert("d1".into(), fuel_base(40));
        assert_eq!(resolved(&overrides, "acme").fuel_base, 40);
        overrides.plugin.insert("d1".into(), fuel_base(60));
        assert_eq!(resolved(&overrides, "acme").fuel_base, 50);
        overrides.plugin.insert("MOODY".into(), fuel_base(30));
        assert_eq!(resolved(&overrides, "acme").fuel_base, 30);
    }

    #[test]
    fn memory_has_a_ceiling_and_fuel_grows_with_the_input() {
        let everyone = PartialPluginLimits { memory_bytes_max: Some(usize::MAX), ..Default::default() };
        let limits = resolved(&LimitOverrides { default: everyone, ..Default::default() }, "acme");
        assert_eq!(limits.memory_bytes_max, MEMORY_BYTES_CEILING);
        assert_eq!(fuel(&limits, 10), limits.fuel_base + 10 * limits.fuel_per_input_byte);
        assert_eq!(fuel(&PluginLimits { fuel_per_input_byte: u64::MAX, ..limits }, 10), u64::MAX);
    }
}
