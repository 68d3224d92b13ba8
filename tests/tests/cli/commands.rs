//! Each command against a real host: tables for people, JSON for scripts, exit codes for both.

use stepwell_tests::command::{Host, finish, run, stepwell};

use crate::support::{TASK_TYPE, folder, instance_in, source, start_again, start_jira};

#[tokio::test]
async fn a_workflow_is_deployed_listed_and_shown() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let file = source("examples/jira/workflow.yaml");
    let first = host.cli_json(&["workflow", "deploy", &file, "--key", "jira"]).await;
    assert_eq!((first["key"].as_str(), first["version"].as_i64()), (Some("jira"), Some(1)));
    let again = host.cli_json(&["workflow", "deploy", &file, "--key", "jira"]).await;
    assert_eq!(again["version"], 1, "the same document is the same version");

    let listed = host.cli(&["workflow", "list"]).await.exits(0);
    assert!(listed.stdout.starts_with("KEY") && listed.stdout.contains("jira"), "{listed:?}");
    let shown = host.cli(&["workflow", "show", "jira"]).await.exits(0);
    assert!(shown.stdout.contains("taskType: \"n8n-jira-create-ticket\""), "{shown:?}");
    host.cli(&["workflow", "show", "nothing"]).await.exits(3);
    host.stop().await;
}

#[tokio::test]
async fn a_wrong_document_is_refused_with_its_line() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let file = data.path().join("wrong.yaml");
    std::fs::write(&file, "steps:\n  - id: a\n    type: NO_SUCH_TYPE\n").unwrap();
    let refused = host.cli(&["workflow", "deploy", file.to_str().unwrap(), "--key", "wrong"]).await.exits(1);
    assert!(refused.stderr.contains("NO_SUCH_TYPE") && refused.stderr.contains("line 3"), "{refused:?}");
    let json =
        host.cli(&["workflow", "deploy", file.to_str().unwrap(), "--key", "wrong", "--json"]).await.exits(1);
    let problem: serde_json::Value = serde_json::from_str(json.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(problem["error"]["exit"], 1);
    assert!(problem["error"]["code"].is_string(), "{problem}");
    host.cli(&["workflow", "show", "wrong"]).await.exits(3);
    host.stop().await;
}

#[tokio::test]
async fn an_instance_goes_from_start_to_end_by_hand() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let id = start_jira(&host).await;
    let polled =
        host.cli_json(&["task", "poll", "--type", TASK_TYPE, "--worker", "me", "--wait", "60"]).await;
    let task = polled[0]["id"].as_str().unwrap();
    let token = polled[0]["lockToken"].as_str().unwrap();
    assert_eq!(polled[0]["input"]["projectKey"], "PROJ");
    let locked = host.cli(&["task", "list", "--status", "LOCKED"]).await.exits(0);
    assert!(locked.stdout.contains(task), "{locked:?}");

    let output = r#"{"result": {"ticketId": "P-1", "url": "u"}}"#;
    let complete = ["task", "complete", task, "--output", output, "--worker", "me", "--lock-token", token];
    host.cli(&complete).await.exits(0);
    host.cli(&complete).await.exits(0);
    let watched = host.cli(&["instance", "watch", &id]).await.exits(0);
    assert!(watched.stdout.contains("completed") && watched.stdout.contains("P-1"), "{watched:?}");
    let shown = host.cli(&["instance", "show", &id]).await.exits(0);
    assert!(
        shown.stdout.contains("create-jira-ticket-via-n8n") && shown.stdout.contains("timeline"),
        "{shown:?}"
    );
    let json = host.cli_json(&["instance", "show", &id]).await;
    assert_eq!(json["context"]["jiraTicketId"], "P-1");
    host.stop().await;
}

#[tokio::test]
async fn start_with_watch_follows_to_the_end() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    host.cli(&["workflow", "deploy", &source("examples/jira/workflow.yaml"), "--key", "jira"]).await.exits(0);
    let context = format!("@{}", source("examples/jira/context.json"));
    let start = ["instance", "start", "jira", "--context", &context, "--watch", "--json"];
    let worker = async {
        let task = crate::support::poll(&host.url).await;
        crate::support::complete(&host.url, task["id"].as_str().unwrap()).await;
    };
    let (ran, ()) = tokio::join!(host.cli(&start), worker);
    let last = ran.exits(0).json();
    assert_eq!(last["status"], "completed");
    assert_eq!(last["context"]["jiraTicketId"], "PROJ-7");
    host.stop().await;
}

#[tokio::test]
async fn failures_end_as_dead_letters_and_failed_instances() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let id = start_jira(&host).await;
    let polled = host.cli_json(&["task", "poll", "--type", TASK_TYPE, "--wait", "60"]).await;
    let task = polled[0]["id"].as_str().unwrap();
    host.cli(&["task", "fail", task, "--message", "no such project", "--no-retry"]).await.exits(0);
    let letters = host.cli(&["dead-letter", "list"]).await.exits(0);
    assert!(letters.stdout.contains(task) && letters.stdout.contains("no such project"), "{letters:?}");
    instance_in(&host.url, &id, "failed").await;
    let watched = host.cli(&["instance", "watch", &id]).await.exits(1);
    assert!(watched.stderr.contains("instance_failed"), "{watched:?}");
    host.stop().await;
}

#[tokio::test]
async fn a_cancelled_instance_has_no_open_task() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let id = start_jira(&host).await;
    host.cli(&["instance", "cancel", &id, "--reason", "a test"]).await.exits(0);
    instance_in(&host.url, &id, "cancelled").await;
    let open = host.cli_json(&["task", "list", "--status", "PENDING"]).await;
    assert_eq!(open["items"].as_array().map(Vec::len), Some(0), "{open}");
    let other = start_again(&host).await;
    let listed = host.cli(&["instance", "list", "--status", "cancelled"]).await.exits(0);
    assert!(listed.stdout.contains(&id) && !listed.stdout.contains(&other), "{listed:?}");
    host.stop().await;
}

#[tokio::test]
async fn a_message_nobody_waits_for_is_sent_all_the_same() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    host.cli(&["message", "send", "order-paid", "--payload", "{\"by\": \"card\"}"]).await.exits(0);
    let incidents = host.cli(&["incident", "list"]).await.exits(0);
    assert!(incidents.stdout.contains("(none)"), "{incidents:?}");
    host.cli(&["incident", "resume", "01890a5d-ac96-774b-bcce-b302099a8057"]).await.exits(3);
    host.stop().await;
}

#[tokio::test]
async fn exit_codes_tell_what_kind_of_trouble_it_is() {
    let away = run(&["workflow", "list", "--server", "http://127.0.0.1:1"]).await.exits(69);
    assert!(away.stderr.contains("stepwell serve"), "{away:?}");
    for wrong in [
        &["workflow"][..],
        &["nonsense"],
        &["task", "poll"],
        &["workflow", "list", "--server", "not an address"],
        &["instance", "start", "jira", "--context", "{not json"],
        &["workflow", "deploy", "/no/such/file.yaml"],
        &["token", "create", "--role", "king"],
    ] {
        run(wrong).await.exits(2);
    }
    run(&["--version"]).await.exits(0);
    for help in [&["--help"][..], &["serve", "--help"], &["instance", "start", "--help"]] {
        let ran = run(help).await.exits(0);
        assert!(ran.stdout.contains("Example"), "{help:?}: {ran:?}");
    }
}

#[tokio::test]
async fn variables_stand_in_for_flags() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    let mut command = stepwell(&["workflow", "list", "--json"]);
    command.env("STEPWELL_SERVER", &host.url);
    assert!(finish(command).await.exits(0).json()["items"].is_array());
    host.stop().await;
}

#[tokio::test]
async fn a_dead_letter_is_retried_then_discarded_and_workers_are_seen() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    start_jira(&host).await;
    let poll = ["task", "poll", "--type", "n8n-jira-*", "--worker", "me", "--wait", "60"];
    let polled = host.cli_json(&poll).await;
    let task = polled[0]["id"].as_str().unwrap();
    host.cli(&["task", "heartbeat", task, "--worker", "me", "--checkpoint", r#"{"page": 3}"#]).await.exits(0);
    host.cli(&["task", "unlock", task, "--worker", "somebody-else"]).await.exits(1);
    host.cli(&["task", "unlock", task, "--worker", "me"]).await.exits(0);
    let polled = host.cli_json(&poll).await;
    assert_eq!((polled[0]["id"].as_str(), &polled[0]["checkpoint"]["page"]), (Some(task), &3.into()));
    let why = host.cli(&["task", "why", task]).await.exits(0);
    assert!(why.stdout.starts_with("locked: me holds it"), "{why:?}");

    let fail = ["task", "fail", task, "--message", "no", "--no-retry", "--worker", "me"];
    host.cli(&fail).await.exits(0);
    let shown = host.cli(&["dead-letter", "show", task]).await.exits(0);
    assert!(shown.stdout.contains("\"FAILED\""), "{shown:?}");
    let retried = host.cli(&["dead-letter", "retry", task, "--attempts", "2"]).await.exits(0);
    assert!(retried.stdout.contains("attempts: 2"), "{retried:?}");
    host.cli(&["dead-letter", "retry", task]).await.exits(1);
    assert_eq!(host.cli_json(&poll).await[0]["id"].as_str(), Some(task));
    host.cli(&fail).await.exits(0);
    host.cli(&["dead-letter", "discard", task, "--reason", "done by hand"]).await.exits(0);
    host.cli(&["dead-letter", "show", task]).await.exits(3);

    let workers = host.cli(&["worker", "list"]).await.exits(0);
    assert!(workers.stdout.contains("ACTIVE") && workers.stdout.contains("n8n-jira-*"), "{workers:?}");
    let gone = host.cli(&["worker", "goodbye", "me"]).await.exits(0);
    assert!(gone.stdout.contains("tasks released: 0"), "{gone:?}");
    assert_eq!(host.cli_json(&["worker", "show", "me"]).await["status"], "DEAD");
    host.cli(&["worker", "show", "nobody"]).await.exits(3);
    host.stop().await;
}
