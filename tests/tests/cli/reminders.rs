//! `stepwell sender` and `stepwell reminder`.

use stepwell_tests::command::{Host, http};
use stepwell_tests::endpoint::{Endpoint, Reply};

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

/// Whatever is logged, secrets are not: neither where they are used nor where that goes wrong.
#[tokio::test]
async fn secrets_are_in_no_log() {
    const VALUE: &str = "hush-4be1c7";
    let endpoint = Endpoint::start().await.unwrap();
    endpoint.reply(&format!("/{VALUE}/bad"), vec![Reply::new(500, "")]);
    let (data, allowed) = (folder(), format!("127.0.0.1:{}", endpoint.port()));
    let host = Host::on_sqlite(&data, &["--log", "trace", "--allow-hosts", &allowed]).await;
    for (name, value) in [
        ("GOOD", endpoint.url(&format!("/{VALUE}/good"))),
        ("BAD", endpoint.url(&format!("/{VALUE}/bad"))),
        ("KEY", format!("{VALUE}-key")),
    ] {
        let body = serde_json::json!({ "value": value, "hosts": [allowed] });
        let answer =
            http().put(host.at(&format!("/api/v1/secrets/{name}"))).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 201);
    }
    for name in ["good", "bad"] {
        let secret = name.to_uppercase();
        let set = [
            "sender",
            "set",
            name,
            "--channel",
            "webhook",
            "--url-secret",
            &secret,
            "--signing-secret",
            "KEY",
        ];
        host.cli(&set).await.exits(0);
        let file = data.path().join("tell.yaml");
        let source = format!(
            "steps:\n  - id: tell\n    type: REMINDER\n    config: {{ channel: WEBHOOK, sender: {name}, message: m, required: true, \
             retry: {{ maxAttempts: 2, initialMs: 10, maxMs: 10 }} }}\n    onError: end\n"
        );
        std::fs::write(&file, source).unwrap();
        host.cli(&["workflow", "deploy", file.to_str().unwrap(), "--key", name]).await.exits(0);
        let started = host.cli_json(&["instance", "start", name]).await;
        instance_in(&host.url, started["id"].as_str().unwrap(), "completed").await;
    }
    assert_eq!(endpoint.received(&format!("/{VALUE}/good")).len(), 1, "it was used");
    assert_eq!(endpoint.received(&format!("/{VALUE}/bad")).len(), 2);
    let log = host.log();
    assert!(log.contains("TRACE"), "everything is logged");
    let told: Vec<&str> = log.lines().filter(|line| line.contains(VALUE)).collect();
    assert!(told.is_empty(), "{told:#?}");
    host.stop().await;
}
