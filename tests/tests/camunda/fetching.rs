//! fetchAndLock: topics with locks, filters and variables of their own, orders, and waiting.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task};

use crate::support::{fetch, fetch_topics, get, id, post};

fn millis(time: &Value) -> Result<i64> {
    let text = time.as_str().context("a time")?;
    Ok(chrono::DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.3f%z")?.timestamp_millis())
}

/// Each topic has its own lock and its own variables; every key is there.
async fn topics_have_locks_and_variables_of_their_own(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("one", &["input: { own: 1 }"])).await?;
    client.deploy("two", one_task("two", &["input: { own: 2 }"])).await?;
    let context = json!({ "variables": { "a": { "value": 1 }, "b": { "value": [1] } }, "businessKey": "bk" });
    for key in ["one", "two"] {
        post(client, &format!("/process-definition/key/{key}/start"), &context).await?.expect(200)?;
    }
    let topics = json!([
        { "topicName": "one", "lockDuration": 60_000, "localVariables": true },
        { "topicName": "two", "lockDuration": 600_000, "variables": ["b"], "deserializeValues": true },
        { "topicName": "none", "lockDuration": 1 },
    ]);
    let mut tasks = fetch_topics(client, "w", topics, json!({ "unknown": [] })).await?;
    tasks.sort_by_key(|task| task["topicName"].to_string());
    assert_eq!(tasks.len(), 2, "{tasks:?}");
    let longer = millis(&tasks[1]["lockExpirationTime"])? - millis(&tasks[0]["lockExpirationTime"])?;
    assert_eq!(longer, 540_000);
    assert_eq!(tasks[0]["variables"], json!({ "own": { "type": "Integer", "value": 1, "valueInfo": {} } }));
    assert_eq!(tasks[1]["variables"]["b"]["value"], json!([1]));
    assert_eq!(tasks[1]["variables"].as_object().map(serde_json::Map::len), Some(1));
    let mut keys: Vec<&str> = tasks[0].as_object().context("a task")?.keys().map(String::as_str).collect();
    keys.sort_unstable();
    let expected = [
        "activityId",
        "activityInstanceId",
        "businessKey",
        "createTime",
        "errorDetails",
        "errorMessage",
        "executionId",
        "extensionProperties",
        "id",
        "lockExpirationTime",
        "priority",
        "processDefinitionId",
        "processDefinitionKey",
        "processDefinitionVersionTag",
        "processInstanceId",
        "retries",
        "suspended",
        "tenantId",
        "topicName",
        "variables",
        "workerId",
    ];
    assert_eq!(keys, expected);
    assert_eq!((&tasks[0]["businessKey"], &tasks[0]["suspended"]), (&json!("bk"), &json!(false)));
    assert_eq!(tasks[0]["processDefinitionId"], "one:1");
    host.stop().await;
    Ok(())
}

/// Filters choose instances; several variables are alternatives.
async fn filters_choose_among_tasks(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    for key in ["one", "two"] {
        client.deploy(key, one_task("t", &[])).await?;
    }
    let start = async |key: &str, business: &str, colour: &str| -> Result<String> {
        let body = json!({ "businessKey": business, "variables": { "colour": { "value": colour } } });
        let started =
            post(client, &format!("/process-definition/key/{key}/start"), &body).await?.expect(200)?;
        Ok(started["id"].as_str().context("an id")?.to_owned())
    };
    let red = start("one", "first", "red").await?;
    let blue = start("two", "second", "blue").await?;
    let green = start("two", "third", "green").await?;
    let try_filter = async |filter: Value| -> Result<Vec<String>> {
        let mut topic = json!({ "topicName": "t", "lockDuration": 600_000 });
        for (name, value) in filter.as_object().context("a filter")? {
            topic[name] = value.clone();
        }
        let tasks = fetch_topics(client, "w", json!([topic]), json!({})).await?;
        for task in &tasks {
            post(client, &format!("/external-task/{}/unlock", id(task)), &json!(null)).await?.expect(204)?;
        }
        let mut ids: Vec<String> = tasks
            .iter()
            .map(|task| task["processInstanceId"].as_str().unwrap_or_default().to_owned())
            .collect();
        ids.sort();
        Ok(ids)
    };
    let only = |id: &String| vec![id.clone()];
    let none: Vec<String> = Vec::new();
    assert_eq!(try_filter(json!({ "businessKey": "second" })).await?, only(&blue));
    assert_eq!(try_filter(json!({ "processDefinitionKey": "one" })).await?, only(&red));
    assert_eq!(
        try_filter(json!({ "processDefinitionKeyIn": ["two"] })).await?,
        [blue.clone(), green.clone()]
    );
    assert_eq!(
        try_filter(json!({ "processDefinitionId": "two:1", "businessKey": "third" })).await?,
        only(&green)
    );
    assert_eq!(try_filter(json!({ "processDefinitionId": "two:2" })).await?, none);
    let either = json!({ "processVariables": { "colour": "red", "absent": 1 } });
    assert_eq!(try_filter(either).await?, only(&red));
    assert_eq!(try_filter(json!({ "processVariables": {} })).await?.len(), 3);
    let both = json!({ "processDefinitionId": "one:1", "processDefinitionIdIn": ["one:1", "two:1"] });
    assert_eq!(try_filter(both).await?, only(&red));
    // An empty list chooses nothing out.
    for empty in ["processDefinitionIdIn", "processDefinitionKeyIn", "tenantIdIn"] {
        let mut filter = json!({});
        filter[empty] = json!([]);
        assert_eq!(try_filter(filter).await?.len(), 3, "{empty}");
    }
    assert_eq!(try_filter(json!({ "tenantIdIn": ["other"] })).await?, none);
    assert_eq!(try_filter(json!({ "withoutTenantId": true })).await?.len(), 3);
    host.stop().await;
    Ok(())
}

/// By priority, which a template may give, then by age, either way.
async fn tasks_come_in_the_order_that_was_asked_for(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let template = "${workflow.context.topic}";
    client.deploy("flow", one_task(template, &["priority: '${workflow.context.p}'"])).await?;
    for (n, priority) in [(1, 5), (2, 1), (3, 9)] {
        client.start("flow", json!({ "topic": "by-name", "p": priority, "n": n })).await?;
    }
    let numbers = async |options: Value| -> Result<Vec<Value>> {
        let topics = json!([{ "topicName": "by-name", "lockDuration": 600_000 }]);
        let tasks = fetch_topics(client, "w", topics, options).await?;
        for task in &tasks {
            post(client, &format!("/external-task/{}/unlock", id(task)), &json!(null)).await?.expect(204)?;
        }
        Ok(tasks.iter().map(|task| json!([task["variables"]["n"]["value"], task["priority"]])).collect())
    };
    assert_eq!(
        numbers(json!({ "usePriority": true })).await?,
        [json!([2, 4]), json!([1, 0]), json!([3, -4])]
    );
    let oldest = json!({ "sorting": [{ "sortBy": "createTime", "sortOrder": "asc" }] });
    assert_eq!(numbers(oldest).await?, [json!([1, 0]), json!([2, 4]), json!([3, -4])]);
    let newest = json!({ "sorting": [{ "sortBy": "createTime", "sortOrder": "desc" }] });
    assert_eq!(numbers(newest).await?, [json!([3, -4]), json!([2, 4]), json!([1, 0])]);
    assert_eq!(numbers(json!({ "maxTasks": 0 })).await?, Vec::<Value>::new());
    host.stop().await;
    Ok(())
}

/// With an order, by priority and then by age means just that: not whose turn it is among instances.
async fn an_order_is_kept_to_the_letter(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let steps = ["a", "b", "c"].map(|step| {
        format!("\n  - {{ id: {step}, type: EXTERNAL_TASK, dependsOn: [], config: {{ taskType: t }} }}")
    });
    client.deploy("three", format!("steps:{}", steps.concat())).await?;
    let first = client.start("three", json!({})).await?;
    client.start("three", json!({})).await?;
    let topics = json!([{ "topicName": "t", "lockDuration": 600_000 }]);
    let oldest = json!([{ "sortBy": "createTime", "sortOrder": "asc" }]);
    let options = json!({ "maxTasks": 3, "usePriority": true, "sorting": oldest });
    let taken = fetch_topics(client, "w", topics.clone(), options).await?;
    let rest = fetch_topics(client, "w", topics, json!({ "maxTasks": 10 })).await?;
    assert_eq!((taken.len(), rest.len()), (3, 3));
    let newest = taken.iter().map(|task| millis(&task["createTime"])).collect::<Result<Vec<_>>>()?;
    let oldest = rest.iter().map(|task| millis(&task["createTime"])).collect::<Result<Vec<_>>>()?;
    assert!(newest.iter().max() <= oldest.iter().min(), "{newest:?} {oldest:?}");
    assert!(newest == oldest || taken.iter().all(|task| task["processInstanceId"] == first), "{taken:?}");
    host.stop().await;
    Ok(())
}

/// A workflow's version has a tag, which comes with its tasks and can be asked for, with gaps.
async fn version_tags_choose_among_tasks(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    for tag in ["versionTag: '1.2'\n", "versionTag: '2.0'\n", ""] {
        client.deploy("flow", format!("{tag}{}", one_task("t", &[]))).await?;
        client.start("flow", json!({})).await?;
    }
    let tags = async |filter: Value| -> Result<Vec<Value>> {
        let mut topic = json!({ "topicName": "t", "lockDuration": 600_000 });
        filter.as_object().into_iter().flatten().for_each(|(name, value)| topic[name] = value.clone());
        let tasks = fetch_topics(client, "w", json!([topic]), json!({})).await?;
        for task in &tasks {
            post(client, &format!("/external-task/{}/unlock", id(task)), &json!(null)).await?.expect(204)?;
        }
        Ok(tasks.iter().map(|task| task["processDefinitionVersionTag"].clone()).collect())
    };
    let tagged = |tag: &str| json!({ "processDefinitionVersionTag": tag });
    assert_eq!(tags(json!({})).await?, [json!("1.2"), json!("2.0"), json!(null)]);
    assert_eq!(tags(tagged("2.0")).await?, [json!("2.0")]);
    assert_eq!(tags(tagged("1.%")).await?, [json!("1.2")]);
    assert_eq!(tags(tagged("%")).await?, [json!("1.2"), json!("2.0")], "no tag is like nothing");
    assert_eq!(tags(tagged("3")).await?, Vec::<Value>::new());
    let listed = get(client, "/external-task?sortBy=createTime&sortOrder=asc").await?;
    let listed = listed.as_array().into_iter().flatten().map(|task| &task["processDefinitionVersionTag"]);
    assert_eq!(listed.collect::<Vec<_>>(), [&json!("1.2"), &json!("2.0"), &json!(null)]);
    assert_eq!(get(client, "/process-definition/flow:2").await?["versionTag"], "2.0");
    let wrong = client
        .send("POST", "/api/v1/workflows?key=x", format!("versionTag: 1\n{}", one_task("t", &[])))
        .await?;
    wrong.expect_problem(400, "definition_invalid")?;
    host.stop().await;
    Ok(())
}

/// All of it below the name of the engine too; of a topic that is named twice, the last counts; no variables if none are wanted.
async fn the_engine_has_a_name(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    let instance = client.start("flow", json!({ "a": 1 })).await?;
    let body = json!({ "workerId": "w", "maxTasks": 1, "topics": [
        { "topicName": "t", "lockDuration": 1 },
        { "topicName": "t", "lockDuration": 600_000, "variables": [] },
    ] });
    let tasks = post(client, "/engine/default/external-task/fetchAndLock", &body).await?.expect(200)?;
    assert_eq!(tasks[0]["variables"], json!({}));
    let shown = get(client, &format!("/engine/default/external-task/{}", id(&tasks[0]))).await?;
    assert!(millis(&shown["lockExpirationTime"])? - millis(&shown["createTime"])? >= 600_000, "{shown}");
    let done = format!("/engine/default/external-task/{}/complete", id(&tasks[0]));
    post(client, &done, &json!({ "workerId": "w" })).await?.expect(204)?;
    client.instance_is(&instance, "completed").await?;
    host.stop().await;
    Ok(())
}

/// A parked request is answered by a new task, with filters or without; an empty one after its time.
async fn a_request_waits_for_tasks(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    assert!(fetch(client, "t", "w").await?.is_empty());
    for filter in [json!({}), json!({ "businessKey": "wanted" })] {
        let mut topic = json!({ "topicName": "t", "lockDuration": 60_000 });
        for (name, value) in filter.as_object().context("a filter")? {
            topic[name] = value.clone();
        }
        let options = json!({ "asyncResponseTimeout": 1_000_000 });
        let waiting = tokio::spawn({
            let (client, topic) = (client.clone(), topic.clone());
            async move { fetch_topics(&client, "w", json!([topic]), options).await }
        });
        if filter == json!({}) {
            host.parked_polls(1).await?;
        }
        let body = json!({ "businessKey": "wanted" });
        post(client, "/process-definition/key/flow/start", &body).await?.expect(200)?;
        let tasks = waiting.await??;
        assert_eq!(tasks.len(), 1);
        let done = format!("/external-task/{}/complete", id(&tasks[0]));
        post(client, &done, &json!({ "workerId": "w" })).await?.expect(204)?;
    }
    let topics = json!([{ "topicName": "t", "lockDuration": 60_000, "businessKey": "absent" }]);
    assert!(fetch_topics(client, "w", topics, json!({ "asyncResponseTimeout": 50 })).await?.is_empty());
    host.stop().await;
    Ok(())
}

/// Without `usePriority` any order is right; all tasks come, each once.
async fn priorities_need_not_be_used(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &["priority: '${workflow.context.p}'"])).await?;
    for priority in [5, 1, 9, i64::MIN, i64::MAX] {
        client.start("flow", json!({ "p": priority })).await?;
    }
    let topics = json!([{ "topicName": "t", "lockDuration": 600_000 }]);
    let tasks = fetch_topics(client, "w", topics, json!({ "usePriority": false })).await?;
    let mut priorities: Vec<i64> = tasks.iter().filter_map(|task| task["priority"].as_i64()).collect();
    priorities.sort_unstable();
    assert_eq!(priorities, [5 - i64::MAX, -4, 0, 4, i64::MAX]);
    host.stop().await;
    Ok(())
}

/// A host whose tasks have no priorities: all are Camunda's 0, whatever workflows say.
async fn priorities_are_switched_off_for_a_host(db: TestDb) -> Result<()> {
    let host = Host::start_with(&db, |settings| settings.task_priorities = false).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &["priority: '${workflow.context.p}'"])).await?;
    for priority in [9, 1] {
        client.start("flow", json!({ "p": priority })).await?;
    }
    let topics = json!([{ "topicName": "t", "lockDuration": 600_000 }]);
    let tasks = fetch_topics(client, "w", topics, json!({ "usePriority": true })).await?;
    let seen: Vec<Value> =
        tasks.iter().map(|task| json!([task["variables"]["p"]["value"], task["priority"]])).collect();
    assert_eq!(seen, [json!([9, 0]), json!([1, 0])]);
    host.stop().await;
    Ok(())
}

/// What a step's definition says for its workers comes with the task, if they want it.
async fn extension_properties_come_with_the_task(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let properties = "    extensionProperties: { mailbox: in, size: 3, loud: true }\n";
    client.deploy("flow", format!("{}{properties}", one_task("t", &[]))).await?;
    for wanted in [json!({ "includeExtensionProperties": true }), json!({})] {
        client.start("flow", json!({})).await?;
        let mut topic = json!({ "topicName": "t", "lockDuration": 600_000 });
        let expected = match wanted.as_object().is_some_and(serde_json::Map::is_empty) {
            true => json!({}),
            false => json!({ "mailbox": "in", "size": "3", "loud": "true" }),
        };
        for (name, value) in wanted.as_object().context("a wish")? {
            topic[name] = value.clone();
        }
        // The flag beside the topics is taken, and means nothing.
        let options = json!({ "includeExtensionProperties": true });
        let tasks = fetch_topics(client, "w", json!([topic]), options).await?;
        assert_eq!((tasks.len(), &tasks[0]["extensionProperties"]), (1, &expected));
    }
    let wrong = format!("{}    extensionProperties: {{ list: [] }}\n", one_task("t", &[]));
    let refused = client.send("POST", "/api/v1/workflows?key=wrong", wrong).await?;
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.to_string().contains("a property is text, a number, or true or false"));
    host.stop().await;
    Ok(())
}

/// A topic is a name: the star of our own patterns means nothing in it.
async fn a_star_in_a_topic_is_a_star(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("flow", one_task("t", &[])).await?;
    client.start("flow", json!({})).await?;
    assert_eq!(fetch(client, "*", "w").await?, Vec::<Value>::new());
    assert_eq!(fetch(client, "t", "w").await?.len(), 1);
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_star_in_a_topic_is_a_star,
    topics_have_locks_and_variables_of_their_own,
    filters_choose_among_tasks,
    tasks_come_in_the_order_that_was_asked_for,
    an_order_is_kept_to_the_letter,
    version_tags_choose_among_tasks,
    the_engine_has_a_name,
    a_request_waits_for_tasks,
    priorities_need_not_be_used,
    priorities_are_switched_off_for_a_host,
    extension_properties_come_with_the_task,
);
