//! Requests that leave a host: answered to the step, tried again, given up, kept from this machine's neighbours, and
//! with secrets that nobody else sees.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell::domain::address::AllowHosts;
use stepwell_tests::db::TestDb;
use stepwell_tests::endpoint::{Endpoint, Reply};
use stepwell_tests::host::{Host, step, until};
use stepwell_tests::{guests, on_both_databases};

const VALUE: &str = "hush-77c1e0";

/// A host that may reach these addresses of loopback.
async fn host(db: &TestDb, allowed: &[String]) -> Result<Host> {
    let list = AllowHosts::parse(&allowed.join(",")).map_err(anyhow::Error::msg)?;
    let host = Host::start_with(db, |settings| settings.allow_hosts = list).await?;
    host.add_plugin("CALLER", &guests::caller()).await?;
    Ok(host)
}

fn at(endpoint: &Endpoint) -> String {
    format!("127.0.0.1:{}", endpoint.port())
}

/// Runs a step with a configuration to its end; its output.
async fn call(host: &Host, config: &Value) -> Result<Value> {
    let source = json!({ "steps": [{ "id": "call", "type": "CALLER", "config": config }] }).to_string();
    host.client.send("POST", "/api/v1/workflows?key=w", source).await?;
    let id = host.client.start("w", json!({ "x": "~secret~KEY~00000000000000000000000000000000~" })).await?;
    let instance = host.client.instance_is(&id, "completed").await?;
    Ok(step(&instance, "call")["output"].clone())
}

fn quick(attempts: u32) -> Value {
    json!({ "retry": { "maxAttempts": attempts, "initialMs": 20, "maxMs": 40 } })
}

async fn an_answer_comes_back_to_the_step(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    endpoint.reply("/a?b=c", vec![Reply::new(201, "{\"n\":1}").header("X-Odd", "yes")]);
    let host = host(&db, &[at(&endpoint)]).await?;
    let config = json!({
        "url": endpoint.url("/a?b=c"), "headers": [["Content-Type", "application/json"]], "body": "{\"q\":\"ž\"}",
    });
    let output = call(&host, &config).await?;
    assert_eq!(
        (&output["key"], &output["status"], &output["body"]),
        (&json!("call"), &json!(201), &json!("{\"n\":1}"))
    );
    assert!(output["headers"].as_array().context("headers")?.contains(&json!(["x-odd", "yes"])), "{output}");
    let [request] = &endpoint.received("/a?b=c")[..] else { panic!("one request") };
    assert_eq!((request.method.as_str(), request.body.as_str()), ("POST", "{\"q\":\"ž\"}"));
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(request.headers["idempotency-key"].len(), 36, "{request:?}");
    assert_eq!(db.count("workflow_outbox").await? + db.count("workflow_outbox_dead").await?, 0);
    host.stop().await;
    Ok(())
}

async fn what_passes_is_tried_again_and_the_rest_is_not(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    let busy = || Reply::new(503, "busy");
    endpoint.reply("/soon", vec![busy(), Reply::new(429, "slow down"), Reply::new(200, "at last")]);
    endpoint.reply("/never", vec![busy()]);
    endpoint.reply("/wrong", vec![Reply::new(404, "no")]);
    endpoint.reply("/slow", vec![Reply { after: Duration::from_secs(60), ..Reply::new(200, "late") }]);
    endpoint.reply("/huge", vec![Reply::new(200, &"x".repeat(5_000))]);
    let host = host(&db, &[at(&endpoint)]).await?;
    for (path, status, tries, dead) in [("/soon", 200, 3, 0), ("/wrong", 404, 1, 0), ("/never", 503, 2, 1)] {
        let attempts = if path == "/never" { 2 } else { 4 };
        let output = call(&host, &json!({ "url": endpoint.url(path), "extra": quick(attempts) })).await?;
        assert_eq!(output["status"], status, "{path}: {output}");
        let received = endpoint.received(path);
        assert_eq!(received.len(), tries, "{path}");
        let keys: Vec<_> = received.iter().map(|request| &request.headers["idempotency-key"]).collect();
        assert!(keys.windows(2).all(|two| two[0] == two[1]), "the same at every try: {keys:?}");
        assert_eq!(db.count("workflow_outbox_dead").await?, dead, "{path}");
    }
    let config = json!({ "url": endpoint.url("/slow"), "timeoutMs": 200, "extra": quick(2) });
    let output = call(&host, &config).await?;
    assert_eq!(output["status"], 0, "{output}");
    assert!(output["body"].as_str().is_some_and(|why| why.contains("200 ms")), "{output}");
    let mut extra = quick(1);
    extra["maxResponseBytes"] = json!(1_000);
    let output = call(&host, &json!({ "url": endpoint.url("/huge"), "extra": extra })).await?;
    assert!(output["body"].as_str().is_some_and(|why| why.contains("larger than 1000 bytes")), "{output}");
    let gone = Endpoint::start().await?;
    let nobody = gone.url("/");
    drop(gone);
    let output = call(&host, &json!({ "url": nobody, "extra": quick(2) })).await?;
    assert_eq!(output["status"], 0, "{output}");
    for odd in ["ftp://a.org/", "nothing", "http://", "file:///etc/passwd"] {
        let output = call(&host, &json!({ "url": odd })).await?;
        assert!(output["body"].as_str().is_some_and(|why| why.contains("the address")), "{odd}: {output}");
    }
    let dead = host.client.get("/api/v1/outbox/dead-letters").await?.expect(200)?;
    assert_eq!(dead["items"].as_array().map(Vec::len), Some(8), "{dead}");
    host.stop().await;
    Ok(())
}

async fn neighbours_are_not_reached(db: TestDb) -> Result<()> {
    let (endpoint, door) = (Endpoint::start().await?, Endpoint::start().await?);
    let port = endpoint.port();
    door.reply("/there", vec![Reply::new(302, "").header("Location", &endpoint.url("/secret"))]);
    let named = format!("http://localhost:{port}/secret");
    door.reply("/name", vec![Reply::new(307, "").header("Location", &named)]);
    let host = host(&db, &[at(&door)]).await?;
    for inside in [
        format!("http://127.0.0.1:{port}/secret"),
        format!("http://localhost:{port}/secret"),
        format!("http://2130706433:{port}/secret"),
        format!("http://0x7f.1:{port}/secret"),
        format!("http://[::1]:{port}/secret"),
        format!("http://0.0.0.0:{port}/secret"),
        "http://169.254.169.254/latest/meta-data".into(),
        "http://10.0.0.1/".into(),
        "http://[fe80::1]/".into(),
        "http://[::ffff:10.0.0.1]/".into(),
    ] {
        let output = call(&host, &json!({ "url": inside, "extra": quick(3) })).await?;
        let why = output["body"].as_str().unwrap_or_default();
        assert!(
            output["status"] == 0 && why.contains("not an address of the internet"),
            "{inside}: {output}"
        );
    }
    for path in ["/there", "/name"] {
        let output = call(&host, &json!({ "url": door.url(path), "extra": quick(3) })).await?;
        let why = output["body"].as_str().unwrap_or_default();
        assert!(output["status"] == 0 && why.contains("not an address of the internet"), "{path}: {output}");
        assert_eq!(door.received(path).len(), 1);
    }
    assert_eq!(endpoint.received("/secret").len(), 0);
    host.stop().await;
    Ok(())
}

async fn a_secret_goes_to_its_host_and_nowhere_else(db: TestDb) -> Result<()> {
    let (endpoint, other) = (Endpoint::start().await?, Endpoint::start().await?);
    endpoint.reply("/echo", vec![Reply::new(200, &format!("you said {VALUE}"))]);
    endpoint.reply("/on", vec![Reply::new(302, "").header("Location", &other.url("/caught"))]);
    endpoint.reply("/on307", vec![Reply::new(307, "").header("Location", &other.url("/caught"))]);
    let host = host(&db, &[at(&endpoint), at(&other)]).await?;
    let body = json!({ "value": VALUE, "hosts": [at(&endpoint)] });
    host.client.send("PUT", "/api/v1/secrets/KEY", body.to_string()).await?.expect(201)?;
    let with_header = |url: String| json!({ "url": url, "headers": [["Authorization", "Bearer ${secrets.KEY}"]], "extra": quick(1) });
    let output = call(&host, &with_header(endpoint.url("/echo"))).await?;
    assert_eq!(output["body"], "you said [secret KEY]", "what comes back is told without it");
    assert_eq!(endpoint.received("/echo")[0].headers["authorization"], format!("Bearer {VALUE}"));

    let config = json!({
        "url": endpoint.url("/${secrets.KEY}"), "headers": [["Content-Type", "application/json"]],
        "body": "{\"key\":\"${secrets.KEY}\",\"x\":\"${workflow.context.x}\"}",
    });
    call(&host, &config).await?;
    let [request] = &endpoint.received(&format!("/{VALUE}"))[..] else { panic!("one request") };
    let sent: Value = serde_json::from_str(&request.body)?;
    assert_eq!(sent["key"], VALUE);
    assert!(
        sent["x"].as_str().is_some_and(|x| x.starts_with("~secret~KEY~")),
        "data brings no secret in: {sent}"
    );

    let output = call(&host, &with_header(other.url("/stolen"))).await?;
    assert!(output["body"].as_str().is_some_and(|why| why.contains("not granted")), "{output}");
    call(&host, &with_header(endpoint.url("/on"))).await?;
    let caught = &other.wait_for("/caught", 1).await?[0];
    assert!(!format!("{caught:?}").contains(VALUE), "{caught:?}");
    let config = json!({ "url": endpoint.url("/on307"), "body": "${secrets.KEY}", "extra": quick(1) });
    let output = call(&host, &config).await?;
    assert!(output["body"].as_str().is_some_and(|why| why.contains("its own host only")), "{output}");
    assert!(other.received("/stolen").is_empty() && other.received("/caught").len() == 1);

    let source = "steps: [{id: call, type: CALLER, config: {publish: true, body: 'psst ${secrets.KEY}'}}]";
    host.client.deploy("leak", source).await?;
    let id = host.client.start("leak", json!({})).await?;
    let held = host.client.instance_is(&id, "incident").await?;
    assert_eq!(held["status"], "incident");
    assert_eq!(found_in(&db, VALUE).await?, Vec::<String>::new());
    host.stop().await;
    Ok(())
}

/// Tables that have a text in them somewhere.
pub(crate) async fn found_in(db: &TestDb, text: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for table in db.tables().await? {
        let row = if db.is_postgres() {
            format!("row_to_json(t)::text from {table} as t")
        } else {
            let names = db.texts(&format!("select name from pragma_table_info('{table}')")).await?;
            let columns: Vec<_> =
                names.iter().map(|name| format!("coalesce(cast(\"{name}\" as text), '')")).collect();
            format!("{} from {table}", columns.join(" || ' ' || "))
        };
        found.extend(db.texts(&format!("select {row}")).await?.into_iter().filter(|row| row.contains(text)));
    }
    Ok(found)
}

async fn a_slow_host_holds_up_nobody(db: TestDb) -> Result<()> {
    let (slow, quick) = (Endpoint::start().await?, Endpoint::start().await?);
    slow.reply("/", vec![Reply { after: Duration::from_secs(300), ..Reply::new(200, "") }]);
    let host = host(&db, &[at(&slow), at(&quick)]).await?;
    let source = |url: String| json!({ "steps": [{ "id": "call", "type": "CALLER", "config": { "url": url, "timeoutMs": 200_000 } }] });
    host.client.deploy("slow", source(slow.url("/")).to_string()).await?;
    for _ in 0..40 {
        host.client.start("slow", json!({})).await?;
    }
    until("the slow host has all it gets", async || Ok(slow.received("/").len() >= 16)).await?;
    let output = call(&host, &json!({ "url": quick.url("/") })).await?;
    assert_eq!(output["status"], 200);
    assert_eq!(slow.received("/").len(), 16, "so many at once and no more");
    host.stop().await;
    Ok(())
}

async fn a_dead_letter_is_sent_again_or_discarded(db: TestDb) -> Result<()> {
    let endpoint = Endpoint::start().await?;
    endpoint.reply("/", vec![Reply::new(500, "")]);
    let host = host(&db, &[at(&endpoint)]).await?;
    let config = json!({ "url": endpoint.url("/"), "extra": quick(1) });
    call(&host, &config).await?;
    call(&host, &config).await?;
    let client = &host.client;
    let dead = client.get("/api/v1/outbox/dead-letters").await?.expect(200)?;
    let id = |at: usize| dead["items"][at]["id"].as_str().unwrap_or_default().to_owned();
    assert!(dead["items"][0]["error"].as_str().is_some_and(|why| why.contains("500")), "{dead}");
    endpoint.reply("/", vec![Reply::new(200, "")]);
    let path = |at: usize, verb: &str| format!("/api/v1/outbox/dead-letters/{}/{verb}", id(at));
    client
        .tenant("other")
        .post(&path(0, "retry"), &json!({}))
        .await?
        .expect_problem(404, "dead_letter_not_found")?;
    client.post(&path(0, "retry"), &json!({})).await?.expect(204)?;
    endpoint.wait_for("/", 3).await?;
    client.post(&path(1, "discard"), &json!({})).await?.expect(204)?;
    client.post(&path(1, "discard"), &json!({})).await?.expect_problem(404, "dead_letter_not_found")?;
    assert_eq!(client.get("/api/v1/outbox/dead-letters").await?.expect(200)?["items"], json!([]));
    until("nothing waits", async || Ok(db.count("workflow_outbox").await? == 0)).await?;
    host.stop().await;
    Ok(())
}

on_both_databases!(
    an_answer_comes_back_to_the_step,
    what_passes_is_tried_again_and_the_rest_is_not,
    neighbours_are_not_reached,
    a_secret_goes_to_its_host_and_nowhere_else,
    a_slow_host_holds_up_nobody,
    a_dead_letter_is_sent_again_or_discarded,
);
