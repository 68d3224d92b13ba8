//! What was measured, as numbers.

use std::time::Duration;

use serde_json::{Value, json};

/// Times of one operation.
#[derive(Default)]
pub(super) struct Samples {
    micros: Vec<u32>,
}

impl Samples {
    /// Takes a time.
    pub(super) fn push(&mut self, time: Duration) {
        self.micros.push(u32::try_from(time.as_micros()).unwrap_or(u32::MAX));
    }

    /// Takes all times of another.
    pub(super) fn add(&mut self, mut other: Self) {
        self.micros.append(&mut other.micros);
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.micros.len()
    }

    /// Milliseconds that so many thousandths of the times lie within.
    pub(super) fn milliseconds_at(&mut self, thousandths: usize) -> f64 {
        if self.micros.is_empty() {
            return 0.0;
        }
        self.micros.sort_unstable();
        let at = (self.micros.len() * thousandths).div_ceil(1000).saturating_sub(1);
        f64::from(self.micros[at.min(self.micros.len() - 1)]) / 1000.0
    }

    /// p50, p99 and p99.9 in milliseconds.
    pub(super) fn summary(&mut self) -> Value {
        json!({
            "count": self.len(),
            "p50Ms": self.milliseconds_at(500),
            "p99Ms": self.milliseconds_at(990),
            "p999Ms": self.milliseconds_at(999),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_times() {
        let mut samples = Samples::default();
        for millis in 1..=1000 {
            samples.push(Duration::from_millis(millis));
        }
        assert_eq!(samples.milliseconds_at(500), 500.0);
        assert_eq!(samples.milliseconds_at(990), 990.0);
        assert_eq!(samples.milliseconds_at(999), 999.0);
        assert_eq!(Samples::default().milliseconds_at(500), 0.0);
    }
}
