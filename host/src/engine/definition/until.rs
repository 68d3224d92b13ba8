//! `until` of a step: the step whose end ends it.

use std::collections::HashMap;

use super::graph::Graph;
use super::parse::Draft;
use super::report::{Report, shorten};
use super::suggest;
use crate::engine::port::Plugins;
use crate::engine::until::ENDED;

/// A step can end with another only if that one may still run while it does, and if its type can be told.
pub(super) fn check(draft: &Draft, graph: &Graph, plugins: Option<&dyn Plugins>, report: &mut Report<'_>) {
    let index: HashMap<&str, usize> =
        draft.steps.iter().enumerate().map(|(at, step)| (step.id.as_str(), at)).collect();
    for (at, step) in draft.steps.iter().enumerate() {
        let Some(until) = &step.until else { continue };
        let problem = match index.get(until.as_str()) {
            None => {
                let hint = suggest::hint(until, draft.steps.iter().map(|step| step.id.as_str()));
                Some(format!("there is no step `{}`: {hint}", shorten(until)))
            }
            Some(&other) if other == at => Some("a step cannot wait for its own end".into()),
            Some(&other) if graph.is_before(other, at) => Some(format!(
                "`{until}` ends before `{}` begins: put them beside one another with `dependsOn`",
                step.id
            )),
            Some(&other) if graph.is_before(at, other) => Some(format!(
                "`{until}` begins only when `{}` has ended: put them beside one another with `dependsOn`",
                step.id
            )),
            Some(_) => None,
        };
        let deaf = plugins
            .and_then(|plugins| plugins.step_type(&step.step_type))
            .is_some_and(|serving| !serving.descriptor.accepts.iter().any(|kind| kind == ENDED));
        let problem = problem.or_else(|| {
            deaf.then(|| format!("a step of type {} cannot be told of another one's end", step.step_type))
        });
        if let Some(problem) = problem {
            report.add(&step.field.key("until"), problem);
        }
    }
}

/// By step, those that end with it.
pub(super) fn watchers(draft: &Draft) -> HashMap<String, Vec<String>> {
    let mut watchers: HashMap<String, Vec<String>> = HashMap::new();
    for step in &draft.steps {
        if let Some(until) = &step.until {
            watchers.entry(until.clone()).or_default().push(step.id.clone());
        }
    }
    watchers
}
