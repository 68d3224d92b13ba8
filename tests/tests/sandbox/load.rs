//! Components that are no good are refused when they are loaded, each with a sentence that says why.

use std::sync::Arc;

use stepwell::domain::plugin::{LimitOverrides, PartialPluginLimits};
use stepwell::plugin::{LoadError, PluginHost};
use stepwell_tests::guests;

use crate::kit::{host, host_with, patient};

async fn refused(host: &PluginHost, bytes: Vec<u8>) -> LoadError {
    let error = host.load(bytes, "test").await.expect_err("refused");
    assert!(host.list().is_empty(), "nothing of it is kept");
    error
}

fn component(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("a component")
}

#[tokio::test]
async fn what_is_no_component_is_told_apart() {
    let host = host();
    let hostile = guests::hostile();
    assert_eq!(refused(&host, b"hello".to_vec()).await.code, "component_not_wasm");
    assert_eq!(refused(&host, component("(module)")).await.code, "component_core_module");
    assert_eq!(refused(&host, hostile[..hostile.len() - 100].to_vec()).await.code, "component_truncated");
    assert_eq!(refused(&host, hostile[..6].to_vec()).await.code, "component_truncated");
    let mut scrambled = hostile.clone();
    let middle = scrambled.len() / 2;
    scrambled[middle..middle + 4_000].fill(0xff);
    assert_eq!(refused(&host, scrambled).await.code, "component_invalid");
}

#[tokio::test]
async fn a_forbidden_import_is_named() {
    let host = host();
    for name in ["wasi:sockets/tcp@0.2.0", "wasi:http/outgoing-handler@0.2.0", "acme:host/shell"] {
        let error = refused(&host, component(&format!("(component (import \"{name}\" (instance)))"))).await;
        assert_eq!(error.code, "component_import");
        assert!(error.message.contains(name), "{error}");
    }
}

#[tokio::test]
async fn another_major_version_is_refused_with_both_versions() {
    let host = host();
    let error = refused(&host, guests::patched(guests::hostile(), "@1.0.0", "@2.0.0")).await;
    assert_eq!(error.code, "component_version");
    assert!(error.message.contains("2.0.0") && error.message.contains("1.0.0"), "{error}");
}

#[tokio::test]
async fn a_component_without_the_contract_is_refused() {
    let host = host();
    let error = refused(&host, component("(component)")).await;
    assert_eq!(error.code, "component_world");
    assert!(error.message.contains("step-plugin"), "{error}");
    let hollow = "(component (instance $i) (export \"stepwell:plugin/step@1.0.0\" (instance $i)))";
    assert_eq!(refused(&host, component(hollow)).await.code, "component_world");
}

#[tokio::test]
async fn size_is_checked_first() {
    let default = PartialPluginLimits { component_bytes_max: Some(1_000), ..patient() };
    let host = host_with(LimitOverrides { default, ..Default::default() }, Arc::default());
    let error = refused(&host, guests::hostile()).await;
    assert_eq!(error.code, "component_too_large");
    assert!(error.message.contains("1000"), "{error}");
}

#[tokio::test]
async fn a_component_that_cannot_describe_itself_is_refused() {
    let error = refused(&host(), guests::trap_describe()).await;
    assert_eq!(error.code, "describe_failed");
    assert!(error.message.contains("plugin_trap"), "{error}");
}

#[tokio::test]
async fn a_descriptor_that_makes_no_sense_is_refused() {
    // A text that is long enough not to be made of numbers in the code.
    let error =
        refused(&host(), guests::patched(guests::greeting(), "greets at once", "greets\0at once")).await;
    assert_eq!(error.code, "descriptor_invalid");
}

#[tokio::test]
async fn an_example_that_does_not_hold_is_refused() {
    let error = refused(&host(), guests::patched(guests::greeting(), "Hello, Ada!", "Howdy, Ada!")).await;
    assert_eq!(error.code, "example_failed");
    assert!(
        error.message.contains("greets at once") && error.message.contains("/outcome/output/greeting"),
        "{error}"
    );
}

#[tokio::test]
async fn a_check_reports_and_keeps_nothing() {
    let host = host();
    let report = host.check(guests::greeting(), "greeting-step.wasm").await.unwrap();
    assert_eq!(report.info.descriptor.types, ["GREETING"]);
    assert_eq!(report.examples.len(), 1);
    assert!(report.examples[0].1.fuel > 0 && report.examples[0].1.memory_bytes > 0);
    assert!(host.list().is_empty());
}

#[tokio::test]
async fn compiled_code_is_kept_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let options = || stepwell::plugin::PluginOptions {
        cache_dir: Some(dir.path().join("cache")),
        overrides: LimitOverrides { default: patient(), ..Default::default() },
        components: Arc::new(crate::kit::Shelf::default()),
    };
    PluginHost::new(options()).unwrap().load(guests::greeting(), "test").await.unwrap();
    let files = walk(&dir.path().join("cache"));
    assert!(files >= 1, "{files} files");
    PluginHost::new(options()).unwrap().load(guests::greeting(), "test").await.unwrap();
}

fn walk(dir: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { walk(&path) } else { 1 }).sum()
}
