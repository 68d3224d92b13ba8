//! Starting, saying where, and draining on a signal.

use std::time::Duration;

use stepwell_tests::command::{Host, PATIENCE, eventually, http, run, stepwell};

use crate::support::{TASK_TYPE, complete, folder, instance_in, poll, start_again, start_jira};

#[tokio::test]
async fn serve_says_where_it_listens_and_what_to_try() {
    let data = folder();
    let mut command = stepwell(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    command.arg(data.path());
    let mut child = command.spawn().unwrap();
    let mut lines =
        tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stdout.take().unwrap()));
    let mut text = String::new();
    while !text.contains("/metrics") {
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
        text.push_str(&line.expect("the host says more before it ends"));
        text.push('\n');
    }
    let url = text.split_whitespace().find(|word| word.starts_with("http://127.0.0.1:")).unwrap();
    assert!(!url.ends_with(":0"), "{text}");
    assert!(text.contains("stepwell demo"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colour off a terminal: {text}");
    assert_eq!(http().get(format!("{url}/healthz")).send().await.unwrap().status(), 200);
    child.kill().await.unwrap();
}

#[tokio::test]
async fn both_signals_drain_a_host_with_a_parked_poll() {
    for signal in ["TERM", "INT"] {
        let data = folder();
        let host = Host::on_sqlite(&data, &[]).await;
        let parked = {
            let path = host.at(&format!("/api/n8n/external-tasks/poll?taskType={TASK_TYPE}&waitSeconds=250"));
            let http = stepwell_tests::command::client().timeout(Duration::from_secs(240)).build().unwrap();
            tokio::spawn(async move { http.get(path).send().await })
        };
        eventually("the poll to be parked", || async {
            let metrics = http().get(host.at("/metrics")).send().await.ok()?.text().await.ok()?;
            metrics.lines().any(|line| line.starts_with("stepwell_polls_parked 1")).then_some(())
        })
        .await;
        host.signal(signal).await;
        let (status, log) = host.ended().await;
        assert_eq!(status.code(), Some(0), "{signal}: {log}");
        let answer = parked.await.unwrap().expect("a parked poll is answered, not cut");
        assert_eq!(answer.status(), 204, "{signal}: {log}");
    }
}

#[tokio::test]
async fn what_was_accepted_before_a_signal_is_there_after_a_restart() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let first = start_jira(&host).await;
    let second = start_again(&host).await;
    let task = poll(&host.url).await;
    host.stop().await;

    let host = Host::on_sqlite(&data, &[]).await;
    complete(&host.url, task["id"].as_str().unwrap()).await;
    let other = poll(&host.url).await;
    complete(&host.url, other["id"].as_str().unwrap()).await;
    for id in [first, second] {
        let instance = instance_in(&host.url, &id, "completed").await;
        assert_eq!(instance["context"]["jiraTicketId"], "PROJ-7");
    }
    host.stop().await;
}

#[tokio::test]
async fn a_second_host_on_the_same_sqlite_file_is_refused() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let path = data.path().to_str().unwrap();
    let second = run(&["serve", "--listen", "127.0.0.1:0", "--data", path]).await;
    assert_eq!(second.code, 69, "{second:?}");
    assert!(!second.stderr.contains("panicked"), "{second:?}");
    host.stop().await;
}

#[tokio::test]
async fn an_address_that_is_taken_is_named() {
    let data = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = run(&["serve", "--listen", &address, "--data", data.path().to_str().unwrap()]).await.exits(69);
    assert!(ran.stderr.contains(&address), "{ran:?}");
}
