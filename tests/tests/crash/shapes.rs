//! The workflows that run while hosts die: each ends with a step `last`, or with an error that nobody takes.

use rand::RngExt as _;
use rand::rngs::StdRng;

/// A kind of workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One task, whose result is mapped into the context.
    Single,
    /// A task after the other; each is given the result of the one before.
    Chain,
    /// Two tasks side by side, and one that joins them.
    Fan,
    /// A task that workers fail, with a way out for one kind of error.
    Errors,
    /// A timer that fires twice, then a task.
    Delay,
    /// Two messages from the instance to itself, through the outbox, in order; then a task.
    Mail,
}

impl Shape {
    /// Every kind.
    pub const ALL: [Self; 6] = [Self::Single, Self::Chain, Self::Fan, Self::Errors, Self::Delay, Self::Mail];

    /// Any of them; plain tasks are the most frequent.
    pub fn any(random: &mut StdRng) -> Self {
        match random.random_range(0..100) {
            0..35 => Self::Single,
            35..55 => Self::Chain,
            55..75 => Self::Fan,
            75..90 => Self::Errors,
            90..95 => Self::Delay,
            _ => Self::Mail,
        }
    }

    /// The workflow's key; it has the run's name, so that a host of another test does not know it.
    pub fn key(self, run: &str) -> String {
        format!("{self:?}-{run}").to_lowercase()
    }

    /// The document.
    pub fn source(self, run: &str) -> String {
        let steps = match self {
            Self::Single => vec![task("last", "", "outputMapping: { result: $.nonce }")],
            Self::Chain => vec![
                task("a", "", ""),
                task("b", "before: \"${steps.a.output.nonce}\"", ""),
                task("last", "before: \"${steps.b.output.nonce}\"", ""),
            ],
            Self::Fan => vec![
                task("a", "", "dependsOn: []"),
                task("b", "", "dependsOn: []"),
                task(
                    "last",
                    "a: \"${steps.a.output.nonce}\", b: \"${steps.b.output.nonce}\"",
                    "dependsOn: [a, b]",
                ),
            ],
            Self::Errors => vec![
                task("risky", "", "onError: { boom: fix }"),
                task("fix", "why: \"${steps.risky.error.code}\"", ""),
                task("last", "", "dependsOn: [risky]"),
            ],
            Self::Delay => vec![
                "  - { id: wait, type: COURIER, config: { timeout: 200ms, patience: 1 } }\n".to_owned(),
                task("last", "fired: \"${steps.wait.output.fired}\"", ""),
            ],
            Self::Mail => vec![
                courier("wait", "[]", "name: letter, correlation: \"${workflow.context.key}\", twice: true"),
                courier("send", "[]", &letter(1)),
                courier("resend", "[send]", &letter(2)),
                task("last", "", "dependsOn: [wait]"),
            ],
        };
        format!("steps:\n{}", steps.concat()).replace("RUN", run)
    }
}

/// The type of all tasks.
pub fn task_type(run: &str) -> String {
    format!("work-{run}")
}

fn courier(id: &str, depends_on: &str, config: &str) -> String {
    format!("  - {{ id: {id}, type: COURIER, dependsOn: {depends_on}, config: {{ {config} }} }}\n")
}

fn letter(number: u8) -> String {
    format!(
        "publish: {{ name: letter, correlation: \"${{workflow.context.key}}\", payload: {{ number: {number} }} }}"
    )
}

/// A task may be dropped as often as hosts and workers die: that alone must never fail it.
fn task(id: &str, input: &str, more: &str) -> String {
    let more = if more.is_empty() { String::new() } else { format!("    {more}\n") };
    format!(
        "  - id: {id}\n    type: EXTERNAL_TASK\n    config: {{ taskType: work-RUN, retries: 3, maxLockExpiries: 100000, \
         input: {{ {input} }} }}\n{more}"
    )
}
