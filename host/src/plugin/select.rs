//! The parts of an input that a plugin asked for, by JSON pointer, so that it does not pay for the rest.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The input with nothing but what the pointers name; an array is given whole. No pointers mean all of it.
pub(super) fn select<'a>(input: &'a Value, pointers: &[String]) -> Cow<'a, Value> {
    if pointers.is_empty() {
        return Cow::Borrowed(input);
    }
    let mut selected = Value::Object(Map::new());
    for pointer in pointers {
        let names: Vec<String> =
            pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect();
        copy(input, &mut selected, &names);
    }
    Cow::Owned(selected)
}

fn copy(from: &Value, to: &mut Value, names: &[String]) {
    match (from, names) {
        (Value::Object(members), [name, rest @ ..]) => {
            let Some(member) = members.get(name) else { return };
            if !rest.is_empty() && !member.is_object() && !member.is_array() {
                return;
            }
            if !to.is_object() {
                *to = Value::Object(Map::new());
            }
            if let Some(target) = to.as_object_mut() {
                copy(member, target.entry(name.clone()).or_insert(Value::Null), rest);
            }
        }
        (Value::Array(_), _) | (_, []) => *to = from.clone(),
        (_, _) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn selected(pointers: &[&str]) -> Value {
        let input = json!({ "a": { "b": 1, "c": [1, 2] }, "d": 3, "x/y": 4 });
        select(&input, &pointers.iter().map(|pointer| (*pointer).to_owned()).collect::<Vec<_>>()).into_owned()
    }

    #[test]
    fn only_what_is_named_is_given() {
        assert_eq!(selected(&["/a/b"]), json!({ "a": { "b": 1 } }));
        assert_eq!(selected(&["/a/b", "/d"]), json!({ "a": { "b": 1 }, "d": 3 }));
        assert_eq!(selected(&["/a/c/0"]), json!({ "a": { "c": [1, 2] } }));
        assert_eq!(selected(&["/d/e"]), json!({}));
        assert_eq!(selected(&["/x~1y", "/gone"]), json!({ "x/y": 4 }));
        assert_eq!(selected(&[])["d"], 3);
    }
}
