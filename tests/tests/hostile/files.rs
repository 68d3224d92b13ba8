//! Files that are no good as plugins: each is refused by name and with a code, and the host serves on.

use anyhow::Result;
use serde_json::json;
use stepwell_tests::command::{Host, eventually};
use stepwell_tests::guests;
use stepwell_tests::host::{Client, one_task};

fn bad_files() -> [(&'static str, &'static str, Vec<u8>); 6] {
    let hostile = guests::hostile();
    let half = hostile[..hostile.len() / 2].to_vec();
    let component = |text: &str| wat::parse_str(text).expect("a component");
    let sockets = "(component (import \"wasi:sockets/tcp@0.2.0\" (instance)))";
    [
        ("describes-badly", "describe_failed", guests::trap_describe()),
        ("wants-sockets", "component_import", component(sockets)),
        ("core-module", "component_core_module", component("(module)")),
        ("truncated", "component_truncated", half),
        ("next-major", "component_version", guests::patched(hostile, "@1.0.0", "@2.0.0")),
        ("no-wasm", "component_not_wasm", b"hello".to_vec()),
    ]
}

#[tokio::test]
async fn a_file_that_is_no_plugin_is_refused_and_the_host_serves_on() -> Result<()> {
    let (data, plugins) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let host = Host::on_sqlite(&data, &["--plugins", plugins.path().to_str().unwrap_or_default()]).await;
    let client = Client::new(host.url.clone());
    client.deploy("one", one_task("t", &[])).await?;
    let before = client.get("/api/v1/plugins").await?.expect(200)?;
    for (name, code, bytes) in bad_files() {
        let file = format!("{name}.wasm");
        std::fs::write(plugins.path().join(&file), bytes)?;
        eventually(&format!("{file} is refused as {code}"), || async {
            host.log().lines().any(|line| line.contains(&file) && line.contains(code)).then_some(())
        })
        .await;
        let id = client.start("one", json!({})).await?;
        client.work("t", &json!({})).await?;
        client.instance_is(&id, "completed").await?;
    }
    assert_eq!(client.get("/api/v1/plugins").await?.expect(200)?, before, "nothing of them is served");
    host.stop().await;
    Ok(())
}
