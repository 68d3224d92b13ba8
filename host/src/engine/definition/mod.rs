//! Workflow definitions: from text to a [`Workflow`] that the engine can follow.
//!
//! [`read`] turns YAML or JSON into a document that knows where each field stands, [`compile`] checks it and
//! names every mistake with its line, [`recompile`] does the same for a document that was deployed before.
//!
//! A step without `dependsOn` follows the nearest step before it in the document. A step that some `onError`
//! names and that has no `dependsOn` is an error handler: only the error leads to it, and the step written
//! after it follows the step before it, not the handler.

mod check;
mod compensate;
mod deadline;
mod graph;
mod json;
mod on_error;
mod parse;
mod path;
mod priority;
mod properties;
mod report;
mod resolve;
mod source;
mod suggest;
pub mod template;
#[cfg(test)]
mod tests;
mod trial;
mod triggers;
mod until;
mod yaml;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

pub use self::deadline::due_after;
use self::report::{Field, Report};
pub use self::source::{Document, read};
pub use self::trial::trials;
pub use self::triggers::{check_triggers, runs};
use super::Error;
use super::port::Plugins;
use crate::domain::definition::{Step, Workflow};

/// The code of every error of this module that is about the document.
pub const CODE: &str = "definition_invalid";

/// Checks a document and makes it a workflow. All mistakes are reported at once.
pub fn compile(
    document: &Document,
    key: &str,
    version: i32,
    steps_max: usize,
    plugins: &dyn Plugins,
) -> Result<Workflow, Error> {
    let mut report = Report::new(Some(document.spots()));
    if let Err(message) = check_key(key) {
        report.add(&Field::root().key("key"), message);
    }
    let workflow = build(document.value(), key, version, steps_max, Some(plugins), &mut report);
    report.finish(workflow)
}

/// Makes a document that was deployed before a workflow again. Plugins are not asked: a type whose plugin is gone
/// is an incident of the step that needs it, not of the workflow.
pub fn recompile(document: &Value, key: &str, version: i32) -> Result<Workflow, Error> {
    let mut report = Report::new(None);
    let workflow = build(document, key, version, usize::MAX, None, &mut report);
    report.finish(workflow)
}

/// The key to deploy under: the caller's, or else the document's own.
pub fn choose_key(document: &Document, wanted: Option<&str>) -> Result<String, Error> {
    let key = wanted.or_else(|| document.value().get("key").and_then(Value::as_str));
    let Some(key) = key else {
        return Err(Error::invalid(
            "workflow_key_missing",
            "the workflow has no key: give one as `?key=…`, or as a field `key` of the document",
        ));
    };
    check_key(key).map_err(|message| Error::invalid("workflow_key_invalid", message))?;
    Ok(key.to_owned())
}

/// The longest key of a workflow and id of a step, in characters.
const NAME_CHARS_MAX: usize = 100;

fn check_key(key: &str) -> Result<(), String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if key.is_empty() || key.len() > NAME_CHARS_MAX || !key.chars().all(fine) {
        return Err(format!(
            "`{}` is not a workflow key: use 1 to {NAME_CHARS_MAX} letters, digits, `-`, `_` and `.`",
            report::shorten(key)
        ));
    }
    Ok(())
}

/// The steps whose results the templates of a step name.
fn references(step: &parse::DraftStep) -> Vec<String> {
    let mut found = template::references(&step.config);
    if let Some(deadline) = &step.deadline {
        found.extend(template::references(&deadline.after));
    }
    found
}

fn build(
    document: &Value,
    key: &str,
    version: i32,
    steps_max: usize,
    plugins: Option<&dyn Plugins>,
    report: &mut Report<'_>,
) -> Workflow {
    let draft = parse::document(document, steps_max, report);
    if let Some(plugins) = plugins {
        check::types(&draft, plugins, report);
    }
    let graph = graph::link(&draft, report);
    if report.is_empty() {
        check::references(&draft, &graph, report);
        until::check(&draft, &graph, plugins, report);
        compensate::check(&draft, report);
    }
    let mut watchers = until::watchers(&draft);
    let steps: Vec<Arc<Step>> = draft
        .steps
        .into_iter()
        .zip(graph.nodes)
        .map(|(step, node)| {
            Arc::new(Step {
                references: references(&step),
                secrets: template::secrets(&step.config),
                deadline: step.deadline,
                watchers: watchers.remove(&step.id).unwrap_or_default(),
                id: step.id,
                name: step.name,
                step_type: step.step_type,
                config: step.config,
                depends_on: node.depends_on,
                successors: node.successors,
                on_error: step.on_error,
                incoming: node.incoming,
                mapping: step.mapping,
                properties: step.properties,
                until: step.until,
                compensate: step.compensate,
            })
        })
        .collect();
    let index: BTreeMap<String, usize> =
        steps.iter().enumerate().map(|(at, step)| (step.id.clone(), at)).collect();
    Workflow {
        key: key.to_owned(),
        version,
        name: draft.name,
        version_tag: document.get("versionTag").and_then(Value::as_str).map(ToOwned::to_owned),
        variables: draft.variables,
        triggers: draft.triggers,
        deadline: draft.deadline,
        steps,
        index,
    }
}
