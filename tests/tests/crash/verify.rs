//! The end of a run, seen from outside: what hosts say is held against what clients were told.

use std::collections::{HashMap, HashSet};

use anyhow::{Context as _, Result};
use futures::StreamExt as _;
use serde_json::{Value, json};
use stepwell_tests::host::step;

use crate::book::{TaskTold, Told, Wrong};
use crate::calm::Calm;
use crate::shapes::Shape;

/// Instances that are looked at, at once.
const AT_ONCE: usize = 16;

/// Everything that is not as it should be.
pub async fn check(calm: &Calm, told: &Told, run: &str) -> Result<Vec<(Wrong, String)>> {
    let mut wrong = told.wrong.clone();
    let mut there = HashSet::new();
    for shape in Shape::ALL {
        let found = calm.instances(&shape.key(run)).await?;
        let known: HashSet<String> = told
            .instances
            .iter()
            .filter(|(_, (known, _))| *known == shape)
            .map(|(id, _)| id.clone())
            .collect();
        wrong.extend(known.difference(&found).map(|id| (Wrong::Lost, format!("{shape:?} {id}"))));
        wrong.extend(
            found.difference(&known).map(|id| (Wrong::Doubled, format!("nobody started {shape:?} {id}"))),
        );
        there.extend(found);
    }
    let mut by_instance: HashMap<&str, HashMap<&str, &TaskTold>> = HashMap::new();
    for (id, task) in &told.tasks {
        by_instance.entry(&task.instance).or_default().insert(id, task);
    }
    let nothing = HashMap::new();
    let looks = told.instances.iter().filter(|(id, _)| there.contains(*id)).map(|(id, (shape, _))| {
        let tasks = by_instance.get(id.as_str()).unwrap_or(&nothing);
        async move { Look::at(calm, id, *shape).await.map(|look| look.against(tasks)) }
    });
    let mut looks = futures::stream::iter(looks).buffer_unordered(AT_ONCE);
    while let Some(found) = looks.next().await {
        wrong.extend(found?);
    }
    Ok(wrong)
}

/// An instance as hosts show it.
struct Look {
    shape: Shape,
    instance: Value,
    /// By step.
    tasks: HashMap<String, Vec<Value>>,
    timeline: Vec<Value>,
    wrong: Vec<(Wrong, String)>,
}

impl Look {
    async fn at(calm: &Calm, id: &str, shape: Shape) -> Result<Self> {
        let instance = calm.get(&format!("/api/v1/instances/{id}")).await?;
        let listed = calm.get(&format!("/api/v1/tasks?instance={id}&limit=500")).await?;
        let timeline = calm.get(&format!("/api/v1/instances/{id}/timeline?limit=500")).await?;
        let items = |page: &Value| page["items"].as_array().cloned().context("a page");
        let mut tasks: HashMap<String, Vec<Value>> = HashMap::new();
        for task in items(&listed)? {
            tasks.entry(task["stepId"].as_str().unwrap_or_default().to_owned()).or_default().push(task);
        }
        let timeline = items(&timeline)?;
        Ok(Self { shape, instance, tasks, timeline, wrong: Vec::new() })
    }

    fn against(mut self, told: &HashMap<&str, &TaskTold>) -> Vec<(Wrong, String)> {
        for (id, told) in told {
            self.check_task(id, told);
        }
        self.check_end();
        self.check_once();
        self.wrong
    }

    fn say(&mut self, wrong: Wrong, what: &str) {
        let (shape, instance, tasks) = (self.shape, &self.instance, &self.tasks);
        let text = format!("{shape:?}: {what}: {instance} with {tasks:?} and {:?}", self.timeline);
        self.wrong.push((wrong, text));
    }

    /// What was accepted is there, in the task and in its step; what is there was sent, and was told.
    fn check_task(&mut self, id: &str, told: &TaskTold) {
        let rows = self.tasks.get(&told.step).cloned().unwrap_or_default();
        let Some(row) = rows.iter().find(|row| row["id"] == id) else {
            return self.say(Wrong::Lost, "a task");
        };
        let output = &step(&self.instance, &told.step)["output"];
        match &told.completed {
            Some(accepted) if row["output"] != *accepted => self.say(Wrong::Lost, "an accepted result"),
            Some(accepted) if self.shape != Shape::Single && output != accepted => {
                self.say(Wrong::Lost, "an accepted result is not in its step");
            }
            None if row["status"] == "COMPLETED" => {
                self.say(Wrong::Other, "a result that nobody was told of")
            }
            _ => {}
        }
        if told.given_up.is_some() && row["status"] != "FAILED" {
            self.say(Wrong::Lost, "an accepted failure");
        }
        let spent = row["retryCount"].as_u64().unwrap_or_default();
        if spent < told.fails_told.len() as u64 {
            self.say(Wrong::Lost, "an accepted failure spent no attempt");
        } else if spent > told.fails_sent.len() as u64 {
            self.say(Wrong::Doubled, "a failure spent two attempts");
        }
    }

    /// The state that the semantics predict.
    fn check_end(&mut self) {
        let status = |id: &str| step(&self.instance, id)["status"].as_str().unwrap_or("none").to_owned();
        let nonce = |id: &str| step(&self.instance, id)["output"]["nonce"].clone();
        let input = |id: &str| {
            self.tasks
                .get(id)
                .and_then(|rows| rows.first())
                .map(|row| row["input"].clone())
                .unwrap_or_default()
        };
        let code = step(&self.instance, "risky")["error"]["code"].as_str().unwrap_or_default().to_owned();
        let (done, skipped, failed) = ("completed", "skipped", "failed");
        let ends = |wanted: &[(&str, &str)]| wanted.iter().all(|(id, wanted)| status(id) == *wanted);
        let (steps_right, data_right) = match self.shape {
            Shape::Single => {
                let output = self.tasks.get("last").map(|rows| rows[0]["output"]["nonce"].clone());
                (ends(&[("last", done)]), output == Some(self.instance["context"]["result"].clone()))
            }
            Shape::Chain => (
                ends(&[("a", done), ("b", done), ("last", done)]),
                input("b")["before"] == nonce("a") && input("last")["before"] == nonce("b"),
            ),
            Shape::Fan => (
                ends(&[("a", done), ("b", done), ("last", done)]),
                input("last") == json!({ "a": nonce("a"), "b": nonce("b") }),
            ),
            Shape::Errors if status("risky") == done => (ends(&[("fix", skipped), ("last", done)]), true),
            Shape::Errors if code == "boom" => (
                ends(&[("risky", failed), ("fix", done), ("last", skipped)]),
                input("fix") == json!({ "why": "boom" }),
            ),
            Shape::Errors => (ends(&[("risky", failed)]), self.instance["error"]["code"] == code.as_str()),
            Shape::Delay => (
                ends(&[("wait", done), ("last", done)]),
                step(&self.instance, "wait")["output"] == json!({ "fired": 2 }),
            ),
            Shape::Mail => (
                ends(&[("wait", done), ("send", done), ("resend", done), ("last", done)]),
                step(&self.instance, "wait")["output"]["messages"]
                    == json!([{ "number": 1 }, { "number": 2 }]),
            ),
        };
        let gave_up = self.shape == Shape::Errors && status("risky") == failed && code != "boom";
        let wanted = if gave_up { failed } else { done };
        if self.instance["status"] != wanted || !steps_right {
            self.say(Wrong::Lost, &format!("it should be {wanted}"));
        }
        if !data_right {
            let wrong = if self.shape == Shape::Mail { Wrong::Doubled } else { Wrong::Other };
            self.say(wrong, "its data are not those that were accepted");
        }
    }

    /// One task for each step, one start, each event once, one beginning and one end.
    fn check_once(&mut self) {
        let mut lines: HashMap<(String, String), u64> = HashMap::new();
        let mut seen = HashSet::new();
        let mut twice = self.tasks.values().any(|tasks| tasks.len() > 1);
        for line in &self.timeline {
            let (kind, id) = (line["kind"].as_str().unwrap_or_default(), line["stepId"].as_str());
            twice |= kind != "task-retry" && !seen.insert((id.unwrap_or_default(), line["seq"].as_i64()));
            let kind = if id.is_none() && kind != "instance-started" { "instance-ended" } else { kind };
            *lines.entry((id.unwrap_or_default().to_owned(), kind.to_owned())).or_default() += 1;
        }
        let count = |id: &str, kind: &str| lines.get(&(id.to_owned(), kind.to_owned())).copied().unwrap_or(0);
        let mut gone = false;
        for kind in ["instance-started", "instance-ended"] {
            twice |= count("", kind) > 1;
            gone |= count("", kind) < 1;
        }
        for step in self.instance["steps"].as_array().into_iter().flatten() {
            let id = step["id"].as_str().unwrap_or_default();
            let (starts, events) = match (step["status"].as_str().unwrap_or_default(), id) {
                ("completed" | "failed", "send" | "resend") => (1, 0),
                ("completed" | "failed", "wait") => (1, 2),
                ("completed" | "failed", _) => (1, 1),
                _ => (0, 0),
            };
            twice |= count(id, "start") > starts || count(id, "event") > events;
            gone |= count(id, "start") < starts || count(id, "event") < events;
        }
        if twice {
            self.say(Wrong::Doubled, "something happened twice");
        }
        if gone {
            self.say(Wrong::Lost, "a line of the timeline");
        }
    }
}
