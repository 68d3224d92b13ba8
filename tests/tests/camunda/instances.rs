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
        "process instance variable with name s does not exist",
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
        let disposition = "attachment; filename=\"a _b_.txt\"; filename*=UTF-8''a%20%22b%22.txt";
        assert_eq!(answer.headers["content-disposition"], disposition);
        assert_eq!(answer.expect(200)?, "hello");
    }
    refused(
        client.get(&path(&format!("{all}/d/data"))).await?,
        400,
        "InvalidRequestException",
        &format!("Value of variable with id {instance} is not a binary value."),
    )?;
    // Bytes have no name; a file need not have a type.
    let more = json!({ "modifications": {
        "b": { "type": "Bytes", "value": "AAEC" },
        "g": { "type": "File", "value": "eA==", "valueInfo": { "filename": "př.bin", "encoding": "UTF-8" } },
    } });
    post(client, &all, &more).await?.expect(204)?;
    let bytes = client.request("GET", &path(&format!("{all}/b/data"))).send().await?;
    assert_eq!(bytes.headers()["content-type"], "application/octet-stream");
    assert!(!bytes.headers().contains_key("content-disposition"));
    assert_eq!(&bytes.bytes().await?[..], [0, 1, 2]);
    let file = client.get(&path(&format!("{all}/g/data"))).await?;
    assert_eq!(file.headers["content-type"], "application/octet-stream; charset=UTF-8");
    let disposition = "attachment; filename=\"p_.bin\"; filename*=UTF-8''p%C5%99.bin";
    assert_eq!(file.headers["content-disposition"], disposition);
    host.stop().await;
    Ok(())
}

/// What goes wrong with a variable is said in Camunda's words, which tell instances from executions.
async fn troubles_with_variables_are_camundas(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    let here = client.start("flow", json!({})).await?;
    let nobody = "00000000-0000-7000-8000-000000000000";
    let gone = format!("execution {nobody} doesn't exist: execution is null");
    let (rest, invalid) = ("RestException", "InvalidRequestException");
    for (base, whose) in [
        ("/process-instance/ID/variables", "process instance"),
        ("/execution/ID/localVariables", "execution"),
    ] {
        let (there, absent) = (base.replace("ID", &here), base.replace("ID", nobody));
        refused(client.get(&path(&absent)).await?, 500, "NullValueException", &gone)?;
        for route in [format!("{absent}/x"), format!("{absent}/x/data")] {
            let message = format!("Cannot get {whose} variable x: {gone}");
            refused(client.get(&path(&route)).await?, 500, rest, &message)?;
        }
        for route in [format!("{there}/x"), format!("{there}/x/data")] {
            let message = format!("{whose} variable with name x does not exist");
            refused(client.get(&path(&route)).await?, 404, invalid, &message)?;
        }
        let good = json!({ "value": 1 });
        let message = format!("Cannot put {whose} variable x: {gone}");
        refused(put(client, &format!("{absent}/x"), &good).await?, 500, rest, &message)?;
        let message = format!("Cannot delete {whose} variable x: {gone}");
        refused(client.send("DELETE", &path(&format!("{absent}/x")), "").await?, 500, rest, &message)?;
        let message = format!("Cannot modify variables for {whose} {nobody}: {gone}");
        refused(
            post(client, &absent, &json!({ "modifications": { "x": good } })).await?,
            500,
            rest,
            &message,
        )?;
        let odd = json!({ "type": "Colour", "value": "red" });
        let message = format!("Cannot put {whose} variable x: Unsupported value type 'Colour'");
        refused(put(client, &format!("{there}/x"), &odd).await?, 400, invalid, &message)?;
        let message = format!("Cannot modify variables for {whose}: Unsupported value type 'Colour'");
        refused(
            post(client, &there, &json!({ "modifications": { "x": odd } })).await?,
            400,
            invalid,
            &message,
        )?;
    }
    host.stop().await;
    Ok(())
}

/// Filters of instances, in a query string and in a body.
async fn instances_are_found(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    for key in ["one", "two"] {
        client.deploy(key, one_task("t", &[])).await?;
    }
    let red = client.start("one", json!({ "colour": "red", "size": 1 })).await?;
    let blue = client.start("two", json!({ "colour": "blue", "size": 2 })).await?;
    let ended = client.start("two", json!({})).await?;
    client.post(&format!("/api/v1/instances/{ended}/cancel"), &json!({})).await?.expect(204)?;
    let colour =
        |value: &str| json!({ "variables": [{ "name": "colour", "operator": "eq", "value": value }] });
    let (both, only_red, only_blue) =
        (vec![blue.clone(), red.clone()], vec![red.clone()], vec![blue.clone()]);
    for (query, body, expected) in [
        (String::new(), json!({}), &both),
        ("processDefinitionKey=one".into(), json!({ "processDefinitionKey": "one" }), &only_red),
        ("processDefinitionKeyIn=one,two".into(), json!({ "processDefinitionKeyIn": [] }), &both),
        ("processDefinitionId=two:1".into(), json!({ "processDefinitionId": "two:1" }), &only_blue),
        (
            format!("processInstanceIds={red},{ended}"),
            json!({ "processInstanceIds": [red, ended] }),
            &only_red,
        ),
        ("variables=colour_eq_blue".into(), colour("blue"), &only_blue),
        ("variables=size_gt_1,colour_like_b%25".into(), colour("blue"), &only_blue),
        ("tenantIdIn=other".into(), json!({ "tenantIdIn": ["other"] }), &Vec::new()),
        ("active=true".into(), json!({ "active": true, "withoutTenantId": true }), &both),
        ("suspended=true".into(), json!({ "withIncident": true }), &Vec::new()),
    ] {
        let ids = |found: serde_json::Value| -> Vec<String> {
            let found = found.as_array().into_iter().flatten();
            found.map(|instance| instance["id"].as_str().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(&ids(get(client, &format!("/process-instance?{query}")).await?), expected, "{query}");
        assert_eq!(&ids(post(client, "/process-instance", &body).await?.expect(200)?), expected, "{body}");
        let count = get(client, &format!("/process-instance/count?{query}")).await?;
        assert_eq!(count, json!({ "count": expected.len() }), "{query}");
        assert_eq!(post(client, "/process-instance/count", &body).await?.expect(200)?, count, "{body}");
    }
    let second =
        post(client, "/process-instance?firstResult=1&maxResults=1", &json!({})).await?.expect(200)?;
    assert_eq!((second.as_array().map(Vec::len), &second[0]["id"]), (Some(1), &json!(red)));
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
        let body = answer.json::<serde_json::Value>().await?;
        assert_eq!(body["type"], "AuthorizationException");
        for field in ["userId", "permissionName", "resourceName", "resourceId"] {
            assert_eq!(body.get(field), Some(&json!(null)), "{field} in {body}");
        }
    }
    // What frameworks read at start is a worker's to read.
    for route in
        ["/process-instance", "/process-instance/count", "/process-definition", "/incident", "/version"]
    {
        let answer = host.client.request("GET", &path(route)).bearer_auth(secret).send().await?;
        assert_eq!(answer.status().as_u16(), 200, "{route}");
    }
    let wrong = count().basic_auth("anyone", Some("wrong")).send().await?;
    assert_eq!(wrong.status().as_u16(), 401);
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    variables_are_read_set_and_removed,
    troubles_with_variables_are_camundas,
    instances_are_found,
    frameworks_find_what_they_ask_for,
    tenants_are_apart,
    basic_and_bearer_carry_a_token,
);
