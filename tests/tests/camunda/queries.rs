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
    for by in ["id", "lockExpirationTime", "processInstanceId", "processDefinitionId"] {
        assert_eq!(topics(json!([sort(by, "desc")]), "").await?.len(), 3, "{by}");
    }
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
        "Cannot set query sortBy parameter to value colour",
    )?;
    refused(
        client.get("/engine-rest/external-task?sortBy=id&sortOrder=ASC").await?,
        400,
        "InvalidRequestException",
        "Cannot set query sortOrder parameter to value ASC",
    )?;
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(every_filter_narrows_a_list, lists_have_orders_and_pages);
