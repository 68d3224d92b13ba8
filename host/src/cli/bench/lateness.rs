//! Lateness of timers: exact from what the host has recorded, and as bounds from what it counts.

use std::time::Duration;

use serde_json::{Value, json};

use super::host::Figures;
use super::http::Connection;
use super::report::Samples;
use crate::domain::Timestamp;
use crate::metrics::{LATENESS_BUCKETS, TIMER_LATENESS};

/// Rows of a page.
const PAGE_ROWS: usize = 500;

/// From when timers were due to when the host decided that they fire.
#[derive(Default)]
pub(super) struct Lateness {
    samples: Samples,
}

impl Lateness {
    /// Of the timers that were set last, as their records say.
    pub(super) async fn of_records(address: &str, timers: usize) -> Result<Self, String> {
        let mut connection = Connection::open(address).await.map_err(|error| error.to_string())?;
        let mut found = Self::default();
        let mut after = String::new();
        while found.samples.len() < timers {
            let path = format!("/api/v1/timers?fired=true&limit={PAGE_ROWS}{after}");
            let page = connection.send("GET", &path, "").await.map_err(|error| error.to_string())?.json();
            let rows = page["items"].as_array().map(Vec::as_slice).unwrap_or_default();
            for row in rows.iter().take(timers - found.samples.len()) {
                found.samples.push(late(row).ok_or_else(|| format!("no times: {row}"))?);
            }
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => break,
            }
        }
        Ok(found)
    }

    /// p50, p99 and the longest, in milliseconds.
    pub(super) fn summary(mut self) -> Value {
        json!({
            "count": self.samples.len(),
            "p50Ms": self.samples.milliseconds_but_one_in(2),
            "p99Ms": self.samples.milliseconds_but_one_in(100),
            "maxMs": self.samples.milliseconds_but_one_in(u32::MAX),
        })
    }
}

fn late(row: &Value) -> Option<Duration> {
    let time = |name: &str| serde_json::from_value::<Timestamp>(row[name].clone()).ok();
    Some(time("triggeredAt")?.since(time("triggerAt")?))
}

/// How many timers fired within each bound, committed.
pub(super) struct Histogram {
    within: Vec<u64>,
    all: u64,
}

impl Histogram {
    /// What a host has counted so far.
    pub(super) fn of(figures: &Figures) -> Self {
        let bucket = format!("{TIMER_LATENESS}_bucket");
        let count = |name: &str, label: &str| whole(figures.sum(name, label));
        Self {
            within: LATENESS_BUCKETS.iter().map(|le| count(&bucket, &format!("le=\"{le}\""))).collect(),
            all: count(&format!("{TIMER_LATENESS}_count"), ""),
        }
    }

    /// What has come since an earlier count.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let within = self.within.iter().zip(&earlier.within).map(|(now, then)| now - then).collect();
        Self { within, all: self.all - earlier.all }
    }

    /// All of them.
    pub(super) fn count(&self) -> u64 {
        self.all
    }

    /// Milliseconds that a half, 99 of 100, and all were committed within; null if beyond all bounds.
    pub(super) fn summary(&self) -> Value {
        let within = |part: f64| {
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
            let enough = |within: &&u64| **within as f64 >= self.all as f64 * part;
            let at = self.within.iter().position(|within| enough(&within));
            at.map(|at| (LATENESS_BUCKETS[at] * 1_000.0).round())
        };
        json!({
            "count": self.all,
            "p50WithinMs": within(0.5),
            "p99WithinMs": within(0.99),
            "allWithinMs": within(1.0),
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are whole and not negative"
)]
fn whole(count: f64) -> u64 {
    count as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_that_enough_lie_within() {
        let mut within = vec![100; LATENESS_BUCKETS.len()];
        (within[0], within[1]) = (40, 98);
        let told = Histogram { within, all: 100 }.summary();
        let ms = |at: usize| (LATENESS_BUCKETS[at] * 1_000.0).round();
        assert_eq!(told["p50WithinMs"], ms(1));
        assert_eq!(told["p99WithinMs"], ms(2));
        let beyond = Histogram { within: vec![0; LATENESS_BUCKETS.len()], all: 1 }.summary();
        assert_eq!(beyond["allWithinMs"], Value::Null);
    }
}
