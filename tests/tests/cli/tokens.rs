//! Open only on loopback; tokens by the CLI, with and without a server.

use stepwell_tests::command::{Host, eventually, http, run};

use crate::support::folder;

#[tokio::test]
async fn a_host_on_loopback_without_tokens_is_open_and_says_so() {
    let data = folder();
    let host = Host::on_sqlite(&data, &[]).await;
    assert_eq!(host.greeting["open"], true);
    eventually("the warning", || async {
        host.log().lines().any(|line| line.contains("WARN") && line.contains("OPEN")).then_some(())
    })
    .await;
    assert_eq!(http().get(host.at("/api/v1/workflows")).send().await.unwrap().status(), 200);
    host.stop().await;
}

#[tokio::test]
async fn elsewhere_a_host_wants_a_token_and_says_how_to_make_one() {
    let data = folder();
    let path = data.path().to_str().unwrap();
    let ran = run(&["serve", "--listen", "0.0.0.0:0", "--data", path]).await.exits(78);
    assert!(ran.stderr.contains("stepwell token create --role admin"), "{ran:?}");

    let database = format!("sqlite:{path}/stepwell.db");
    let made =
        run(&["token", "create", "--role", "admin", "--name", "first", "--database", &database, "--json"])
            .await;
    let secret = made.exits(0).json()["token"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("stw_"), "{secret}");

    let mut command =
        stepwell_tests::command::stepwell(&["serve", "--json", "--listen", "0.0.0.0:0", "--data", path]);
    command.env("STEPWELL_LOG", "debug");
    let host = Host::from_command(command).await;
    assert_eq!(host.greeting["open"], false);
    let local = host.url.replace("0.0.0.0", "127.0.0.1");
    let workflows = format!("{local}/api/v1/workflows");
    assert_eq!(http().get(&workflows).send().await.unwrap().status(), 401);
    assert_eq!(http().get(&workflows).bearer_auth(&secret).send().await.unwrap().status(), 200);
    assert!(!host.log().contains(&secret), "a secret is never logged");
    host.stop().await;
}

#[tokio::test]
async fn tokens_are_made_listed_and_revoked() {
    let data = folder();
    let database = format!("sqlite:{}/stepwell.db", data.path().display());
    let create = ["token", "create", "--role", "admin", "--name", "root", "--database", &database, "--json"];
    let admin = run(&create).await.exits(0).json()["token"].as_str().unwrap().to_owned();
    let host = Host::on_sqlite(&data, &[]).await;
    assert_eq!(host.greeting["open"], false);

    let refused = host.cli(&["workflow", "list"]).await.exits(1);
    assert!(refused.stderr.contains("error ("), "{refused:?}");

    let worker = host
        .cli_json(&[
            "token",
            "create",
            "--role",
            "worker",
            "--name",
            "n8n",
            "--expires",
            "90d",
            "--token",
            &admin,
        ])
        .await;
    let secret = worker["token"].as_str().unwrap();
    let id = worker["id"].as_str().unwrap();
    host.cli(&["task", "poll", "--type", "x", "--token", secret]).await.exits(0);
    // A worker works; it does not deploy or make tokens.
    host.cli(&["token", "list", "--token", secret]).await.exits(1);

    let listed = host.cli(&["token", "list", "--token", &admin]).await.exits(0);
    assert!(listed.stdout.contains("n8n") && listed.stdout.contains("root"), "{listed:?}");
    assert!(!listed.stdout.contains(secret), "a secret is shown once");

    host.cli(&["token", "revoke", id, "--token", &admin]).await.exits(0);
    host.cli(&["task", "poll", "--type", "x", "--token", secret]).await.exits(1);
    host.stop().await;
}

#[tokio::test]
async fn an_admin_makes_tokens_for_other_tenants() {
    let data = folder();
    let database = format!("sqlite:{}/stepwell.db", data.path().display());
    let create = ["token", "create", "--role", "admin", "--name", "root", "--database", &database, "--json"];
    let admin = run(&create).await.exits(0).json()["token"].as_str().unwrap().to_owned();
    let host = Host::on_sqlite(&data, &[]).await;
    let made = host
        .cli_json(&[
            "token", "create", "--role", "operator", "--name", "ops", "--tenant", "acme", "--token", &admin,
        ])
        .await;
    assert_eq!(made["tenant"], "acme");
    let secret = made["token"].as_str().unwrap();
    let workflow = crate::support::source("examples/jira/workflow.yaml");
    host.cli(&["workflow", "deploy", &workflow, "--key", "jira", "--token", secret]).await.exits(0);
    host.cli(&["workflow", "show", "jira", "--token", secret]).await.exits(0);
    // It is acme's, not the default tenant's.
    host.cli(&["workflow", "show", "jira", "--tenant", "default", "--token", &admin]).await.exits(3);
    host.stop().await;
}
