//! A series of notes: which one goes out next, and when the last one has.

use serde::{Deserialize, Serialize};
use stepwell_schedule::{Zone, after};

use crate::Notice;

/// How far a series has come; part of a step's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Series {
    /// Notes that were handed over to the host.
    pub sent: u64,
    /// Notes of which the host has said that they arrived.
    pub arrived: u64,
}

/// What follows from a note that goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Another one at this time, in milliseconds.
    Again(i64),
    /// It was the last one; the step waits until all have arrived.
    Settle,
    /// It was the last one, and nobody waits for it.
    Done,
}

impl Series {
    /// Counts a note that goes out now, and says what follows.
    pub fn send(&mut self, notice: &Notice, now_ms: i64) -> Result<Step, String> {
        self.sent += 1;
        let more = notice.max.is_none_or(|max| self.sent < max);
        match &notice.every {
            Some(every) if more => {
                after(every, now_ms, &Zone::UTC).map(Step::Again).map_err(|why| format!("every: {why}"))
            }
            _ if notice.required => Ok(Step::Settle),
            _ => Ok(Step::Done),
        }
    }

    /// Counts a note that arrived; whether the series is over with it.
    pub fn arrive(&mut self, notice: &Notice) -> bool {
        self.arrived += 1;
        let last = notice.every.is_none() || notice.max.is_some_and(|max| self.sent >= max);
        notice.required && last && self.arrived >= self.sent
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_767_225_600_000;

    fn notice(more: serde_json::Value) -> Notice {
        let mut config = json!({ "channel": "SLACK", "message": "m" });
        for (name, value) in more.as_object().into_iter().flatten() {
            config[name] = value.clone();
        }
        crate::read(&config, NOW).expect("it is good").expect("it is known")
    }

    #[test]
    fn a_series_goes_on_until_its_last_note() {
        let daily = notice(json!({ "every": "24h", "max": 3 }));
        let mut series = Series::default();
        let day = 86_400_000;
        assert_eq!(series.send(&daily, NOW), Ok(Step::Again(NOW + day)));
        assert_eq!(series.send(&daily, NOW + day), Ok(Step::Again(NOW + 2 * day)));
        assert!(!series.arrive(&daily), "nobody waits for it");
        assert_eq!(series.send(&daily, NOW + 2 * day), Ok(Step::Done));
        assert_eq!(Series::default().send(&notice(json!({})), NOW), Ok(Step::Done));
    }

    #[test]
    fn a_required_series_waits_until_all_have_arrived() {
        let both = notice(json!({ "every": "1h", "max": 2, "required": true }));
        let mut series = Series::default();
        assert!(matches!(series.send(&both, NOW), Ok(Step::Again(_))));
        assert!(!series.arrive(&both));
        assert_eq!(series.send(&both, NOW), Ok(Step::Settle));
        assert!(series.arrive(&both));
        let (one, mut series) = (notice(json!({ "required": true })), Series::default());
        assert_eq!(series.send(&one, NOW), Ok(Step::Settle));
        assert!(series.arrive(&one));
    }
}
