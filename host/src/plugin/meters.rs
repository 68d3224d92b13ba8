//! What is counted of each call. The meters of a component are looked up once, not in every call.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use metrics::Histogram;

use crate::domain::plugin::Usage;
use crate::metrics as names;

/// Of so many calls one is asked how long it computed: a thread's own clock is not for nothing.
const COMPUTED_ONE_OF: u32 = 16;

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
    computed: Histogram,
    fuel: Histogram,
    calls: AtomicU32,
}

impl Meters {
    /// Records a call; a call that came to no answer has no fuel to tell.
    pub(super) fn record(&self, plugin: &str, verb: &'static str, took: Duration, usage: Option<&Usage>) {
        match self.of(plugin, verb) {
            Some(meter) => meter.record(took, usage),
            None => Meter::new(plugin, verb).record(took, usage),
        }
    }

    /// Where the next call tells how long it computed, if it is asked.
    pub(super) fn sample(&self, plugin: &str, verb: &'static str) -> Option<Histogram> {
        let meter = self.of(plugin, verb)?;
        let number = meter.calls.fetch_add(1, Ordering::Relaxed);
        number.is_multiple_of(COMPUTED_ONE_OF).then(|| meter.computed.clone())
    }

    fn of(&self, plugin: &str, verb: &'static str) -> Option<&Meter> {
        let kept = match verb {
            "start" => &self.start,
            "on-event" => &self.on_event,
            "transform" => &self.transform,
            _ => return None,
        };
        Some(kept.get_or_init(|| Meter::new(plugin, verb)))
    }
}

impl Meter {
    fn new(plugin: &str, verb: &'static str) -> Self {
        let labels = [("plugin", plugin.to_owned()), ("verb", verb.to_owned())];
        Self {
            seconds: metrics::histogram!(names::PLUGIN_SECONDS, &labels),
            computed: metrics::histogram!(names::PLUGIN_COMPUTED, &labels),
            fuel: metrics::histogram!(names::PLUGIN_FUEL, &labels),
            calls: AtomicU32::new(0),
        }
    }

    fn record(&self, took: Duration, usage: Option<&Usage>) {
        self.seconds.record(took.as_secs_f64());
        if let Some(usage) = usage {
            self.fuel.record(usage.fuel as f64);
        }
    }
}
