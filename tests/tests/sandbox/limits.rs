//! Limits that an operator set: for everyone, for a tenant, for a plugin; and a tenant's places.

use std::pin::pin;
use std::sync::Arc;

use serde_json::json;
use stepwell::domain::plugin::{LimitOverrides, PartialPluginLimits};
use stepwell::engine::port::Plugins as _;
use stepwell_tests::guests;

use crate::kit::{fault, host_with, mode, of_tenant, output, patient, poll_once, served};

fn everyone(default: PartialPluginLimits) -> LimitOverrides {
    LimitOverrides { default, ..Default::default() }
}

#[tokio::test]
async fn a_tenant_s_limit_holds_for_it_alone() {
    let mut overrides = everyone(patient());
    let small = PartialPluginLimits { memory_bytes_max: Some(4 << 20), effects_max: Some(2), ..patient() };
    overrides.tenant.insert("small".into(), small);
    let host = host_with(overrides, Arc::default());
    let digest = served(&host, guests::hostile()).await;
    let memory = |tenant| of_tenant(tenant, mode("memory", 8));
    assert_eq!(fault(&host, &digest, &memory("small")).await, ("plugin_memory", false));
    assert!(host.call_step(&digest, &memory("large")).await.is_ok());
    assert_eq!(
        fault(&host, &digest, &of_tenant("small", mode("effects", 3))).await,
        ("plugin_effects", false)
    );
    assert!(host.call_step(&digest, &of_tenant("large", mode("effects", 3))).await.is_ok());
}

#[tokio::test]
async fn a_plugin_s_limit_is_set_by_its_name_and_the_smaller_counts() {
    let burn = mode("burn", 100_000);
    let run = async |tenant: Option<u64>, plugin: Option<u64>| {
        let mut overrides = everyone(patient());
        let fuel = |fuel_base| PartialPluginLimits { fuel_base, fuel_per_input_byte: Some(0), ..patient() };
        overrides.tenant.insert("default".into(), fuel(tenant));
        overrides.plugin.insert("HOSTILE".into(), fuel(plugin));
        let host = host_with(overrides, Arc::default());
        let digest = served(&host, guests::hostile()).await;
        host.call_step(&digest, &burn).await.map(|answer| answer.usage.fuel).map_err(|fault| fault.code)
    };
    let used = run(None, None).await.expect("enough by default");
    assert!(used > 100_000, "{used}");
    assert_eq!(run(None, Some(used / 2)).await, Err("plugin_fuel"));
    assert_eq!(run(Some(used / 2), Some(used * 2)).await, Err("plugin_fuel"));
    assert_eq!(run(Some(used * 2), Some(used * 2)).await, Ok(used));
}

#[tokio::test]
async fn fuel_grows_with_the_input() {
    let default = PartialPluginLimits { fuel_base: Some(0), fuel_per_input_byte: Some(50_000), ..patient() };
    let host = host_with(everyone(default), Arc::default());
    let digest = host.load(guests::hostile(), "test").await.map(|loaded| loaded.digest.clone());
    assert_eq!(
        digest.map_err(|error| error.code),
        Err("describe_failed"),
        "`describe` has no input to pay with"
    );
    let mut overrides = everyone(patient());
    overrides.tenant.insert("default".into(), default);
    let host = host_with(overrides, Arc::default());
    let digest = served(&host, guests::hostile()).await;
    let mut call = mode("burn", 1_000_000);
    assert_eq!(fault(&host, &digest, &call).await, ("plugin_fuel", false));
    call.context.extra = json!({ "padding": "x".repeat(1_000) });
    assert!(host.call_step(&digest, &call).await.is_ok());
}

#[tokio::test]
async fn time_by_the_clock_on_the_wall_is_transient() {
    let mut overrides = everyone(patient());
    let hasty =
        PartialPluginLimits { fuel_base: Some(u64::MAX / 2), wall_ms_max: Some(50), ..Default::default() };
    overrides.tenant.insert("hasty".into(), hasty);
    let host = host_with(overrides, Arc::default());
    let digest = served(&host, guests::hostile()).await;
    let call = of_tenant("hasty", mode("loop", 0));
    assert_eq!(fault(&host, &digest, &call).await, ("plugin_timeout", true));
    assert_eq!(output(&host, &digest, &mode("fine", 0)).await, json!({ "from": "before" }));
}

#[tokio::test]
async fn a_tenant_with_an_endless_plugin_does_not_hold_up_another() {
    let mut overrides = everyone(patient());
    let endless =
        PartialPluginLimits { fuel_base: Some(u64::MAX / 2), concurrent_calls_max: Some(1), ..patient() };
    overrides.tenant.insert("endless".into(), endless);
    let host = host_with(overrides, Arc::default());
    let digest = served(&host, guests::hostile()).await;
    let (looping, waiting) = (of_tenant("endless", mode("loop", 0)), of_tenant("endless", mode("fine", 0)));
    let mut second = pin!(host.call_step(&digest, &waiting));
    {
        let mut first = pin!(host.call_step(&digest, &looping));
        assert!(poll_once(&mut first).is_pending(), "it computes, and yields at a tick");
        assert!(poll_once(&mut second).is_pending(), "the tenant's one place is taken");
        let other = of_tenant("other", mode("fine", 0));
        assert_eq!(output(&host, &digest, &other).await, json!({ "from": "before" }));
        assert!(poll_once(&mut first).is_pending());
        assert!(poll_once(&mut second).is_pending());
    }
    assert!(second.await.is_ok(), "the place was given back when the first call was dropped");
}
