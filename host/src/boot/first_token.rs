//! The first token is made on the database itself: a server that others can reach does not start without one.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::{Error, open};
use crate::domain::limits::Limits;
use crate::domain::plugin::{Fault, MapCall, StepCall};
use crate::domain::token::Role;
use crate::domain::transition::Transition;
use crate::domain::{Digest, SystemClock, TenantId, Timestamp};
use crate::engine::port::announce::Silent;
use crate::engine::port::{Answer, Plugins, StepType};
use crate::engine::{Engine, NewToken, Parts};

/// Makes a token on a database that no server runs on (on SQLite), or that others may run on (PostgreSQL).
pub async fn create_token(
    database: &str,
    tenant: &TenantId,
    role: Role,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<NewToken, Error> {
    let store = open(database).await?;
    let engine = Engine::new(Parts {
        store: Arc::clone(&store),
        plugins: Arc::new(NoPlugins),
        clock: Arc::new(SystemClock),
        announcer: Arc::new(Silent),
        limits: Limits::default(),
        keyring: Arc::default(),
        node_id: "none".into(),
    });
    let made = engine.create_token(tenant, role, name, expires_at).await;
    engine.drain().await;
    store.close().await;
    made.map_err(|error| Error::Unavailable(format!("the token was not made: {error}")))
}

/// Tokens need no plugins.
struct NoPlugins;

#[async_trait]
impl Plugins for NoPlugins {
    fn step_type(&self, _: &str) -> Option<StepType> {
        None
    }

    fn mapper(&self, _: &str) -> Option<StepType> {
        None
    }

    fn step_type_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn check_config(&self, _: &Digest, _: &Value) -> Vec<(String, String)> {
        Vec::new()
    }

    async fn call_step(&self, digest: &Digest, _: &StepCall) -> Result<Answer<Transition>, Fault> {
        Err(missing(digest))
    }

    async fn transform(&self, digest: &Digest, _: &MapCall) -> Result<Answer<Value>, Fault> {
        Err(missing(digest))
    }
}

fn missing(digest: &Digest) -> Fault {
    let message = format!("the plugin {} is not loaded here", digest.short());
    Fault { code: "plugin_missing", message, transient: false }
}
