//! What was measured, as numbers.

use std::time::Duration;

use serde_json::{Value, json};

/// Where curves have their points: 1 in 2, 1 in 4, … lies beyond.
const BEYOND: [u32; 12] = [2, 4, 10, 20, 40, 100, 200, 400, 1_000, 2_000, 4_000, 10_000];

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

    /// Milliseconds that all but 1 in `beyond` of the times lie within.
    pub(super) fn milliseconds_but_one_in(&mut self, beyond: u32) -> f64 {
        if self.micros.is_empty() {
            return 0.0;
        }
        self.micros.sort_unstable();
        // Rounded up: with few times, the rare ones are the largest.
        let outside = self.micros.len() / beyond as usize;
        f64::from(self.micros[self.micros.len() - 1 - outside.min(self.micros.len() - 1)]) / 1000.0
    }

    /// p50, p99 and p99.9 in milliseconds.
    pub(super) fn summary(&mut self) -> Value {
        json!({
            "count": self.len(),
            "p50Ms": self.milliseconds_but_one_in(2),
            "p99Ms": self.milliseconds_but_one_in(100),
            "p999Ms": self.milliseconds_but_one_in(1000),
        })
    }

    /// Points of a curve: 1 in so many lies beyond so many milliseconds. It ends where the times do.
    pub(super) fn curve(&mut self) -> Vec<(f64, f64)> {
        let enough = |beyond: &&u32| **beyond as usize <= self.micros.len();
        let beyonds: Vec<u32> = BEYOND.iter().take_while(enough).copied().collect();
        beyonds.into_iter().map(|beyond| (f64::from(beyond), self.milliseconds_but_one_in(beyond))).collect()
    }
}

/// The middle of some figures.
pub(super) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    match (figures.get(middle), figures.len() % 2) {
        (None, _) => 0.0,
        (Some(upper), 0) => f64::midpoint(figures[middle - 1], *upper),
        (Some(one), _) => *one,
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
        assert_eq!(samples.milliseconds_but_one_in(2), 500.0);
        assert_eq!(samples.milliseconds_but_one_in(100), 990.0);
        assert_eq!(samples.milliseconds_but_one_in(1000), 999.0);
        assert_eq!(samples.milliseconds_but_one_in(100_000), 1000.0);
        assert_eq!(samples.curve().last(), Some(&(1000.0, 999.0)));
        assert_eq!(Samples::default().milliseconds_but_one_in(2), 0.0);
        assert!(Samples::default().curve().is_empty());
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(Vec::new()), 0.0);
    }
}
