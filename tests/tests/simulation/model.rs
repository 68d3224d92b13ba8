//! What must be so in the end, computed from the definitions and from what clients were told.

use std::collections::{BTreeMap, HashMap};

use stepwell::domain::event::Event;
use stepwell::domain::instance::{Instance, InstanceStatus};
use stepwell::domain::step::{StepExecution, StepStatus};
use stepwell::domain::task::{Task, TaskStatus};
use stepwell::domain::{InstanceId, StepExecutionId};

use super::clients::Told;
use super::memory::Tables;

/// Workflows by key: a sequence, a fan-in, an error path, a timer, a step with two tasks, steps that are undone.
pub const WORKFLOWS: [(&str, &str); 6] = [
    ("pair", "steps: [{id: p, type: PAIR}, {id: t, type: TASK}]"),
    ("sequence", "steps: [{id: a, type: TASK}, {id: b, type: NOW}, {id: c, type: TASK}]"),
    (
        "fan",
        "steps: [{id: a, type: TASK, dependsOn: []}, {id: b, type: TASK, dependsOn: []}, {id: c, type: TASK, dependsOn: []},
          {id: d, type: NOW, dependsOn: [a, b, c]}, {id: e, type: TASK}]",
    ),
    (
        "errors",
        "steps: [{id: a, type: TASK, onError: {boom: fix, '*': end}}, {id: b, type: TASK, onError: {'*': end}},
          {id: fix, type: TASK}]",
    ),
    ("timer", "steps: [{id: w, type: WAIT, config: {ms: 7000}}, {id: t, type: TASK}]"),
    (
        "undone",
        "steps: [{id: a, type: TASK, compensate: ua}, {id: b, type: TASK, compensate: ub},
          {id: w, type: WAIT, config: {ms: 7000}, dependsOn: [b]}, {id: t, type: TASK, dependsOn: [b]},
          {id: c, type: TASK, dependsOn: [b], compensate: uc},
          {id: ua, type: TASK}, {id: ub, type: TASK}, {id: uc, type: TASK}]",
    ),
];

/// Whether all instances have ended.
pub fn all_ended(tables: &Tables, told: &Told) -> bool {
    told.started.values().all(|id| tables.instances.get(id).is_some_and(|row| row.status.ended()))
}

/// Holds the rows against what clients were told and what the semantics predict.
pub fn check(tables: &Tables, told: &Told) {
    assert_eq!(tables.instances.len(), told.started.len(), "an instance for each key, and no other");
    for (id, output) in &told.completed {
        let task = &tables.tasks[id];
        assert_eq!(task.status, TaskStatus::Completed, "an accepted result is there: {task:?}");
        assert_eq!(task.output.as_ref(), Some(output));
        let step = &tables.steps[&task.step_execution_id];
        // A step that was held by an incident when its instance was stopped never came to consume it.
        // A step with two tasks has the output of the later one, or failed by the other.
        if step.status != StepStatus::Cancelled && step.step_type == "TASK" {
            assert_eq!(step.output.as_ref(), Some(output), "the step has it");
        }
    }
    for id in &told.cancelled {
        assert_eq!(
            tables.instances[id].status,
            InstanceStatus::Cancelled,
            "an accepted cancellation is there"
        );
    }
    for instance in tables.instances.values() {
        check_instance(tables, instance);
    }
    check_once(tables);
}

fn check_instance(tables: &Tables, instance: &Instance) {
    let id = instance.id;
    let steps: HashMap<&str, &StepExecution> = tables
        .steps
        .values()
        .filter(|row| row.instance_id == id)
        .map(|row| (row.step_id.as_str(), row))
        .collect();
    assert_eq!((instance.open_steps, instance.open_incidents), (0, 0), "{instance:?}");
    assert!(steps.values().all(|step| step.status.ended()), "{instance:?}: {steps:?}");
    assert!(open_rows(tables, id).is_empty(), "{:?}", open_rows(tables, id));
    if instance.status == InstanceStatus::Cancelled {
        return;
    }
    let status = |step: &str| steps.get(step).map(|row| row.status);
    let failed = |step: &str| status(step) == Some(StepStatus::Failed);
    let done = |step: &str| status(step) == Some(StepStatus::Completed);
    let expected = match instance.workflow_key.as_str() {
        "sequence" => !failed("a") && !failed("c"),
        "fan" => !["a", "b", "c", "e"].into_iter().any(failed),
        "errors" => !failed("fix"),
        "pair" => !failed("p") && !failed("t"),
        "undone" => !["a", "b", "t", "c"].into_iter().any(failed),
        _ => !failed("t"),
    };
    let wanted = if expected { InstanceStatus::Completed } else { InstanceStatus::Failed };
    assert_eq!(instance.status, wanted, "{instance:?}: {steps:?}");
    if instance.workflow_key == "undone" {
        check_undone(tables, &steps, wanted);
    }
    if wanted == InstanceStatus::Completed {
        match instance.workflow_key.as_str() {
            "sequence" => assert!(done("a") && done("b") && done("c")),
            "fan" => assert!(["a", "b", "c", "d", "e"].into_iter().all(done)),
            "errors" => check_error_path(&steps),
            "pair" => assert!(done("p") && done("t")),
            "undone" => assert!(["a", "b", "w", "t", "c"].into_iter().all(done)),
            _ => assert!(done("w") && done("t")),
        }
    }
}

/// `a` leads to `b` when it ends well, to `fix` by the code boom, and nowhere by any other.
fn check_error_path(steps: &HashMap<&str, &StepExecution>) {
    let a = steps["a"];
    let code = a.error.as_ref().map(|error| error.code.as_str());
    let (b, fix) = (steps["b"].status, steps["fix"].status);
    match (a.status, code) {
        (StepStatus::Completed, _) => {
            assert!(matches!(b, StepStatus::Completed | StepStatus::Failed));
            assert_eq!(fix, StepStatus::Skipped);
        }
        (_, Some("boom")) => assert_eq!((b, fix), (StepStatus::Skipped, StepStatus::Completed)),
        _ => assert_eq!((b, fix), (StepStatus::Skipped, StepStatus::Skipped)),
    }
}

/// What completed is undone if the instance has failed, and only then: `b`, which came after `a`, before it.
fn check_undone(tables: &Tables, steps: &HashMap<&str, &StepExecution>, instance: InstanceStatus) {
    let done = |step: &str| steps.get(step).is_some_and(|row| row.status == StepStatus::Completed);
    let begun = |step: &str| steps.get(step).is_some_and(|row| row.started_at.is_some());
    for (step, undoes) in [("a", "ua"), ("b", "ub"), ("c", "uc")] {
        assert_eq!(begun(undoes), instance == InstanceStatus::Failed && done(step), "{steps:?}");
    }
    for (earlier, later) in [("uc", "ub"), ("ub", "ua")] {
        if begun(earlier) && begun(later) {
            let lines = || tables.journal.iter().map(|line| line.subject_id);
            let last = lines().rposition(|subject| subject == steps[earlier].id.0);
            let first = lines().position(|subject| subject == steps[later].id.0);
            assert!(last < first, "one after the other: {steps:?}");
        }
    }
    // Whoever was told that his work is done did not work for a step that was stopped, unless an incident held it.
    for step in ["a", "b", "c", "t"].into_iter().filter_map(|id| steps.get(id)) {
        let held = tables.incidents.values().any(|row| row.step_execution_id == step.id);
        let done = tables
            .tasks
            .values()
            .any(|task| task.step_execution_id == step.id && task.status == TaskStatus::Completed);
        assert!(step.status != StepStatus::Cancelled || held || !done, "{step:?}");
    }
}

fn open_rows(tables: &Tables, id: InstanceId) -> Vec<String> {
    let tasks = tables.tasks.values().filter(|row| row.workflow_instance_id == id && row.status.open());
    let timers = tables.timers.values().filter(|(row, _)| row.workflow_instance_id == id && !row.triggered);
    let events = tables.events.values().filter(|row| row.instance_id == id);
    tasks
        .map(|row| format!("{row:?}"))
        .chain(timers.map(|(row, _)| format!("{row:?}")))
        .chain(events.map(|row| format!("{row:?}")))
        .collect()
}

/// Nothing was applied twice: one task for each step, one consumed result for each task, journals without gaps.
fn check_once(tables: &Tables) {
    let mut by_step: BTreeMap<StepExecutionId, Vec<&Task>> = BTreeMap::new();
    for task in tables.tasks.values() {
        by_step.entry(task.step_execution_id).or_default().push(task);
    }
    for (id, tasks) in &by_step {
        let wanted = if tables.steps[id].step_type == "PAIR" { 2 } else { 1 };
        assert_eq!(tasks.len(), wanted, "the tasks of {:?}", tables.steps[id]);
    }
    let mut lines: BTreeMap<uuid::Uuid, Vec<i64>> = BTreeMap::new();
    let mut consumed: BTreeMap<uuid::Uuid, usize> = BTreeMap::new();
    for line in tables.journal.iter().filter(|line| line.kind == "start" || line.kind == "event") {
        lines.entry(line.subject_id).or_default().push(line.seq);
        let call: serde_json::Value =
            line.call.as_ref().map(|text| serde_json::from_str(text.as_str()).unwrap()).unwrap_or_default();
        let event: Option<Event> = serde_json::from_value(call["verb"]["event"].clone()).ok();
        let faulted = line.answer.as_ref().is_some_and(|answer| answer.as_str().contains("\"fault\""));
        if let (Some(Event::TaskCompleted { .. } | Event::TaskFailed { .. }), false) = (event, faulted) {
            *consumed.entry(line.subject_id).or_default() += 1;
        }
    }
    for (subject, count) in &consumed {
        let step = &tables.steps[&StepExecutionId(*subject)];
        let tasks = &by_step[&step.id];
        assert!(*count <= tasks.len(), "a result was consumed twice: {step:?}");
        if step.status == StepStatus::Completed {
            assert_eq!(*count, tasks.len(), "a result was not consumed: {step:?}");
        }
    }
    assert!(
        !consumed.is_empty()
            || tables.tasks.is_empty()
            || tables.tasks.values().all(|task| task.status == TaskStatus::Cancelled)
    );
    for (subject, mut seqs) in lines {
        seqs.sort_unstable();
        let expected: Vec<i64> = (0..i64::try_from(seqs.len()).unwrap()).collect();
        assert_eq!(seqs, expected, "the journal of {subject} has gaps");
    }
}
