//! When a wait goes on: a pure function of what shall come, what has come, and what can no longer come.

use std::collections::BTreeMap;

/// What must have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Every event.
    All,
    /// Any one of them.
    Any,
    /// Those that say `required: true`.
    RequiredOnly,
    /// Those that `requiredEvents` names.
    Custom,
    /// So many, whichever.
    Count(usize),
    /// None: it goes on at once.
    None,
}

impl Strategy {
    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Any => "any",
            Self::RequiredOnly => "required_only",
            Self::Custom => "custom",
            Self::Count(_) => "count",
            Self::None => "none",
        }
    }
}

/// What happens when the time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTimeout {
    /// The step fails.
    Fail,
    /// It goes on if what the strategy requires has come.
    Continue,
    /// It goes on with what there is, and a warning.
    ContinueWithPartial,
}

/// The rules of one wait.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Names of all events.
    pub events: Vec<String>,
    /// Those without which it does not go on: by `required`, or by `requiredEvents`.
    pub required: Vec<String>,
    /// What must have come.
    pub strategy: Strategy,
    /// What happens when the time is over.
    pub on_timeout: OnTimeout,
}

/// Where a wait stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It waits on.
    Wait,
    /// It goes on.
    Done,
    /// It goes on with a part, and a warning.
    Partly,
    /// It fails.
    Fail {
        /// Because the time is over; else because something can no longer come.
        timed_out: bool,
    },
}

/// Decides. `over` says that the time of the whole wait has passed.
///
/// It fails as soon as it must, and goes on without something only when nothing more can come.
pub fn judge(rules: &Rules, received: &[String], missed: &BTreeMap<String, String>, over: bool) -> Verdict {
    let has = |name: &String| received.contains(name);
    if satisfied(rules, received) {
        return Verdict::Done;
    }
    let open = |name: &&String| !has(name) && !missed.contains_key(*name) && !over;
    let pending: Vec<&String> = rules.events.iter().filter(open).collect();
    let all_of = |names: &[String]| names.iter().all(has);
    // What could still be so, should everything that is pending come.
    let possible = |names: &[String]| names.iter().all(|name| has(name) || pending.contains(&name));
    let timed_out = over;
    match rules.on_timeout {
        OnTimeout::Fail => {
            let hope = match rules.strategy {
                Strategy::All => possible(&rules.events),
                Strategy::RequiredOnly | Strategy::Custom => possible(&rules.required),
                Strategy::Any => !pending.is_empty(),
                Strategy::Count(count) => received.len() + pending.len() >= count,
                Strategy::None => true,
            };
            if hope { Verdict::Wait } else { Verdict::Fail { timed_out } }
        }
        OnTimeout::Continue => {
            let (enough, hope) = match rules.strategy {
                Strategy::Any | Strategy::None => (true, true),
                Strategy::All | Strategy::RequiredOnly | Strategy::Custom => {
                    (all_of(&rules.required), possible(&rules.required))
                }
                Strategy::Count(count) => (false, received.len() + pending.len() >= count),
            };
            match (pending.is_empty(), enough, hope) {
                (_, _, false) => Verdict::Fail { timed_out },
                (true, true, _) => Verdict::Done,
                (true, false, _) => Verdict::Fail { timed_out },
                (false, _, true) => Verdict::Wait,
            }
        }
        OnTimeout::ContinueWithPartial => {
            if pending.is_empty() {
                Verdict::Partly
            } else {
                Verdict::Wait
            }
        }
    }
}

/// Whether all that the strategy waits for has come.
fn satisfied(rules: &Rules, received: &[String]) -> bool {
    let all_of = |names: &[String]| names.iter().all(|name| received.contains(name));
    match rules.strategy {
        Strategy::All => all_of(&rules.events),
        Strategy::RequiredOnly | Strategy::Custom => all_of(&rules.required),
        Strategy::Any => !received.is_empty() || rules.events.is_empty(),
        Strategy::Count(count) => received.len() >= count,
        Strategy::None => true,
    }
}

#[cfg(test)]
mod tests;
