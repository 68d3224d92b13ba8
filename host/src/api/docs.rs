//! The OpenAPI document's frame, and the pages that show it.

use axum::extract::State;
use axum::http::HeaderName;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::Html;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

use super::AppState;

/// What stands around the routes.
#[derive(OpenApi)]
#[openapi(
    info(title = "Stepwell", description = "A durable workflow engine, extended with WebAssembly. \
        Errors are problem+json with a stable `code`. Lists are pages: pass `next` as `after`. \
        The header X-Stepwell-Tenant names the tenant where the caller may choose it.",
        license(name = "Apache-2.0")),
    tags((name = "workflows", description = "Deploy and show workflow definitions"),
        (name = "instances", description = "Start, follow and cancel instances"),
        (name = "external tasks", description = "For workers"),
        (name = "tasks", description = "Tasks and dead letters, for operators"),
        (name = "workers", description = "Who works, and what was withdrawn from them"),
        (name = "timers", description = "What waits for a time"),
        (name = "schedules", description = "Workflows that the clock starts"),
        (name = "incidents", description = "Plugins at fault"),
        (name = "plugins", description = "What is loaded"),
        (name = "messages", description = "Messages to steps that wait"),
        (name = "tokens", description = "Who may do what"),
        (name = "outbox", description = "What leaves the host, and what was given up"),
        (name = "secrets", description = "What requests carry, and nobody reads"),
        (name = "reminders", description = "Notes to people, and who sends them"),
        (name = "operations", description = "Health, figures and limits")),
    modifiers(&Bearer),
    security(("bearer" = [])))]
pub(super) struct Document;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("A token `stw_…`; none is needed on a host that is open to its own machine"))
            .build();
        document
            .components
            .get_or_insert_default()
            .security_schemes
            .insert("bearer".to_owned(), SecurityScheme::Http(scheme).into());
    }
}

type Headers = [(HeaderName, &'static str); 2];

/// A page may use its own script and style, and call this host; nothing else.
const PAGE_HEADERS: Headers = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// The OpenAPI document.
pub(super) async fn openapi_json(State(state): State<AppState>) -> ([(HeaderName, &'static str); 1], String) {
    ([(CONTENT_TYPE, "application/json")], state.openapi.clone())
}

/// The page that shows every route.
pub(super) async fn page() -> (Headers, Html<&'static str>) {
    (PAGE_HEADERS, Html(include_str!("docs.html")))
}

/// The first page.
pub(super) async fn home() -> (Headers, Html<&'static str>) {
    (PAGE_HEADERS, Html(include_str!("home.html")))
}
