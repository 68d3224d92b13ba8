//! Plugins by the CLI: bundled ones, one that is dropped in while the host runs, and checks without a host.

use stepwell_tests::command::{Host, eventually, run};
use stepwell_tests::guests::greeting;

use crate::support::{folder, instance_in};

#[tokio::test]
async fn bundled_plugins_are_listed_and_described() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let listed = host.cli(&["plugin", "list"]).await.exits(0);
    assert!(listed.stdout.contains("EXTERNAL_TASK") && listed.stdout.contains("jsonpath"), "{listed:?}");
    let shown = host.cli(&["plugin", "inspect", "EXTERNAL_TASK"]).await.exits(0);
    assert!(shown.stdout.contains("config schema") && shown.stdout.contains("taskType"), "{shown:?}");
    host.cli(&["plugin", "inspect", "NO_SUCH_TYPE"]).await.exits(3);
    host.stop().await;
}

#[tokio::test]
async fn a_component_dropped_into_the_folder_is_served_without_a_restart() {
    let data = folder();
    let plugins = folder();
    let host = Host::on_sqlite(&data, &["--plugins", plugins.path().to_str().unwrap()]).await;
    host.cli(&["plugin", "inspect", "GREETING"]).await.exits(3);

    // Written elsewhere and moved in: but a half-written file would only be read again.
    std::fs::write(plugins.path().join("greeting.wasm"), greeting()).unwrap();
    eventually("the new type", || async {
        (host.cli(&["plugin", "inspect", "GREETING"]).await.code == 0).then_some(())
    })
    .await;

    let workflow = data.path().join("greet.yaml");
    std::fs::write(&workflow, "steps:\n  - id: greet\n    type: GREETING\n    config:\n      name: Ada\n")
        .unwrap();
    host.cli(&["workflow", "deploy", workflow.to_str().unwrap(), "--key", "greet"]).await.exits(0);
    let started = host.cli_json(&["instance", "start", "greet"]).await;
    instance_in(&host.url, started["id"].as_str().unwrap(), "completed").await;
    host.stop().await;

    // It is in the database: a host without the folder serves it too.
    let host = Host::on_sqlite(&data, &[]).await;
    host.cli(&["plugin", "inspect", "GREETING"]).await.exits(0);
    host.stop().await;
}

#[tokio::test]
async fn a_broken_file_in_the_folder_hurts_nobody() {
    let data = folder();
    let plugins = folder();
    std::fs::write(plugins.path().join("broken.wasm"), b"not a component").unwrap();
    std::fs::write(plugins.path().join("notes.txt"), b"not a plugin").unwrap();
    let host = Host::on_sqlite(&data, &["--plugins", plugins.path().to_str().unwrap()]).await;
    eventually("the warning", || async { host.log().contains("broken.wasm").then_some(()) }).await;
    host.cli(&["plugin", "inspect", "EXTERNAL_TASK"]).await.exits(0);
    host.stop().await;
}

#[tokio::test]
async fn a_component_is_checked_without_a_host() {
    let folder = folder();
    let good = folder.path().join("greeting.wasm");
    std::fs::write(&good, greeting()).unwrap();
    let checked = run(&["plugin", "check", good.to_str().unwrap()]).await.exits(0);
    assert!(checked.stdout.contains("GREETING") && checked.stdout.contains("pass"), "{checked:?}");
    let json = run(&["plugin", "check", good.to_str().unwrap(), "--json"]).await.exits(0).json();
    assert_eq!(json["passed"], true, "{json}");

    let bad = folder.path().join("bad.wasm");
    std::fs::write(&bad, b"\0asm but not much more").unwrap();
    let refused = run(&["plugin", "check", bad.to_str().unwrap()]).await.exits(1);
    assert!(refused.stdout.contains("fail") || refused.stderr.contains("error"), "{refused:?}");
    run(&["plugin", "check", "/no/such/file.wasm"]).await.exits(2);
}
