//! `stepwell sender` and `stepwell reminder`.

use stepwell_tests::command::Host;

use crate::support::{folder, instance_in};

#[tokio::test]
async fn senders_are_set_and_tries_are_listed() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let set =
        ["sender", "set", "team", "--channel", "slack", "--url", "http://127.0.0.1:9/hook", "--default"];
    host.cli(&set).await.exits(0);
    host.cli(&["sender", "set", "mail", "--channel", "EMAIL"]).await.exits(1);
    host.cli(&["sender", "set", "mail"]).await.exits(2);
    let listed = host.cli(&["sender", "list"]).await.exits(0);
    assert!(listed.stdout.starts_with("NAME") && listed.stdout.contains("SLACK"), "{listed:?}");
    assert_eq!(host.cli_json(&["sender", "show", "team"]).await["default"], true);
    let file = data.path().join("tell.yaml");
    let source = "steps:\n  - { id: tell, type: REMINDER, config: { channel: SLACK, message: Hello, retry: { maxAttempts: 1 } } }\n";
    std::fs::write(&file, source).unwrap();
    host.cli(&["workflow", "deploy", file.to_str().unwrap(), "--key", "tell"]).await.exits(0);
    let started = host.cli_json(&["instance", "start", "tell"]).await;
    let instance = started["id"].as_str().unwrap().to_owned();
    instance_in(&host.url, &instance, "completed").await;
    // A neighbour is not told: the try is kept with the reason.
    let deadline = tokio::time::Instant::now() + stepwell_tests::command::PATIENCE;
    loop {
        let tries = host.cli_json(&["reminder", "list", "--instance", &instance, "--status", "failed"]).await;
        let why = tries["items"][0]["errorMessage"].as_str().unwrap_or_default().to_owned();
        if why.contains("not an address of the internet") {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "{tries}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let listed = host.cli(&["reminder", "list"]).await.exits(0);
    assert!(listed.stdout.contains("FAILED") && listed.stdout.contains(&instance), "{listed:?}");
    host.cli(&["reminder", "list", "--status", "lost"]).await.exits(1);
    host.cli(&["sender", "delete", "team"]).await.exits(0);
    host.cli(&["sender", "delete", "team"]).await.exits(3);
    host.stop().await;
}
