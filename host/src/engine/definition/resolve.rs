//! Templates resolved: values put in, within a limit.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::domain::definition::{Path, Piece, Root, Segment, Template};
use crate::domain::instance::Instance;
use crate::domain::json as flaw;

/// What templates can see.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The instance's context.
    pub context: &'a Value,
    /// What the instance was started with.
    pub trigger: &'a Value,
    /// The definition's `variables`.
    pub variables: &'a Value,
    /// What [`execution`] gives.
    pub execution: &'a Value,
    /// Outputs of steps that completed, by step id.
    pub outputs: &'a HashMap<String, Value>,
    /// Errors of steps that failed, by step id: `code`, `message`, …
    pub errors: &'a HashMap<String, Value>,
    /// Markers of secrets, by name.
    pub secrets: &'a Value,
}

/// Why a template could not be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// There is no such value.
    #[error("`{template}` in `{field}` has no value: there is no `{missing}`")]
    Missing {
        /// As written.
        template: String,
        /// The field of the configuration that it stands in.
        field: String,
        /// The first part of the path that is not there.
        missing: String,
    },
    /// The result is over the limit.
    #[error("the configuration is larger than {bytes_max} bytes once its templates are resolved")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The result cannot be kept.
    #[error("the configuration, once its templates are resolved, {0}")]
    Flawed(flaw::Flaw),
}

impl TemplateError {
    /// Its stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "template_path_missing",
            Self::TooLarge { .. } => "template_too_large",
            Self::Flawed(_) => "template_invalid",
        }
    }
}

/// Puts values in the place of templates.
pub fn resolve(template: &Template, scope: &Scope<'_>, bytes_max: usize) -> Result<Value, TemplateError> {
    let mut budget = Budget { bytes_max, left: bytes_max };
    let value = resolve_at(template, scope, &mut budget).map_err(|mut error| {
        if let TemplateError::Missing { field, .. } = &mut error {
            *field = field.trim_start_matches('.').to_owned();
        }
        error
    })?;
    flaw::check(&value).map_err(TemplateError::Flawed)?;
    Ok(value)
}

/// How a service that a step calls reaches the step.
pub struct Callback {
    /// The step's correlation id.
    pub correlation_id: String,
    /// The token of its callbacks.
    pub token: String,
}

/// `_execution` and `workflow.instance` of an instance.
///
/// Within a step, `correlationId` is the step's own: what a service that the step calls must send back.
pub fn execution(instance: &Instance, step: Option<&Callback>) -> Value {
    let id = instance.id.to_string();
    let own = step.map(|step| step.correlation_id.as_str());
    let token = step.map(|step| step.token.as_str());
    json!({
        "id": id,
        "correlationId": own.or(instance.business_key.as_deref()).unwrap_or(&id),
        "callbackToken": token,
        "callbackPath": token.map(|token| format!("/api/v1/callbacks/{token}")),
        "businessKey": instance.business_key,
        "workflow": instance.workflow_key,
        "version": instance.workflow_version,
        "tenant": instance.tenant,
    })
}

/// The value that segments lead to, or how many of them lead somewhere.
pub(super) fn look_up<'a>(from: &'a Value, segments: &[Segment]) -> Result<&'a Value, usize> {
    segments.iter().enumerate().try_fold(from, |value, (at, segment)| {
        match (value, segment) {
            (Value::Array(items), Segment::Index(index)) => items.get(*index),
            (Value::Array(items), Segment::Key(key)) => {
                key.parse::<usize>().ok().and_then(|index| items.get(index))
            }
            (Value::Object(members), Segment::Key(key)) => members.get(key),
            (Value::Object(members), Segment::Index(index)) => members.get(&index.to_string()),
            _ => None,
        }
        .ok_or(at)
    })
}

struct Budget {
    bytes_max: usize,
    left: usize,
}

impl Budget {
    fn spend(&mut self, bytes: usize) -> Result<(), TemplateError> {
        let left =
            self.left.checked_sub(bytes).ok_or(TemplateError::TooLarge { bytes_max: self.bytes_max })?;
        self.left = left;
        Ok(())
    }
}

fn resolve_at(template: &Template, scope: &Scope<'_>, budget: &mut Budget) -> Result<Value, TemplateError> {
    match template {
        Template::Literal(value) => {
            budget.spend(bytes(value))?;
            Ok(value.clone())
        }
        Template::Whole(path) => {
            let value = find(path, scope)?;
            budget.spend(bytes(value))?;
            Ok(value.clone())
        }
        Template::Text(pieces) => {
            let mut text = String::new();
            for piece in pieces {
                let before = text.len();
                match piece {
                    Piece::Literal(plain) => text.push_str(plain),
                    Piece::Value(path) => match find(path, scope)? {
                        Value::String(value) => text.push_str(value),
                        value => text.push_str(&flaw::canonical(value)),
                    },
                }
                budget.spend(text.len() - before)?;
            }
            Ok(Value::String(text))
        }
        Template::Array(items) => {
            let resolve_item =
                |(at, item)| resolve_at(item, scope, budget).map_err(|e| inside(e, &format!("[{at}]")));
            items.iter().enumerate().map(resolve_item).collect::<Result<_, _>>().map(Value::Array)
        }
        Template::Object(members) => {
            let mut object = Map::new();
            for (name, member) in members {
                budget.spend(name.len() + 3)?;
                let value = resolve_at(member, scope, budget).map_err(|e| inside(e, &format!(".{name}")))?;
                object.insert(name.clone(), value);
            }
            Ok(Value::Object(object))
        }
    }
}

/// The same error, seen from one level further out.
fn inside(error: TemplateError, step: &str) -> TemplateError {
    match error {
        TemplateError::Missing { template, field, missing } => {
            TemplateError::Missing { template, field: format!("{step}{field}"), missing }
        }
        other => other,
    }
}

fn find<'a>(path: &Path, scope: &Scope<'a>) -> Result<&'a Value, TemplateError> {
    let missing = |missing: String| TemplateError::Missing {
        template: path.source.clone(),
        field: String::new(),
        missing,
    };
    let (name, root) = match &path.root {
        Root::Context => (String::from("workflow.context"), Some(scope.context)),
        Root::Trigger => (String::from("_trigger"), Some(scope.trigger)),
        Root::Variables => (String::from("_vars"), Some(scope.variables)),
        Root::Execution => (String::from("_execution"), Some(scope.execution)),
        Root::Secrets => (String::from("secrets"), Some(scope.secrets)),
        Root::StepOutput(id) => (format!("steps.{id}.output"), scope.outputs.get(id)),
        Root::StepError(id) => (format!("steps.{id}.error"), scope.errors.get(id)),
    };
    let root = root.ok_or_else(|| missing(name.clone()))?;
    look_up(root, &path.segments).map_err(|at| missing(format!("{name}{}", written(&path.segments[..=at]))))
}

/// Segments as one writes them.
pub(super) fn written(segments: &[Segment]) -> String {
    let write = |segment: &Segment| match segment {
        Segment::Key(key) => format!(".{key}"),
        Segment::Index(index) => format!("[{index}]"),
    };
    segments.iter().map(write).collect()
}

/// About how long a value is as JSON text, without writing it.
fn bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| bytes(item) + 1).sum::<usize>() + 2,
        Value::Object(members) => {
            members.iter().map(|(name, item)| name.len() + bytes(item) + 4).sum::<usize>() + 2
        }
    }
}
