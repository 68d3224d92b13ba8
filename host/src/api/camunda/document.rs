//! An OpenAPI document of this surface, of its own: some of Camunda's errors are 500, which ours never are.

use axum::response::Response;
use serde_json::{Value, json};

use super::view::answer;

/// Method, path, what it does, and the status of its success.
const OPERATIONS: [(&str, &str, &str, &str); 54] = [
    ("get", "/external-task", "Lists tasks by a query string", "200"),
    ("post", "/external-task", "Lists tasks by a body", "200"),
    ("get", "/external-task/count", "Counts tasks by a query string", "200"),
    ("post", "/external-task/count", "Counts tasks by a body", "200"),
    ("post", "/external-task/fetchAndLock", "Waits for tasks and locks them", "200"),
    ("get", "/external-task/topic-names", "Lists topics of open tasks", "200"),
    ("put", "/external-task/retries", "Sets the retries of many tasks", "204"),
    ("post", "/external-task/retries-async", "Sets the retries of many tasks in a batch", "200"),
    ("get", "/external-task/{id}", "Shows a task", "200"),
    ("get", "/external-task/{id}/errorDetails", "Shows the details of a task's last error", "200"),
    ("post", "/external-task/{id}/complete", "Completes a task", "204"),
    ("post", "/external-task/{id}/failure", "Fails a task", "204"),
    ("post", "/external-task/{id}/bpmnError", "Ends a task with a business error", "204"),
    ("post", "/external-task/{id}/lock", "Locks a task", "204"),
    ("post", "/external-task/{id}/extendLock", "Extends a lock, counted from now", "204"),
    ("post", "/external-task/{id}/unlock", "Takes a lock away", "204"),
    ("put", "/external-task/{id}/retries", "Sets a task's retries", "204"),
    ("put", "/external-task/{id}/priority", "Sets a task's priority", "204"),
    ("get", "/process-instance", "Lists instances that run", "200"),
    ("post", "/process-instance", "Lists instances that run, by a body", "200"),
    ("get", "/process-instance/count", "Counts instances that run", "200"),
    ("post", "/process-instance/count", "Counts instances that run, by a body", "200"),
    ("get", "/process-instance/{id}", "Shows an instance", "200"),
    ("get", "/process-instance/{id}/variables", "Shows an instance's variables", "200"),
    ("post", "/process-instance/{id}/variables", "Changes an instance's variables", "204"),
    ("get", "/process-instance/{id}/variables/{name}", "Shows a variable", "200"),
    ("put", "/process-instance/{id}/variables/{name}", "Sets a variable", "204"),
    ("delete", "/process-instance/{id}/variables/{name}", "Removes a variable", "204"),
    ("get", "/process-instance/{id}/variables/{name}/data", "Downloads a file", "200"),
    ("get", "/execution/{id}/localVariables", "Shows an instance's variables", "200"),
    ("post", "/execution/{id}/localVariables", "Changes an instance's variables", "204"),
    ("get", "/execution/{id}/localVariables/{name}", "Shows a variable", "200"),
    ("put", "/execution/{id}/localVariables/{name}", "Sets a variable", "204"),
    ("delete", "/execution/{id}/localVariables/{name}", "Removes a variable", "204"),
    ("get", "/execution/{id}/localVariables/{name}/data", "Downloads a file", "200"),
    ("get", "/process-definition", "Lists the newest version of each definition", "200"),
    ("get", "/process-definition/count", "Counts definitions", "200"),
    ("get", "/process-definition/{id}", "Shows a definition", "200"),
    ("post", "/process-definition/{id}/start", "Starts an instance of a version", "200"),
    ("get", "/process-definition/key/{key}", "Shows the newest version", "200"),
    ("post", "/process-definition/key/{key}/start", "Starts an instance of the newest version", "200"),
    ("get", "/process-definition/key/{key}/tenant-id/{tenant}", "Shows a tenant's newest version", "200"),
    ("post", "/process-definition/key/{key}/tenant-id/{tenant}/start", "Starts a tenant's instance", "200"),
    ("get", "/incident", "Lists open incidents", "200"),
    ("get", "/incident/count", "Counts open incidents", "200"),
    ("get", "/batch", "Lists batches that run", "200"),
    ("get", "/batch/count", "Counts batches that run", "200"),
    ("get", "/batch/statistics", "Shows how far batches are", "200"),
    ("get", "/batch/{id}", "Shows a batch that runs", "200"),
    ("get", "/history/batch", "Lists batches", "200"),
    ("get", "/history/batch/{id}", "Shows a batch", "200"),
    ("get", "/version", "Shows which version of Camunda is spoken", "200"),
    ("get", "/engine", "Lists engines: there is one", "200"),
    ("get", "/openapi.json", "This document", "200"),
];

/// The document.
pub(super) async fn openapi_json() -> Response {
    let mut paths = json!({});
    for (method, path, summary, status) in OPERATIONS {
        paths[path][method] = operation(method, path, summary, status);
    }
    answer(&json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Stepwell for Camunda 7's workers",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The part of Camunda 7's REST that external-task workers use. All of it is also below \
                /engine-rest/engine/default. Errors have Camunda's body.",
        },
        "servers": [{ "url": "/engine-rest" }],
        "paths": paths,
        "components": {
            "schemas": { "Exception": {
                "type": "object",
                "required": ["type", "message", "code"],
                "properties": {
                    "type": { "type": "string" },
                    "message": { "type": "string" },
                    "code": { "type": ["integer", "null"] },
                },
            } },
            "securitySchemes": {
                "basic": { "type": "http", "scheme": "basic", "description": "The password is a token" },
                "bearer": { "type": "http", "scheme": "bearer" },
            },
        },
    }))
}

fn operation(method: &str, path: &str, summary: &str, status: &str) -> Value {
    let names = path.split(['{', '}']).skip(1).step_by(2);
    let parameters: Vec<Value> = names
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    let error = json!({
        "description": "Camunda's error",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Exception" } } },
    });
    let mut operation = json!({
        "summary": summary,
        "parameters": parameters,
        "security": [{ "basic": [] }, { "bearer": [] }],
        "responses": { status: { "description": summary }, "default": error },
    });
    if method == "post" || method == "put" {
        operation["requestBody"] =
            json!({ "content": { "application/json": { "schema": { "type": "object" } } } });
    }
    operation
}
