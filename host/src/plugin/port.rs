//! The engine's port: how the engine calls plugins.

use async_trait::async_trait;
use serde_json::Value;

use super::call::{Caller, Request, Response, call, count};
use super::fault::missing;
use super::loaded::Loaded;
use super::{PluginHost, convert, limits, select, verdict};
use crate::domain::plugin::{Fault, MapCall, PluginKind, PluginLimits, StepCall, StepVerb};
use crate::domain::transition::Transition;
use crate::domain::{Digest, TenantId};
use crate::engine::port::{Answer, Plugins, StepType};

#[async_trait]
impl Plugins for PluginHost {
    fn step_type(&self, name: &str) -> Option<StepType> {
        self.registry.serving(PluginKind::Step, name).as_deref().map(step_type)
    }

    fn mapper(&self, name: &str) -> Option<StepType> {
        self.registry.serving(PluginKind::Mapper, name).as_deref().map(step_type)
    }

    fn step_type_names(&self) -> Vec<String> {
        self.registry.names(PluginKind::Step)
    }

    fn check_config(&self, digest: &Digest, config: &Value) -> Vec<(String, String)> {
        let Some(loaded) = self.registry.get(digest) else { return Vec::new() };
        let errors = loaded.config.iter().flat_map(|schema| schema.iter_errors(config));
        errors.map(|error| (error.instance_path().to_string(), error.to_string())).collect()
    }

    async fn call_step(&self, digest: &Digest, step_call: &StepCall) -> Result<Answer<Transition>, Fault> {
        let loaded = self.ensure(digest).await?;
        let context = convert::context(&step_call.context);
        let request = match &step_call.verb {
            StepVerb::Start { input } => Request::Start {
                context,
                input: convert::text(&select::select(input, &loaded.descriptor.input_select)),
            },
            StepVerb::OnEvent { state, event } => {
                Request::OnEvent { context, state: state.clone(), event: convert::event(event) }
            }
        };
        let (limits, caller) = self.admit(&loaded, &step_call.context.tenant).await?;
        let (response, usage) = call(&self.runtime, &loaded, &limits, caller, request).await?;
        let result = match response {
            Response::Transition(Ok(answer)) => {
                Ok(verdict::transition(answer, &loaded.descriptor, &limits).inspect_err(count)?)
            }
            Response::Transition(Err(error)) => Err(convert::refusal(error)),
            _ => return Err(missing(format!("{} is no step type", digest.short()))),
        };
        Ok(Answer { result, usage })
    }

    async fn transform(&self, digest: &Digest, map_call: &MapCall) -> Result<Answer<Value>, Fault> {
        let loaded = self.ensure(digest).await?;
        let request = Request::Transform {
            context: convert::map_context(&map_call.context),
            input: convert::text(&select::select(&map_call.input, &loaded.descriptor.input_select)),
        };
        let (limits, caller) = self.admit(&loaded, &map_call.context.tenant).await?;
        let (response, usage) = call(&self.runtime, &loaded, &limits, caller, request).await?;
        let result = match response {
            Response::Mapped(Ok(output)) => Ok(verdict::mapped(&output).inspect_err(count)?),
            Response::Mapped(Err(error)) => Err(convert::refusal(error)),
            _ => return Err(missing(format!("{} is no mapper", digest.short()))),
        };
        Ok(Answer { result, usage })
    }
}

impl PluginHost {
    /// The limits of a call, and the right to make it.
    async fn admit(&self, loaded: &Loaded, tenant: &TenantId) -> Result<(PluginLimits, Caller), Fault> {
        let types = &loaded.descriptor.types;
        let of_call = self.limits(Some(tenant), types, &loaded.digest);
        let of_tenant = self.limits(Some(tenant), &[], &Digest("".into()));
        let plugin_max = limits::of_plugin(&self.overrides, types, &loaded.digest).concurrent_calls_max;
        let plugin = plugin_max.map(|max| (&loaded.digest, max));
        let permit =
            self.permits.acquire(tenant, of_tenant.concurrent_calls_max, plugin).await.inspect_err(count)?;
        Ok((of_call, Caller::tenant(tenant, permit)))
    }
}

fn step_type(loaded: &Loaded) -> StepType {
    StepType { digest: loaded.digest.clone(), descriptor: loaded.descriptor.clone() }
}
