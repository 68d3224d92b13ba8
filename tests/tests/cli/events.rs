//! `stepwell event` and `stepwell wait`.

use serde_json::json;
use stepwell_tests::command::Host;

use crate::support::{folder, instance_in};

const SOURCE: &str = "steps:
  - { id: wait, type: wait_events, config: { apiCall: { enabled: false }, kafkaEvent: { topic: done }, timeout: 600, onTimeout: fail } }
";

#[tokio::test]
async fn events_are_sent_and_waits_are_mended() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let file = data.path().join("wait.yaml");
    std::fs::write(&file, SOURCE).unwrap();
    host.cli(&["workflow", "deploy", file.to_str().unwrap(), "--key", "w"]).await.exits(0);
    let start = async || {
        let started = host.cli_json(&["instance", "start", "w"]).await;
        let id = started["id"].as_str().unwrap().to_owned();
        let waits = host.cli_json(&["wait", "list", "--instance", &id]).await;
        (id, waits["items"][0].clone())
    };
    let (told, wait) = start().await;
    let event = json!({ "execution_id": told, "correlation_id": wait["correlationId"] }).to_string();
    let listed = host.cli(&["wait", "list"]).await.exits(0);
    assert!(listed.stdout.starts_with("ID") && listed.stdout.contains("waiting"), "{listed:?}");
    let sent = host.cli(&["event", "send", "done", "--payload", &event]).await.exits(0);
    assert!(sent.stdout.starts_with("sent: done, to 1 waits"), "{sent:?}");
    instance_in(&host.url, &told, "completed").await;
    let shown = host.cli_json(&["wait", "show", wait["id"].as_str().unwrap()]).await;
    assert_eq!(shown["status"], "completed");

    let late =
        host.cli(&["event", "send", "done", "--payload", &event.replace(&told, "nobody")]).await.exits(0);
    assert!(late.stdout.contains("refused: unknown_execution"), "{late:?}");
    let refused = host.cli(&["event", "rejected"]).await.exits(0);
    assert!(refused.stdout.contains("unknown_execution"), "{refused:?}");

    // Two that time out: one is completed by hand, one begins again.
    for verb in ["complete", "retry"] {
        let (id, wait) = start().await;
        let timers = host.cli_json(&["timer", "list", "--instance", &id]).await;
        for timer in timers["items"].as_array().unwrap() {
            host.cli(&["timer", "fire", timer["id"].as_str().unwrap()]).await;
        }
        instance_in(&host.url, &id, "failed").await;
        let dead = host.cli_json(&["wait", "list", "--dead"]).await;
        assert_eq!(dead["items"][0]["id"], wait["id"], "{dead}");
        host.cli(&["wait", verb, wait["id"].as_str().unwrap()]).await.exits(0);
        instance_in(&host.url, &id, if verb == "complete" { "completed" } else { "waiting" }).await;
        host.cli(&["wait", verb, wait["id"].as_str().unwrap()]).await.exits(1);
    }
    host.cli(&["wait", "show", &told]).await.exits(3);
    host.stop().await;
}
