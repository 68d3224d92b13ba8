//! Lists of tasks: filters, orders, pages, counts, topics.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, one_task};

use crate::support::{fetch_topics, get, id, post, refused};

async fn every_filter_narrows_a_list(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", format!("name: The First\n{}", one_task("a", &[]))).await?;
    client.deploy("two", one_task("b", &["priority: 1"])).await?;
    let body = json!({ "variables": { "colour": { "value": "Red" }, "size": { "value": 5 } } });
    let first = post(client, "/process-definition/key/one/start", &body).await?.expect(200)?;
    let second = post(client, "/process-definition/key/two/start", &json!({})).await?.expect(200)?;
    let topics = json!([{ "topicName": "b", "lockDuration": 600_000 }]);
    let locked = fetch_topics(client, "w", topics, json!({})).await?.pop().context("a task")?;
    let a = get(client, "/external-task?topicName=a").await?[0].clone();
    assert_eq!((&a["processInstanceId"], &a["activityId"]), (&first["id"], &json!("work")));

    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (a_id, b_id) = (id(&a).to_owned(), id(&locked).to_owned());
    let both = vec![a_id.clone(), b_id.clone()];
    let (only_a, only_b, none) = (vec![a_id.clone()], vec![b_id.clone()], Vec::new());
    let later = "2999-01-01T00:00:00.000%2B0000";
    for (query, expected) in [
        (String::new(), &both),
        (format!("externalTaskId={a_id}"), &only_a),
        (format!("externalTaskIdIn={a_id},{b_id}"), &both),
        ("externalTaskId=nonsense".into(), &none),
        ("topicName=b".into(), &only_b),
        ("workerId=w".into(), &only_b),
        ("locked=true".into(), &only_b),
        ("notLocked=true".into(), &only_a),
        ("withRetriesLeft=true".into(), &both),
        ("noRetriesLeft=true".into(), &none),
        (format!("lockExpirationBefore={later}"), &only_b),
        (format!("lockExpirationAfter={later}"), &none),
        ("activityId=work".into(), &both),
        ("activityIdIn=other,work".into(), &both),
        (format!("executionId={}", text(&a["executionId"])), &only_a),
        (format!("processInstanceId={}", text(&first["id"])), &only_a),
        (format!("processInstanceIdIn={}", text(&second["id"])), &only_b),
        ("processDefinitionId=one:1".into(), &only_a),
        ("processDefinitionKey=two".into(), &only_b),
        ("processDefinitionKeyIn=one,two".into(), &both),
        ("processDefinitionName=The%20First".into(), &only_a),
        ("processDefinitionNameLike=The%25".into(), &only_a),
        ("tenantIdIn=other".into(), &none),
        ("active=true".into(), &both),
        ("suspended=true".into(), &none),
        ("priorityHigherThanOrEquals=1".into(), &only_b),
        ("priorityLowerThanOrEquals=0".into(), &only_a),
        ("processVariables=colour_eq_Red".into(), &only_a),
        ("processVariables=colour_eq_red".into(), &none),
        (
            "processVariables=Colour_eq_red&variableNamesIgnoreCase=true&variableValuesIgnoreCase=true"
                .into(),
            &only_a,
        ),
        ("processVariables=size_gteq_5,colour_like_R%25".into(), &only_a),
        ("locked=false".into(), &both),
        ("unknown=1".into(), &both),
    ] {
        let ordered = format!("/external-task?{query}&sortBy=createTime&sortOrder=asc");
        let found: Vec<String> =
            get(client, &ordered).await?.as_array().into_iter().flatten().map(|t| id(t).to_owned()).collect();
        assert_eq!(&found, expected, "{query}");
        let count = get(client, &format!("/external-task/count?{query}")).await?["count"].clone();
        assert_eq!(count, expected.len(), "{query}");
    }
    host.stop().await;
    Ok(())
}

/// A body takes the same filters as a query string: lists are lists there, and an empty one chooses nothing out.
async fn a_body_filters_as_a_query_string_does(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    client.deploy("one", one_task("a", &[])).await?;
    client.deploy("two", one_task("b", &["priority: 1"])).await?;
    let first = client.start("one", json!({ "size": 5, "colour": "red" })).await?;
    let second = client.start("two", json!({})).await?;
    let all = get(client, "/external-task?sortBy=createTime&sortOrder=asc").await?;
    let (a, b) = (id(&all[0]).to_owned(), id(&all[1]).to_owned());
    let (both, only_a, only_b) = (vec![a.clone(), b.clone()], vec![a.clone()], vec![b.clone()]);
    let sizes = |operator: &str| json!({ "processVariables": [{ "name": "size", "operator": operator, "value": 5 }] });
    for (filter, expected) in [
        (json!({}), &both),
        (json!({ "externalTaskIdIn": [a] }), &only_a),
        (json!({ "externalTaskIdIn": [] }), &both),
        (json!({ "activityIdIn": [], "processDefinitionKeyIn": [], "tenantIdIn": [] }), &both),
        (json!({ "processInstanceIdIn": [second, "nonsense"] }), &only_b),
        (json!({ "processInstanceIdIn": [first], "processInstanceId": second }), &Vec::new()),
        (json!({ "processDefinitionKeyIn": ["two", "three"] }), &only_b),
        (json!({ "priorityHigherThanOrEquals": 1, "notLocked": true, "active": true }), &only_b),
        (sizes("eq"), &only_a),
        (sizes("neq"), &Vec::new()),
        (sizes("lteq"), &only_a),
        (sizes("gt"), &Vec::new()),
        (
            json!({ "processVariables": [{ "name": "colour", "operator": "notLike", "value": "b%" }] }),
            &only_a,
        ),
    ] {
        let mut body = filter.clone();
        (body["sortBy"], body["sortOrder"]) = (json!("createTime"), json!("asc"));
        let found = post(client, "/external-task", &body).await?.expect(200)?;
        let found: Vec<String> = found.as_array().into_iter().flatten().map(|t| id(t).to_owned()).collect();
        assert_eq!(&found, expected, "{filter}");
        let count = post(client, "/external-task/count", &filter).await?.expect(200)?;
        assert_eq!(count, json!({ "count": expected.len() }), "{filter}");
    }
    let mut keys: Vec<&str> = all[0].as_object().context("a task")?.keys().map(String::as_str).collect();
    keys.sort_unstable();
    let absent = ["errorDetails", "variables", "extensionProperties"];
    assert!(keys.len() == 18 && !keys.iter().any(|key| absent.contains(key)), "{keys:?}");
    let odd = json!({ "processVariables": [{ "name": "size", "operator": "near", "value": 5 }] });
    refused(
        post(client, "/external-task", &odd).await?,
        400,
        "InvalidRequestException",
        "Invalid process variable comparator specified: near",
    )?;
    host.stop().await;
    Ok(())
}

/// The wait before a retry is a lock to lists of topics, too; what failed in an instance that has ended is not open.
async fn topics_are_those_of_open_tasks(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    let handled = "
steps:
  - { id: pay, type: EXTERNAL_TASK, config: { taskType: pay }, onError: { BAD: end } }
";
    client.deploy("handled", handled).await?;
    client.deploy("flow", one_task("t", &[])).await?;
    let ended = client.start("handled", json!({})).await?;
    let dead = client.poll("pay", "w").await?;
    client
        .report(&dead, "fail", &json!({ "message": "no", "code": "BAD", "noRetry": true }))
        .await?
        .expect(200)?;
    client.instance_is(&ended, "completed").await?;
    client.start("flow", json!({})).await?;
    let topics = json!([{ "topicName": "t", "lockDuration": 600_000 }]);
    let task = fetch_topics(client, "w", topics, json!({})).await?.pop().context("a task")?;
    let failure = json!({ "workerId": "w", "retries": 1, "retryTimeout": 600_000 });
    post(client, &format!("/external-task/{}/failure", id(&task)), &failure).await?.expect(204)?;
    for (query, expected) in [
        ("", json!(["t"])),
        ("?withLockedTasks=true", json!(["t"])),
        ("?withUnlockedTasks=true", json!([])),
        ("?withRetriesLeft=true", json!(["t"])),
    ] {
        assert_eq!(get(client, &format!("/external-task/topic-names{query}")).await?, expected, "{query}");
    }
    host.stop().await;
    Ok(())
}

async fn lists_have_orders_and_pages(db: TestDb) -> Result<()> {
    let host = Host::start(&db).await?;
    let client = &host.client;
    for (topic, priority) in [("a", 5), ("b", 1), ("c", 9)] {
        client.deploy(topic, one_task(topic, &[&format!("priority: {priority}")])).await?;
        client.start(topic, json!({})).await?;
    }
    let topics = async |sorting: Value, page: &str| -> Result<Vec<Value>> {
        let found = post(client, &format!("/external-task{page}"), &json!({ "sorting": sorting }))
            .await?
            .expect(200)?;
        Ok(found.as_array().into_iter().flatten().map(|task| task["topicName"].clone()).collect())
    };
    let sort = |by: &str, order: &str| json!({ "sortBy": by, "sortOrder": order });
    assert_eq!(topics(json!([sort("taskPriority", "desc")]), "").await?, ["b", "a", "c"]);
    assert_eq!(topics(json!([sort("taskPriority", "asc")]), "").await?, ["c", "a", "b"]);
    assert_eq!(topics(json!([sort("processDefinitionKey", "desc")]), "").await?, ["c", "b", "a"]);
    assert_eq!(
        topics(json!([sort("tenantId", "asc"), sort("createTime", "desc")]), "").await?,
        ["c", "b", "a"]
    );
    let four = ["tenantId", "lockExpirationTime", "tenantId", "taskPriority"].map(|by| sort(by, "desc"));
    assert_eq!(topics(json!(four), "").await?, ["b", "a", "c"]);
    let body = json!({ "sorting": vec![sort("id", "asc"); 5] });
    refused(
        post(client, "/external-task", &body).await?,
        400,
        "InvalidRequestException",
        "there are 5 sortings; at most 4 are taken",
    )?;
    // Ids are made in the order of time, and definitions are named a, b and c.
    for by in ["id", "processInstanceId", "processDefinitionId"] {
        assert_eq!(topics(json!([sort(by, "desc")]), "").await?, ["c", "b", "a"], "{by}");
        assert_eq!(topics(json!([sort(by, "asc")]), "").await?, ["a", "b", "c"], "{by}");
    }
    assert_eq!(topics(json!([sort("lockExpirationTime", "desc")]), "").await?.len(), 3);
    assert_eq!(topics(json!([sort("createTime", "asc")]), "?firstResult=1&maxResults=1").await?, ["b"]);
    assert_eq!(get(client, "/external-task/topic-names").await?, json!(["a", "b", "c"]));
    let held =
        fetch_topics(client, "w", json!([{ "topicName": "b", "lockDuration": 600_000 }]), json!({})).await?;
    assert_eq!(held.len(), 1);
    assert_eq!(get(client, "/external-task/topic-names?withLockedTasks=true").await?, json!(["b"]));
    assert_eq!(get(client, "/external-task/topic-names?withUnlockedTasks=true").await?, json!(["a", "c"]));
    assert_eq!(get(client, "/external-task/topic-names?withRetriesLeft=true").await?, json!(["a", "b", "c"]));
    let single = "Only a single sorting parameter specified. sortBy and sortOrder required";
    refused(
        client.get("/engine-rest/external-task?sortBy=id").await?,
        400,
        "InvalidRequestException",
        single,
    )?;
    refused(
        client.get("/engine-rest/external-task?sortBy=colour&sortOrder=asc").await?,
        400,
        "InvalidRequestException",
        "Cannot set query parameter 'sortBy' to value 'colour'",
    )?;
    refused(
        client.get("/engine-rest/external-task?sortBy=id&sortOrder=ASC").await?,
        400,
        "InvalidRequestException",
        "Cannot set query parameter 'sortOrder' to value 'ASC'",
    )?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    every_filter_narrows_a_list,
    a_body_filters_as_a_query_string_does,
    topics_are_those_of_open_tasks,
    lists_have_orders_and_pages,
);
