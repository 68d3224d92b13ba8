//! Progress of a measurement, on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::super::print::Output;
use super::load::Plan;

/// How often it moves.
const TICK: Duration = Duration::from_millis(200);

/// A bar of so many steps; scripts do not see it.
pub(super) fn of(steps: u64, prefix: &str, output: &Output) -> ProgressBar {
    if output.json {
        return ProgressBar::hidden();
    }
    // It draws on a terminal only.
    let bar = ProgressBar::new(steps);
    if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:40}] {percent:>3} % {msg}, {eta} to go") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(prefix.to_owned());
    bar.enable_steady_tick(TICK);
    bar
}

/// A bar for a plan: of cycles if they are counted, of time if not.
pub(super) fn of_plan(plan: &Plan, prefix: &str, output: &Output) -> ProgressBar {
    let millis = u64::try_from(plan.duration.as_millis()).unwrap_or(u64::MAX);
    of(plan.cycles_max.unwrap_or(millis), prefix, output)
}

/// Moves it.
pub(super) fn show(bar: &ProgressBar, plan: &Plan, cycles: u64) {
    bar.set_message(format!("{cycles} cycles"));
    if plan.cycles_max.is_some() {
        return bar.set_position(cycles);
    }
    // The load looks up ten times a second.
    bar.inc(100);
}
