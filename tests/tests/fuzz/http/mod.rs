//! Every route of a real host, with requests that nobody means well: never a 5xx, always the documented shape.

mod protocol;
mod request;
mod routes;
mod world;

use anyhow::{Result, ensure};
use serde_json::Value;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::Client;

use crate::cases::{check, fail};
use request::Request;
use routes::Route;
pub use world::World;

#[test]
fn no_request_breaks_a_host_on_sqlite() {
    let runtime = runtime();
    let db = TestDb::sqlite().unwrap();
    no_request_breaks_a_host("no_request_breaks_a_host_on_sqlite", 4_000, &runtime, &db);
}

#[test]
fn no_request_breaks_a_host_on_postgres() {
    let runtime = runtime();
    if let Some(db) = runtime.block_on(TestDb::postgres()).unwrap() {
        no_request_breaks_a_host("no_request_breaks_a_host_on_postgres", 2_000, &runtime, &db);
    }
}

fn no_request_breaks_a_host(name: &str, usual: u32, runtime: &tokio::runtime::Runtime, db: &TestDb) {
    let world = runtime.block_on(World::begin(db)).unwrap();
    let client = world.client();
    check(name, usual, request::requests(&world.routes), |request| {
        match runtime.block_on(judge(client, &world, &request)) {
            Ok(()) => Ok(()),
            Err(error) => fail(format!("{error:#}")),
        }
    });
    runtime.block_on(world.still_works()).unwrap();
    runtime.block_on(world.end());
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Sends a request; the answer is one that the document names.
async fn judge(client: &Client, world: &World, request: &Request) -> Result<()> {
    let route = &request.route;
    let Some(built) = request.build(client, world) else { return Ok(()) };
    let shown = format!("{} {}", built.method(), built.url());
    let response = world.http.execute(built).await?;
    let status = response.status().as_u16();
    let kind =
        response.headers().get("content-type").map(|kind| kind.to_str().unwrap_or_default().to_owned());
    if kind.as_deref() == Some("text/event-stream") && status == 200 {
        // It lasts as long as the instance.
        return Ok(());
    }
    let body = response.text().await?;
    let said = || format!("{shown} got {status}, {kind:?}, {body}");
    ensure!(status < 500, "{}", said());
    ensure!(route.documents(status), "not in the document: {}", said());
    if status >= 400 {
        ensure!(kind.as_deref() == Some("application/problem+json"), "{}", said());
        let problem: Value = serde_json::from_str(&body)?;
        ensure!(is_problem(&problem, status), "{}", said());
    } else if status != 204 {
        let kind = kind.clone().unwrap_or_default();
        ensure!(route.sends(status, &kind), "another type than documented: {}", said());
    }
    Ok(())
}

fn is_problem(problem: &Value, status: u16) -> bool {
    let code = problem["code"].as_str().unwrap_or_default();
    let word = !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    word && problem["type"] == format!("urn:stepwell:problem:{code}")
        && problem["status"] == status
        && problem["title"].is_string()
        && problem["detail"].as_str().is_some_and(|detail| detail.len() > 10)
}

/// A new route is covered by itself: this says so if the document ever stops being the list.
#[test]
fn the_document_lists_the_routes() {
    let routes: Vec<Route> = routes::all(&serde_json::to_value(stepwell::api::openapi()).unwrap());
    assert!(routes.len() >= 29, "{routes:?}");
    let bodies = routes.iter().filter(|route| !route.body_types.is_empty()).count();
    assert!(bodies >= 8, "{routes:?}");
}
