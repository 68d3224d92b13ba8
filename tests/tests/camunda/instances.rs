//! Definitions, instances, their variables and files, and what frameworks ask at start.

use anyhow::{Context as _, Result};
use serde_json::json;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task};

use crate::support::{fetch_one, get, path, post, put, refused};

async fn variables_are_read_set_and_removed(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    let file = json!({
        "type": "File", "value": "aGVsbG8=",
        "valueInfo": { "filename": "a \"b\".txt", "mimetype": "text/plain", "encoding": "UTF-8" },
    });
    let body = json!({ "variables": { "n": { "type": "Long", "value": 1 }, "f": file }, "withVariablesInReturn": true });
    let started = post(client, "/process-definition/key/flow/start", &body).await?.expect(200)?;
    assert_eq!(started["variables"]["n"]["type"], "Long");
    let instance = started["id"].as_str().context("an id")?;
    let all = format!("/process-instance/{instance}/variables");
    let change = json!({ "modifications": { "s": { "value": "x" }, "j": { "type": "Json", "value": "[1]" } }, "deletions": ["n"] });
    post(client, &all, &change).await?.expect(204)?;
    put(client, &format!("{all}/d"), &json!({ "type": "Double", "value": "2" })).await?.expect(204)?;
    let shown = get(client, &format!("{all}?deserializeValues=false")).await?;
    assert_eq!(shown["j"]["value"], "[1]");
    assert_eq!(
        (&shown["s"]["value"], &shown["d"]["value"], &shown["n"]),
        (&json!("x"), &json!(2.0), &json!(null))
    );
    client.send("DELETE", &path(&format!("{all}/s")), "").await?.expect(204)?;
    refused(
        client.get(&path(&format!("{all}/s"))).await?,
        404,
        "InvalidRequestException",
        "Variable with name s does not exist",
    )?;
    // Both clients' ways to a file, with either id.
    let execution = fetch_one(client, "t", "w").await?["executionId"].as_str().context("an id")?.to_owned();
    for way in [
        format!("/process-instance/{instance}/variables/f/data"),
        format!("/process-instance/{execution}/variables/f/data"),
        format!("/execution/{instance}/localVariables/f/data"),
        format!("/execution/{execution}/localVariables/f/data"),
    ] {
        let answer = client.get(&path(&way)).await?;
        assert_eq!(answer.headers["content-type"], "text/plain; charset=UTF-8");
        assert_eq!(answer.headers["content-disposition"], "attachment; filename=\"a _b_.txt\"");
        assert_eq!(answer.expect(200)?, "hello");
    }
    refused(
        client.get(&path(&format!("{all}/d/data"))).await?,
        400,
        "InvalidRequestException",
        "Value of variable with name d is not a binary value.",
    )?;
    host.stop().await;
    Ok(())
}

async fn frameworks_find_what_they_ask_for(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", format!("name: A Flow\n{}", one_task("t", &[]))).await?;
    for prefix in ["", "/engine/default"] {
        assert_eq!(get(client, &format!("{prefix}/engine")).await?, json!([{ "name": "default" }]));
        assert!(get(client, &format!("{prefix}/version")).await?["version"].is_string());
        let definition = get(client, &format!("{prefix}/process-definition/key/flow")).await?;
        assert_eq!((&definition["id"], &definition["name"]), (&json!("flow:1"), &json!("A Flow")));
        assert_eq!(get(client, &format!("{prefix}/process-definition/flow:1")).await?, definition);
        assert_eq!(get(client, &format!("{prefix}/process-definition?key=flow")).await?[0], definition);
        assert_eq!(get(client, &format!("{prefix}/process-definition/count")).await?["count"], 1);
        assert_eq!(get(client, &format!("{prefix}/incident")).await?, json!([]));
        let body = json!({ "businessKey": "bk" });
        let started =
            post(client, &format!("{prefix}/process-definition/flow:1/start"), &body).await?.expect(200)?;
        assert_eq!((&started["definitionId"], &started["ended"]), (&json!("flow:1"), &json!(false)));
        let id = started["id"].as_str().context("an id")?;
        assert_eq!(get(client, &format!("{prefix}/process-instance/{id}")).await?["businessKey"], "bk");
    }
    assert_eq!(
        get(client, "/process-instance?processDefinitionKey=flow").await?.as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(get(client, "/process-instance/count").await?["count"], 2);
    refused(
        post(client, "/process-definition/key/absent/start", &json!({})).await?,
        404,
        "RestException",
        "No matching process definition with key: absent and no tenant-id",
    )?;
    host.stop().await;
    Ok(())
}

/// A tenant's name is its tenant id, and nobody sees what is another's.
async fn tenants_are_apart(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let (ours, theirs) = (host.client.tenant("ours"), host.client.tenant("theirs"));
    ours.deploy("flow", one_task("t", &[])).await?;
    let started =
        post(&ours, "/process-definition/key/flow/tenant-id/ours/start", &json!({})).await?.expect(200)?;
    assert_eq!(started["tenantId"], "ours");
    assert_eq!(get(&theirs, "/external-task/count").await?["count"], 0);
    assert_eq!(get(&ours, "/external-task/count?tenantIdIn=ours").await?["count"], 1);
    let task = fetch_one(&ours, "t", "w").await?;
    let id = task["id"].as_str().context("an id")?;
    assert_eq!(task["tenantId"], "ours");
    for verb in ["complete", "failure", "unlock", "lock", "extendLock"] {
        let body = json!({ "workerId": "w", "lockDuration": 1, "newDuration": 1 });
        refused(
            post(&theirs, &format!("/external-task/{id}/{verb}"), &body).await?,
            404,
            "RestException",
            &format!("External task with id {id} does not exist"),
        )?;
    }
    host.stop().await;
    Ok(())
}

/// A token is the password of HTTP Basic, whoever the user, or comes as Bearer; its role and tenant count.
async fn basic_and_bearer_carry_a_token(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let ours = host.client.tenant("ours");
    ours.deploy("flow", one_task("t", &[])).await?;
    ours.start("flow", json!({})).await?;
    let wish = json!({ "name": "w", "role": "worker" });
    let made = ours.post("/api/v1/tokens", &wish).await?.expect(201)?;
    let secret = made["token"].as_str().context("a token")?;
    let count = || host.client.request("GET", &path("/external-task/count"));
    let retries = || {
        let body = json!({ "retries": 1, "processInstanceQuery": {} });
        host.client.request("PUT", &path("/external-task/retries")).json(&body)
    };
    for (allowed, denied) in [
        (count().basic_auth("anyone", Some(secret)), retries().basic_auth("anyone", Some(secret))),
        (count().bearer_auth(secret), retries().bearer_auth(secret)),
    ] {
        let answer = allowed.send().await?;
        assert_eq!(answer.status().as_u16(), 200);
        assert_eq!(answer.json::<serde_json::Value>().await?, json!({ "count": 1 }));
        let answer = denied.send().await?;
        assert_eq!(answer.status().as_u16(), 403);
        assert_eq!(answer.json::<serde_json::Value>().await?["type"], "AuthorizationException");
    }
    let wrong = count().basic_auth("anyone", Some("wrong")).send().await?;
    assert_eq!(wrong.status().as_u16(), 401);
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    variables_are_read_set_and_removed,
    frameworks_find_what_they_ask_for,
    tenants_are_apart,
    basic_and_bearer_carry_a_token,
);
