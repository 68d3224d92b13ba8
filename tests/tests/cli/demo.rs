//! `stepwell demo`: alone, against a running host, and for scripts.

use stepwell_tests::command::{Host, run, source_root};

use crate::support::folder;

#[tokio::test]
async fn the_demo_ends_with_a_ticket_and_shows_the_way_there() {
    let ran = run(&["demo"]).await.exits(0);
    let workflow = std::fs::read_to_string(source_root().join("examples/jira/workflow.yaml")).unwrap();
    for part in [
        workflow.as_str(),
        "worker: polled task",
        "sent a heartbeat",
        "create-jira-ticket-via-n8n",
        "completed",
        "\"jiraTicketId\": \"PROJ-1\"",
        "\"jiraTicketUrl\": \"https://jira.example.com/browse/PROJ-1\"",
    ] {
        assert!(ran.stdout.contains(part), "{part} is missing: {ran:?}");
    }
    assert!(!ran.stdout.contains('\u{1b}'), "no colour off a terminal");
}

#[tokio::test]
async fn the_demo_runs_against_a_host_too() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let last = host.cli_json(&["demo"]).await;
    assert_eq!(last["status"], "completed");
    assert_eq!(last["context"]["jiraTicketId"], "PROJ-1");
    let listed = host.cli_json(&["instance", "list", "--status", "completed"]).await;
    assert_eq!(listed["items"][0]["id"], last["instance"]);
    host.stop().await;
}

#[tokio::test]
async fn the_demo_fails_clearly_with_no_host() {
    let ran = run(&["demo", "--server", "http://127.0.0.1:1"]).await.exits(69);
    assert!(ran.stderr.contains("stepwell serve"), "{ran:?}");
}
