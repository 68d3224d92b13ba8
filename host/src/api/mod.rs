//! The HTTP surface: routes, access, problems, and the OpenAPI document that is made from the handlers.

mod access;
mod answers;
mod body;
mod callbacks;
mod camunda;
mod dead_letters;
mod docs;
pub mod error;
mod events;
mod extract;
mod health;
mod incidents;
mod instances;
mod messages;
mod n8n;
mod n8n_batch;
mod outbox;
mod plugins;
mod reminders;
mod schedules;
mod secrets;
mod senders;
mod serve;
mod tasks;
mod timers;
mod tokens;
mod trace;
mod view;
mod waits;
mod watch;
mod withdrawals;
mod workers;
mod workflows;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use metrics_exporter_prometheus::PrometheusHandle;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use self::serve::serve;

use self::access::TokenCache;
use self::error::Problem;
use crate::node::Node;

/// What handlers share.
pub(crate) struct App {
    node: Arc<Node>,
    metrics: Option<PrometheusHandle>,
    tokens: TokenCache,
    openapi: String,
}

pub(crate) type AppState = Arc<App>;

/// Every route of a host.
pub fn router(node: Arc<Node>, metrics: Option<PrometheusHandle>) -> Router {
    let body_bytes_max = node.limits.body_bytes_max;
    let (router, document) = api().split_for_parts();
    let openapi = document.to_json().unwrap_or_default();
    let state = Arc::new(App { node, metrics, tokens: TokenCache::default(), openapi });
    router
        .nest("/engine-rest", camunda::router())
        .nest("/engine-rest/engine/default", camunda::router())
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(body_bytes_max))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(axum::middleware::from_fn(trace::observe))
        .with_state(state)
}

/// The OpenAPI document.
pub fn openapi() -> utoipa::openapi::OpenApi {
    api().into_openapi()
}

fn api() -> OpenApiRouter<AppState> {
    let mut router = OpenApiRouter::with_openapi(docs::Document::openapi())
        .routes(routes!(workflows::deploy, workflows::list))
        .routes(routes!(workflows::show))
        .routes(routes!(workflows::show_version))
        .routes(routes!(instances::start))
        .routes(routes!(instances::list))
        .routes(routes!(instances::show))
        .routes(routes!(instances::timeline))
        .routes(routes!(instances::cancel))
        .routes(routes!(watch::events))
        .route("/api/v1/instances/{id}/watch", axum::routing::get(watch::events))
        .routes(routes!(tasks::list))
        .routes(routes!(tasks::show))
        .routes(routes!(tasks::why))
        .routes(routes!(workers::list))
        .routes(routes!(workers::show))
        .routes(routes!(workers::goodbye))
        .routes(routes!(withdrawals::cancellations))
        .routes(routes!(tasks::dead_letters))
        .routes(routes!(dead_letters::show))
        .routes(routes!(dead_letters::retry))
        .routes(routes!(dead_letters::discard))
        .routes(routes!(timers::list))
        .routes(routes!(timers::show))
        .routes(routes!(timers::fire))
        .routes(routes!(timers::reschedule))
        .routes(routes!(timers::cancel))
        .routes(routes!(schedules::list))
        .routes(routes!(schedules::show))
        .routes(routes!(schedules::pause))
        .routes(routes!(schedules::resume))
        .routes(routes!(incidents::list))
        .routes(routes!(incidents::resume))
        .routes(routes!(plugins::list))
        .routes(routes!(plugins::show))
        .merge(what_comes_in())
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::revoke))
        .routes(routes!(outbox::list))
        .routes(routes!(outbox::dead_letters))
        .routes(routes!(outbox::retry))
        .routes(routes!(outbox::discard))
        .routes(routes!(secrets::list))
        .routes(routes!(secrets::set, secrets::delete))
        .routes(routes!(secrets::rotate))
        .routes(routes!(senders::list))
        .routes(routes!(senders::show, senders::set, senders::delete))
        .routes(routes!(reminders::list))
        .routes(routes!(health::limits))
        .routes(routes!(n8n::poll))
        .routes(routes!(n8n::complete))
        .routes(routes!(n8n::fail))
        .routes(routes!(n8n::heartbeat))
        .routes(routes!(n8n::unlock))
        .routes(routes!(n8n_batch::complete))
        .routes(routes!(n8n_batch::fail))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
        .route("/openapi.json", axum::routing::get(docs::openapi_json))
        .route("/docs", axum::routing::get(docs::page))
        .route("/", axum::routing::get(docs::home));
    answers::complete(router.get_openapi_mut());
    router
}

/// Messages, events and callbacks, and what waits for them.
fn what_comes_in() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(messages::send))
        .routes(routes!(events::rejected))
        .routes(routes!(events::send))
        .routes(routes!(callbacks::external_service))
        .routes(routes!(callbacks::by_token))
        .routes(routes!(waits::list))
        .routes(routes!(waits::dead_letters))
        .routes(routes!(waits::show))
        .routes(routes!(waits::complete))
        .routes(routes!(waits::retry))
}

async fn route_not_found(method: Method, uri: Uri) -> Problem {
    let detail = format!("there is no {method} {}; /docs lists every route", uri.path());
    Problem::not_found("route_not_found", detail)
}

async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    let detail =
        format!("{} does not take {method}; the Allow header has the methods that it takes", uri.path());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
}

#[expect(clippy::needless_pass_by_value, reason = "as the layer wants it")]
fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response {
    let reason = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    tracing::error!(reason, "a request ended in a panic");
    Problem::internal().into_response()
}
