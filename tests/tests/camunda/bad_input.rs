//! Bad input has Camunda's status, type and message, also where that is a 500; what is too big is named with its limit.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task};

use crate::support::{fetch_one, id, path, post, put, refused};

const INVALID: &str = "InvalidRequestException";
const NULL: &str = "NullValueException";
const ENGINE: &str = "ProcessEngineException";
const REST: &str = "RestException";

async fn fetches_are_refused_as_camunda_does(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let topic = json!({ "topicName": "t", "lockDuration": 1 });
    for (body, status, kind, message) in [
        (json!({ "maxTasks": 1 }), 500, NULL, "workerId is null"),
        (
            json!({ "workerId": "w", "maxTasks": -1 }),
            500,
            ENGINE,
            "maxResults is not greater than or equal to 0",
        ),
        (json!({ "workerId": "w", "topics": [{ "lockDuration": 1 }] }), 500, NULL, "topicName is null"),
        (
            json!({ "workerId": "w", "topics": [{ "topicName": "t" }] }),
            500,
            ENGINE,
            "lockTime is not greater than 0",
        ),
        (
            json!({ "workerId": "w", "topics": [{ "topicName": "t", "lockDuration": -5 }] }),
            500,
            ENGINE,
            "lockTime is not greater than 0",
        ),
        (
            json!({ "workerId": "w", "asyncResponseTimeout": 1_800_001 }),
            400,
            INVALID,
            "The asynchronous response timeout cannot be set to a value greater than 1800000 milliseconds",
        ),
        (
            json!({ "workerId": "w", "sorting": [{ "sortBy": "id", "sortOrder": "asc" }] }),
            400,
            INVALID,
            "Cannot set query sortBy parameter to value id",
        ),
        (
            json!({ "workerId": "w", "sorting": [{ "sortBy": "createTime", "sortOrder": "up" }] }),
            400,
            INVALID,
            "Cannot set query sortOrder parameter to value up",
        ),
        (
            json!({ "workerId": "w", "maxTasks": 1_000_000, "topics": [topic] }),
            400,
            INVALID,
            "maxTasks is 1000000; at most 1000 are handed out at once",
        ),
        (
            json!({ "workerId": "w", "maxTasks": 1, "topics": vec![&topic; 10_000] }),
            400,
            INVALID,
            "there are 10000 topics; at most 100 are taken in one request",
        ),
    ] {
        refused(post(client, "/external-task/fetchAndLock", &body).await?, status, kind, message)?;
    }
    // Nothing is wrong with these.
    for body in [
        json!({ "workerId": 7, "maxTasks": "3", "sorting": null, "topics": [topic], "asyncResponseTimeout": null }),
        json!({ "workerId": "w" }),
    ] {
        assert_eq!(post(client, "/external-task/fetchAndLock", &body).await?.expect(200)?, json!([]));
    }
    for malformed in ["{", "[]", "7", "\"x\"", "{\"workerId\": }"] {
        let answer = client.send("POST", &path("/external-task/fetchAndLock"), malformed).await?;
        refused(answer, 400, INVALID, "")?;
    }
    host.stop().await;
    Ok(())
}

async fn reports_are_refused_as_camunda_does(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    client.start("flow", json!({})).await?;
    let task = id(&fetch_one(client, "t", "a").await?).to_owned();
    let to = |verb: &str| format!("/external-task/{task}/{verb}");
    let w = |fields: Value| -> Value {
        let mut body = json!({ "workerId": "a" });
        for (name, value) in fields.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        body
    };
    let typed = |kind: &str, value: Value| json!({ "variables": { "v": { "type": kind, "value": value } } });
    for (verb, body, status, kind, message) in [
        ("complete", json!({}), 500, NULL, "workerId is null"),
        ("failure", json!({}), 500, NULL, "workerId is null"),
        ("bpmnError", json!({ "errorCode": "x" }), 500, NULL, "workerId is null"),
        ("bpmnError", w(json!({})), 500, NULL, "errorCode is null"),
        ("failure", w(json!({ "retries": -1 })), 500, ENGINE, "retries is not greater than or equal to 0"),
        (
            "failure",
            w(json!({ "retryTimeout": -1 })),
            500,
            ENGINE,
            "retryDuration is not greater than or equal to 0",
        ),
        ("lock", w(json!({})), 400, REST, "lockDuration is not greater than 0"),
        ("extendLock", w(json!({ "newDuration": 0 })), 400, REST, "lockTime is not greater than 0"),
        ("complete", w(typed("colour", json!("red"))), 400, REST, "Unsupported value type 'colour'"),
        (
            "complete",
            w(typed("Integer", json!("abc"))),
            400,
            INVALID,
            "Cannot convert value 'abc' of type 'Integer' to java type java.lang.Integer",
        ),
        (
            "complete",
            w(typed("date", json!("soon"))),
            400,
            INVALID,
            "Cannot convert value 'soon' of type 'date' to java type java.util.Date",
        ),
    ] {
        refused(post(client, &to(verb), &body).await?, status, kind, message)?;
    }
    let b = json!({ "workerId": "b", "errorCode": "x", "lockDuration": 1 });
    for (verb, sentence) in [
        ("complete", format!("External Task {task} cannot be completed by worker 'b'.")),
        ("failure", format!("Failure of External Task {task} cannot be reported by worker 'b'.")),
        ("bpmnError", format!("Bpmn error of External Task {task} cannot be reported by worker 'b'.")),
    ] {
        let message = format!("{sentence} It is locked by worker 'a'.");
        refused(post(client, &to(verb), &b).await?, 400, REST, &message)?;
    }
    for retries in ["/external-task/retries".to_owned(), to("retries")] {
        let message = "The number of retries cannot be null.";
        refused(put(client, &retries, &json!({})).await?, 400, INVALID, message)?;
        let message = "The number of retries cannot be negative: retries is not greater than or equal to 0";
        let kind = if retries.ends_with(&to("retries")) { "BadUserRequestException" } else { INVALID };
        refused(put(client, &retries, &json!({ "retries": -1 })).await?, 400, kind, message)?;
    }
    let nobody = "00000000-0000-7000-8000-000000000000";
    for absent in ["nonsense", nobody] {
        let message = format!("Cannot find external task with id {absent}: externalTask is null");
        let body = json!({ "retries": 1, "externalTaskIds": [absent] });
        refused(put(client, "/external-task/retries", &body).await?, 404, INVALID, &message)?;
    }
    let nothing = put(client, "/external-task/retries", &json!({ "retries": 1 })).await?;
    refused(nothing, 400, INVALID, "externalTaskIds is empty")?;
    host.stop().await;
    Ok(())
}

async fn what_is_not_there_is_named(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    for absent in ["nonsense", "00000000-0000-7000-8000-000000000000"] {
        let message = format!("External task with id {absent} does not exist");
        let body = json!({ "workerId": "w", "errorCode": "x", "lockDuration": 1, "newDuration": 1 });
        for verb in ["complete", "failure", "bpmnError", "lock", "extendLock", "unlock"] {
            let answer = post(client, &format!("/external-task/{absent}/{verb}"), &body).await?;
            refused(answer, 404, REST, &message)?;
        }
        for (verb, body) in [("retries", json!({ "retries": 1 })), ("priority", json!({ "priority": 1 }))] {
            refused(
                put(client, &format!("/external-task/{absent}/{verb}"), &body).await?,
                404,
                REST,
                &message,
            )?;
        }
        for verb in ["", "/errorDetails"] {
            let answer = client.get(&path(&format!("/external-task/{absent}{verb}"))).await?;
            refused(answer, 404, REST, &message)?;
        }
    }
    refused(client.get(&path("/colour")).await?, 404, "NotFoundException", "HTTP 404 Not Found")?;
    let put = client.send("PUT", &path("/external-task/fetchAndLock"), "{}").await?;
    refused(put, 405, "NotAllowedException", "HTTP 405 Method Not Allowed")?;
    let stranger = client.with("authorization", "Basic ZGVtbzpkZW1v").get(&path("/external-task")).await?;
    ensure!(stranger.status == 401 && stranger.body["type"] == "AuthorizationException", "{}", stranger.body);
    host.stop().await;
    Ok(())
}

/// What is too big is refused, and the task is none the worse for it.
async fn big_variables_are_bounded(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    let instance = client.start("flow", json!({})).await?;
    let task = id(&fetch_one(client, "t", "w").await?).to_owned();
    for (bytes, limit) in [(300_000, "262144"), (3_000_000, "1048576"), (50_000_000, "8388608")] {
        let body = json!({ "workerId": "w", "variables": { "big": { "value": "x".repeat(bytes) } } });
        let answer = post(client, &format!("/external-task/{task}/complete"), &body).await?;
        let message = answer.body["message"].as_str().unwrap_or_default().to_owned();
        ensure!(message.contains(limit), "{message}");
        answer.expect(413)?;
    }
    post(client, &format!("/external-task/{task}/complete"), &json!({ "workerId": "w" }))
        .await?
        .expect(204)?;
    client.instance_is(&instance, "completed").await?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    fetches_are_refused_as_camunda_does,
    reports_are_refused_as_camunda_does,
    what_is_not_there_is_named,
    big_variables_are_bounded,
);
