//! A host that is killed with no warning loses nothing that it had answered for.

use stepwell_tests::command::Host;

use crate::support::{complete, folder, instance_in, poll, start_again, start_jira};

#[tokio::test]
async fn nothing_is_lost_when_a_host_is_killed() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let done = start_jira(&host).await;
    let finished = poll(&host.url).await;
    complete(&host.url, finished["id"].as_str().unwrap()).await;
    let waiting = start_again(&host).await;
    let held = poll(&host.url).await;
    let untouched = start_again(&host).await;
    host.kill().await;

    let host = Host::on_sqlite(&data, &[]).await;
    instance_in(&host.url, &done, "completed").await;
    // The worker outlived the host: its lock is in the database, and its answer is taken.
    complete(&host.url, held["id"].as_str().unwrap()).await;
    instance_in(&host.url, &waiting, "completed").await;
    let last = poll(&host.url).await;
    assert_eq!(last["workflowInstanceId"], untouched.as_str());
    complete(&host.url, last["id"].as_str().unwrap()).await;
    instance_in(&host.url, &untouched, "completed").await;
    host.stop().await;
}

#[tokio::test]
async fn a_repeat_after_a_crash_starts_nothing_twice() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    start_jira(&host).await;
    let context = format!("@{}", crate::support::source("examples/jira/context.json"));
    let start = ["instance", "start", "jira", "--context", &context, "--idempotency-key", "order-7"];
    let first = host.cli_json(&start).await;
    host.kill().await;

    let host = Host::on_sqlite(&data, &[]).await;
    let again = host.cli_json(&start).await;
    assert_eq!(first["id"], again["id"]);
    let all = host.cli_json(&["instance", "list"]).await;
    assert_eq!(all["items"].as_array().map(Vec::len), Some(2), "{all}");
    host.stop().await;
}
