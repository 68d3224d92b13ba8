//! Paths and filters over an event's body: where an id stands, and whether an event is meant.

use std::collections::BTreeMap;

use serde_json::Value;

/// The value at a dotted path such as `data.correlation_id`; numbers lead into arrays. A member whose own name has the
/// dots in it wins.
pub fn at<'a>(body: &'a Value, path: &str) -> Option<&'a Value> {
    if let Some(value) = body.get(path) {
        return Some(value);
    }
    path.split('.').try_fold(body, |value, part| match value {
        Value::Object(members) => members.get(part),
        Value::Array(items) => part.parse::<usize>().ok().and_then(|index| items.get(index)),
        _ => None,
    })
}

/// Whether every path of a filter leads to the value that it says, or to one of them if it says several. Null means
/// that there is nothing, or null.
pub fn passes(body: &Value, filter: &BTreeMap<String, Value>) -> bool {
    filter.iter().all(|(path, wanted)| {
        let found = at(body, path).unwrap_or(&Value::Null);
        match wanted {
            Value::Array(several) if !found.is_array() => several.contains(found),
            wanted => found == wanted,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_walks_members_and_items() {
        let body = json!({ "data": { "ids": ["a", "b"], "x.y": 1 }, "data.own": 2 });
        assert_eq!(at(&body, "data.ids.1"), Some(&json!("b")));
        assert_eq!(at(&body, "data.own"), Some(&json!(2)), "a name with dots in it");
        for nowhere in ["data.ids.2", "data.ids.x", "nothing", "data.ids.0.a", ""] {
            assert_eq!(at(&body, nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn a_filter_passes_what_is_equal_or_one_of_several() {
        let body = json!({ "event_type": "done", "n": 1, "tags": ["a"], "data": { "ok": true } });
        let check = |filter: Value, passes_it: bool| {
            let filter = serde_json::from_value(filter).unwrap();
            assert_eq!(passes(&body, &filter), passes_it, "{filter:?}");
        };
        check(json!({}), true);
        check(json!({ "event_type": "done", "data.ok": true }), true);
        check(json!({ "event_type": ["failed", "done"] }), true);
        check(json!({ "tags": ["a"] }), true);
        check(json!({ "gone": null }), true);
        check(json!({ "event_type": "failed" }), false);
        check(json!({ "n": "1" }), false);
        check(json!({ "event_type": [] }), false);
        check(json!({ "gone": "x" }), false);
        check(json!({ "tags": ["b"] }), false);
    }
}
