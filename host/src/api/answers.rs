//! What every route may answer besides its own answers, put into the OpenAPI document in one place.

use axum::http::StatusCode;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response};

/// How every problem is sent.
const PROBLEM: &str = "application/problem+json";

/// What any route answers that asks who calls.
const OF_EVERYONE: [(&str, &str); 4] = [
    ("400", "The request makes no sense; `errors` may say which part"),
    ("401", "No token, or one that is not valid"),
    ("403", "The token may not do this, or another site's page asked"),
    ("503", "The database or this host cannot do it now; try again"),
];
/// What any route answers beside that which changes something.
const OF_CHANGES: [(&str, &str); 2] = [
    ("422", "It is understood, and cannot be done as it stands"),
    ("429", "Too much waits already; try again"),
];
/// What any route answers that takes a body.
const OF_BODIES: [(&str, &str); 1] = [("413", "The body, or a part of it, is larger than the limits allow")];

/// Completes the document: common problems, the type that problems have, a sentence for each answer.
pub(super) fn complete(document: &mut OpenApi) {
    for item in document.paths.paths.values_mut() {
        for (changes, operation) in operations(item) {
            add_common(operation, changes);
            operation.responses.responses.iter_mut().for_each(|(status, response)| finish(status, response));
        }
    }
}

/// Its operations, and whether each changes something.
fn operations(item: &mut PathItem) -> impl Iterator<Item = (bool, &mut Operation)> {
    let all =
        [(false, &mut item.get), (true, &mut item.post), (true, &mut item.put), (true, &mut item.delete)];
    all.into_iter().filter_map(|(changes, operation)| Some((changes, operation.as_mut()?)))
}

fn add_common(operation: &mut Operation, changes: bool) {
    // `security(())`: it answers anyone, without a look at the request.
    if operation.security.is_some() {
        return;
    }
    let of_changes = OF_CHANGES.iter().filter(|_| changes);
    let of_bodies = OF_BODIES.iter().filter(|_| operation.request_body.is_some());
    for (status, sentence) in OF_EVERYONE.iter().chain(of_changes).chain(of_bodies) {
        let responses = &mut operation.responses.responses;
        responses.entry((*status).to_owned()).or_insert_with(|| Response::new(*sentence).into());
    }
}

fn finish(status: &str, response: &mut RefOr<Response>) {
    let RefOr::T(response) = response else { return };
    if response.description.is_empty() {
        let status = status.parse().ok().and_then(|code: u16| StatusCode::from_u16(code).ok());
        let reason = status.and_then(|status| status.canonical_reason());
        reason.unwrap_or("An answer").clone_into(&mut response.description);
    }
    if status.starts_with(['4', '5']) {
        response.content.clear();
        let problem = Content::new(Some(Ref::from_schema_name("Problem")));
        response.content.insert(PROBLEM.to_owned(), problem.into());
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_answer_is_described_and_every_error_is_a_problem() {
        let document = serde_json::to_value(crate::api::openapi()).expect("it is JSON");
        let mut problems = 0;
        for (path, item) in document["paths"].as_object().expect("there are paths") {
            for (method, operation) in item.as_object().expect("a path has methods") {
                for (status, response) in operation["responses"].as_object().expect("and answers") {
                    let place = format!("{method} {path} {status}");
                    assert!(response["description"].as_str().is_some_and(|text| text.len() > 1), "{place}");
                    if status.starts_with(['4', '5']) {
                        problems += 1;
                        let schema = &response["content"]["application/problem+json"]["schema"]["$ref"];
                        assert_eq!(schema, "#/components/schemas/Problem", "{place}");
                    }
                }
            }
        }
        assert!(problems > 100, "{problems}");
        assert!(document["components"]["schemas"]["Problem"].is_object());
    }
}
