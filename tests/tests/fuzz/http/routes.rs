//! The routes, as the host's own document lists them.

use std::collections::BTreeMap;

use serde_json::Value;

/// One operation.
#[derive(Clone, Debug)]
pub struct Route {
    pub method: String,
    /// With names in braces.
    pub path: String,
    /// What it takes, by place (`path`, `query`, `header`) and name.
    pub parameters: Vec<(String, String)>,
    /// The content types of its body; none if it takes none.
    pub body_types: Vec<String>,
    /// The names of its body's members, with the schema of each, resolved.
    pub members: BTreeMap<String, Value>,
    /// From status to content types.
    answers: BTreeMap<u16, Vec<String>>,
}

impl Route {
    /// Whether the document has this status.
    pub fn documents(&self, status: u16) -> bool {
        self.answers.contains_key(&status)
    }

    /// Whether the document has this type for a status.
    pub fn sends(&self, status: u16, kind: &str) -> bool {
        let kind = kind.split(';').next().unwrap_or_default();
        self.answers.get(&status).is_some_and(|kinds| kinds.iter().any(|documented| documented == kind))
    }
}

/// Every operation of a document.
pub fn all(document: &Value) -> Vec<Route> {
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            routes.push(route(document, path, method, operation));
        }
    }
    routes
}

fn route(document: &Value, path: &str, method: &str, operation: &Value) -> Route {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let content = operation["requestBody"]["content"].as_object();
    let schema = content.and_then(|content| content.get("application/json")).map(|json| &json["schema"]);
    let schema = schema.map(|schema| resolved(document, schema)).unwrap_or_default();
    let answers = operation["responses"].as_object().unwrap().iter().map(|(status, answer)| {
        let kinds = answer["content"].as_object().into_iter().flatten().map(|(kind, _)| kind.clone());
        (status.parse().unwrap(), kinds.collect())
    });
    Route {
        method: method.to_uppercase(),
        path: path.to_owned(),
        parameters: parameters.map(|each| (text(&each["in"]), text(&each["name"]))).collect(),
        body_types: content.into_iter().flatten().map(|(kind, _)| kind.clone()).collect(),
        members: members(document, &schema),
        answers: answers.collect(),
    }
}

fn members(document: &Value, schema: &Value) -> BTreeMap<String, Value> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, member)| (name.clone(), resolved(document, member))).collect()
}

fn resolved(document: &Value, schema: &Value) -> Value {
    match schema["$ref"].as_str() {
        Some(name) => document.pointer(name.trim_start_matches('#')).unwrap().clone(),
        None => schema.clone(),
    }
}
