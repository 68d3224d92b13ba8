//! What is counted of each call. The meters of a component are looked up once, not in every call.

use std::sync::OnceLock;
use std::time::Duration;

use metrics::Histogram;

use crate::domain::plugin::Usage;
use crate::metrics as names;

/// The meters of one component.
#[derive(Default)]
pub(super) struct Meters {
    start: OnceLock<Meter>,
    on_event: OnceLock<Meter>,
    transform: OnceLock<Meter>,
}

/// The meters of one verb.
struct Meter {
    seconds: Histogram,
    fuel: Histogram,
}

impl Meters {
    /// Records a call; a call that came to no answer has no fuel to tell.
    pub(super) fn record(&self, plugin: &str, verb: &'static str, took: Duration, usage: Option<&Usage>) {
        let kept = match verb {
            "start" => &self.start,
            "on-event" => &self.on_event,
            "transform" => &self.transform,
            _ => return Meter::new(plugin, verb).record(took, usage),
        };
        kept.get_or_init(|| Meter::new(plugin, verb)).record(took, usage);
    }
}

impl Meter {
    fn new(plugin: &str, verb: &'static str) -> Self {
        Self {
            seconds: metrics::histogram!(names::PLUGIN_SECONDS, "plugin" => plugin.to_owned(), "verb" => verb),
            fuel: metrics::histogram!(names::PLUGIN_FUEL, "plugin" => plugin.to_owned(), "verb" => verb),
        }
    }

    fn record(&self, took: Duration, usage: Option<&Usage>) {
        self.seconds.record(took.as_secs_f64());
        if let Some(usage) = usage {
            self.fuel.record(usage.fuel as f64);
        }
    }
}
