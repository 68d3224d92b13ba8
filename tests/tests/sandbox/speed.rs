//! What one decision costs: a fresh instance, one call, the answer judged. Printed with `--nocapture`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stepwell::domain::event::Event;
use stepwell::domain::plugin::StepVerb;
use stepwell::domain::transition::Outcome;
use stepwell::engine::port::Plugins as _;

use crate::kit::{host, map, start};

/// Calls that are timed of each kind; `PLUGIN_CALLS` in the environment asks for more.
const CALLS: usize = 300;

#[tokio::test]
async fn the_bundled_plugins_answer_the_same_however_often_they_are_asked() {
    let host = host();
    host.load_bundled().await.unwrap();
    let (task, mapper) = (host.step_type("EXTERNAL_TASK").unwrap(), host.mapper("jsonpath").unwrap());
    let ticket = json!({ "result": { "ticketId": "OPS-1", "labels": ["a", "b"], "url": "https://example.com/OPS-1" } });
    let config = json!({
        "taskType": "create-ticket", "timeout": "10m", "retries": 3,
        "input": { "projectKey": "OPS", "summary": "the printer is out of paper", "priority": "high" },
    });

    let begins = start(&config, json!({ "before": ticket }));
    let first = host.call_step(&task.digest, &begins).await.unwrap();
    let mut meter = Meter::begin("external-task start");
    for _ in 0..meter.calls {
        let answer = meter.time(host.call_step(&task.digest, &begins)).await.unwrap();
        assert_eq!((&answer.result, answer.usage), (&first.result, first.usage));
    }
    meter.end();

    let mut ends = start(&config, Value::Null);
    let done = Event::TaskCompleted { key: "task".into(), worker: "w-1".into(), output: ticket.clone() };
    ends.verb = StepVerb::OnEvent { state: "{}".into(), event: done };
    let mut meter = Meter::begin("external-task on-event");
    for _ in 0..meter.calls {
        let answer = meter.time(host.call_step(&task.digest, &ends)).await.unwrap();
        assert_eq!(answer.result.unwrap().outcome, Outcome::Completed { output: ticket.clone() });
    }
    meter.end();

    let paths = json!({ "id": "$.result.ticketId", "url": "$.result.url", "first": "$.result.labels[0]" });
    let shapes = map(&paths, ticket);
    let mut meter = Meter::begin("jsonpath transform");
    for _ in 0..meter.calls {
        let answer = meter.time(host.transform(&mapper.digest, &shapes)).await.unwrap();
        let expected = json!({ "id": "OPS-1", "url": "https://example.com/OPS-1", "first": "a" });
        assert_eq!(answer.result.unwrap(), expected);
    }
    meter.end();
}

/// Times calls by the wall and by what this thread used of a processor.
struct Meter {
    name: &'static str,
    calls: usize,
    wall: Vec<Duration>,
    cpu_ns: Option<u64>,
}

impl Meter {
    fn begin(name: &'static str) -> Self {
        let calls = std::env::var("PLUGIN_CALLS").ok().and_then(|calls| calls.parse().ok()).unwrap_or(CALLS);
        Self { name, calls, wall: Vec::with_capacity(calls), cpu_ns: cpu_ns() }
    }

    async fn time<F: Future>(&mut self, call: F) -> F::Output {
        let begun = Instant::now();
        let answer = call.await;
        self.wall.push(begun.elapsed());
        answer
    }

    fn end(mut self) {
        self.wall.sort();
        let at = |percent: usize| self.wall[(self.wall.len() - 1) * percent / 100].as_nanos() as f64 / 1e3;
        let used = cpu_ns().zip(self.cpu_ns).map(|(now, before)| now.saturating_sub(before) as f64 / 1e3);
        let cpu = used.map_or("unknown".into(), |used| format!("{:.1} µs", used / self.calls as f64));
        println!(
            "{:<24} median {:.1} µs, 95th {:.1} µs, 99th {:.1} µs; processor {cpu} each, of {} calls",
            self.name,
            at(50),
            at(95),
            at(99),
            self.calls
        );
    }
}

/// What this thread used so far, where the system tells.
fn cpu_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
