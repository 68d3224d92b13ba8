//! `compensate` of a step: the step that undoes it if the instance fails.

use std::collections::HashMap;

use super::parse::{Draft, DraftStep};
use super::report::Report;

/// A step that undoes another stands alone: one step has it undone, and no path leads to it or on from it.
pub(super) fn check(draft: &Draft, report: &mut Report<'_>) {
    let mut undoing: HashMap<&str, &str> = HashMap::new();
    for step in &draft.steps {
        let Some(id) = step.compensate.as_deref() else { continue };
        if let Some(other) = undoing.insert(id, &step.id) {
            let message = format!("`{id}` undoes `{other}` already: each step is undone by one of its own");
            report.add(&step.field.key("compensate"), message);
        }
    }
    for step in &draft.steps {
        match undoing.get(step.id.as_str()) {
            Some(undone) => of_undoing(step, undone, report),
            None => of_other(step, &undoing, report),
        }
    }
}

fn of_undoing(step: &DraftStep, undone: &str, report: &mut Report<'_>) {
    let has = [
        ("dependsOn", step.depends_on.is_some()),
        ("onError", !step.on_error.by_code.is_empty()),
        ("until", step.until.is_some()),
        ("compensate", step.compensate.is_some()),
    ];
    for (name, _) in has.into_iter().filter(|(_, has)| *has) {
        let message =
            format!("`{}` undoes `{undone}`: it begins with that alone, and leads nowhere", step.id);
        report.add(&step.field.key(name), message);
    }
}

fn of_other(step: &DraftStep, undoing: &HashMap<&str, &str>, report: &mut Report<'_>) {
    let names = [
        ("dependsOn", step.depends_on.iter().flatten().map(String::as_str).collect()),
        ("onError", step.on_error.steps()),
        ("until", step.until.as_deref().into_iter().collect::<Vec<_>>()),
    ];
    for (name, ids) in names {
        for id in ids {
            if let Some(undone) = undoing.get(id) {
                let message = format!("`{id}` undoes `{undone}`: nothing else waits for it or leads to it");
                report.add(&step.field.key(name), message);
            }
        }
    }
}
