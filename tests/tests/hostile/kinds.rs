//! The kinds of harm that a step type can mean.

/// One kind.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The mode of the step type `HOSTILE`.
    pub mode: &'static str,
    /// How much of it.
    pub size: usize,
    /// The code of the incident; none if the step completes, with what was too much of it cut.
    pub code: Option<&'static str>,
}

/// Every kind.
pub const ALL: [Kind; 12] = [
    held("loop", 0, "plugin_fuel"),
    held("memory", 1_000, "plugin_memory"),
    held("recursion", 0, "plugin_trap"),
    held("output", 100 << 20, "plugin_memory"),
    held("echo", 100, "plugin_output"),
    held("log", 100_000, "plugin_fuel"),
    Kind { mode: "shout", size: 100, code: None },
    held("trap", 0, "plugin_trap"),
    held("not-json", 0, "plugin_output"),
    held("effects", 10_000, "plugin_effects"),
    held("not-granted", 0, "plugin_effect_not_granted"),
    held("state", 300 << 10, "plugin_state"),
];

/// Steps that do no harm, for comparison: as many starts, and as many commits.
pub const HARMLESS: [Kind; 1] = [Kind { mode: "fine", size: 0, code: None }];

const fn held(mode: &'static str, size: usize, code: &'static str) -> Kind {
    Kind { mode, size, code: Some(code) }
}

impl Kind {
    /// A workflow of one such step. `later`: it begins well, and misbehaves on an event.
    pub fn workflow(self, later: bool) -> String {
        let Self { mode, size, .. } = self;
        format!(
            "steps:\n  - {{ id: h, type: HOSTILE, config: {{ mode: {mode}, size: {size}, later: {later} }} }}\n"
        )
    }

    /// The status in which an instance of its workflow ends.
    pub fn status(self) -> &'static str {
        if self.code.is_some() { "incident" } else { "completed" }
    }
}
