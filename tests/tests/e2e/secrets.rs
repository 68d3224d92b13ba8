//! Secrets over HTTP: set, listed without their values, forgotten, sealed again; and never readable in the database.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell::engine::keyring::Keyring;
use stepwell::settings::SecretKey;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Client, Host, one_task};

const VALUE: &str = "hush-4f1d9c";

async fn put(client: &Client, name: &str, body: &Value) -> Result<stepwell_tests::host::Answer> {
    client.send("PUT", &format!("/api/v1/secrets/{name}"), body.to_string()).await
}

async fn a_value_comes_in_and_never_goes_out(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let body = json!({ "value": VALUE, "hosts": ["api.example.org", "*.example.net:443"] });
    let made = put(client, "API_KEY", &body).await?.expect(201)?;
    assert_eq!((&made["name"], &made["hosts"]), (&json!("API_KEY"), &body["hosts"]));
    put(client, "API_KEY", &json!({ "value": format!("{VALUE}2"), "hosts": ["a.org"] }))
        .await?
        .expect(200)?;
    let listed = client.get("/api/v1/secrets").await?.expect(200)?;
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(listed["items"][0]["hosts"], json!(["a.org"]));
    assert!(!listed.to_string().contains(VALUE), "{listed}");

    let stranger = client.tenant("other");
    assert_eq!(stranger.get("/api/v1/secrets").await?.expect(200)?["items"], json!([]));
    let refused = stranger.send("DELETE", "/api/v1/secrets/API_KEY", "").await?;
    refused.expect_problem(404, "secret_not_found")?;
    for row in db.texts("select sealed from workflow_secrets").await? {
        assert!(!row.contains(VALUE) && row.len() > VALUE.len(), "{row}");
    }
    client.send("DELETE", "/api/v1/secrets/API_KEY", "").await?.expect(204)?;
    client.send("DELETE", "/api/v1/secrets/API_KEY", "").await?.expect_problem(404, "secret_not_found")?;
    assert_eq!(db.count("workflow_secrets").await?, 0);
    host.stop().await;
    Ok(())
}

async fn bad_requests_are_refused_and_do_not_repeat_the_value(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let good = json!(["a.org"]);
    for (name, body, about) in [
        ("a.b", json!({ "value": VALUE, "hosts": good }), "name"),
        ("a", json!({ "value": "", "hosts": good }), "value"),
        ("a", json!({ "value": 17, "hosts": good }), "value"),
        ("a", json!({ "value": VALUE.repeat(2_000), "hosts": good }), "value"),
        ("a", json!({ "value": VALUE, "hosts": [] }), "hosts"),
        ("a", json!({ "value": VALUE, "hosts": ["*"] }), "hosts"),
        ("a", json!({ "value": VALUE, "hosts": ["http://a.org/"] }), "hosts"),
        ("a", json!({ "value": VALUE }), "hosts"),
        ("a", json!({ "value": VALUE, "hosts": good, "host": "b" }), "host"),
    ] {
        let refused = put(&host.client, name, &body).await?;
        assert_eq!(refused.status, 400, "{body}: {}", refused.body);
        let detail = refused.body["detail"].as_str().context("a detail")?.to_owned();
        assert!(detail.contains(about) && !detail.contains(VALUE), "{detail}");
    }
    assert_eq!(db.count("workflow_secrets").await?, 0);
    host.stop().await;
    Ok(())
}

async fn secrets_are_for_steps_that_send(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    for line in ["input: {key: \"${secrets.API_KEY}\"}", "input: [\"Bearer ${secrets.API_KEY}\"]"] {
        let source = one_task("t", &[line]);
        let refused = host.client.send("POST", "/api/v1/workflows?key=w", source).await?;
        let problem = refused.expect_problem(400, "definition_invalid")?;
        let sentence = problem["errors"][0]["message"].as_str().context("a sentence")?;
        assert!(sentence.contains("sends no requests"), "{problem}");
        assert!(problem["errors"][0]["field"].as_str().is_some_and(|field| field.contains("config.input")));
    }
    host.stop().await;
    Ok(())
}

async fn a_new_key_takes_over(db: TestDb) -> Result<()> {
    let (old, new) = (Keyring::make_up(), Keyring::make_up());
    let host = Host::start_with(&db, |settings| settings.secret_key = Some(SecretKey(old.clone()))).await?;
    for (tenant, name) in [("default", "one"), ("default", "two"), ("other", "one")] {
        let body = json!({ "value": VALUE, "hosts": ["a.org"] });
        put(&host.client.tenant(tenant), name, &body).await?.expect(201)?;
    }
    host.stop().await;
    let both = format!("{new}\n{old}");
    let host = Host::start_with(&db, |settings| settings.secret_key = Some(SecretKey(both))).await?;
    let rotated = host.client.post("/api/v1/secret-keys/rotate", &json!({})).await?.expect(200)?;
    assert_eq!(rotated["resealed"], 3);
    let again = host.client.post("/api/v1/secret-keys/rotate", &json!({})).await?.expect(200)?;
    assert_eq!(again["resealed"], 0);
    let listed = host.client.get("/api/v1/secrets").await?.expect(200)?;
    assert_eq!(listed["items"][0]["keyId"], rotated["keyId"]);
    host.stop().await;
    // Whoever has the old key alone can no longer open them.
    let third = Keyring::make_up();
    let host = Host::start_with(&db, |settings| settings.secret_key = Some(SecretKey(third))).await?;
    let refused = host.client.post("/api/v1/secret-keys/rotate", &json!({})).await?;
    refused.expect_problem(422, "secret_key_missing")?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_value_comes_in_and_never_goes_out,
    bad_requests_are_refused_and_do_not_repeat_the_value,
    secrets_are_for_steps_that_send,
    a_new_key_takes_over,
);
