//! A workflow definition after parsing and checking: what the engine follows.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::trigger::Trigger;
use super::{Digest, TenantId, Timestamp};

/// A row of `workflow_definitions`: one version of a workflow, immutable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DefinitionRow {
    /// Whose it is.
    pub tenant: TenantId,
    /// The workflow's key.
    pub key: String,
    /// From 1.
    pub version: i32,
    /// What people call it.
    pub name: Option<String>,
    /// Digest of the document; deploying the same again makes no new version.
    pub digest: Digest,
    /// The text as it was deployed.
    pub source: String,
    /// The document as JSON.
    pub document: Value,
    /// When it was deployed.
    pub created_at: Timestamp,
}

/// A workflow that the engine can follow.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// Its key.
    pub key: String,
    /// Its version.
    pub version: i32,
    /// What people call it.
    pub name: Option<String>,
    /// What its author calls this version.
    pub version_tag: Option<String>,
    /// S2's `_vars`.
    pub variables: Value,
    /// What starts it by itself.
    pub triggers: Vec<Trigger>,
    /// How long an instance may take.
    pub deadline: Option<Deadline>,
    /// Steps in the order of the document.
    pub steps: Vec<Arc<Step>>,
    /// Where each step is in `steps`.
    pub index: BTreeMap<String, usize>,
}

impl Workflow {
    /// A step by its id.
    pub fn step(&self, id: &str) -> Option<&Arc<Step>> {
        self.index.get(id).map(|&at| &self.steps[at])
    }

    /// Whether an instance that fails has anything to undo.
    pub fn compensates(&self) -> bool {
        self.steps.iter().any(|step| step.compensate.is_some())
    }

    /// The step that a step undoes, if that is what it is for.
    pub fn undoing(&self, id: &str) -> Option<&Arc<Step>> {
        self.steps.iter().find(|step| step.compensate.as_deref() == Some(id))
    }

    /// Steps that no path leads to: an instance begins with them.
    pub fn roots(&self) -> impl Iterator<Item = &Arc<Step>> {
        self.steps.iter().filter(|step| step.incoming == 0)
    }
}

/// A step of a workflow.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its id.
    pub id: String,
    /// What people call it.
    pub name: Option<String>,
    /// Its type, served by a plugin.
    pub step_type: String,
    /// Its configuration with templates, without `outputMapping`.
    pub config: Template,
    /// Ids of the steps whose outputs its templates name.
    pub references: Vec<String>,
    /// Names of the secrets that its templates name.
    pub secrets: Vec<String>,
    /// Steps whose end it waits for (`dependsOn`, or the step before), in order.
    pub depends_on: Vec<String>,
    /// Steps that follow it when it ends well.
    pub successors: Vec<String>,
    /// Where errors lead.
    pub on_error: OnError,
    /// Paths into it: those of `depends_on` and those of `onError` of other steps.
    pub incoming: i32,
    /// How its output is shaped.
    pub mapping: Option<Mapping>,
    /// Names and texts for its workers: `extensionProperties`.
    pub properties: BTreeMap<String, String>,
    /// How long it may take.
    pub deadline: Option<Deadline>,
    /// The step whose end it waits for to end itself.
    pub until: Option<String>,
    /// Steps that wait for the end of this one to end themselves.
    pub watchers: Vec<String>,
    /// The step that undoes it, if the instance fails after it has completed.
    pub compensate: Option<String>,
}

/// How long a step or an instance may take, and what happens if it takes longer.
#[derive(Clone, Debug, PartialEq)]
pub struct Deadline {
    /// From its beginning: a duration, or a template that becomes one.
    pub after: Template,
    /// What happens.
    pub escalation: Escalation,
}

/// What happens when a deadline passes.
#[derive(Clone, Debug, PartialEq)]
pub enum Escalation {
    /// The step or the instance fails with this code.
    Error(String),
    /// A message of this name is published, and all goes on.
    Event(String),
    /// People are told, and all goes on: channel, recipients and so on, with templates.
    Remind(Template),
}

/// Where a step's errors lead: by code, and `*` for any other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnError {
    /// From error code to what happens.
    pub by_code: BTreeMap<String, ErrorTarget>,
}

impl OnError {
    /// What happens with an error code, if anything is declared for it.
    pub fn target(&self, code: &str) -> Option<&ErrorTarget> {
        self.by_code.get(code).or_else(|| self.by_code.get("*"))
    }

    /// The steps that errors lead to, each once.
    pub fn steps(&self) -> Vec<&str> {
        let mut steps: Vec<&str> = self
            .by_code
            .values()
            .filter_map(|target| match target {
                ErrorTarget::Step(id) => Some(id.as_str()),
                ErrorTarget::End => None,
            })
            .collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }
}

/// What an error leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorTarget {
    /// The path goes on with a step.
    Step(String),
    /// The path ends here, and the instance is not failed by it.
    End,
}

/// How a step's output is shaped.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// The mapper plugin's type name; `jsonpath` for `outputMapping`.
    pub mapper: String,
    /// Its configuration, canonical JSON text.
    pub config: String,
    /// Whether mapped names go into the instance's context (they do for `outputMapping`).
    pub into_context: bool,
}

/// JSON with templates in its strings, parsed once.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    /// Has no template in it.
    Literal(Value),
    /// A string that is one template: keeps the value's type.
    Whole(Path),
    /// A string with templates in it.
    Text(Vec<Piece>),
    /// Items.
    Array(Vec<Template>),
    /// Members.
    Object(Vec<(String, Template)>),
}

/// A part of a string with templates.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Plain text.
    Literal(String),
    /// A value put in as text.
    Value(Path),
}

/// What a template names.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// As written, for error messages.
    pub source: String,
    /// Where the value is looked up.
    pub root: Root,
    /// The way from there.
    pub segments: Vec<Segment>,
}

/// Where a template's value is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// `workflow.context`: the instance's context.
    Context,
    /// `_trigger`: what the instance was started with.
    Trigger,
    /// `_vars`: the definition's `variables`.
    Variables,
    /// `_execution` and `workflow.instance`: `id`, `correlationId`, `callbackToken`, `callbackPath`, `businessKey`,
    /// `workflow`, `version`, `tenant`.
    Execution,
    /// `steps.ID.output`: a step's output.
    StepOutput(String),
    /// `steps.ID.error`: why a step failed.
    StepError(String),
    /// `secrets`: by name, a marker that becomes the value when a request leaves.
    Secrets,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A member of an object.
    Key(String),
    /// An item of an array.
    Index(usize),
}
