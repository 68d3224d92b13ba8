//! What a definition says, held against what there is: step types, mappers, schemas, and steps that come before.

use std::collections::HashMap;

use serde_json::Value;

use super::graph::Graph;
use super::parse::{Draft, DraftStep};
use super::report::{Report, shorten};
use super::{suggest, template};
use crate::domain::definition::{Root, Template};
use crate::engine::port::{Plugins, StepType};

/// Step types, mappers and their configurations.
pub(super) fn types(draft: &Draft, plugins: &dyn Plugins, report: &mut Report<'_>) {
    for step in &draft.steps {
        if let Some(mapping) = &step.mapping {
            match plugins.mapper(&mapping.mapper) {
                None => {
                    let message = format!(
                        "no plugin serves the mapper `{}`: load one, or correct its name",
                        shorten(&mapping.mapper)
                    );
                    report.add(&step.mapping_field, message);
                }
                Some(found) => {
                    let config = serde_json::from_str(&mapping.config).unwrap_or(Value::Null);
                    let field = match mapping.into_context {
                        true => step.mapping_field.clone(),
                        false => step.mapping_field.key("config"),
                    };
                    for (pointer, sentence) in plugins.check_config(&found.digest, &config) {
                        report.add(&field.pointer(&pointer), sentence);
                    }
                }
            }
        }
        if step.step_type.is_empty() {
            continue;
        }
        match plugins.step_type(&step.step_type) {
            Some(found) => {
                config(step, &found, plugins, report);
                secrets(step, &found, report);
            }
            None => {
                let mut names = plugins.step_type_names();
                names.sort_unstable();
                let hint = suggest::hint(&step.step_type, names.iter().map(String::as_str));
                let message =
                    format!("no plugin serves the step type `{}`: {hint}", shorten(&step.step_type));
                report.add(&step.field.key("type"), message);
            }
        }
    }
}

/// Templates name only what can be there: steps that end before, and variables that the document has.
pub(super) fn references(draft: &Draft, graph: &Graph, report: &mut Report<'_>) {
    let index: HashMap<&str, usize> =
        draft.steps.iter().enumerate().map(|(at, step)| (step.id.as_str(), at)).collect();
    for (at, step) in draft.steps.iter().enumerate() {
        template::visit(&step.config, &mut Vec::new(), &mut |way, path| {
            let problem = match &path.root {
                Root::StepOutput(id) | Root::StepError(id) => match index.get(id.as_str()) {
                    None => Some(format!("there is no step `{}`", shorten(id))),
                    Some(&other) if other == at => Some(String::from("a step cannot use its own result")),
                    Some(&other) if graph.is_before(other, at) => None,
                    Some(_) => Some(format!(
                        "`{id}` does not end before `{}` begins: add it to `dependsOn`",
                        step.id
                    )),
                },
                Root::Variables => template::look_up(&draft.variables, &path.segments).err().map(|missing| {
                    format!("`variables` has no `{}`", &template::written(&path.segments[..=missing])[1..])
                }),
                Root::Context | Root::Trigger | Root::Execution | Root::Secrets => None,
            };
            if let Some(problem) = problem {
                report.add(&step.config_field.follow(way), format!("`{}`: {problem}", shorten(&path.source)));
            }
        });
    }
}

/// A configuration without templates is checked whole, one with templates as far as it is certain; the engine
/// checks the resolved one when the step starts.
fn config(step: &DraftStep, found: &StepType, plugins: &dyn Plugins, report: &mut Report<'_>) {
    let schema = &found.descriptor.config_schema;
    match &step.config {
        Template::Literal(config) => {
            for (pointer, sentence) in plugins.check_config(&found.digest, config) {
                report.add(&step.config_field.pointer(&pointer), sentence);
            }
        }
        // One part decides about another: nothing is certain.
        _ if mentions(schema, &["if", "dependentSchemas"]) => {}
        _ => {
            names(step, schema, report);
            for (pointer, sentence) in plugins.check_config(&found.digest, &step.raw_config) {
                let part = step.raw_config.pointer(&pointer);
                if part.is_some_and(|part| matches!(template::parse(part), Ok(Template::Literal(_)))) {
                    report.add(&step.config_field.pointer(&pointer), sentence);
                }
            }
        }
    }
}

/// Secrets are for what a step sends; whatever else it does with them would show them to somebody.
fn secrets(step: &DraftStep, found: &StepType, report: &mut Report<'_>) {
    if found.descriptor.effects.iter().any(|effect| matches!(effect.as_str(), "http-call" | "notify")) {
        return;
    }
    template::visit(&step.config, &mut Vec::new(), &mut |way, path| {
        if path.root == Root::Secrets {
            let message = format!(
                "`{}`: a step of type {} sends no requests; secrets are put in as a request leaves, and nowhere else",
                shorten(&path.source),
                step.step_type
            );
            report.add(&step.config_field.follow(way), message);
        }
    });
}

/// Names of a configuration do not come from templates, so they can be checked where values cannot.
fn names(step: &DraftStep, schema: &Value, report: &mut Report<'_>) {
    let Some(config) = step.raw_config.as_object() else { return };
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !config.contains_key(name) {
            report.add(&step.config_field, format!("`{name}` is missing"));
        }
    }
    let known = schema.get("properties").and_then(Value::as_object);
    if let (Some(known), Some(Value::Bool(false))) = (known, schema.get("additionalProperties")) {
        for name in config.keys().filter(|name| !known.contains_key(*name)) {
            let hint = suggest::hint(name, known.keys().map(String::as_str));
            report
                .add(&step.config_field.key(name), format!("`{}` is not known here: {hint}", shorten(name)));
        }
    }
}

fn mentions(schema: &Value, words: &[&str]) -> bool {
    match schema {
        Value::Object(members) => {
            members.iter().any(|(name, value)| words.contains(&name.as_str()) || mentions(value, words))
        }
        Value::Array(items) => items.iter().any(|item| mentions(item, words)),
        _ => false,
    }
}
