//! Camunda 7's REST for external tasks, as its workers call it: paths, fields, statuses and messages are Camunda's.
//!
//! Their process is our workflow, their activity our step, their variables our context. What the reports mean is
//! decided by the engine (`engine/task/camunda.rs`); here words are translated.

mod batches;
mod body;
mod caller;
mod definitions;
mod delivery;
mod document;
mod engines;
mod error;
mod fetch;
mod fetch_filtered;
mod fetch_request;
mod instance_variables;
mod instances;
mod locks;
mod query;
mod query_filters;
mod reports;
mod retries;
mod value;
mod variables;
mod view;

use axum::Router;
use axum::routing::{get, post, put};

use self::error::{CamundaError, Kind};
use super::AppState;

/// Every route, below `/engine-rest`.
pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/external-task", get(query::list).post(query::search))
        .route("/external-task/count", get(query::count).post(query::count_search))
        .route("/external-task/fetchAndLock", post(fetch::fetch_and_lock))
        .route("/external-task/topic-names", get(query::topic_names))
        .route("/external-task/retries", put(retries::set_many))
        .route("/external-task/{id}", get(query::show))
        .route("/external-task/{id}/errorDetails", get(query::error_details))
        .route("/external-task/{id}/complete", post(reports::complete))
        .route("/external-task/{id}/failure", post(reports::failure))
        .route("/external-task/{id}/bpmnError", post(reports::bpmn_error))
        .route("/external-task/{id}/lock", post(locks::lock))
        .route("/external-task/{id}/extendLock", post(locks::extend))
        .route("/external-task/{id}/unlock", post(locks::unlock))
        .route("/external-task/{id}/retries", put(locks::retries))
        .route("/external-task/{id}/priority", put(locks::priority))
        .merge(instances::router())
        .merge(instance_variables::router())
        .merge(definitions::router())
        .merge(engines::router())
        .merge(batches::router())
        .route("/openapi.json", get(document::openapi_json))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
}

async fn no_route() -> CamundaError {
    CamundaError::new(404, Kind::NotFound, "HTTP 404 Not Found")
}

async fn no_method() -> CamundaError {
    CamundaError::new(405, Kind::NotAllowed, "HTTP 405 Method Not Allowed")
}
