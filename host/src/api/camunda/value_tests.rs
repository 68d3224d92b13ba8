//! Each type, there and back.

use super::*;

fn there(given: &Value) -> Variable {
    read("v", given).expect("it is read").expect("it is kept")
}

fn back(given: &Value, deserialize: bool) -> Value {
    let variable = there(given);
    write(&variable.value, variable.note.as_ref(), deserialize)
}

#[test]
fn every_type_survives() {
    for (kind, value) in [
        ("Null", json!(null)),
        ("Boolean", json!(true)),
        ("Short", json!(7)),
        ("Integer", json!(7)),
        ("Long", json!(7)),
        ("Long", json!(9_007_199_254_740_993_i64)),
        ("Double", json!(7.0)),
        ("Double", json!(1e300)),
        ("String", json!("x")),
        ("Date", json!("2026-11-16T01:55:23.000+0000")),
        ("Bytes", json!("aGVsbG8=")),
        ("Xml", json!("<a/>")),
        ("Json", json!(r#"{"a":[1,2]}"#)),
        ("String", json!(null)),
    ] {
        let given = json!({ "type": kind, "value": value, "valueInfo": {} });
        assert_eq!(back(&given, false), given);
        let small = json!({ "type": kind.to_lowercase(), "value": value });
        assert_eq!(back(&small, false), given);
    }
}

#[test]
fn objects_and_files_keep_their_info() {
    let info = json!({ "objectTypeName": "a.B", "serializationDataFormat": "application/json" });
    let object = json!({ "type": "Object", "value": r#"{"a":1}"#, "valueInfo": info });
    assert_eq!(back(&object, false), object);
    assert_eq!(back(&object, true)["value"], json!({ "a": 1 }));
    let java = json!({ "type": "Object", "value": "rO0AB", "valueInfo":
        { "objectTypeName": "a.B", "serializationDataFormat": "application/x-java-serialized-object" } });
    assert_eq!(back(&java, true), java);
    let file = json!({ "type": "file", "value": "aGVsbG8=", "valueInfo": { "filename": "a.txt" } });
    let shown = json!({ "type": "File", "value": null, "valueInfo": { "filename": "a.txt" } });
    assert_eq!(back(&file, false), shown);
    let kept = there(&file);
    assert_eq!(bytes(&kept.value, kept.note.as_ref()).unwrap().0, b"hello");
}

#[test]
fn what_has_no_type_gets_one() {
    for (value, kind) in [
        (json!(1), "Integer"),
        (json!(3_000_000_000_i64), "Long"),
        (json!(1.5), "Double"),
        (json!("x"), "String"),
        (json!(null), "Null"),
        (json!([1]), "Object"),
        (json!({ "a": 1 }), "Object"),
    ] {
        let shown = back(&json!({ "value": value }), true);
        assert_eq!((&shown["type"], &shown["value"]), (&json!(kind), &value));
    }
    assert_eq!(write(&json!({ "a": 1 }), None, false)["value"], r#"{"a":1}"#);
}

#[test]
fn text_that_is_a_number_is_taken_for_one() {
    assert_eq!(back(&json!({ "type": "Integer", "value": "42" }), false)["value"], 42);
    assert_eq!(back(&json!({ "type": "Double", "value": "4" }), false)["value"], 4.0);
    assert_eq!(back(&json!({ "type": "String", "value": 4 }), false)["value"], "4");
}

#[test]
fn a_type_that_no_longer_fits_is_forgotten() {
    let shown = write(&json!("text"), Some(&json!({ "type": "Long" })), false);
    assert_eq!(shown["type"], "String");
}

#[test]
fn a_transient_variable_is_not_kept() {
    let given = json!({ "type": "String", "value": "x", "valueInfo": { "transient": true } });
    assert_eq!(read("v", &given).unwrap(), None);
}

#[test]
fn what_does_not_fit_is_refused() {
    for given in [
        json!({ "type": "Integer", "value": "x" }),
        json!({ "type": "Integer", "value": 3_000_000_000_i64 }),
        json!({ "type": "Short", "value": 40_000 }),
        json!({ "type": "Boolean", "value": 1 }),
        json!({ "type": "Date", "value": "yesterday" }),
        json!({ "type": "Bytes", "value": "%%" }),
        json!({ "type": "File", "value": "aGVsbG8=" }),
        json!({ "type": "Json", "value": "{" }),
        json!({ "type": "Json", "value": {} }),
        json!({ "type": "Colour", "value": "red" }),
        json!("plain"),
    ] {
        assert!(read("v", &given).is_err(), "{given}");
    }
    assert!(read("_types", &json!({ "value": 1 })).is_err());
}
