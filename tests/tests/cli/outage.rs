//! A database that is not there at start, or goes away while the host runs.

use stepwell_tests::command::{Host, eventually, http, run};
use stepwell_tests::db::TestDb;
use stepwell_tests::proxy::Proxy;

use crate::support::{complete, instance_in, poll, source, start_jira};

#[tokio::test]
async fn a_database_that_is_not_there_at_start_is_named() {
    let database = "postgres://stepwell:hunter2@127.0.0.1:1/stepwell";
    let folder = crate::support::folder();
    let data = folder.path().to_str().unwrap();
    let ran =
        run(&["serve", "--listen", "127.0.0.1:0", "--data", data, "--database", database]).await.exits(69);
    assert!(ran.stderr.contains("127.0.0.1:1") && ran.stderr.contains("database"), "{ran:?}");
    assert!(!ran.stderr.contains("hunter2") && !ran.stderr.contains("panicked"), "{ran:?}");
    let wrong = run(&["serve", "--listen", "127.0.0.1:0", "--data", data, "--database", "mysql://x/y"])
        .await
        .exits(78);
    assert!(wrong.stderr.contains("mysql"), "{wrong:?}");
}

#[tokio::test]
async fn a_host_answers_503_while_the_database_is_away_and_recovers_by_itself() {
    let Some((_db, proxy, database)) = database_behind_a_proxy().await else { return };
    let data = crate::support::folder();
    let data = data.path().to_str().unwrap();
    let host = Host::start(&["--data", data, "--database", &database]).await;
    let before = start_jira(&host).await;
    let held = poll(&host.url).await;

    proxy.cut();
    // How soon the host sees it depends on the machine: asked until it does.
    eventually("a 503 with Retry-After", || async {
        let answer = http().get(host.at(&format!("/api/v1/instances/{before}"))).send().await.ok()?;
        (answer.status() == 503 && answer.headers().contains_key("retry-after")).then_some(())
    })
    .await;
    eventually("not to be ready", || async {
        let answer = http().get(host.at("/readyz")).send().await.ok()?;
        (answer.status() == 503).then_some(())
    })
    .await;
    assert_eq!(http().get(host.at("/healthz")).send().await.unwrap().status(), 200, "the process lives");
    host.cli(&["instance", "list"]).await.exits(69);

    proxy.restore();
    // For a while after the database is back any request may still be answered with 503: each is repeated.
    eventually("to be ready again", || async {
        let answer = http().get(host.at("/readyz")).send().await.ok()?;
        (answer.status() == 200).then_some(())
    })
    .await;
    complete(&host.url, held["id"].as_str().unwrap()).await;
    let instance = instance_in(&host.url, &before, "completed").await;
    assert_eq!(instance["context"]["jiraTicketId"], "PROJ-7");

    let after = eventually("a new instance", || async {
        let context = format!("@{}", source("examples/jira/context.json"));
        let start =
            ["instance", "start", "jira", "--context", &context, "--idempotency-key", "after", "--json"];
        let ran = host.cli(&start).await;
        (ran.code == 0).then(|| ran.json()["id"].as_str().expect("it has an id").to_owned())
    })
    .await;
    let task = poll(&host.url).await;
    complete(&host.url, task["id"].as_str().unwrap()).await;
    instance_in(&host.url, &after, "completed").await;
    host.stop().await;
}

#[tokio::test]
async fn a_host_ends_in_order_while_the_database_is_away() {
    let Some((_db, proxy, database)) = database_behind_a_proxy().await else { return };
    let data = crate::support::folder();
    let data = data.path().to_str().unwrap();
    let host = Host::start(&["--data", data, "--database", &database]).await;
    start_jira(&host).await;
    proxy.cut();
    eventually("not to be ready", || async {
        let answer = http().get(host.at("/readyz")).send().await.ok()?;
        (answer.status() == 503).then_some(())
    })
    .await;
    host.stop().await;
}

/// A database of its own on the tests' PostgreSQL server, behind a proxy. None, loudly, if there is no PostgreSQL.
///
/// A server that is stopped gives its port away, and another test may take it: a proxy keeps the address.
async fn database_behind_a_proxy() -> Option<(TestDb, Proxy, String)> {
    let db = TestDb::postgres().await.expect("PostgreSQL answers")?;
    let (scheme, rest) = db.url().split_once("://").expect("an address");
    let (authority, name) = rest.split_once('/').expect("a database's name");
    let (user, server) = authority.rsplit_once('@').expect("a user");
    let proxy = Proxy::to(server.to_owned()).await;
    let behind = format!("{scheme}://{user}@{}/{name}", proxy.address);
    Some((db, proxy, behind))
}
