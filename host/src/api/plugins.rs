//! Plugins: what is loaded, and what serves which type.

use axum::Json as JsonAnswer;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::AppState;
use super::access::Operator;
use super::error::{Problem, ProblemBody};
use super::extract::Name;
use super::view::PageView;
use crate::domain::plugin::{PluginInfo, PluginKind};

/// A component.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Plugin)]
pub(super) struct PluginView {
    /// SHA-256 of the component.
    digest: String,
    /// step or mapper.
    kind: &'static str,
    /// `bundled`, a file's name, or `database`.
    origin: String,
    size_bytes: u64,
    /// The type names that it has.
    types: Vec<String>,
    /// Those of them that it serves now.
    serving: Vec<String>,
    version: String,
    title: String,
    category: String,
    icon: String,
    /// JSON Schema of the configuration.
    config_schema: Value,
    /// JSON Schema of the output.
    output_schema: Value,
    state_version: u32,
    /// The effects that it may return.
    effects: Vec<String>,
    /// Hosts, secrets and topics that it asks for.
    #[schema(value_type = Object)]
    requests: Value,
    compensates: bool,
    migrates: bool,
}

impl From<PluginInfo> for PluginView {
    fn from(info: PluginInfo) -> Self {
        let described = info.descriptor;
        Self {
            digest: info.digest.to_string(),
            kind: match info.kind {
                PluginKind::Step => "step",
                PluginKind::Mapper => "mapper",
            },
            origin: info.origin,
            size_bytes: info.size_bytes,
            types: described.types,
            serving: info.serving,
            version: described.version,
            title: described.title,
            category: described.category,
            icon: described.icon,
            config_schema: described.config_schema,
            output_schema: described.output_schema,
            state_version: described.state_version,
            effects: described.effects,
            requests: serde_json::to_value(described.requests).unwrap_or_default(),
            compensates: info.compensates,
            migrates: info.migrates,
        }
    }
}

/// Lists the components that are loaded.
#[utoipa::path(get, path = "/api/v1/plugins", tag = "plugins",
    responses((status = 200, body = PageView<PluginView>)))]
pub(super) async fn list(State(state): State<AppState>, _: Operator) -> JsonAnswer<PageView<PluginView>> {
    let items = state.node.catalog.list().into_iter().map(Into::into).collect();
    JsonAnswer(PageView { items, next: None })
}

/// Shows a component, by a type name or by its digest.
#[utoipa::path(get, path = "/api/v1/plugins/{nameOrDigest}", tag = "plugins",
    params(("nameOrDigest" = String, Path, description = "A type name, or a digest")),
    responses((status = 200, body = PluginView), (status = 404, body = ProblemBody)))]
pub(super) async fn show(
    State(state): State<AppState>,
    _: Operator,
    Name(name): Name,
) -> Result<JsonAnswer<PluginView>, Problem> {
    let info = state.node.catalog.info(&name);
    info.map(|info| JsonAnswer(info.into())).ok_or_else(|| {
        Problem::not_found("plugin_not_found", format!("no plugin serves `{name}` or has this digest"))
    })
}
