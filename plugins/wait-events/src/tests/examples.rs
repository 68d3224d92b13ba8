//! The five examples of the guide, word for word.

use super::*;

/// Wait for Both Events (Default).
const EXAMPLE_1: &str = r#"{
  "type": "wait_events",
  "data": {
    "apiCall": {
      "enabled": true,
      "url": "https://api.example.com/process",
      "method": "POST",
      "required": true
    },
    "kafkaEvent": {
      "enabled": true,
      "topic": "process.completed",
      "required": true
    },
    "aggregationStrategy": "all",
    "timeout": 300
  }
}"#;

/// Wait for Any Event (Whichever Comes First).
const EXAMPLE_2: &str = r#"{
  "type": "wait_events",
  "data": {
    "apiCall": {
      "enabled": true,
      "url": "https://api.example.com/process",
      "required": false
    },
    "kafkaEvent": {
      "enabled": true,
      "topic": "process.completed",
      "required": false
    },
    "aggregationStrategy": "any",
    "timeout": 300
  }
}"#;

/// Only API Call (No Kafka Event).
const EXAMPLE_3: &str = r#"{
  "type": "wait_events",
  "data": {
    "apiCall": {
      "enabled": true,
      "url": "https://api.example.com/process",
      "required": true
    },
    "kafkaEvent": {
      "enabled": false
    },
    "aggregationStrategy": "all",
    "timeout": 300
  }
}"#;

/// Only Kafka Event (No API Call).
const EXAMPLE_4: &str = r#"{
  "type": "wait_events",
  "data": {
    "apiCall": {
      "enabled": false
    },
    "kafkaEvent": {
      "enabled": true,
      "topic": "process.completed",
      "required": true
    },
    "aggregationStrategy": "all",
    "timeout": 300
  }
}"#;

/// Custom Strategy (Wait for Specific Events).
const EXAMPLE_5: &str = r#"{
  "type": "wait_events",
  "data": {
    "apiCall": {
      "enabled": true,
      "url": "https://api.example.com/process",
      "required": true
    },
    "kafkaEvent": {
      "enabled": true,
      "topic": "process.completed",
      "required": false
    },
    "aggregationStrategy": "custom",
    "requiredEvents": ["api_response"],
    "timeout": 300
  }
}"#;

/// The `data` of an example.
fn data(example: &str) -> Value {
    let node: Value = serde_json::from_str(example).expect("JSON");
    assert_eq!(node["type"], "wait_events");
    node["data"].clone()
}

/// What has come, in order; the output if that was enough.
fn after(config: &Value, names: &[&str]) -> Option<Value> {
    let begun = start(config).expect("the example is good");
    assert_eq!(timers(&begun), [("timeout".into(), 300_000)]);
    let told = |before: Transition, name: &&str| tell(config, &before, came(name, &json!({ "from": name })));
    let last = names.iter().fold(begun, told);
    matches!(last.outcome, Outcome::Completed(_)).then(|| output(&last))
}

#[test]
fn example_1_waits_for_both_in_any_order() {
    let config = data(EXAMPLE_1);
    assert_eq!(request(&start(&config).unwrap()).url, "https://api.example.com/process");
    assert_eq!(after(&config, &["api_response"]), None);
    assert_eq!(after(&config, &["kafka_event"]), None);
    for order in [["api_response", "kafka_event"], ["kafka_event", "api_response"]] {
        let output = after(&config, &order).expect("both have come");
        assert_eq!(output["receivedEvents"], json!(order));
        assert_eq!(output["api_response"], json!({ "from": "api_response" }));
        assert_eq!(output["kafka_event"], json!({ "from": "kafka_event" }));
    }
}

#[test]
fn example_2_goes_on_with_whichever_comes_first() {
    let config = data(EXAMPLE_2);
    assert_eq!(request(&start(&config).unwrap()).method, "POST", "the default");
    for first in ["api_response", "kafka_event"] {
        assert_eq!(after(&config, &[first]).expect("one is enough")["receivedEvents"], json!([first]));
    }
}

#[test]
fn example_3_waits_for_the_answer_alone() {
    let config = data(EXAMPLE_3);
    assert_eq!(row(&start(&config).unwrap())["listeners"].as_array().map(Vec::len), Some(1));
    let output = after(&config, &["api_response"]).expect("it has come");
    assert_eq!(output.get("kafka_event"), None);
}

#[test]
fn example_4_waits_for_the_event_alone_and_calls_nobody() {
    let config = data(EXAMPLE_4);
    let begun = start(&config).unwrap();
    assert!(!begun.effects.iter().any(|effect| matches!(effect, Effect::HttpCall(_))));
    assert_eq!(row(&begun)["listeners"][0]["topic"], "process.completed");
    assert!(after(&config, &["kafka_event"]).is_some());
}

#[test]
fn example_5_waits_for_what_it_names() {
    let config = data(EXAMPLE_5);
    assert_eq!(row(&start(&config).unwrap())["requiredEvents"], json!(["api_response"]));
    assert_eq!(after(&config, &["kafka_event"]), None);
    assert!(after(&config, &["api_response"]).is_some());
    let output = after(&config, &["kafka_event", "api_response"]).expect("enough has come");
    assert_eq!(output["kafka_event"], json!({ "from": "kafka_event" }));
}
